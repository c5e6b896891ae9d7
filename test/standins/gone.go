package standins

import (
	"os/exec"
	"testing"
	"time"

	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// Gone says that the process with that number and start time lives no more: its number is free, a zombie's, or that of
// a process with another start time.
func Gone(pid int, startTicks uint64) bool {
	letter, ticks := journal.State(pid)
	return letter == 0 || letter == 'Z' || letter == 'X' || ticks != startTicks
}

// IsZombie says that the process with that number and start time ended and nobody has waited for it.
func IsZombie(pid int, startTicks uint64) bool {
	letter, ticks := journal.State(pid)
	return letter == 'Z' && ticks == startTicks
}

// AwaitGone waits until the process is gone.
func AwaitGone(t testing.TB, pid int, startTicks uint64) {
	t.Helper()
	if !Until(Bound, func() bool { return Gone(pid, startTicks) }) {
		letter, _ := journal.State(pid)
		t.Fatalf("process %d still lives in state %c after %v", pid, letter, Bound)
	}
}

// Survivors returns the start events of the processes in the journal at path that still live.
func Survivors(t testing.TB, path string) []Event {
	t.Helper()
	return Select(t, path, func(e Event) bool {
		return e.Event == journal.Start && !Gone(e.PID, e.StartTicks)
	})
}

// AwaitNoSurvivor waits until no process in the journal at path lives.
func AwaitNoSurvivor(t testing.TB, path string) {
	t.Helper()
	if !Until(Bound, func() bool { return len(Survivors(t, path)) == 0 }) {
		t.Fatalf("survivors after %v: %+v", Bound, Survivors(t, path))
	}
}

// Canary is a process that belongs to nothing under test: a plain sleep in the test's own process group, without a mark.
type Canary struct {
	PID        int
	StartTicks uint64
}

// NewCanary starts a canary. At the end of the test it must still live; then it is ended.
func NewCanary(t testing.TB) *Canary {
	t.Helper()
	cmd := exec.Command("sleep", "3600")
	// Built from nothing: a mark that this test was itself started with would make the canary part of that tree.
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	if err := cmd.Start(); err != nil {
		t.Fatalf("canary: %v", err)
	}
	c := &Canary{PID: cmd.Process.Pid, StartTicks: journal.StartTicks(cmd.Process.Pid)}
	t.Cleanup(func() {
		if !c.Alive() {
			t.Errorf("the canary (pid %d) was killed", c.PID)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return c
}

// Alive says whether the canary lives.
func (c *Canary) Alive() bool { return !Gone(c.PID, c.StartTicks) }

// EndSurvivors ends by number whatever in the journal at path still lives when the test ends, so that a failed test
// leaves nothing behind. It reports nothing: the test itself judges survivors before.
func EndSurvivors(t testing.TB, path string) {
	t.Cleanup(func() {
		Until(time.Second, func() bool {
			alive := Survivors(t, path)
			for _, e := range alive {
				kill(e)
			}
			return len(alive) == 0
		})
	})
}
