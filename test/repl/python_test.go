package repl_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/wire"
	"github.com/seed-f6977891/hearth/test/servers"
	"github.com/seed-f6977891/hearth/test/standins"
)

// startPython starts a runtime over a project of the built-in Python profile.
func startPython(t *testing.T, changes ...func(*supervisor.Config)) *rig {
	t.Helper()
	servers.Find(t, "python3")
	project, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	standins.WriteFile(t, filepath.Join(project, "pyproject.toml"), "")
	standins.WriteFile(t, filepath.Join(project, "module.py"), "answer = 42\n")
	return start(t, project, changes...)
}

func TestPythonCodeGivesItsOutputAndItsValue(t *testing.T) {
	r := startPython(t)
	report, err := r.run("import sys, module\nprint('out')\nprint('err', file=sys.stderr)\nmodule.answer", plenty)
	require.NoError(t, err)
	assert.Equal(t, messages.RunReport{Protocol: messages.ReportJSONL, Output: "out\n", Stderr: "err\n", Result: "42",
		Duration: report.Duration, MemoryPeak: report.MemoryPeak, Generation: report.Generation}, report)
	assert.Positive(t, report.Duration)
	assert.Positive(t, report.MemoryPeak)
	assert.Equal(t, "out\nStderr:\nerr\nResult: 42", wire.RunText(report))

	report, err = r.run("1/0", plenty)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(report.Error, "Traceback"))
	assert.True(t, strings.HasSuffix(report.Error, "ZeroDivisionError: division by zero"))
}

func TestPythonCallsShareNothingUnlessTheyAreToShare(t *testing.T) {
	t.Run("fresh", func(t *testing.T) {
		r := startPython(t)
		_, err := r.run("x = 1", plenty)
		require.NoError(t, err)
		report, err := r.run("x", plenty)
		require.NoError(t, err)
		assert.Contains(t, report.Error, "NameError")
	})
	t.Run("resident", func(t *testing.T) {
		r := startPython(t, resident)
		_, err := r.run("x = 1", plenty)
		require.NoError(t, err)
		report, err := r.run("x", plenty)
		require.NoError(t, err)
		assert.Equal(t, "1", report.Result)
	})
}

// noise writes to every descriptor that takes it, so also to that of the replies.
const noise = `
import os
for fd in range(3, 20):
    try:
        os.write(fd, b"x")
    except OSError:
        pass
`

func TestPythonCodeThatMisbehavesFailsAloneAndSaysWhy(t *testing.T) {
	r := startPython(t, resident)
	for name, c := range map[string]struct {
		code    string
		timeout time.Duration
		kind    messages.Kind
		text    string
	}{
		"an endless loop":       {"while True: pass", 3 * time.Second, messages.KindTimeout, "timed out after "},
		"an end of the process": {"import os; os._exit(3)", plenty, messages.KindOutcomeUnknown, "exit status 3"},
		"a crash":               {"import os; os.kill(os.getpid(), 11)", plenty, messages.KindOutcomeUnknown, "signal: segmentation fault"},
		"noise past Python":     {noise, plenty, messages.KindOutcomeUnknown, "is not a jsonl reply"},
	} {
		t.Run(name, func(t *testing.T) {
			failed := r.failure(c.code, c.timeout)
			assert.Equal(t, c.kind, messages.KindOf(failed))
			assert.ErrorContains(t, failed, c.text)
			report, err := r.run("1+1", plenty)
			require.NoError(t, err)
			assert.Equal(t, "2", report.Result)
		})
	}
}

func TestPythonThatTimesOutKeepsWhatItHadPrinted(t *testing.T) {
	r := startPython(t)
	const limit = 3 * time.Second
	var failed *messages.RunError
	for range 5 { // one that stands still when its time ends says nothing any more
		failed = r.failure("import time\nprint('begun')\ntime.sleep(1000)", limit)
		if _, known := failed.SoFar(); known {
			break
		}
	}
	assert.Regexp(t, `^execution outcome unknown; request not retried: timed out after \d+(\.\d)?s$`, failed.Error())
	var timeout *messages.TimeoutError
	require.ErrorAs(t, failed, &timeout)
	assert.GreaterOrEqual(t, timeout.After, limit)
	report, known := failed.SoFar()
	require.True(t, known)
	assert.Equal(t, "begun\n", report.Output)
	assert.Contains(t, report.Error, `File "<run>", line 3, in <module>`)
}

func TestPythonOutputOverItsLimitIsNamed(t *testing.T) {
	r := startPython(t)
	report, err := r.run("print('x' * (9 << 20))", plenty)
	require.NoError(t, err)
	assert.Contains(t, report.Error, "output exceeded 8388608 bytes")
	report, err = r.run("import ctypes; ctypes.CDLL(None).puts(b'from C'); 3", plenty)
	require.NoError(t, err)
	assert.Equal(t, "3", report.Result, "what C prints disturbs no reply")
}

// TestPythonProcessesThatACallStartedEndWithIt: also those that left its group, and a
// crowd of forks that never came to an end.
func TestPythonProcessesThatACallStartedEndWithIt(t *testing.T) {
	r := startPython(t)
	report, err := r.run(`
import subprocess
for _ in range(10):
    pid = subprocess.Popen(["sleep", "1000"], start_new_session=True).pid
    print(pid, open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[19])
`, plenty)
	require.NoError(t, err)
	_, err = r.run("import os, time\nfor _ in range(6): os.fork()\ntime.sleep(1000)", 3*time.Second) // of which it waits for a new child
	require.Equal(t, messages.KindTimeout, messages.KindOf(err))
	next, err := r.run("1+1", plenty)
	require.NoError(t, err)
	assert.Equal(t, "2", next.Result)
	lines := strings.Split(strings.TrimSpace(report.Output), "\n")
	assert.Len(t, lines, 10)
	for _, line := range lines {
		var pid int
		var ticks uint64
		_, err := fmt.Sscan(line, &pid, &ticks)
		require.NoError(t, err)
		assert.True(t, standins.Gone(pid, ticks), "process %d lives", pid)
	}
}
