package repl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

// python is a real interpreter under the driver.
type python struct {
	*Client
	process *os.Process
	stderr  func() string // all of it, once the process ended
}

func newPython(t *testing.T) *python {
	t.Helper()
	program, err := exec.LookPath("python3")
	if err != nil && os.Getenv("HEARTH_REQUIRE_REAL") == "" {
		t.Skip("python3 is not on PATH")
	}
	require.NoError(t, err)
	inRead, inWrite, err := os.Pipe()
	require.NoError(t, err)
	outRead, outWrite, err := os.Pipe()
	require.NoError(t, err)
	errRead, errWrite, err := os.Pipe()
	require.NoError(t, err)
	argv := PythonCommand([]string{program})
	process, err := os.StartProcess(program, argv, &os.ProcAttr{
		Dir: t.TempDir(), Env: os.Environ(), Files: []*os.File{inRead, outWrite, errWrite},
	})
	require.NoError(t, err)
	closeAll(inRead, outWrite, errWrite)

	noise := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(errRead) // ends with the process
		noise <- string(all)
	}()
	p := &python{Client: NewClient(inWrite, outRead), process: process}
	p.stderr = func() string {
		_ = process.Kill() // it may have ended by itself
		_, _ = process.Wait()
		text := <-noise
		noise <- text
		return text
	}
	t.Cleanup(func() {
		p.stderr()
		closeAll(inWrite, outRead, errRead)
	})
	require.NoError(t, NewJSONL("").Warmup(t.Context(), p.Client))
	return p
}

func (p *python) run(t *testing.T, code string) messages.RunReport {
	t.Helper()
	report, err := NewJSONL("").Run(t.Context(), p.Client, Request{Code: code})
	require.NoError(t, err)
	assert.Positive(t, report.Duration)
	report.Duration, report.Protocol = 0, ""
	return report
}

func TestPythonAnswersAsASessionDoes(t *testing.T) {
	p := newPython(t)
	for _, c := range []struct {
		code string
		want messages.RunReport
	}{
		{"", messages.RunReport{}},
		{"x = 20", messages.RunReport{}},
		{"print('a'); x + 22", messages.RunReport{Output: "a\n", Result: "42"}},
		{"_ + 1", messages.RunReport{Result: "43"}},
		{"None", messages.RunReport{}},
		{"import sys\nprint('warn', file=sys.stderr)\n_ = sys.stdout.buffer.write(b'raw')", messages.RunReport{Output: "raw", Stderr: "warn\n"}},
		{"for i in range(3):\n    print(i, end='\\r\\n')", messages.RunReport{Output: "0\r\n1\r\n2\r\n"}},
		{"print('before'); raise SystemExit(3)", messages.RunReport{Output: "before\n", Error: "SystemExit: 3"}},
		{"exit()", messages.RunReport{}},
		{"__name__", messages.RunReport{Result: "'__main__'"}},
		{"print('\\ud800'); '\\ud800'", messages.RunReport{Output: "\\ud800\n", Result: "'\\ud800'"}},
		{"'still ' + str(x)", messages.RunReport{Result: "'still 20'"}},
	} {
		assert.Equal(t, c.want, p.run(t, c.code), c.code)
	}
}

func TestPythonErrorsAreTracebacksOfTheCodeAlone(t *testing.T) {
	p := newPython(t)
	p.run(t, "def f():\n    return 1 / 0") // <run>, the first behind the warm-up
	for _, c := range []struct {
		code  string
		parts []string
	}{
		{"f()", []string{`File "<run 2>", line 1, in <module>`, `File "<run>", line 2, in f`, "return 1 / 0", "ZeroDivisionError: division by zero"}},
		{"x +", []string{`File "<run 3>", line 1`, "SyntaxError: invalid syntax"}},
		{"raise KeyboardInterrupt", []string{"KeyboardInterrupt"}},
		{"import os\nos.kill(os.getpid(), 2)\nwhile True: pass", []string{"KeyboardInterrupt"}},
		{"input()", []string{"EOFError"}},
		{"raise ValueError('\\ud800')", []string{`ValueError: \ud800`}},
		{"def r(): r()\nr()", []string{"RecursionError"}},
		{"class C:\n    def __repr__(self): 1 / 0\nC()", []string{"ZeroDivisionError"}},
		{"import hearth_has_no_such", []string{"ModuleNotFoundError"}},
	} {
		report := p.run(t, c.code)
		for _, part := range c.parts {
			assert.Contains(t, report.Error, part, c.code)
		}
		assert.NotContains(t, report.Error, "in execute", c.code)
		assert.NotContains(t, report.Error, "<string>", c.code)
	}
}

// TestPythonNoiseNeverReachesTheStream writes to descriptor 1 from below Python in
// every way there is, and reads descriptor 0.
func TestPythonNoiseNeverReachesTheStream(t *testing.T) {
	p := newPython(t)
	const code = `
import ctypes, os, subprocess, sys
libc = ctypes.CDLL(None)
libc.puts(b"from C"); libc.fflush(None)
os.write(1, b"from write\n")
os.system("echo from system; cat")
subprocess.run(["sh", "-c", "echo from a child; cat"])
print("from print", file=os.fdopen(os.dup(1), "w"))
if os.fork() == 0:
    print("from a fork")  # which goes on to the end of the code
`
	assert.Equal(t, messages.RunReport{}, p.run(t, code))
	assert.Equal(t, messages.RunReport{Result: "1"}, p.run(t, "1"))
	noise := p.stderr()
	for _, line := range []string{"from C", "from write", "from system", "from a child", "from print"} {
		assert.Contains(t, noise, line+"\n")
	}
}

func TestPythonKeepsTextWhole(t *testing.T) {
	p := newPython(t)
	const text = "𝓤𝕏ℝ∀ 😀\t\u2028<>&\x7f\u00e9"
	report := p.run(t, "s = '"+text+"'\nimport hashlib\nprint(s)\nhashlib.sha256(s.encode()).hexdigest()")
	sum := sha256.Sum256([]byte(text))
	assert.Equal(t, messages.RunReport{Output: text + "\n", Result: "'" + hex.EncodeToString(sum[:]) + "'"}, report)

	code := "s = '" + strings.Repeat("ℝ", 4<<20/3) + "'\nlen(s)"
	assert.Equal(t, messages.RunReport{Result: "1398101"}, p.run(t, code))
	assert.Equal(t, strings.Repeat("ℝ😀", 6<<20/7), p.run(t, "print('ℝ😀' * (6 * 2**20 // 7), end='')").Output)
}

func TestPythonOutputIsBounded(t *testing.T) {
	p := newPython(t)
	for code, want := range map[string]string{
		"while True:\n    try: print('x' * 1000)\n    except Exception: pass": "output exceeded 8388608 bytes",
		"print('x' * (9 << 20))":                        "output exceeded 8388608 bytes",
		"import sys; sys.stderr.write('x' * (9 << 20))": "output exceeded 8388608 bytes",
		"'x' * (9 << 20)":                               "the result's text exceeded 8388608 characters",
		"print('\\0' * (2 << 20))":                      "the reply exceeded 10485760 bytes",
		"raise ValueError('x' * (11 << 20))":            "the reply exceeded 10485760 bytes",
	} {
		assert.Equal(t, want, p.run(t, code).Error)
	}
	assert.Equal(t, messages.RunReport{Output: "small\n", Result: "2"}, p.run(t, "print('small')\n1 + 1"), "state and capacity are as before")
}

func TestPythonThatLeavesByItselfHasExited(t *testing.T) {
	p := newPython(t)
	_, err := NewJSONL("").Run(t.Context(), p.Client, Request{Code: "import os; os._exit(3)"})
	requireSent(t, true, err)
	require.ErrorIs(t, err, ErrExited)
	state, err := p.process.Wait()
	require.NoError(t, err)
	assert.Equal(t, 3, state.ExitCode())
}

// TestPythonThatLoopsIsLeftToItsOwner cuts the call off when the code is known to run.
func TestPythonThatLoopsIsLeftToItsOwner(t *testing.T) {
	p := newPython(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := t.TempDir() + "/looping"
	require.NoError(t, exec.Command("mkfifo", path).Run())
	go func() {
		_, err := os.ReadFile(path) // until the code has opened and closed it
		assert.NoError(t, err)
		cancel()
	}()
	_, err := NewJSONL("").Run(ctx, p.Client, Request{Code: "open('" + path + "', 'w').close()\nwhile True: pass"})
	requireSent(t, true, err)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, p.process.Kill())
	state, err := p.process.Wait()
	require.NoError(t, err)
	assert.Equal(t, "signal: killed", state.String())
}
