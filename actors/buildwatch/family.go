package buildwatch

import "github.com/seed-f6977891/hearth/procscan"

// family is who started whom within a look.
type family struct {
	members []procscan.Member
	byPID   map[int]procscan.Member
}

func newFamily(members []procscan.Member) family {
	f := family{members: members, byPID: make(map[int]procscan.Member, len(members))}
	for _, m := range members {
		f.byPID[m.PID] = m
	}
	return f
}

// ancestors walks up from a process within the tree. A look isn't one moment, so
// that numbers reused within it could make a circle: no way is longer than the tree.
func (f family) ancestors(m procscan.Member, visit func(procscan.Identity)) {
	for range f.members {
		above, ok := f.byPID[m.PPID]
		if !ok {
			return
		}
		visit(above.Identity)
		m = above
	}
}

// markBelow finds the processes that compile a file for another one that does: the
// wrapper (ccache, a script) stands for both, as long as it lives.
func (f family) markBelow(present map[procscan.Identity]process) {
	for _, m := range f.members {
		p := present[m.Identity]
		if p.file == "" {
			continue
		}
		f.ancestors(m, func(above procscan.Identity) {
			p.below = p.below || present[above].file == p.file
		})
		present[m.Identity] = p
	}
}

// peaks gives the most memory of each process or any below it: a compiler's driver is
// small, what it starts isn't.
func (f family) peaks() map[procscan.Identity]int64 {
	peaks := make(map[procscan.Identity]int64, len(f.members))
	for _, m := range f.members {
		peaks[m.Identity] = max(peaks[m.Identity], m.Peak)
		f.ancestors(m, func(above procscan.Identity) {
			peaks[above] = max(peaks[above], m.Peak)
		})
	}
	return peaks
}
