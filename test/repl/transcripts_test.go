package repl_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/supervisor/wire"
	"github.com/seed-f6977891/hearth/test/standins/leanjson"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// TestRecordedDialoguesGiveTheirTexts runs every recorded command against a REPL that
// answers with the recorded bytes, cut up anywhere, also inside a character.
func TestRecordedDialoguesGiveTheirTexts(t *testing.T) {
	inputs, err := filepath.Glob(filepath.Join("..", "testdata", "lean-repl", "*.in"))
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	ran := 0
	for i, input := range inputs {
		name := strings.TrimSuffix(input, ".in")
		t.Run(filepath.Base(name), func(t *testing.T) {
			absolute, err := filepath.Abs(name)
			require.NoError(t, err)
			r := startFake(t, script.REPL{Replay: absolute, Shuffle: uint64(i + 1)}, resident)
			texts := recordedTexts(t, filepath.Base(name))
			for n, code := range recordedCommands(t, input) {
				if code == nil || strings.HasPrefix(texts[n], "NOT A REPLY") {
					continue // it asks for what no call of ours asks for
				}
				report, err := r.run(*code, plenty)
				require.NoError(t, err)
				assert.Equal(t, texts[n], wire.RunText(report))
				ran++
			}
		})
	}
	assert.Greater(t, ran, 30)
}

// recordedCommands gives the code of each request, nil for a request that has none.
func recordedCommands(t *testing.T, input string) (codes []*string) {
	t.Helper()
	raw, err := os.ReadFile(input)
	require.NoError(t, err)
	in := bufio.NewReader(bytes.NewReader(raw))
	for query := leanjson.ReadQuery(in); query != ""; query = leanjson.ReadQuery(in) {
		if strings.TrimSpace(query) == "" {
			continue
		}
		var request struct{ Cmd *string }
		require.NoError(t, json.Unmarshal([]byte(query), &request))
		codes = append(codes, request.Cmd)
	}
	return codes
}

// recordedTexts are those that the wire's own tests hold the reports to.
func recordedTexts(t *testing.T, name string) (texts []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "supervisor", "wire", "testdata", "texts", name+".txt"))
	require.NoError(t, err)
	for reply := range strings.SplitSeq(string(raw), "== reply ") {
		if _, text, found := strings.Cut(reply, "\n"); found {
			texts = append(texts, strings.TrimSuffix(text, "\n"))
		}
	}
	return texts
}
