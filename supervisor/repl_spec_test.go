package supervisor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// node is a whole runtime on a machine in memory, with one project whose REPL is a
// fake.
type node struct {
	*supervisor.Runtime
	t       *testing.T
	machine *fakes.Machine
	project string
}

// onNode runs a test on a runtime in a bubble. Nothing may be left of it.
func onNode(t *testing.T, name string, program fakes.Repl, change func(*supervisor.Config), test func(*node)) {
	t.Run(name, func(t *testing.T) {
		project := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(project, "fake.toml"), nil, 0o600))
		synctest.Test(t, func(t *testing.T) {
			n := &node{t: t, machine: fakes.NewMachine(), project: project}
			n.machine.Serve(program.Play)
			cfg := supervisor.DefaultConfig()
			cfg.Languages["fake"] = config.Language{Name: "fake", ID: "fake", Markers: []string{"fake.toml"},
				Server: config.Server{Complete: config.CompleteQuiet},
				REPL:   config.Worker{Command: config.Command{"repl"}, Protocol: config.ProtocolJSONL, Weight: config.GiB}}
			cfg.REPL.TotalWorkers, cfg.REPL.WorkersPerProject = 2, 2
			change(&cfg)
			var err error
			n.Runtime, err = supervisor.Start(t.Context(), cfg, supervisor.On(supervisor.Machine{Launcher: n.machine.Launcher(),
				Table: n.machine.Table(), Grace: fakes.Grace, Sample: n.machine.Sample}))
			require.NoError(t, err)
			test(n)
			require.NoError(t, n.Shutdown(t.Context()))
			assert.Empty(t, n.machine.Alive())
		})
	})
}

func (n *node) run(ctx context.Context, code string, timeout time.Duration) (supervisor.RunReport, error) {
	return n.RunCode(ctx, supervisor.Snippet{Project: n.project, Code: code, Timeout: timeout})
}

func (n *node) pool() messages.PoolSnapshot {
	n.t.Helper()
	synctest.Wait()
	status, err := n.Status(n.t.Context())
	require.NoError(n.t, err)
	require.Len(n.t, status.Pools, 1)
	return status.Pools[0]
}

func inMode(mode config.Mode) func(*supervisor.Config) {
	return func(cfg *supervisor.Config) { cfg.REPL.Mode = mode }
}

// tally counts what became of calls.
type tally struct {
	mu   sync.Mutex
	runs map[string]int // by marker, as the children saw them
	ends map[string]int // by what the callers got
}

func (c *tally) note(in map[string]int, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	in[what]++
}

// answer takes as long as the code says, and answers with its marker.
func (c *tally) answer(_ *fakes.Child, code string) string {
	if code != "" { // not the warm-up
		var marker string
		var takes time.Duration
		if _, err := fmt.Sscanf(code, "%s %d", &marker, &takes); err != nil {
			return "malformed\n"
		}
		c.note(c.runs, marker)
		time.Sleep(takes)
		return fakes.Result(marker)
	}
	return fakes.Result("")
}

func TestManyCallersOfFewWorkersGetEachItsOwnAnswerOnce(t *testing.T) {
	const callers, calls = 64, 50
	for _, mode := range []config.Mode{config.Fresh, config.Resident} {
		counts := &tally{runs: make(map[string]int), ends: make(map[string]int)}
		onNode(t, string(mode), fakes.Repl{Answer: counts.answer}, inMode(mode), func(n *node) {
			var all sync.WaitGroup
			for caller := range callers {
				random := rand.New(rand.NewPCG(uint64(caller), 1))
				all.Go(func() {
					for i := range calls {
						counts.note(counts.ends, n.impatient(random, fmt.Sprintf("M%d-%d", caller, i)))
					}
				})
			}
			all.Wait()
			n.expectIdleAgain()
			for marker, times := range counts.runs {
				assert.Equal(n.t, 1, times, "%s was run more than once", marker)
			}
			total := 0
			for _, end := range []string{"answered", "busy", "timeout", "cancelled"} {
				assert.NotZero(n.t, counts.ends[end], "none was %s, so the test says nothing of it: %v", end, counts.ends)
				total += counts.ends[end]
			}
			assert.Equal(n.t, callers*calls, total, "%v", counts.ends)
		})
	}
}

// impatient makes one call whose caller may hang up, and says how it ended.
func (n *node) impatient(random *rand.Rand, marker string) string {
	ctx, hangUp := context.WithCancel(n.t.Context())
	defer hangUp()
	if random.IntN(8) == 0 {
		defer time.AfterFunc(upTo(random, 500*time.Millisecond), hangUp).Stop()
	}
	takes := upTo(random, 20*time.Millisecond)
	timeout := upTo(random, 3*time.Second)
	if random.IntN(16) == 0 {
		takes = timeout + time.Second
	}
	report, err := n.run(ctx, fmt.Sprintf("%s %d", marker, takes), timeout+1)
	if err != nil {
		return messages.KindOf(err).String()
	}
	assert.Equal(n.t, marker, report.Result, "another call's answer")
	return "answered"
}

func upTo(random *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(d)))
}

// expectIdleAgain checks that the pool has its whole capacity once nobody calls.
func (n *node) expectIdleAgain() {
	n.t.Helper()
	time.Sleep(time.Minute)
	pool := n.pool()
	assert.Equal(n.t, [4]int{2, 2, 0, 0}, [4]int{pool.Capacity, pool.Warm, pool.Active, pool.Waiting})
	assert.Len(n.t, n.machine.Alive(), 2)
}

func TestNoCallWaitsForAWarmUpWhileTheReserveLasts(t *testing.T) {
	program := fakes.Repl{Warm: 2 * time.Second, Answer: func(_ *fakes.Child, code string) string {
		if code != "" {
			time.Sleep(5 * time.Millisecond)
		}
		return fakes.Result(code)
	}}
	onNode(t, "fresh", program, func(cfg *supervisor.Config) { cfg.REPL.WorkersPerProject = 1 }, func(n *node) {
		_, err := n.run(n.t.Context(), "cold", time.Minute)
		require.NoError(n.t, err)
		generations := make(map[uint64]bool)
		for range 20 {
			time.Sleep(3 * time.Second)
			began := time.Now()
			report, err := n.run(n.t.Context(), "warm", time.Minute)
			require.NoError(n.t, err)
			assert.Equal(n.t, 5*time.Millisecond, time.Since(began))
			assert.False(n.t, generations[report.Generation], "a child that another call has used")
			generations[report.Generation] = true
		}
	})
}

func TestBringingAColdPoolUpIsNotCountedAgainstTheCallsTime(t *testing.T) {
	onNode(t, "cold", fakes.Repl{Warm: time.Minute}, inMode(config.Fresh), func(n *node) {
		report, err := n.run(n.t.Context(), "x", time.Second)
		require.NoError(n.t, err)
		assert.Equal(n.t, "x", report.Result)
	})
}

func TestProjectWhoseREPLCannotStartTellsWhyAtOnce(t *testing.T) {
	program := fakes.Repl{Answer: func(child *fakes.Child, _ string) string {
		child.WriteStderr("no such toolchain\n")
		return `{"ok":false,"error":"cannot load"}` + "\n"
	}}
	onNode(t, "refused", program, inMode(config.Fresh), func(n *node) {
		began := time.Now()
		_, err := n.run(n.t.Context(), "x", time.Minute)
		assert.ErrorContains(n.t, err, "cannot load")
		assert.ErrorContains(n.t, err, "no such toolchain")
		assert.Equal(n.t, messages.KindProcess, messages.KindOf(err))
		assert.Less(n.t, time.Since(began), time.Second)
		assert.False(n.t, strings.Contains(err.Error(), "\n"))
	})
}

// faulty is a message that its receiver fails at.
type faulty struct {
	messages.StatusQuery
	fault func()
}

func (f faulty) Refuse(error) { f.fault() }

func TestFailureAnywhereAboveAChildCostsTheCallsOfThatPartAndNoCapacity(t *testing.T) {
	slow := fakes.Repl{Answer: func(_ *fakes.Child, code string) string {
		if code == "slow" {
			time.Sleep(time.Minute)
		}
		return fakes.Result(code)
	}}
	for kind, lost := range map[string]int32{"worker": 1, "pool": 2} {
		for name, fault := range map[string]func(){"panic": func() { panic("boom") }, "goexit": runtime.Goexit} {
			onNode(t, kind+" by "+name, slow, inMode(config.Resident), func(n *node) {
				_, err := n.run(n.t.Context(), "x", time.Minute)
				require.NoError(n.t, err)
				var calls sync.WaitGroup
				var unknown atomic.Int32
				for range 2 {
					calls.Go(func() {
						if _, err := n.run(n.t.Context(), "slow", 2*time.Minute); messages.KindOf(err) == messages.KindOutcomeUnknown {
							unknown.Add(1)
						}
					})
				}
				time.Sleep(time.Second)
				n.Actor(kind).Send(faulty{fault: fault})
				calls.Wait()
				assert.Equal(n.t, lost, unknown.Load(), "calls of unknown outcome")
				_, err = n.run(n.t.Context(), "x", time.Minute)
				require.NoError(n.t, err)
				n.expectIdleAgain()
			})
		}
	}
}

func TestShutdownLetsWaitingCallsHaveTheirFreshChildren(t *testing.T) {
	slow := fakes.Repl{Answer: func(_ *fakes.Child, code string) string {
		time.Sleep(time.Second)
		return fakes.Result(code)
	}}
	onNode(t, "drain", slow, func(cfg *supervisor.Config) { cfg.REPL.WorkersPerProject = 1 }, func(n *node) {
		var calls sync.WaitGroup
		for range 5 {
			calls.Go(func() {
				report, err := n.run(n.t.Context(), "x", time.Minute)
				assert.NoError(n.t, err)
				assert.Equal(n.t, "x", report.Result)
			})
		}
		time.Sleep(2500 * time.Millisecond) // one is answered, one runs, the others wait
		require.NoError(n.t, n.Shutdown(n.t.Context()))
		calls.Wait()
		assert.Empty(n.t, n.machine.Alive())
	})
}
