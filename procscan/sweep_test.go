package procscan

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var errTable = errors.New("the table broke")

// bubble runs a sweep test with a table of its own and checks that nothing
// stays held.
func bubble(t *testing.T, law string, test func(t *testing.T, table *scriptTable)) {
	t.Run(law, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			table := &scriptTable{}
			test(t, table)
			require.Zero(t, table.open, "a process is still held")
		})
	})
}

// carrier makes a process that dies of sig, a moment after it.
func carrier(table *scriptTable, pid int, sig syscall.Signal) *target {
	return &target{table: table, id: Identity{PID: pid, StartTicks: 50}, dies: sig, slow: time.Millisecond}
}

func sweepMark(t *testing.T, table Table) error {
	return Sweep(t.Context(), table, Target{Mark: testMark, Leader: Identity{PID: 40, StartTicks: 40}}, DefaultGrace)
}

func TestSweepOrder(t *testing.T) {
	bubble(t, "a clean tree costs two scans and one pause", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){found()}
		began := time.Now()
		require.NoError(t, sweepMark(t, table))
		require.Equal(t, []string{"scan", "scan"}, table.log)
		require.Equal(t, DefaultGrace.Pause, time.Since(began))
	})
	bubble(t, "SIGTERM is followed by SIGCONT and by two clean scans", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){found(carrier(table, 50, syscall.SIGTERM), carrier(table, 51, syscall.SIGCONT))}
		require.NoError(t, sweepMark(t, table))
		require.Equal(t, []string{"scan", "terminated 50", "continued 50", "terminated 51", "continued 51", "scan", "scan"}, table.log)
	})
	bubble(t, "it doesn't wait the whole grace for what ends early", func(t *testing.T, table *scriptTable) {
		p := carrier(table, 50, syscall.SIGTERM)
		p.slow = 30 * time.Millisecond
		table.scans = []func() (Scan, error){found(p)}
		began := time.Now()
		require.NoError(t, sweepMark(t, table))
		require.Less(t, time.Since(began), 100*time.Millisecond)
	})
	bubble(t, "what ignores SIGTERM has the whole grace and then SIGKILL", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){found(carrier(table, 50, syscall.SIGKILL))}
		began := time.Now()
		require.NoError(t, sweepMark(t, table))
		require.Equal(t, []string{"scan", "terminated 50", "continued 50", "scan", "killed 50", "scan", "scan"}, table.log)
		require.Equal(t, DefaultGrace.Term+time.Millisecond+DefaultGrace.Pause, time.Since(began))
	})
	bubble(t, "SIGKILL goes only to what the latest scan found", func(t *testing.T, table *scriptTable) {
		stays, newcomer := carrier(table, 50, syscall.SIGKILL), carrier(table, 60, syscall.SIGKILL)
		table.scans = []func() (Scan, error){found(stays), found(newcomer), found()}
		require.NoError(t, sweepMark(t, table))
		require.Equal(t, []string{"scan", "terminated 50", "continued 50", "scan", "killed 60", "scan", "scan"}, table.log)
	})
	bubble(t, "a carrier in the second clean scan starts the proof again", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){found(), found(carrier(table, 50, syscall.SIGTERM)), found()}
		require.NoError(t, sweepMark(t, table))
		require.Equal(t, []string{"scan", "scan", "terminated 50", "continued 50", "scan", "scan"}, table.log)
	})
	bubble(t, "a tree that keeps forking is killed again and again in one attempt", func(t *testing.T, table *scriptTable) {
		for pid := 50; pid < 70; pid++ {
			table.scans = append(table.scans, found(carrier(table, pid, syscall.SIGKILL)))
		}
		table.scans = append(table.scans, found())
		require.NoError(t, sweepMark(t, table))
		require.Equal(t, "killed 69", table.log[len(table.log)-3])
	})
	bubble(t, "a number reused between scan and signal is spared", func(t *testing.T, table *scriptTable) {
		p := carrier(table, 77, syscall.SIGTERM)
		p.err = ErrGone // what the hold says once its process ended, whoever has the number
		table.scans = []func() (Scan, error){found(p), found()}
		require.NoError(t, sweepMark(t, table))
		require.Equal(t, []string{"scan", "scan", "scan"}, table.log)
	})
}

func TestSweepFails(t *testing.T) {
	broken := func() (Scan, error) { return Scan{}, errTable }
	bubble(t, "when SIGKILL doesn't work in its time", func(t *testing.T, table *scriptTable) {
		immortal := carrier(table, 50, 0)
		table.scans = []func() (Scan, error){found(immortal)}
		began := time.Now()
		err := sweepMark(t, table)
		var survivors *SurvivorsError
		require.ErrorAs(t, err, &survivors)
		require.Equal(t, []Identity{immortal.id}, survivors.Remaining)
		require.False(t, survivors.Unproven)
		require.Equal(t, DefaultGrace.Term+DefaultGrace.Kill, time.Since(began))
		require.Equal(t, "sweep: still alive after SIGKILL: [50@50]", err.Error())
	})
	bubble(t, "when the table is unreadable at first", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){broken}
		require.ErrorIs(t, sweepMark(t, table), errTable)
	})
	bubble(t, "when the table is unreadable later", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){found(), broken}
		require.ErrorIs(t, sweepMark(t, table), errTable)
	})
	bubble(t, "when a signal fails for no good reason", func(t *testing.T, table *scriptTable) {
		p := carrier(table, 50, 0)
		p.err = syscall.EIO
		table.scans = []func() (Scan, error){found(p)}
		require.ErrorIs(t, sweepMark(t, table), syscall.EIO)
	})
	bubble(t, "when carriers vanish before they are held, again and again", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){func() (Scan, error) { return Scan{Vanished: 1}, nil }}
		var survivors *SurvivorsError
		require.ErrorAs(t, sweepMark(t, table), &survivors)
		require.True(t, survivors.Unproven)
	})
	bubble(t, "when its context ends", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){found(carrier(table, 50, 0))}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := Sweep(ctx, table, Target{Mark: testMark}, DefaultGrace)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
	bubble(t, "without a mark", func(t *testing.T, table *scriptTable) {
		require.Error(t, Sweep(t.Context(), table, Target{Mark: Mark{Var: SessionVar}}, DefaultGrace))
		require.Empty(t, table.log)
	})
	bubble(t, "a process that may not be signalled is named, and the others are ended", func(t *testing.T, table *scriptTable) {
		foreign := carrier(table, 50, 0)
		foreign.err = syscall.EPERM
		table.scans = []func() (Scan, error){found(foreign, carrier(table, 51, syscall.SIGTERM))}
		var survivors *SurvivorsError
		require.ErrorAs(t, sweepMark(t, table), &survivors)
		require.Equal(t, []Identity{foreign.id}, survivors.Remaining)
	})
}

func TestSurvivorsAreNamedInOneLine(t *testing.T) {
	many := make([]Identity, 10)
	for want, err := range map[string]*SurvivorsError{
		"still alive after SIGKILL: [0@0 0@0 0@0 0@0 0@0 0@0 0@0 0@0] and 2 more": {Remaining: many},
		"processes without the mark are still alive after SIGKILL":                {},
		"can't tell yet whether all processes ended":                              {Unproven: true},
		"can't tell yet whether all processes ended; in doubt: [0@0]":             {Unproven: true, Remaining: many[:1]},
	} {
		require.EqualError(t, err, want)
	}
}

func TestSweepSparesOurselvesAndOurAncestors(t *testing.T) {
	bubble(t, "whatever they carry", func(t *testing.T, table *scriptTable) {
		own, err := kin(system)
		require.NoError(t, err)
		require.Contains(t, pidsOf(own), os.Getpid())
		require.Contains(t, pidsOf(own), os.Getppid())
		procs := []*target{carrier(table, 50, syscall.SIGTERM)}
		for id := range own {
			procs = append(procs, &target{table: table, id: id})
		}
		table.scans = []func() (Scan, error){found(procs...)}
		require.NoError(t, sweepMark(t, table))
		require.Equal(t, []string{"scan", "terminated 50", "continued 50", "scan", "scan"}, table.log)
	})
}

func pidsOf(ids map[Identity]bool) (pids []int) {
	for id := range ids {
		pids = append(pids, id.PID)
	}
	return pids
}

// TestSweepAndTheUnknown: which processes between two programs hold up a close.
// The tree's leader is 40@40, the first scan begins at 100.
func TestSweepAndTheUnknown(t *testing.T) {
	stranger := Info{Identity: Identity{PID: 90, StartTicks: 20}, PPID: 1, PGID: 90, SID: 90}
	newborn := stranger
	newborn.StartTicks = 150
	linked := func(change func(*Info)) Info { i := stranger; change(&i); return i }
	for _, tt := range []struct {
		law   string
		scans []func() (Scan, error)
		fails bool
	}{
		{"in a first scan it is only noted", []func() (Scan, error){inExec(newborn), found()}, false},
		{"a stranger that executes programs for ever delays nothing", []func() (Scan, error){inExec(stranger)}, false},
		{"one that was seen in the first scan isn't new", []func() (Scan, error){inExec(newborn)}, false},
		{"one that is older than the attempt isn't new", []func() (Scan, error){inExec(), inExec(stranger)}, false},
		{"one that began since then may be of the tree", []func() (Scan, error){inExec(), inExec(newborn)}, true},
		{"one whose parent is the leader", []func() (Scan, error){inExec(linked(func(i *Info) { i.PPID = 40 }))}, true},
		{"one of the leader's group", []func() (Scan, error){inExec(linked(func(i *Info) { i.PGID = 40 }))}, true},
		{"one of the leader's session", []func() (Scan, error){inExec(linked(func(i *Info) { i.SID = 40 }))}, true},
	} {
		bubble(t, tt.law, func(t *testing.T, table *scriptTable) {
			table.scans = tt.scans
			err := sweepMark(t, table)
			if !tt.fails {
				require.NoError(t, err)
				require.Equal(t, []string{"scan", "scan"}, table.log)
				return
			}
			var survivors *SurvivorsError
			require.ErrorAs(t, err, &survivors)
			require.True(t, survivors.Unproven)
			require.Greater(t, len(table.log), 10, "it had time to show itself")
			require.Equal(t, 90, survivors.Remaining[0].PID)
			require.Contains(t, err.Error(), "can't tell yet")
		})
	}
	bubble(t, "one that shows itself in time, without the mark", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){inExec(), inExec(newborn), inExec(newborn), found()}
		require.NoError(t, sweepMark(t, table))
		require.Len(t, table.log, 5, "two clean scans follow the last look in doubt")
	})
	bubble(t, "one whose parent was a carrier", func(t *testing.T, table *scriptTable) {
		child := linked(func(i *Info) { i.PPID = 50 })
		table.scans = []func() (Scan, error){found(carrier(table, 50, syscall.SIGTERM)), inExec(child)}
		require.Error(t, sweepMark(t, table))
	})
	bubble(t, "what began before the leader isn't of the tree", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){func() (Scan, error) { return Scan{}, nil }, inExec(stranger)}
		require.NoError(t, sweepMark(t, table))
	})
	bubble(t, "carriers are ended before anybody is suspected", func(t *testing.T, table *scriptTable) {
		p := carrier(table, 50, syscall.SIGTERM)
		both := func() (Scan, error) { return Scan{Hits: []Process{p}, Unknown: []Info{newborn}, Began: 100}, nil }
		table.scans = []func() (Scan, error){found(), both, found()}
		require.NoError(t, sweepMark(t, table))
	})
}

// fakeCage is a control group that is emptied by Kill, or never.
type fakeCage struct {
	table     *scriptTable
	populated bool
	immortal  bool
	err       error
}

func (c *fakeCage) Populated() (bool, error) { return c.populated, c.err }
func (c *fakeCage) Kill() error {
	c.table.log = append(c.table.log, "cage killed")
	c.populated = c.populated && c.immortal
	return nil
}

func TestSweepEmptiesTheCage(t *testing.T) {
	sweepCage := func(t *testing.T, table *scriptTable, cage *fakeCage) error {
		cage.table = table
		return Sweep(t.Context(), table, Target{Mark: testMark, Cage: cage}, DefaultGrace)
	}
	bubble(t, "of what carries no mark, between the two clean scans", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){found()}
		require.NoError(t, sweepCage(t, table, &fakeCage{populated: true}))
		require.Equal(t, []string{"scan", "cage killed", "scan"}, table.log)
	})
	bubble(t, "and leaves an empty one alone", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){found()}
		require.NoError(t, sweepCage(t, table, &fakeCage{}))
		require.Equal(t, []string{"scan", "scan"}, table.log)
	})
	bubble(t, "together with SIGKILL, which catches what forks faster than a scan", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){found(carrier(table, 50, syscall.SIGKILL))}
		require.NoError(t, sweepCage(t, table, &fakeCage{populated: true}))
		require.Equal(t, []string{"scan", "terminated 50", "continued 50", "scan", "cage killed", "killed 50", "scan", "scan"}, table.log)
	})
	bubble(t, "and fails when that doesn't work", func(t *testing.T, table *scriptTable) {
		table.scans = []func() (Scan, error){found()}
		var survivors *SurvivorsError
		require.ErrorAs(t, sweepCage(t, table, &fakeCage{populated: true, immortal: true}), &survivors)
		require.ErrorIs(t, sweepCage(t, table, &fakeCage{err: errTable}), errTable)
	})
}
