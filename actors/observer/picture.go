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
		p.addCache(snapshot)
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

// addCache keeps the cache whatever the project: its limit is part of every answer.
func (p *painter) addCache(cache messages.CacheSnapshot) {
	cache.Rows = slices.DeleteFunc(slices.Clone(cache.Rows), func(row messages.CacheRow) bool {
		return !p.shows(row.Key)
	})
	p.status.Caches = append(p.status.Caches, cache)
}

// sort makes two answers about the same things equal: maps have no order.
func (p *painter) sort() {
	s := &p.status
	slices.SortFunc(s.Caches, func(a, b messages.CacheSnapshot) int { return cmp.Compare(a.Kind, b.Kind) })
	slices.SortFunc(s.Entries, func(a, b messages.EntrySnapshot) int {
		return byKey(a.Key, b.Key, a.ActorSnapshot, b.ActorSnapshot)
	})
	slices.SortFunc(s.Sessions, func(a, b messages.SessionSnapshot) int {
		return byKey(a.Key, b.Key, a.ActorSnapshot, b.ActorSnapshot)
	})
	slices.SortFunc(s.Pools, func(a, b messages.PoolSnapshot) int {
		return byKey(a.Key, b.Key, a.ActorSnapshot, b.ActorSnapshot)
	})
	slices.SortFunc(s.Workers, func(a, b messages.WorkerSnapshot) int {
		return byKey(a.Key, b.Key, a.ActorSnapshot, b.ActorSnapshot)
	})
	slices.SortFunc(s.Trees, func(a, b messages.TreeStatus) int { return cmp.Compare(a.Tree, b.Tree) })
	slices.SortFunc(s.Builds, func(a, b messages.BuildSnapshot) int { return cmp.Compare(a.Tree, b.Tree) })
}

func byKey(a, b messages.Key, x, y messages.ActorSnapshot) int {
	return cmp.Or(
		cmp.Compare(a.Root, b.Root),
		cmp.Compare(a.Language, b.Language),
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(x.Actor, y.Actor),
	)
}
