package wire

import (
	"cmp"
	"slices"

	"github.com/seed-f6977891/hearth/messages"
)

// Actor is one actor of daemon.tree with what is below it.
type Actor struct {
	Actor      string   `json:"actor"`
	State      string   `json:"state"`
	Since      Decimal  `json:"state_seconds"` // how long it is in that state
	ProjectDir string   `json:"project_dir,omitempty"`
	Language   string   `json:"language,omitempty"`
	Process    *Process `json:"process,omitempty"` // the tree that it owns or ends
	Children   []Actor  `json:"children,omitempty"`
}

// forest collects actors by their parents.
type forest struct {
	view     *view
	trees    map[messages.TreeID]messages.TreeStatus
	known    map[string]bool
	children map[string][]Actor
}

// NewTree makes the result of daemon.tree from the Observer's picture. What has no
// parent in it, as the Supervisor, is at the top.
func NewTree(picture messages.Status) []Actor {
	f := &forest{
		view:     newView(picture),
		trees:    make(map[messages.TreeID]messages.TreeStatus),
		known:    make(map[string]bool),
		children: make(map[string][]Actor),
	}
	for _, tree := range picture.Trees {
		f.trees[tree.Tree] = tree
	}
	f.collect()
	top := []Actor{}
	for parent, children := range f.children {
		if !f.known[parent] {
			top = append(top, f.grow(children)...)
		}
	}
	return sorted(top)
}

func (f *forest) collect() {
	p := f.view.picture
	if p.Runtime.Actor != "" {
		f.add(p.Runtime.ActorSnapshot, messages.Key{}, 0)
	}
	for _, s := range p.Caches {
		f.add(s.ActorSnapshot, messages.Key{}, 0)
	}
	for _, s := range p.Entries {
		f.add(s.ActorSnapshot, s.Key, 0)
	}
	for _, s := range p.Sessions {
		f.add(s.ActorSnapshot, s.Key, s.Tree)
	}
	for _, s := range p.Pools {
		f.add(s.ActorSnapshot, s.Key, 0)
	}
	for _, s := range p.Workers {
		f.add(s.ActorSnapshot, s.Key, s.Tree)
	}
	for _, s := range p.Trees {
		f.add(s.ActorSnapshot, s.Key, s.Tree)
	}
	for _, s := range p.Builds {
		f.add(s.ActorSnapshot, messages.Key{}, s.Tree)
	}
}

func (f *forest) add(s messages.ActorSnapshot, key messages.Key, tree messages.TreeID) {
	actor := Actor{
		Actor: s.Actor, State: s.State, Since: secondsBetween(s.Since, f.view.picture.At),
		ProjectDir: key.Root, Language: key.Language,
	}
	if status, ok := f.trees[tree]; ok {
		process := f.view.process(status)
		actor.Process = &process
	}
	f.known[s.Actor] = true
	f.children[s.Parent] = append(f.children[s.Parent], actor)
}

func (f *forest) grow(actors []Actor) []Actor {
	for i := range actors {
		actors[i].Children = sorted(f.grow(f.children[actors[i].Actor]))
	}
	return actors
}

func sorted(actors []Actor) []Actor {
	slices.SortFunc(actors, func(a, b Actor) int {
		return cmp.Or(cmp.Compare(a.ProjectDir, b.ProjectDir), cmp.Compare(a.Actor, b.Actor))
	})
	return actors
}
