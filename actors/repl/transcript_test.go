package repl

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

// recorded is one exchange with a real Lean REPL. A transcript's file is read as
// the REPL reads its input.
type recorded struct{ request, reply string }

func transcripts(t testing.TB) map[string][]recorded {
	t.Helper()
	dir := filepath.Join("..", "..", "test", "testdata", "lean-repl")
	ins, err := filepath.Glob(filepath.Join(dir, "*.in"))
	require.NoError(t, err)
	require.NotEmpty(t, ins)
	all := map[string][]recorded{}
	for _, in := range ins {
		name := strings.TrimSuffix(filepath.Base(in), ".in")
		requests, replies := blocks(t, in, ""), blocks(t, filepath.Join(dir, name+".expected.out"), "\n")
		require.Len(t, replies, len(requests), name)
		for i := range requests {
			all[name] = append(all[name], recorded{request: requests[i], reply: replies[i] + "\n\n"})
		}
	}
	return all
}

// blocks splits a file at blank lines and joins the lines of each block with sep.
func blocks(t testing.TB, path, sep string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var all, block []string
	for _, line := range append(strings.Split(string(text), "\n"), "") {
		line = strings.TrimRight(line, " \r")
		if line != "" {
			block = append(block, line)
		} else if block != nil {
			all, block = append(all, strings.Join(block, sep)), nil
		}
	}
	return all
}

// TestRecordedRepliesGiveTheirReports answers every recorded request with the
// recorded bytes, however they are cut up. Replies to tactics, which no call of
// ours asks for, are refused.
func TestRecordedRepliesGiveTheirReports(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, exchanges := range transcripts(t) {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", "reports", name+".json"))
			require.NoError(t, err)
			var want []*messages.RunReport
			require.NoError(t, json.Unmarshal(text, &want))
			require.Len(t, want, len(exchanges))
			for i, exchange := range exchanges {
				got, err := replay(t, random, exchange)
				if want[i] == nil {
					require.ErrorIs(t, err, ErrProtocol)
					continue
				}
				require.NoError(t, err)
				assert.Positive(t, got.Duration)
				got.Duration = 0
				assert.Equal(t, *want[i], got)
			}
		})
	}
}

// replay sends the recorded command, or another request in the place of what isn't one.
func replay(t *testing.T, random *rand.Rand, exchange recorded) (messages.RunReport, error) {
	t.Helper()
	var command struct{ Cmd string }
	require.NoError(t, json.Unmarshal([]byte(exchange.request), &command))
	s := newStandin(t)
	s.client.out = sliced{Stdout: s.client.out, random: random}
	s.answer(func(request string) string {
		var sent struct{ Cmd string }
		assert.NoError(t, json.Unmarshal([]byte(request), &sent))
		assert.Equal(t, command, sent)
		return exchange.reply
	})
	return NewLean(nil).Run(t.Context(), s.client, Request{Code: command.Cmd})
}
