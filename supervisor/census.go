package supervisor

import (
	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// tree is one row of the census: a process tree from its adoption until nothing is
// left of it.
type tree struct {
	id       messages.TreeID
	owner    *actors.Handle
	role     messages.Role
	key      messages.Key
	mark     procscan.Mark
	grace    procscan.Grace // of its end
	child    procscan.Child // nil until it was launched
	sweeper  *actors.Handle
	failures int          // Sweepers of this tree that failed
	fallen   *fallenSweep // the present Sweeper's failure, until its successor begins
}

// fallenSweep is what is known of a Sweeper that failed.
type fallenSweep struct {
	reason     error
	workersOut bool
}

// census holds every tree that exists, or may come to exist.
type census struct {
	trees    map[messages.TreeID]*tree
	sweepers map[messages.Ref]*tree // by the Sweeper of the day
}

func newCensus() census {
	return census{trees: make(map[messages.TreeID]*tree), sweepers: make(map[messages.Ref]*tree)}
}

// ownedBelow gives the trees whose owner is the actor or a descendant of it.
func (c census) ownedBelow(ref messages.Ref) []*tree {
	var found []*tree
	for _, t := range c.trees {
		if t.owner.IsAtOrBelow(ref) {
			found = append(found, t)
		}
	}
	return found
}

// byMark maps the value of a tree's mark to the tree, for a sample of the table.
func (c census) byMark() map[string]messages.TreeID {
	marks := make(map[string]messages.TreeID, len(c.trees))
	for id, t := range c.trees {
		marks[t.mark.Value] = id
	}
	return marks
}

// launched counts the trees whose leader runs or ran.
func (c census) launched() int {
	n := 0
	for _, t := range c.trees {
		if t.child != nil {
			n++
		}
	}
	return n
}

func (t *tree) snapshot() messages.TreeSnapshot {
	snapshot := messages.TreeSnapshot{Tree: t.id, Role: t.role, Key: t.key}
	if t.child != nil {
		snapshot.Leader = t.child.Identity()
	}
	return snapshot
}
