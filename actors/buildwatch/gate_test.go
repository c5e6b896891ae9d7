package buildwatch

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// second is a second of the kernel's clock in a test's looks.
var second = func() uint64 {
	for ticks := uint64(1); ; ticks++ {
		if (procscan.Look{At: ticks}).Since(0) >= time.Second {
			return ticks
		}
	}
}()

// proc is a member that began at a second, below a parent, with a command line.
func proc(pid, parent int, began uint64, args ...string) procscan.Member {
	return procscan.Member{Info: procscan.Info{Identity: procscan.Identity{PID: pid, StartTicks: began * second}, PPID: parent, State: 'R',
		Comm: args[0]}, Args: args, Dir: "/p", Peak: int64(pid) << 20}
}

func cc(pid, parent int, began uint64, file string) procscan.Member {
	return proc(pid, parent, began, "cc", "-c", file)
}

// at is a look at a second.
func at(seconds uint64, members ...procscan.Member) procscan.Look {
	return procscan.Look{Members: members, At: seconds * second}
}

func gateOf(t *testing.T, perFile time.Duration) *gate {
	match, err := ParseMatch("")
	require.NoError(t, err)
	return newGate(match, "/p", perFile)
}

func TestGateTimesACompileFromTheKernelsStart(t *testing.T) {
	g := gateOf(t, 6*time.Second)
	assert.Empty(t, g.look(at(105, cc(9, 1, 100, "a.c"), cc(8, 1, 104, "b.c"), proc(1, 0, 1, "make"))))
	assert.Equal(t, []messages.RunningFile{{File: "a.c", PID: 9, Seconds: 5}, {File: "b.c", PID: 8, Seconds: 1}}, g.running())
	assert.Equal(t, []messages.Breach{{File: "a.c", Elapsed: 6, Limit: 6}}, g.look(at(106, cc(9, 1, 100, "a.c"), cc(8, 1, 104, "b.c"))))
	assert.Equal(t, []messages.Breach{{File: "a.c", Elapsed: 12, Limit: 6}, {File: "b.c", Elapsed: 8, Limit: 6}},
		g.look(at(112, cc(8, 1, 104, "b.c"), cc(9, 1, 100, "a.c"))), "the worst first")
	assert.Equal(t, 2, g.seen)
}

func TestGateWithoutALimitOnlyWatches(t *testing.T) {
	g := gateOf(t, 0)
	assert.Empty(t, g.look(at(9000, cc(9, 1, 1, "a.c"))))
	assert.Equal(t, time.Second, g.next(time.Second))
}

func TestGateHoldsOnlyTheTimeOfTheCompileAgainstAProcess(t *testing.T) {
	t.Run("a script that becomes the compiler", func(t *testing.T) {
		g := gateOf(t, 6*time.Second)
		g.look(at(150, proc(9, 1, 100, "sh", "build.sh")))
		assert.Empty(t, g.look(at(151, cc(9, 1, 100, "a.c"))))
		assert.Empty(t, g.look(at(155, cc(9, 1, 100, "a.c"))))
		assert.Equal(t, []messages.Breach{{File: "a.c", Elapsed: 6, Limit: 6}}, g.look(at(156, cc(9, 1, 100, "a.c"))))
	})
	t.Run("and is between the two programs in one look", func(t *testing.T) {
		g := gateOf(t, 6*time.Second)
		g.look(at(150, proc(9, 1, 100, "sh", "build.sh")))
		g.look(at(151))
		assert.Empty(t, g.look(at(152, cc(9, 1, 100, "a.c"))))
	})
	t.Run("one file after the other", func(t *testing.T) {
		g := gateOf(t, 6*time.Second)
		g.look(at(105, cc(9, 1, 100, "a.c")))
		assert.Empty(t, g.look(at(107, cc(9, 1, 100, "b.c"))))
		assert.Equal(t, 2, g.seen)
		assert.Equal(t, 1, g.ended)
	})
	t.Run("a wrapper that becomes the compiler of the same file", func(t *testing.T) {
		g := gateOf(t, 6*time.Second)
		g.look(at(105, proc(9, 1, 100, "tool", "/go/compile", "-o", "x", "a.go")))
		assert.Len(t, g.look(at(106, proc(9, 1, 100, "/go/compile", "-o", "x", "a.go"))), 1)
		assert.Equal(t, 1, g.seen)
	})
	t.Run("a number that another process has now", func(t *testing.T) {
		g := gateOf(t, 6*time.Second)
		g.look(at(105, cc(9, 1, 100, "a.c")))
		assert.Empty(t, g.look(at(107, cc(9, 1, 106, "a.c"))))
		assert.Equal(t, 2, g.seen)
	})
}

func TestGateDoesNotCountTheTimeInWhichTheMachineSlept(t *testing.T) {
	asleep := func(seconds uint64, look procscan.Look) procscan.Look {
		look.Asleep = 3000 + int64(seconds*second) // in all, of which some was before the build
		return look
	}
	g := gateOf(t, 6*time.Second)
	assert.Empty(t, g.look(asleep(0, at(103, cc(9, 1, 100, "a.c"), proc(8, 1, 100, "sh", "build.sh")))))
	assert.Empty(t, g.look(asleep(500, at(604, cc(9, 1, 100, "a.c"), cc(8, 1, 100, "b.c"), cc(7, 1, 104, "c.c")))))
	assert.Equal(t, []messages.RunningFile{{File: "a.c", PID: 9, Seconds: 4}, {File: "c.c", PID: 7, Seconds: 1}, {File: "b.c", PID: 8, Seconds: 1}},
		g.running())
	assert.Empty(t, g.look(asleep(499, at(605))), "none of them was seen")
	assert.Equal(t, []messages.Breach{{File: "a.c", Elapsed: 6, Limit: 6}}, g.look(asleep(500, at(606, cc(9, 1, 100, "a.c"), cc(8, 1, 100, "b.c")))))
}

func TestGateFindsACompileWhoeverItsParentIs(t *testing.T) {
	g := gateOf(t, 6*time.Second)
	g.look(at(103, proc(5, 1, 100, "make"), cc(9, 5, 101, "a.c")))
	assert.Len(t, g.look(at(107, cc(9, 1, 101, "a.c"))), 1, "its parent is gone")
	assert.Equal(t, 1, g.seen)
}

func TestGateCountsAWrapperAndItsCompilerOnce(t *testing.T) {
	g := gateOf(t, 6*time.Second)
	wrapped := []procscan.Member{proc(7, 1, 100, "ccache", "gcc", "-c", "a.c"), proc(8, 7, 100, "sh", "-c", "x"), cc(9, 8, 101, "a.c"), proc(10, 9, 101, "cc1", "a.c")}
	assert.Equal(t, []messages.Breach{{File: "a.c", Elapsed: 7, Limit: 6}}, g.look(at(107, wrapped...)))
	assert.Equal(t, 1, g.seen)
	g.look(at(108, wrapped[2:]...))
	assert.Equal(t, 2, g.seen, "without the wrapper it stands for itself")
	g.endAll()
	assert.Equal(t, []messages.Compile{{File: "a.c", PID: 7, StartTicks: 100 * second, Seconds: 7, Peak: 10 << 20},
		{File: "a.c", PID: 9, StartTicks: 101 * second, Seconds: 7, Peak: 10 << 20}}, g.samples.inOrder(), "the memory is that of what works below")
}

func TestGateSurvivesAFamilyInACircle(t *testing.T) {
	g := gateOf(t, 6*time.Second)
	assert.Empty(t, g.look(at(101, cc(7, 8, 100, "a.c"), cc(8, 7, 100, "b.c"), cc(9, 9, 100, "c.c"))))
}

func TestGateKeepsThePeakAndTheLastTimeOfWhatEnded(t *testing.T) {
	g := gateOf(t, 0)
	big := cc(9, 1, 100, "a.c")
	big.Peak = 99 << 20
	g.look(at(101, big))
	g.look(at(104, cc(9, 1, 100, "a.c")))
	g.look(at(105))
	assert.Equal(t, []messages.Compile{{File: "a.c", PID: 9, StartTicks: 100 * second, Seconds: 4, Peak: 99 << 20}}, g.slowest)
	assert.Empty(t, g.running())
	g.look(at(106))
	g.endAll()
	assert.Equal(t, 1, g.ended, "it ends once")
}

func TestGateTableHasEachFileOnceAtItsSlowest(t *testing.T) {
	g := gateOf(t, 0)
	for i := range uint64(slowestKept + 5) {
		g.end(messages.Compile{File: fmt.Sprint("f", i), Seconds: float64(i)})
	}
	g.end(messages.Compile{File: "f9", Seconds: 99})
	g.end(messages.Compile{File: "f9", Seconds: 3})
	require.Len(t, g.slowest, slowestKept)
	assert.Equal(t, "f9", g.slowest[0].File)
	assert.Equal(t, "f24", g.slowest[1].File)
	assert.Equal(t, 99.0, g.slowest[0].Seconds)
}

func TestGateLooksAgainWhenTheFirstLimitIsDue(t *testing.T) {
	g := gateOf(t, 6*time.Second)
	assert.Equal(t, time.Second, g.next(time.Second), "nothing runs")
	g.look(at(102, cc(9, 1, 100, "a.c")))
	assert.Equal(t, time.Second, g.next(time.Second))
	assert.Equal(t, 4*time.Second, g.next(time.Minute))
	g.look(at(106, cc(9, 1, 100, "a.c")))
	assert.Equal(t, finest, g.next(time.Minute), "never at once")
}

func TestRingKeepsTheLastInTheirOrder(t *testing.T) {
	var r ring
	assert.Empty(t, r.inOrder())
	for i := range samplesKept + 3 {
		r.add(messages.Compile{PID: i})
	}
	kept := r.inOrder()
	require.Len(t, kept, samplesKept)
	for i, c := range kept {
		assert.Equal(t, i+3, c.PID)
	}
}
