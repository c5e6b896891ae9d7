package wire

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// States of a project.
const (
	StateCold     = "cold"     // nothing is there
	StateWarming  = "warming"  // it is being started
	StateWarm     = "warm"     // it takes operations
	StateRetiring = "retiring" // it is being ended, or waits for its calls so that it can be
)

// Projects is what one kind of resource has and may have.
type Projects struct {
	Limit    int64      `json:"limit"`
	Resident []Project  `json:"resident"`
	Creating []string   `json:"creating"` // project directories
	Retiring []Retiring `json:"retiring"`
}

// Project is a resident resource.
type Project struct {
	ProjectDir string  `json:"project_dir"`
	Language   string  `json:"language"`
	State      string  `json:"state"`
	Active     int     `json:"active"`
	Valid      bool    `json:"valid"` // false: it is replaced once its calls have ended
	Idle       Decimal `json:"idle_seconds"`
	Waiting    int     `json:"waiting"`
	PIDs       []int   `json:"pids"`
	Memory     int64   `json:"memory_bytes"`
}

// Retiring is a resource whose slot isn't free yet.
type Retiring struct {
	ProjectDir string `json:"project_dir"`
	Language   string `json:"language"`
	Step       string `json:"step"`
	Attempts   int    `json:"attempts"` // that failed
	Remaining  []int  `json:"remaining"`
	Reason     string `json:"reason"`
}

// view is a picture with the ways to find one's way in it.
type view struct {
	picture   messages.Status
	entries   map[messages.Key]messages.EntrySnapshot
	trees     map[messages.Key][]messages.TreeStatus
	resources map[string]resource // by the id of the Entry that they belong to
	restarts  map[messages.Key]int
}

// resource is what a Session and a Pool have in common.
type resource struct {
	active, waiting int
	lastUsed        time.Time
	since           time.Time
	step, reason    string
}

func newView(picture messages.Status) *view {
	v := &view{
		picture:   picture,
		entries:   make(map[messages.Key]messages.EntrySnapshot),
		trees:     make(map[messages.Key][]messages.TreeStatus),
		resources: make(map[string]resource),
		restarts:  make(map[messages.Key]int),
	}
	for _, e := range picture.Entries {
		if old, ok := v.entries[e.Key]; !ok || old.Ending { // a key has two while one follows the other
			v.entries[e.Key] = e
		}
	}
	for _, tree := range picture.Trees {
		v.trees[tree.Key] = append(v.trees[tree.Key], tree)
	}
	for _, s := range picture.Sessions {
		v.resources[s.Parent] = resource{s.Active, s.Waiting, s.LastUsed, s.Since, s.Step, s.Reason}
	}
	for _, p := range picture.Pools {
		v.resources[p.Parent] = resource{p.Active, p.Waiting, p.LastUsed, p.Since, strings.ToLower(p.State), p.Reason}
		v.restarts[p.Key] = p.Restarts
	}
	return v
}

// state is a key's. A tree without an Entry is what a failed actor left: it is being
// swept, and whoever reads "cold" would look for no process.
func (v *view) state(key messages.Key) string {
	entry, known := v.entries[key]
	switch {
	case !known && len(v.trees[key]) == 0:
		return StateCold
	case !known || entry.Ending:
		return StateRetiring
	case entry.Warm:
		return StateWarm
	}
	return StateWarming
}

func (v *view) resource(key messages.Key) resource { return v.resources[v.entries[key].Actor] }

func (v *view) projects(kind messages.ResourceKind) Projects {
	p := Projects{Resident: []Project{}, Creating: []string{}, Retiring: []Retiring{}}
	for _, cache := range v.picture.Caches {
		if cache.Kind == kind {
			p.Limit = cache.Limit
		}
	}
	for _, key := range v.keys(kind) {
		switch v.state(key) {
		case StateWarming:
			p.Creating = append(p.Creating, key.Root)
		case StateWarm:
			p.Resident = append(p.Resident, v.resident(key))
		case StateRetiring:
			p.Retiring = append(p.Retiring, v.retiring(key))
		}
	}
	return p
}

// keys are all that hold something of a kind, sorted.
func (v *view) keys(kind messages.ResourceKind) []messages.Key {
	found := make(map[messages.Key]bool)
	for key := range v.entries {
		found[key] = true
	}
	for key := range v.trees {
		found[key] = true
	}
	var keys []messages.Key
	for key := range found {
		if key.Kind == kind {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b messages.Key) int {
		return cmp.Or(cmp.Compare(a.Root, b.Root), cmp.Compare(a.Language, b.Language))
	})
	return keys
}

func (v *view) resident(key messages.Key) Project {
	r := v.resource(key)
	return Project{
		ProjectDir: key.Root, Language: key.Language, State: StateWarm,
		Active: r.active, Valid: !v.entries[key].Stale, Idle: v.idle(r), Waiting: r.waiting,
		PIDs: pids(v.trees[key]), Memory: memory(v.trees[key]),
	}
}

// idle is how long nobody has used a resource, at the moment of the query; one that
// was never used is idle since it takes operations.
func (v *view) idle(r resource) Decimal {
	since := r.lastUsed
	if since.IsZero() {
		since = r.since
	}
	if r.active > 0 || since.IsZero() {
		return 0
	}
	return secondsBetween(since, v.picture.At)
}

func (v *view) retiring(key messages.Key) Retiring {
	r := v.resource(key)
	list := Retiring{
		ProjectDir: key.Root, Language: key.Language, Step: r.step, Remaining: []int{}, Reason: r.reason,
	}
	for _, tree := range v.trees[key] {
		list.Step = cmp.Or(list.Step, strings.ToLower(tree.State))
		list.Attempts = max(list.Attempts, tree.Attempts)
		list.Reason = cmp.Or(list.Reason, tree.Reason)
		for _, left := range tree.Remaining {
			list.Remaining = append(list.Remaining, left.PID)
		}
	}
	list.Step = cmp.Or(list.Step, "closing")
	slices.Sort(list.Remaining)
	return list
}

// pids are those of the last sample, or the leader alone before the first.
func pids(trees []messages.TreeStatus) []int {
	all := []int{}
	for _, tree := range trees {
		for _, member := range tree.Members {
			all = append(all, member.PID)
		}
		if len(tree.Members) == 0 && tree.Leader.PID != 0 {
			all = append(all, tree.Leader.PID)
		}
	}
	slices.Sort(all)
	return all
}

func memory(trees []messages.TreeStatus) (bytes int64) {
	for _, tree := range trees {
		bytes += tree.RSS
	}
	return bytes
}
