package repl

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

// within runs code that may take so long.
func (p *python) within(t *testing.T, limit time.Duration, code string) (messages.RunReport, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return NewPython("").Run(ctx, p.Client, Request{Code: code})
}

const (
	short  = 2 * time.Second // enough to begin on a busy machine
	ample  = time.Minute
	prints = "import os, signal, subprocess, sys, time\nprint('out')\nprint('err', file=sys.stderr)\n"
)

func TestPythonWhoseTimeEndsSaysWhatItHadPrintedAndWhereItWas(t *testing.T) {
	for name, c := range map[string]struct{ code, where string }{
		"asleep":             {"time.sleep(60)", `File "<run>", line 4, in <module>`},
		"in a loop":          {"while True: pass", `File "<run>", line 4, in <module>`},
		"in a function":      {"def f():\n    time.sleep(60)\nf()", `File "<run>", line 5, in f`},
		"catching all":       {"while True:\n    try: time.sleep(60)\n    except BaseException: pass", "line 5"},
		"awaiting a program": {"subprocess.run(['sleep', '4'])", "subprocess.py"},
		"forked":             {"if os.fork() == 0: time.sleep(4); os._exit(0)\ntime.sleep(60)", "line 5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, timeout := timedOut(t, prints+c.code)
			report := timeout.Partial.(messages.RunReport)
			assert.Equal(t, "out\n", report.Output)
			assert.Equal(t, "err\n", report.Stderr)
			assert.Contains(t, report.Error, c.where)
			assert.NotContains(t, report.Error, "in execute")
			_, err := p.within(t, ample, "1")
			assert.ErrorIs(t, err, ErrBroken)
		})
	}
}

// timedOut runs code until its time ends and it has said so. A process that stands still
// then comes too late for that, and another is tried.
func timedOut(t *testing.T, code string) (p *python, timeout *messages.TimeoutError) {
	t.Helper()
	var err error
	for range 5 {
		p = newPython(t)
		_, err = p.within(t, short, code)
		requireSent(t, true, err)
		if errors.As(err, &timeout) {
			return p, timeout
		}
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	require.Fail(t, "it never says so", "%v", err)
	return nil, nil
}

func TestPythonThatCanNotSayItIsLeftToItsOwner(t *testing.T) {
	p := newPython(t)
	began := time.Now()
	_, err := p.within(t, short, prints+"signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\ntime.sleep(60)")
	requireSent(t, true, err)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.GreaterOrEqual(t, time.Since(began), short+lastWords)
}

func TestALimitThatIsNotReachedIsForgotten(t *testing.T) {
	p := newPython(t)
	const armed = "import signal\nsignal.getitimer(signal.ITIMER_REAL)[0] > 1, signal.getsignal(signal.SIGALRM) != signal.SIG_DFL"
	report, err := p.within(t, ample, armed)
	require.NoError(t, err)
	assert.Equal(t, "(True, True)", report.Result)
	assert.Equal(t, "(False, False)", p.run(t, armed).Result)
}

func TestTheCodesOwnAlarmIsItsOwn(t *testing.T) {
	p := newPython(t)
	report, err := p.within(t, ample, `import signal, time
signal.signal(signal.SIGALRM, lambda *_: print("mine"))
signal.setitimer(signal.ITIMER_REAL, 0.01)
time.sleep(0.2)`)
	require.NoError(t, err)
	assert.Equal(t, "mine\n", report.Output)

	p = newPython(t)
	_, err = p.within(t, ample, "import signal, time\nsignal.alarm(1)\ntime.sleep(60)")
	require.ErrorIs(t, err, ErrExited)
	state, err := p.process.Wait()
	require.NoError(t, err)
	assert.Equal(t, syscall.SIGALRM, state.Sys().(syscall.WaitStatus).Signal())
}

func TestPartialOutputThatIsTooLargeIsNamedAndStillATimeOut(t *testing.T) {
	_, timeout := timedOut(t, "print('\\0' * (2 << 20))\nwhile True: pass")
	assert.Contains(t, timeout.Partial.(messages.RunReport).Error, "the reply exceeded 10485760 bytes")
}

// TestOnlyTheDriverOfOursIsToldOfTheLimit: another child's protocol is as it was.
func TestOnlyTheDriverOfOursIsToldOfTheLimit(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), ample)
	defer cancel()
	for protocol, want := range map[*JSONL]bool{NewJSONL(""): false, NewPython(""): true} {
		asked := ""
		s := newStandin(t)
		s.answerLines(func(request string) string {
			asked = request
			return "{\"ok\":true}\n"
		})
		_, err := protocol.Run(ctx, s.client, Request{Code: "x"})
		require.NoError(t, err)
		assert.Equal(t, want, strings.Contains(asked, `"limit":`), asked)
	}
}
