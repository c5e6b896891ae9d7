package lsp_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// limit is the time of a call that is to have too little.
const limit = 3 * time.Second

// scripted is a rig over a Lean project whose server follows a script.
type scripted struct {
	*rig
	standins.Scripted
}

var leanFiles = map[string]string{"lakefile.toml": "name = \"p\"\n", "lean-toolchain": "v4.1\n", "A.lean": "alpha\n", "B.lean": "beta\n"}

func startScripted(t testing.TB, s script.LSP, changes ...change) *scripted {
	t.Helper()
	return startScriptedAt(t, t.TempDir(), leanFiles, s, changes...)
}

func startScriptedAt(t testing.TB, root string, files map[string]string, s script.LSP, changes ...change) *scripted {
	t.Helper()
	written, bin := standins.WriteLSP(t, s), standins.Build(t)
	own := func(_ *supervisor.Config, l *config.Language) {
		l.Server.Commands = []config.Command{written.Command(bin.LSP)}
	}
	t.Cleanup(func() { assert.Empty(t, standins.Survivors(t, written.Journal)) }) // after the runtime's end
	return &scripted{startAt(t, root, "lean", files, append([]change{own}, changes...)...), written}
}

// byVersion makes the first publication of a version the last.
func byVersion(_ *supervisor.Config, l *config.Language) { l.Server.Complete = config.CompleteVersion }

// hurried is a document of a call that has little time.
func (s *scripted) hurried(name string) supervisor.Document {
	doc := s.doc(name)
	doc.Timeout = limit
	return doc
}

// hover asks about the beginning of a file.
func (s *scripted) hover(name string) (string, error) {
	report, err := s.Hover(s.bounded(), s.doc(name), supervisor.Position{})
	return report.Text, err
}

// hovered is the answer of a hover that must come.
func (s *scripted) hovered(name string) string {
	s.t.Helper()
	text, err := s.hover(name)
	require.NoError(s.t, err)
	return text
}

// texts are the messages of all diagnostics of a file.
func (s *scripted) texts(name string) []string {
	s.t.Helper()
	report, err := s.Diagnostics(s.bounded(), s.doc(name))
	require.NoError(s.t, err)
	found := []string{}
	for _, d := range report.Diagnostics {
		found = append(found, d.Message)
	}
	return found
}

// timesOut wants a time-out after the limit, and gives it.
func (s *scripted) timesOut(began time.Time, err error) *messages.TimeoutError {
	s.t.Helper()
	var timeout *messages.TimeoutError
	require.ErrorAs(s.t, err, &timeout)
	assert.Regexp(s.t, `^timed out after \d`, err.Error())
	assert.GreaterOrEqual(s.t, timeout.After, limit)
	assert.GreaterOrEqual(s.t, time.Since(began), limit)
	assert.Less(s.t, time.Since(began), limit+20*time.Second, "not at the end of the caller's own time")
	return timeout
}

func (s *scripted) starts() []standins.Event {
	s.t.Helper()
	return s.Select(s.t, standins.Is("server", journal.Start, ""))
}

// received counts the messages of a method that the servers got.
func (s *scripted) received(method string) int {
	s.t.Helper()
	return len(s.Select(s.t, standins.Is("server", journal.Received, method)))
}

var identity = regexp.MustCompile(`^sha256 (\w+) generation (\d+) pid (\d+)$`)

// identified takes apart what a server says that answers with the hash of its text.
func identified(t testing.TB, text string) (sum string, generation int) {
	t.Helper()
	m := identity.FindStringSubmatch(strings.TrimSpace(text))
	require.NotNil(t, m, text)
	generation, err := strconv.Atoi(m[2])
	require.NoError(t, err)
	return m[1], generation
}

// errorAt is a list of one error.
func errorAt(message string) []any {
	place := map[string]int{"line": 0, "character": 0}
	return []any{map[string]any{"range": map[string]any{"start": place, "end": place}, "severity": 1, "message": message}}
}

// now is the present moment on the journals' clock.
func (s *scripted) now() int64 {
	var now unix.Timespec
	require.NoError(s.t, unix.ClockGettime(unix.CLOCK_MONOTONIC, &now))
	return now.Nano()
}
