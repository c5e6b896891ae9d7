package procscan

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// execLoop is a script that does nothing but execute itself, with 200 kB of
// environment: most looks at it find nothing.
const execLoop = `BIG1=$(head -c 100000 /dev/zero | tr '\0' x); BIG2=$BIG1; export BIG1 BIG2; exec sh -c "$LOOP"`

// looped gives the script what it executes.
func looped(s *Spec) { s.Env = append(s.Env, `LOOP=exec sh -c "$LOOP"`, "START="+execLoop) }

func TestAForeignExecLoopAndAnEmptyEnvironmentDelayNothing(t *testing.T) {
	loop := shell(t, execLoop, looped)
	bare := shell(t, "exec sleep 60", func(s *Spec) { s.Argv = []string{"env", "-i", "sleep", "60"} })
	for range 20 {
		child := shell(t, "exit 0")
		require.True(t, child.finish(t).Success())
	}
	require.True(t, alive(loop.Identity().PID) && alive(bare.Identity().PID))
	loop.end(t)
	bare.end(t)
}

func TestAnExecLoopInASessionOfItsOwnIsEnded(t *testing.T) {
	child := shell(t, `setsid sh -c "$START" & echo $!; exec sleep 60`, looped)
	var pid int
	_, err := fmt.Fscan(child.Stdout(), &pid)
	require.NoError(t, err)
	child.killLeader(t)
	child.end(t)
	require.False(t, alive(pid))
}

// TestForkingTreesAreEnded: each process of the tree starts the next in a session
// of its own and ends.
func TestForkingTreesAreEnded(t *testing.T) {
	containment := newContainment(t)
	for law, launcher := range map[string]*OSLauncher{"by the mark": NewLauncher(), "by the cage": NewLauncher(WithContainment(containment))} {
		t.Run(law, func(t *testing.T) {
			child := shellOf(t, launcher, `setsid sh -c "$HOP" & echo ready; exec sleep 60`, func(s *Spec) {
				s.Env = append(s.Env, `HOP=setsid sh -c "$HOP" >/dev/null 2>&1 & exit`)
			})
			_, err := io.ReadFull(child.Stdout(), make([]byte, len("ready\n")))
			require.NoError(t, err)
			child.killLeader(t)
			for began := time.Now(); ; {
				err := RetireGroup(t.Context(), child, DefaultGrace)
				if err == nil {
					err = Sweep(t.Context(), SystemTable(), child.target(), DefaultGrace)
				}
				if err == nil {
					break
				}
				require.Less(t, time.Since(began), time.Minute, "%v", err)
			}
			for range 20 {
				scan, err := SystemTable().Scan(t.Context(), child.mark)
				require.NoError(t, err)
				require.Empty(t, hits(scan), "the tree lives")
			}
			child.end(t)
		})
	}
}

// TestShortProcessesAreNoTrouble: processes come and go by the hundred while
// sweeps read the table.
func TestShortProcessesAreNoTrouble(t *testing.T) {
	mark := NewMark(SessionVar)
	loops := make([]*tree, 3)
	for i := range loops {
		loops[i] = shell(t, `while :; do sh -c : ; done`)
	}
	for i := range 200 {
		require.NoError(t, Sweep(t.Context(), SystemTable(), Target{Mark: mark}, Grace{Kill: time.Minute, Pause: time.Millisecond}), "sweep %d", i)
		_, err := SystemTable().Walk(t.Context())
		require.NoError(t, err)
		_, err = Sample(t.Context(), SessionVar)
		require.NoError(t, err)
	}
	for _, loop := range loops {
		require.True(t, alive(loop.Identity().PID))
		loop.end(t)
	}
}
