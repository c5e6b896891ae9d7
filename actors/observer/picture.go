package observer

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// picture is what a status query gets. The slices are the answer's own; what the
// snapshots in them point to is shared, and never changed by anyone.
func (o *observer) picture(now time.Time, project string) messages.Status {
	p := &painter{project: project, status: messages.Status{At: now}}
	for key, snapshot := range o.snapshots {
		switch snapshot := snapshot.(type) {
		case messages.TreeSnapshot:
			o.addTree(p, key, snapshot)
		case messages.BuildSnapshot:
			o.addBuild(p, snapshot)
		default:
			p.add(snapshot)
		}
	}
	p.status.Events = o.events.list(func(e messages.Event) bool { return p.shows(e.Key) })
	p.sort()
	return p.status
}

func (o *observer) addTree(p *painter, key string, tree messages.TreeSnapshot) {
	known := o.trees[tree.Tree]
	if known.holder != key || !p.shows(tree.Key) {
		return // a successor of the Sweeper shows the tree already, or another project's
	}
	p.status.Trees = append(p.status.Trees, messages.TreeStatus{
		TreeSnapshot: tree, Members: known.sample.Members, RSS: known.sample.RSS, Sampled: known.at,
	})
}

// addBuild shows a build with the project of its tree, since it has no key.
func (o *observer) addBuild(p *painter, build messages.BuildSnapshot) {
	tree, _ := o.snapshots[o.trees[build.Tree].holder].(messages.TreeSnapshot)
	if p.shows(tree.Key) {
		p.status.Builds = append(p.status.Builds, build)
	}
}

// painter collects one answer.
type painter struct {
	project string // a canonical root; empty: all
	status  messages.Status
}

func (p *painter) shows(key messages.Key) bool { return p.project == "" || p.project == key.Root }

func (p *painter) add(snapshot messages.Snapshot) {
	switch snapshot := snapshot.(type) {
	case messages.RuntimeSnapshot:
		p.status.Runtime = snapshot
	case messages.CacheSnapshot:
		p.status.Caches = append(p.status.Caches, snapshot) // whatever the project: its limit is part of every answer
	case messages.EntrySnapshot:
		if p.shows(snapshot.Key) {
			p.status.Entries = append(p.status.Entries, snapshot)
		}
	case messages.SessionSnapshot:
		if p.shows(snapshot.Key) {
			p.status.Sessions = append(p.status.Sessions, snapshot)
		}
	case messages.PoolSnapshot:
		if p.shows(snapshot.Key) {
			p.status.Pools = append(p.status.Pools, snapshot)
		}
	case messages.WorkerSnapshot:
		if p.shows(snapshot.Key) {
			p.status.Workers = append(p.status.Workers, snapshot)
		}
	}
}

// sort makes two answers about the same things equal: maps have no order.
func (p *painter) sort() {
	s := &p.status
	slices.SortFunc(s.Caches, func(a, b messages.CacheSnapshot) int { return cmp.Compare(a.Kind, b.Kind) })
	s.Entries = sortedByKey(s.Entries, func(e *messages.EntrySnapshot) (messages.Key, string) { return e.Key, e.Actor })
	s.Sessions = sortedByKey(s.Sessions, func(e *messages.SessionSnapshot) (messages.Key, string) { return e.Key, e.Actor })
	s.Pools = sortedByKey(s.Pools, func(e *messages.PoolSnapshot) (messages.Key, string) { return e.Key, e.Actor })
	s.Workers = sortedByKey(s.Workers, func(e *messages.WorkerSnapshot) (messages.Key, string) { return e.Key, e.Actor })
	slices.SortFunc(s.Trees, func(a, b messages.TreeStatus) int { return cmp.Compare(a.Tree, b.Tree) })
	slices.SortFunc(s.Builds, func(a, b messages.BuildSnapshot) int { return cmp.Compare(a.Tree, b.Tree) })
}

// sortedByKey sorts pointers and copies once: snapshots are large, and sorting them
// in place would move each many times.
func sortedByKey[S any](list []S, name func(*S) (key messages.Key, actor string)) []S {
	order := make([]*S, len(list))
	for i := range list {
		order[i] = &list[i]
	}
	slices.SortFunc(order, func(a, b *S) int {
		keyA, actorA := name(a)
		keyB, actorB := name(b)
		return cmp.Or(
			cmp.Compare(keyA.Root, keyB.Root),
			cmp.Compare(keyA.Language, keyB.Language),
			cmp.Compare(keyA.Kind, keyB.Kind),
			cmp.Compare(actorA, actorB),
		)
	})
	sorted := make([]S, len(list))
	for i, snapshot := range order {
		sorted[i] = *snapshot
	}
	return sorted
}
