package script_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-f6977891/hearth/test/standins/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLoadRefusesFieldsThatNoScriptHas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(path, []byte(`{"rules":[{"wen":"start"}]}`), 0o600))
	require.ErrorContains(t, script.Load(path, new(script.LSP)), "wen")
	require.Error(t, script.Load(path+".none", new(script.LSP)))
}

func TestAScriptSurvivesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script")
	want := script.LSP{Hover: script.Hash, Rules: []script.Rule{
		script.When("initialized", script.AskAndWait("r-1", "m", nil), script.Raw("\x00\xff", 1), script.StopReading()),
	}}
	text, err := json.Marshal(want)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	var got script.LSP
	require.NoError(t, script.Load(path, &got))
	require.Equal(t, want, got)
	require.True(t, got.Rules[0].Inline)
}

func TestGenerationsAreCountedEvenAtTheSameMoment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script")
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int]bool{}
	for range 20 {
		wg.Go(func() {
			n, err := script.NextGeneration(path)
			assert.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			seen[n] = true
		})
	}
	wg.Wait()
	require.Len(t, seen, 20)
	require.True(t, seen[1] && seen[20])
}

func TestExpandKeepsTheTypeOfAWholePlaceholder(t *testing.T) {
	v, err := script.Expand(json.RawMessage(`{"a":["${n}","x ${n} ${s}"],"b":1,"c":"${id}"}`),
		map[string]any{"${n}": 7, "${s}": "y", "${id}": json.RawMessage(`"r"`)})
	require.NoError(t, err)
	text, err := json.Marshal(v)
	require.NoError(t, err)
	require.JSONEq(t, `{"a":[7,"x 7 y"],"b":1,"c":"r"}`, string(text))
	_, err = script.Expand(json.RawMessage(`{`), nil)
	require.Error(t, err)
}

func TestFillHasItsSizeAndIsValid(t *testing.T) {
	for _, n := range []int{0, 1, 20, 1 << 20} {
		require.Len(t, script.Fill(n), n)
		require.True(t, utf8.ValidString(script.Fill(n)))
	}
}
