package supervisor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
)

func TestGuardThatHearsFarewellTouchesNothing(t *testing.T) {
	mark := procscan.NewMark(procscan.RuntimeVar)
	pid, _ := carrier(t, mark)
	var out bytes.Buffer
	input := fmt.Sprintf(`{"runtime":%q}`+"\nfarewell\n", mark.Value)
	assert.Zero(t, supervisor.GuardProcess(strings.NewReader(input), &out, procscan.SystemTable()))
	assert.Equal(t, "watching\n", out.String())
	_, err := procscan.Read(pid)
	assert.NoError(t, err)
}

func TestGuardWhoseRuntimeDiedEndsItsTreesAndRemovesItsFile(t *testing.T) {
	for name, last := range map[string]string{"dead": "", "dead in the middle of a word": "farew"} {
		mark, record := procscan.NewMark(procscan.RuntimeVar), filepath.Join(t.TempDir(), "record")
		_, ended := carrier(t, mark)
		require.NoError(t, os.WriteFile(record, nil, 0o600))
		input := fmt.Sprintf(`{"runtime":%q,"record":%q}`+"\n%s", mark.Value, record, last)
		assert.Zero(t, supervisor.GuardProcess(strings.NewReader(input), &bytes.Buffer{}, procscan.SystemTable()))
		assert.Regexp(t, bySignal, ended(), name)
		assert.NoFileExists(t, record)
	}
}

func TestGuardThatSeesNothingGivesUpAndLeavesTheRecord(t *testing.T) {
	stubborn := &procscan.SurvivorsError{}
	for _, tt := range []struct {
		law   string
		looks []error // the last is that of all that follow
		code  int
		kept  bool
	}{
		{"blind from the beginning", []error{errBlind}, 1, true},
		{"blind after it had seen what can't be ended", slices.Concat(slices.Repeat([]error{stubborn}, 200), []error{errBlind}), 1, true},
		{"for a while only", slices.Concat(slices.Repeat([]error{errBlind}, 50), []error{nil}), 0, false},
		{"never, and what it sees takes its time", slices.Concat(slices.Repeat([]error{errBlind, stubborn}, 200), []error{nil}), 0, false},
	} {
		t.Run(tt.law, func(t *testing.T) {
			record := filepath.Join(t.TempDir(), "record")
			require.NoError(t, os.WriteFile(record, nil, 0o600))
			input := fmt.Sprintf(`{"runtime":"0123","record":%q}`+"\n", record)
			synctest.Test(t, func(t *testing.T) {
				assert.Equal(t, tt.code, supervisor.GuardProcess(strings.NewReader(input), &bytes.Buffer{}, &scriptedTable{errs: tt.looks}))
			})
			_, err := os.Stat(record)
			assert.Equal(t, tt.kept, err == nil)
		})
	}
}

var errBlind = errors.New("the process table is gone")

// scriptedTable gives no process, or the next error.
type scriptedTable struct {
	procscan.Table
	errs []error
}

func (s *scriptedTable) Scan(context.Context, procscan.Mark) (procscan.Scan, error) {
	err := s.errs[0]
	if len(s.errs) > 1 {
		s.errs = s.errs[1:]
	}
	return procscan.Scan{}, err
}

func TestGuardWithoutWholeOrdersEndsNothing(t *testing.T) {
	for input, code := range map[string]int{"": 0, `{"runtime":"x"`: 0, "{}\n": 2, "x\n": 2} {
		assert.Equal(t, code, supervisor.GuardProcess(strings.NewReader(input), &bytes.Buffer{}, brokenTable{}), input)
	}
}

// brokenTable is for what must not look.
type brokenTable struct{ procscan.Table }

func TestGuardIsRefusedToAProgramThatDoesNotExpectIt(t *testing.T) {
	supervisor.WithoutGuardMain(func() {
		_, err := supervisor.Start(t.Context(), supervisor.DefaultConfig(), supervisor.WithGuard())
		var wrong *messages.ConfigError
		require.ErrorAs(t, err, &wrong)
		assert.Contains(t, err.Error(), "GuardMain")
	})
}

func TestOptionsThatNeedTheOwnLauncherAreRefusedBesideAnother(t *testing.T) {
	for _, option := range []supervisor.Option{supervisor.WithContainment(), supervisor.WithSubreaper(nil)} {
		_, err := supervisor.Start(t.Context(), supervisor.DefaultConfig(), option, supervisor.WithLauncher(procscan.NewLauncher()))
		assert.ErrorAs(t, err, new(*messages.ConfigError))
	}
}

// guarded is a runtime with a guard process, which it has already.
func guarded(t *testing.T) (rt *supervisor.Runtime, guard procscan.Identity) {
	t.Helper()
	rt, err := supervisor.Start(t.Context(), supervisor.DefaultConfig(), supervisor.WithGuard())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, rt.Close()) })
	return rt, awaitGuard(t, rt, procscan.Identity{})
}

// awaitGuard waits for a guard that watches and isn't the one before.
func awaitGuard(t *testing.T, rt *supervisor.Runtime, before procscan.Identity) (guard procscan.Identity) {
	t.Helper()
	require.Eventually(t, func() bool {
		status, err := rt.Status(context.Background())
		if err != nil {
			return false
		}
		pid, watches := strings.CutPrefix(status.Runtime.Guard, "watching (process ")
		number, _ := strconv.Atoi(strings.TrimSuffix(pid, ")"))
		guard, err = procscan.Read(number)
		return watches && err == nil && guard != before
	}, time.Minute, 5*time.Millisecond)
	return guard
}

func TestGuardIsThisProgramAloneInItsSessionAndWithoutAnyMark(t *testing.T) {
	_, guard := guarded(t)
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", guard.PID))
	require.NoError(t, err)
	assert.Contains(t, string(command), "\x00hearth-guard\x00"+strconv.Itoa(os.Getpid()))
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", guard.PID))
	require.NoError(t, err)
	assert.NotContains(t, string(environ), procscan.RuntimeVar)
	assert.NotContains(t, string(environ), procscan.SessionVar)
	infos, err := procscan.SystemTable().Walk(t.Context())
	require.NoError(t, err)
	for _, p := range infos {
		if p.Identity == guard {
			assert.Equal(t, guard.PID, p.SID)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", guard.PID))
	require.NoError(t, err)
	_, after, _ := strings.Cut(string(status), "SigIgn:\t")
	ignored, err := strconv.ParseUint(after[:16], 16, 64)
	require.NoError(t, err)
	for _, sig := range []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP} {
		assert.NotZero(t, ignored&(1<<(sig-1)), "%v ends a terminal's programs, and the runtime", sig)
	}
}

func TestGuardOfAHostWhoseInitFunctionsPrintWatches(t *testing.T) {
	t.Setenv(initPrints, "a host's banner\nand a line without an end")
	guarded(t)
}

func TestGuardThatIsKilledIsReplacedAndEveryGuardLeavesWithItsRuntime(t *testing.T) {
	rt, first := guarded(t)
	require.NoError(t, exec.Command("kill", "-KILL", strconv.Itoa(first.PID)).Run())
	second := awaitGuard(t, rt, first)
	require.NoError(t, exec.Command("kill", "-STOP", strconv.Itoa(second.PID)).Run())
	require.NoError(t, rt.Shutdown(t.Context()))
	_, err := procscan.Read(second.PID)
	assert.True(t, procscan.IsGone(err), "also one that can't hear")
}

func TestGuardOutlivesASupervisorThatFailedAndLeavesWithTheClose(t *testing.T) {
	rt, guard := guarded(t)
	rt.FailRoot()
	require.Eventually(t, func() bool { return rt.Failed() != nil }, time.Minute, time.Millisecond)
	_, err := procscan.Read(guard.PID)
	assert.NoError(t, err, "nobody else would end what is left, should this process die now")
	require.NoError(t, rt.Close())
	_, err = procscan.Read(guard.PID)
	assert.True(t, procscan.IsGone(err))
}
