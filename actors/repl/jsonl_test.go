package repl

import (
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

// answerLines serves requests that are lines.
func (s *standin) answerLines(reply func(request string) string) {
	go func() {
		for {
			request, err := s.requests.ReadString('\n')
			if err != nil {
				return
			}
			if _, err := io.WriteString(s.stdout, reply(request)); err != nil {
				return
			}
		}
	}()
}

func TestJSONLReportsWhatTheChildSays(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for reply, want := range map[string]messages.RunReport{
		`{"ok":true}`: {},
		`{"ok":true,"stdout":"𝓤\n","stderr":"e","result":"42","error":null}`:    {Output: "𝓤\n", Stderr: "e", Result: "42"},
		`{"ok":false,"stdout":"a","result":null,"error":"Traceback:\nE","x":1}`: {Output: "a", Error: "Traceback:\nE"},
		`{"ok":true,"stdout":"\ud835\udce4","error":""}`:                        {Output: "𝓤"},
	} {
		s := newStandin(t)
		s.client.out = sliced{Stdout: s.client.out, random: random}
		s.answerLines(func(request string) string {
			assert.Equal(t, "{\"code\":\"𝓤\\n<>&\u2028\"}\n", request)
			return reply + "\n"
		})
		report, err := NewJSONL("").Run(t.Context(), s.client, Request{Code: "𝓤\n<>&\u2028"})
		require.NoError(t, err)
		report.Duration = 0
		want.Protocol = messages.ReportJSONL
		assert.Equal(t, want, report)
	}
}

func TestJSONLRefusesWhatIsNoReply(t *testing.T) {
	for name, c := range map[string]struct{ reply, want string }{
		"noise":                    {"hello\n{\"ok\":true}\n", "wrote on behind its reply"},
		"a line of noise":          {"hello\n", "not a jsonl reply"},
		"an empty line":            {"\n", "not a jsonl reply"},
		"two replies":              {"{\"ok\":true}\n{\"ok\":true}\n", "wrote on behind its reply"},
		"no ok":                    {"{}\n", "no ok"},
		"ok with an error":         {"{\"ok\":true,\"error\":\"E\"}\n", "error says otherwise"},
		"a failure without reason": {"{\"ok\":false}\n", "error says otherwise"},
		"a number for text":        {"{\"ok\":true,\"stdout\":1}\n", "not a jsonl reply"},
		"a repeated name":          {"{\"ok\":true,\"ok\":true}\n", "duplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStandin(t)
			s.answerLines(func(string) string { return c.reply })
			_, err := NewJSONL("").Run(t.Context(), s.client, Request{})
			requireSent(t, true, err)
			require.ErrorIs(t, err, ErrProtocol)
			require.ErrorContains(t, err, c.want)
			_, err = NewJSONL("").Run(t.Context(), s.client, Request{})
			require.ErrorIs(t, err, ErrBroken)
		})
	}
}

func TestJSONLWarmupRunsItsCode(t *testing.T) {
	s := newStandin(t)
	s.answerLines(func(request string) string {
		if request == "{\"code\":\"import numpy\"}\n" {
			return "{\"ok\":false,\"error\":\"Traceback\\nModuleNotFoundError: numpy\\n\"}\n"
		}
		return "{\"ok\":true}\n"
	})
	require.NoError(t, NewJSONL("").Warmup(t.Context(), s.client))
	require.EqualError(t, NewJSONL("import numpy").Warmup(t.Context(), s.client), "warm-up failed: ModuleNotFoundError: numpy")
}

func TestWhatAChildSaysThatTakesNoRequestIsTold(t *testing.T) {
	s := newStandin(t)
	_, err := io.WriteString(s.stdout, "error: no such toolchain\n")
	require.NoError(t, err)
	require.NoError(t, s.stdin.Close())
	_, err = run(t.Context(), s, "x")
	requireSent(t, true, err)
	require.ErrorIs(t, err, ErrProtocol)
	require.ErrorContains(t, err, "error: no such toolchain")
}
