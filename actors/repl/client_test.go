package repl

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

const cleanReply = "{\"env\": 1}\n\n"

func run(ctx context.Context, s *standin, code string) (messages.RunReport, error) {
	return NewLean(nil).Run(ctx, s.client, Request{Code: code})
}

func requireSent(t *testing.T, sent bool, err error) {
	t.Helper()
	var failed *ExchangeError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, sent, failed.Sent)
	assert.NotContains(t, err.Error(), "\n")
}

func TestAFailedExchangeIsTheLastOfItsChild(t *testing.T) {
	for name, c := range map[string]struct {
		reply string
		want  string
	}{
		"noise before the reply":     {"warning: x\n" + cleanReply, "not what a command gives"},
		"noise on the reply's line":  {"x " + cleanReply, "not what a command gives"},
		"an empty line first":        {"\n" + cleanReply, "wrote on behind its reply"},
		"an empty line alone":        {"\n", "not what a command gives"},
		"a second reply":             {cleanReply + cleanReply, "wrote on behind its reply. Tail: \"{\\\"env"},
		"a letter behind the reply":  {cleanReply + "x", "wrote on behind its reply. Tail: \"x\""},
		"two values":                 {"{\"env\": 1} {}\n\n", "not what a command gives"},
		"a repeated name":            {"{\"env\": 1, \"env\": 2}\n\n", "duplicate"},
		"not a number":               {"{\"env\": NaN}\n\n", "not what a command gives"},
		"invalid UTF-8":              {"{\"env\": 1, \"x\": \"\xff\"}\n\n", "UTF-8"},
		"half a surrogate pair":      {"{\"env\": 1, \"x\": \"\\ud835\"}\n\n", "surrogate"},
		"a list":                     {"[]\n\n", "not what a command gives"},
		"no env":                     {"{}\n\n", "no env"},
		"a negative env":             {"{\"env\": -1}\n\n", "not what a command gives"},
		"a message beside a result":  {"{\"env\": 1, \"message\": \"m\"}\n\n", "message beside a result"},
		"an empty message":           {"{\"message\": \"\"}\n\n", "empty message"},
		"an unknown severity":        {message(`"severity":"fatal","pos":{"line":1,"column":0},"data":""`), "severity"},
		"no data":                    {message(`"severity":"info","pos":{"line":1,"column":0}`), "without data"},
		"no place":                   {message(`"severity":"info","data":""`), "line and column"},
		"half a place":               {message(`"severity":"info","pos":{"line":1},"data":""`), "line and column"},
		"half an end":                {message(`"severity":"info","pos":{"line":1,"column":0},"endPos":{"line":1},"data":""`), "line and column"},
		"a broken column":            {message(`"severity":"info","pos":{"line":1,"column":0.5},"data":""`), "not what a command gives"},
		"a sorry without goal":       {"{\"env\":1,\"sorries\":[{\"proofState\":0}]}\n\n", "sorry without goal"},
		"a sorry without its state":  {"{\"env\":1,\"sorries\":[{\"goal\":\"g\"}]}\n\n", "sorry without proofState"},
		"a sorry with half a place":  {"{\"env\":1,\"sorries\":[{\"goal\":\"g\",\"proofState\":0,\"pos\":{\"line\":2}}]}\n\n", "sorry without line"},
		"names in another case":      {"{\"ENV\": 1}\n\n", "no env"},
		"eleven MiB without an end":  {strings.Repeat("x", 11<<20), "REPL response exceeded 10485760 bytes. Tail: \"xxx"},
		"eleven MiB, properly ended": {"{\"env\": 1, \"x\": \"" + strings.Repeat("x", 11<<20) + "\"}\n\n", "exceeded 10485760 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStandin(t)
			s.answer(func(string) string { return c.reply })
			_, err := run(t.Context(), s, "x")
			requireSent(t, true, err)
			require.ErrorIs(t, err, ErrProtocol)
			require.ErrorContains(t, err, c.want)

			_, err = run(t.Context(), s, "y")
			requireSent(t, false, err)
			require.ErrorIs(t, err, ErrBroken)
			err = s.client.Watch(t.Context())
			require.ErrorIs(t, err, ErrBroken)
		})
	}
}

func message(fields string) string {
	return "{\"env\": 1, \"messages\": [{" + fields + "}]}\n\n"
}

func TestTheLimitItselfIsNoExcess(t *testing.T) {
	const frame = `{"env": 1, "x": ""}`
	s := newStandin(t)
	s.answer(func(string) string {
		return `{"env": 1, "x": "` + strings.Repeat("x", ReplyLimit-len(frame)) + "\"}\n\n"
	})
	_, err := run(t.Context(), s, "x")
	require.NoError(t, err)
}

func TestOneByteMoreIsAnExcess(t *testing.T) {
	s := newStandin(t)
	s.answer(func(string) string { return strings.Repeat("x", ReplyLimit+1) + "\n\n" })
	_, err := run(t.Context(), s, "x")
	require.ErrorContains(t, err, "exceeded")
}

func TestALongReplyArrivesWhole(t *testing.T) {
	data := strings.Repeat("𝓤 ℝ ∀ ", 6<<20/12)
	s := newStandin(t)
	s.answer(func(string) string {
		return message(`"severity":"info","pos":{"line":1,"column":0},"data":"` + data + `"`)
	})
	report, err := run(t.Context(), s, "x")
	require.NoError(t, err)
	require.Equal(t, sha256.Sum256([]byte(data)), sha256.Sum256([]byte(report.Messages[0].Data)))
}

func TestAChildThatExitsIsSaidToHaveExited(t *testing.T) {
	t.Run("before the request is read", func(t *testing.T) {
		s := newStandin(t)
		require.NoError(t, s.stdin.Close())
		_, err := run(t.Context(), s, "x")
		requireSent(t, true, err)
		require.ErrorIs(t, err, ErrClosedStdin)
	})
	t.Run("before the reply is whole", func(t *testing.T) {
		s := newStandin(t)
		go func() {
			_, err := s.leanRequest()
			assert.NoError(t, err)
			_, err = io.WriteString(s.stdout, `{"env": 1}`)
			assert.NoError(t, err)
			assert.NoError(t, s.stdout.Close())
		}()
		_, err := run(t.Context(), s, "x")
		requireSent(t, true, err)
		require.ErrorIs(t, err, ErrExited)
	})
	t.Run("while it is watched", func(t *testing.T) {
		s := newStandin(t)
		require.NoError(t, s.stdout.Close())
		err := s.client.Watch(t.Context())
		requireSent(t, false, err)
		require.ErrorIs(t, err, ErrExited)
	})
}

func TestTheEndOfTheContextCutsAnExchangeOff(t *testing.T) {
	cause := errors.New("the caller's reason")
	for name, c := range map[string]struct {
		child func(*standin)
		want  string
	}{
		"while the child reads nothing":   {func(*standin) {}, "while writing"},
		"while the child reads one byte":  {func(s *standin) { _, _ = s.requests.ReadByte() }, "while writing"},
		"while the child says nothing":    {func(s *standin) { _, _ = s.leanRequest() }, "gave no reply"},
		"while the reply is half written": {func(s *standin) { _, _ = s.leanRequest(); _, _ = io.WriteString(s.stdout, `{"env"`) }, "gave no reply"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBubbleStandin(t)
				go c.child(s)
				ctx, cancel := context.WithTimeoutCause(t.Context(), 3*time.Second, cause)
				defer cancel()
				began := time.Now()
				_, err := run(ctx, s, strings.Repeat("x", 1<<16))
				assert.Equal(t, 3*time.Second, time.Since(began))
				requireSent(t, true, err)
				require.ErrorIs(t, err, cause)
				require.ErrorContains(t, err, c.want)
				require.NotErrorIs(t, err, ErrExited)
			})
		})
	}
}

func TestNothingIsSentForACallThatIsOver(t *testing.T) {
	s := newStandin(t)
	s.answer(func(string) string { return cleanReply })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := run(ctx, s, "x")
	requireSent(t, false, err)
	require.ErrorIs(t, err, context.Canceled)

	_, err = run(t.Context(), s, "y") // nothing of x is on the pipe
	require.NoError(t, err)
}

func TestWhatIsNoTextIsNeverSent(t *testing.T) {
	s := newStandin(t)
	for _, protocol := range []Protocol{NewLean(nil), NewJSONL("")} {
		_, err := protocol.Run(t.Context(), s.client, Request{Code: "\xff"})
		requireSent(t, false, err)
		require.Equal(t, messages.KindInvalid, messages.KindOf(err))
	}
}

func TestAnIdleChildIsWatched(t *testing.T) {
	t.Run("silence until it is needed", func(t *testing.T) {
		s := newStandin(t)
		s.answer(func(string) string { return cleanReply })
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			watched := make(chan error)
			go func() { watched <- s.client.Watch(ctx) }()
			cancel()
			require.NoError(t, <-watched)
			_, err := run(t.Context(), s, "x")
			require.NoError(t, err)
		}
	})
	t.Run("noise is its end", func(t *testing.T) {
		s := newStandin(t)
		_, err := io.WriteString(s.stdout, "hello\n")
		require.NoError(t, err)
		err = s.client.Watch(t.Context())
		requireSent(t, false, err)
		require.ErrorIs(t, err, ErrProtocol)
		require.ErrorContains(t, err, `without being asked. Tail: "hello\n"`)
	})
}

// gate holds a cut up on its way to the pipes.
type gate struct {
	Stdin
	entered, leave chan struct{}
}

func (g gate) SetWriteDeadline(t time.Time) error {
	if !t.IsZero() {
		close(g.entered)
		<-g.leave
	}
	return g.Stdin.SetWriteDeadline(t)
}

// TestALateCutNeverHitsTheNextUse lets the reply overtake the cut.
func TestALateCutNeverHitsTheNextUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBubbleStandin(t)
		late := gate{Stdin: s.client.in, entered: make(chan struct{}), leave: make(chan struct{})}
		s.client.in = late
		ctx, cancel := context.WithCancel(t.Context())
		s.answer(func(string) string {
			cancel()
			<-late.entered
			return cleanReply
		})
		done := make(chan error, 1)
		go func() {
			_, err := run(ctx, s, "x")
			done <- err
		}()
		synctest.Wait()
		require.Empty(t, done, "the cut is still under way")
		close(late.leave)
		require.NoError(t, <-done, "the reply was whole")
		s.client.in = late.Stdin
		_, err := run(t.Context(), s, "y")
		require.NoError(t, err)
	})
}

func TestPipesWithoutDeadlinesAreRefused(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/plain")
	require.NoError(t, err)
	defer closeAll(file)
	_, err = NewLean(nil).Run(t.Context(), NewClient(file, file), Request{Code: "x"})
	requireSent(t, false, err)
	require.ErrorIs(t, err, os.ErrNoDeadline)
}

// TestCharactersAreSentRawAndReadInEitherForm has a child that refuses the escapes
// which Lean's parser doesn't join.
func TestCharactersAreSentRawAndReadInEitherForm(t *testing.T) {
	const code = "𝓤𝕏ℝ∀ 😀\t\u2028<>&\x7f\"\\\n\x00é"
	const raw, escaped = "𝓤𝕏ℝ∀ 😀\u2028<>&\x7f", `\ud835\udcE4\uD835\udd4f\u211d\u2200 \uD83D\uDE00\u2028\u003c\u003e\u0026\u007f`
	random := rand.New(rand.NewPCG(3, 4))
	for _, data := range []string{raw, escaped} {
		s := newStandin(t)
		s.client.out = sliced{Stdout: s.client.out, random: random}
		s.answer(func(request string) string {
			assert.Equal(t, `{"cmd":"𝓤𝕏ℝ∀ 😀\t`+"\u2028<>&\x7f"+`\"\\\n\u0000é"}`, request)
			return message(`"severity":"info","pos":{"line":1,"column":0},"data":"` + data + `"`)
		})
		report, err := run(t.Context(), s, code)
		require.NoError(t, err)
		assert.Equal(t, raw, report.Messages[0].Data)
	}
}
