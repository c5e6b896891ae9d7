package lsp_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// TestReportedFault03NoAnswerIsMadeOfAFileThatWasNotCheckedYet: the first publication is
// empty, or none came, and the file was called clean.
func TestReportedFault03NoAnswerIsMadeOfAFileThatWasNotCheckedYet(t *testing.T) {
	opening := func(do ...script.Action) script.LSP {
		return script.LSP{Diagnostics: script.None, Rules: []script.Rule{script.When("textDocument/didOpen", do...)}}
	}
	t.Run("the error comes later", func(t *testing.T) {
		t.Parallel()
		for found, attempt := []string{}, 1; len(found) == 0; attempt++ {
			s := startScripted(t, opening(script.Delay(100*time.Millisecond), script.Publish([]any{}),
				script.Delay(600*time.Millisecond), script.Publish(errorAt("late"))))
			if found = s.texts("A.lean"); len(found) == 0 { // right, where the server stood still for the quiet time
				both := standins.AwaitEvents(t, s.Journal, standins.Is("server", journal.Sent, "textDocument/publishDiagnostics"), 2, standins.Bound)
				require.Greater(t, both[1].TimeNS-both[0].TimeNS, (900 * time.Millisecond).Nanoseconds())
				require.Less(t, attempt, 10)
				continue
			}
			assert.Equal(t, []string{"late"}, found)
		}
	})
	t.Run("there is none", func(t *testing.T) {
		t.Parallel()
		s := startScripted(t, opening(script.Delay(100*time.Millisecond), script.Publish([]any{})))
		assert.Empty(t, s.texts("A.lean"))
		published := s.Await(t, standins.Is("server", journal.Sent, "textDocument/publishDiagnostics"))
		assert.GreaterOrEqual(t, s.now()-published.TimeNS, time.Second.Nanoseconds(), "after the quiet time")
	})
	for name, do := range map[string][]script.Action{
		"nothing comes":      {},
		"another file's":     {script.PublishAs(map[string]any{"uri": "file:///other.lean", "diagnostics": []any{}})},
		"one of before":      {script.PublishAs(map[string]any{"uri": "${uri}", "version": 0, "diagnostics": []any{}})},
		"the log says it":    {script.Notify("window/logMessage", map[string]any{"type": 3, "message": "no errors"})},
		"progress of others": {script.Notify("$/progress", map[string]any{"token": 1, "value": map[string]string{"kind": "end"}})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startScripted(t, opening(do...))
			began := time.Now()
			_, err := s.Diagnostics(s.bounded(), s.hurried("A.lean"))
			assert.Nil(t, s.timesOut(began, err).Partial)
		})
	}
	for name, malformed := range map[string]any{"null": nil, "an object": map[string]any{}, "text": "none"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := opening(script.PublishAs(map[string]any{"uri": "${uri}", "version": "${version}", "diagnostics": malformed})).Rules
			rules[0].Generation = 1
			s := startScripted(t, script.LSP{Rules: rules}, byVersion)
			_, err := s.Diagnostics(s.bounded(), s.doc("A.lean"))
			assert.Equal(t, messages.KindProtocol, messages.KindOf(err), "%v", err)
			assert.Empty(t, s.texts("A.lean"))
			assert.Len(t, s.starts(), 2, "the session was replaced")
		})
	}
}

// TestReportedFault05AnswersComeFromTheBytesOnDiskNow: a document was opened once, and
// edits outside of any editor were never seen.
func TestReportedFault05AnswersComeFromTheBytesOnDiskNow(t *testing.T) {
	s := startScripted(t, script.LSP{Hover: script.Hash, Diagnostics: script.Hash}, byVersion)
	sum := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	path := filepath.Join(s.root, "A.lean")
	for _, text := range []string{"one", "two", "longer than before", "two", ""} {
		old := time.Now().Add(-time.Hour)
		s.write("A.lean", text)
		require.NoError(t, os.Chtimes(path, old, old)) // size and time are as before in some
		hash, _ := identified(t, s.texts("A.lean")[0])
		assert.Equal(t, sum(text), hash)
		hash, _ = identified(t, s.hovered("A.lean"))
		assert.Equal(t, sum(text), hash)
	}
	assert.Empty(t, s.Select(t, standins.Is("", "opened twice", "")))
}

// TestReportedFault05ChangedToolchainReplacesTheServerOnceNoCallUsesIt: a new toolchain,
// manifest or lakefile, and the old server went on answering.
func TestReportedFault05ChangedToolchainReplacesTheServerOnceNoCallUsesIt(t *testing.T) {
	s := startScripted(t, script.LSP{Hover: script.Hash, Rules: []script.Rule{
		{When: "textDocument/hover", Nth: 2, Generation: 1, Do: []script.Action{script.Delay(time.Second), script.Default()}},
	}})
	generation := func() int { _, n := identified(t, s.hovered("A.lean")); return n }
	assert.Equal(t, 1, generation())
	inFlight := make(chan string, 1)
	go func() {
		text, err := s.hover("A.lean")
		assert.NoError(t, err)
		inFlight <- text
	}()
	standins.AwaitEvents(t, s.Journal, standins.Is("server", journal.Received, "textDocument/hover"), 2, standins.Bound)
	s.write("lean-toolchain", "v4.2\n")
	second := generation()
	_, first := identified(t, <-inFlight)
	assert.Equal(t, []int{1, 2}, []int{first, second}, "what was under way came to its end where it was")
	for turn, change := range []func(){
		func() { s.write("lake-manifest.json", "{}") },
		func() { s.write("lakefile.lean", "package p") },
		func() { require.NoError(t, os.Remove(filepath.Join(s.root, "lakefile.lean"))) },
	} {
		change()
		assert.Equal(t, turn+3, generation())
	}
	starts := s.starts()
	require.Len(t, starts, 5)
	for _, old := range starts[:4] {
		assert.True(t, standins.Gone(old.PID, old.StartTicks))
	}
}

// TestReportedFault36AServersSpellingOfAURIIsNoOtherFile: diagnostics were matched by the
// raw URI, and one that escapes more, or less, was dropped.
func TestReportedFault36AServersSpellingOfAURIIsNoOtherFile(t *testing.T) {
	const file = "größe 𝕏.lean"
	for _, spelling := range []string{"${uri}", "${uri:percent}", "${uri:lower}", "${uri:minimal}", "${uri:localhost}"} {
		t.Run(spelling, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "my proj (1) #2 100%")
			publish := func(uri string, list []any) script.Action {
				return script.PublishAs(map[string]any{"uri": uri, "version": "${version}", "diagnostics": list})
			}
			s := startScriptedAt(t, root, map[string]string{"lakefile.toml": "", file: "x"}, script.LSP{
				Rules: []script.Rule{script.When("textDocument/didOpen",
					publish(spelling+"x", errorAt("another file's")), publish(spelling, errorAt("its own")))},
			}, byVersion)
			assert.Equal(t, []string{"its own"}, s.texts(file))
			opened := s.Await(t, standins.Is("server", journal.Received, "textDocument/didOpen"))
			var message struct {
				Params struct{ TextDocument struct{ URI string } }
			}
			require.NoError(t, json.Unmarshal(opened.Data, &message))
			uri, err := url.Parse(message.Params.TextDocument.URI)
			require.NoError(t, err)
			assert.Equal(t, filepath.Join(root, file), uri.Path, "what the runtime itself writes is exact")
			assert.Empty(t, uri.RawQuery+uri.Fragment)
		})
	}
}
