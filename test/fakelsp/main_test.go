package main_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/lspwire"
	"github.com/seed-f6977891/hearth/test/standins/play"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const uri = "file:///p/my%20%28proj%29/gr%C3%B6%C3%9Fe.x"

func play1(t *testing.T, s script.LSP) (*standins.Client, standins.Scripted) {
	t.Helper()
	scripted := standins.WriteLSP(t, s)
	return standins.Connect(t, t.TempDir(), nil, scripted.Command(standins.Build(t).LSP)...), scripted
}

func published(t *testing.T, m standins.Incoming) (messages []string, version any) {
	t.Helper()
	var p struct {
		Version     any
		Diagnostics []struct{ Message string }
	}
	require.NoError(t, json.Unmarshal(m.Params, &p))
	for _, d := range p.Diagnostics {
		messages = append(messages, d.Message)
	}
	return messages, p.Version
}

func TestWithoutRulesItIsAPlainServer(t *testing.T) {
	c, scripted := play1(t, script.LSP{})
	require.Contains(t, c.Initialize(t, nil).Body, `"hoverProvider":true`)
	c.Open(t, uri, "x", "fine\nan ERROR 𝓤 here\n")
	messages, version := published(t, c.AwaitMethod(t, "textDocument/publishDiagnostics"))
	require.Equal(t, []string{"an ERROR 𝓤 here"}, messages)
	require.EqualValues(t, 1, version)

	at := map[string]any{"textDocument": map[string]any{"uri": uri}, "position": map[string]int{"line": 1, "character": 4}}
	require.Contains(t, c.Call(t, "textDocument/hover", at).Body, `"value":"ERROR"`)
	require.Contains(t, c.Call(t, "textDocument/definition", at).Body, `"start":{"line":1,"character":3}`)
	require.Contains(t, c.Call(t, "textDocument/references", at).Body, `"start":{"line":1,"character":3}`)
	require.Contains(t, c.Call(t, "textDocument/documentSymbol", at).Body, `"name":"an"`)
	require.Contains(t, c.Call(t, "textDocument/diagnostic", at).Body, `"kind":"full"`)
	require.Equal(t, lspwire.MethodNotFound, c.Call(t, "no/such", nil).Error.Code)

	require.JSONEq(t, "null", string(c.Call(t, "shutdown", nil).Message.Result))
	c.Notify(t, "exit", nil)
	require.Zero(t, c.ExitCode(t))
	exit := scripted.Await(t, standins.Is("server", journal.Exit, "0"))
	require.Equal(t, c.PID, exit.PID)
	require.Equal(t, c.StartTicks, exit.StartTicks)
}

func TestEndOfInputWithoutShutdownIsExitCodeOne(t *testing.T) {
	c, _ := play1(t, script.LSP{})
	c.Initialize(t, nil)
	c.CloseInput()
	require.Equal(t, 1, c.ExitCode(t))
}

func TestChangesAndHashesFollowTheText(t *testing.T) {
	c, _ := play1(t, script.LSP{Diagnostics: script.Hash, Hover: script.Hash})
	c.Initialize(t, nil)
	c.Open(t, uri, "x", "abc")
	c.Notify(t, "textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": uri, "version": 2},
		"contentChanges": []any{map[string]any{"text": "d", "range": map[string]any{
			"start": map[string]int{"line": 0, "character": 1}, "end": map[string]int{"line": 0, "character": 2}}}},
	})
	sum := sha256.Sum256([]byte("adc"))
	second := c.Await(t, func(m standins.Incoming) bool { return strings.Contains(m.Body, `"version":2`) })
	require.Contains(t, second.Body, "sha256 "+hex.EncodeToString(sum[:])+" generation 1 pid ")
	hover := c.Call(t, "textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": uri}})
	require.Contains(t, hover.Body, hex.EncodeToString(sum[:]))
}

func TestOwnRequestsAwaitTheirAnswerAndKeepTheTypeOfTheirID(t *testing.T) {
	c, scripted := play1(t, script.LSP{Rules: []script.Rule{
		script.When("initialized", script.AskAndWait("r-1", "client/registerCapability", map[string]any{}),
			script.Ask(0, "unknown/thing", nil)),
		script.When("textDocument/didOpen", script.AwaitAnswer("r-1"), script.Publish([]any{})),
	}})
	c.Initialize(t, nil)
	c.Open(t, uri, "x", "")
	require.Equal(t, `"r-1"`, string(c.AwaitMethod(t, "client/registerCapability").ID))
	received, _ := c.Received()
	require.Len(t, received, 2) // the answer to initialize and the request: nothing goes on before its answer
	require.NoError(t, c.Out.Reply(json.RawMessage(`"r-1"`), nil))
	c.AwaitMethod(t, "textDocument/publishDiagnostics")
	require.Equal(t, "0", string(c.AwaitMethod(t, "unknown/thing").ID))
	answer := scripted.Await(t, func(e standins.Event) bool { return e.Event == journal.Received && e.Detail == "" })
	require.Equal(t, `{"jsonrpc":"2.0","id":"r-1","result":null}`, string(answer.Data))
}

func TestRulesCountTriggersAndProcesses(t *testing.T) {
	second := script.When("textDocument/hover", script.Reply("${generation} ${word}"))
	second.Nth = 2
	newer := script.When("textDocument/hover", script.ReplyError(-32803, "new process"))
	newer.Generation = 2
	c, scripted := play1(t, script.LSP{Rules: []script.Rule{second, newer}})
	at := map[string]any{"textDocument": map[string]any{"uri": uri}}
	c.Initialize(t, nil)
	c.Open(t, uri, "x", "word")
	require.Contains(t, c.Call(t, "textDocument/hover", at).Body, `"kind":"markdown"`)
	require.Contains(t, c.Call(t, "textDocument/hover", at).Body, `"result":"1 word"`)
	c = standins.Connect(t, t.TempDir(), nil, scripted.Command(standins.Build(t).LSP)...)
	c.Initialize(t, nil)
	require.Equal(t, -32803, c.Call(t, "textDocument/hover", at).Error.Code)
}

func TestPlaceholdersSpellTheURIInEveryWay(t *testing.T) {
	spellings := []string{"uri", "uri:percent", "uri:lower", "uri:minimal", "uri:localhost"}
	do := []script.Action{}
	for _, s := range spellings {
		do = append(do, script.PublishAs(map[string]any{"uri": "${" + s + "}", "version": "${version}"}))
	}
	c, _ := play1(t, script.LSP{Rules: []script.Rule{script.When("textDocument/didOpen", do...)}})
	c.Initialize(t, nil)
	c.Open(t, uri, "x", "")
	for _, want := range []string{
		uri, "file:///p/my%20%28proj%29/gr%C3%B6%C3%9Fe%2Ex", "file:///p/my%20%28proj%29/gr%c3%b6%c3%9fe%2ex",
		"file:///p/my%20(proj)/größe.x", "file://localhost/p/my%20%28proj%29/gr%C3%B6%C3%9Fe.x",
	} {
		c.Await(t, func(m standins.Incoming) bool {
			return strings.Contains(m.Body, `"uri":"`+want+`","version":1`)
		})
	}
}

func TestChildrenSurviveTheServerAndAreInTheJournal(t *testing.T) {
	canary := standins.NewCanary(t)
	c, scripted := play1(t, script.LSP{Rules: []script.Rule{script.When("textDocument/didOpen",
		script.Start(play.Spawn{Setsid: true, IgnoreTerm: true}), script.Start(play.Spawn{Kind: play.Daemon}))}})
	c.Initialize(t, nil)
	c.Open(t, uri, "x", "")
	worker := scripted.Await(t, standins.Is(play.Sleeper, journal.Start, ""))
	daemon := scripted.Await(t, func(e standins.Event) bool {
		return e.Role == play.Daemon && e.Event == journal.Start && e.SID == e.PID
	})
	require.NoError(t, c.Cmd.Process.Kill())
	c.Wait(t)
	require.Equal(t, worker.PID, worker.SID)
	require.NotEqual(t, c.PID, worker.PGID)

	standins.Kill(t, worker, unix.SIGTERM)
	scripted.Await(t, standins.Is(play.Sleeper, journal.Signal, "SIGTERM"))
	require.False(t, standins.Gone(worker.PID, worker.StartTicks))
	standins.Kill(t, worker, unix.SIGKILL)
	standins.AwaitGone(t, worker.PID, worker.StartTicks)
	standins.Kill(t, daemon, unix.SIGTERM)
	standins.AwaitGone(t, daemon.PID, daemon.StartTicks)
	scripted.Await(t, standins.Is(play.Daemon, journal.Exit, "SIGTERM"))
	require.True(t, canary.Alive())
}

func TestNoiseFloodsAndCodes(t *testing.T) {
	c, _ := play1(t, script.LSP{Rules: []script.Rule{
		script.When("start", script.Stderr(1<<20, play.Lines), script.Stderr(300<<10, play.OneLine)),
		script.When("shutdown", script.Repeat(1000, script.Notify("window/logMessage", map[string]any{"type": 4})),
			script.Default()),
		script.When("exit", script.Delay(time.Millisecond), script.StderrText("E-17"), script.Exit(3)),
		script.When("noise", script.Raw("hello\n", 2)),
	}})
	c.Initialize(t, nil)
	c.Call(t, "shutdown", nil)
	received, _ := c.Received()
	require.Len(t, received, 1002)
	c.Notify(t, "noise", nil)
	require.ErrorContains(t, c.AwaitEnd(t), `"hello" has no colon`)
	c.Notify(t, "exit", nil)
	require.Equal(t, 3, c.ExitCode(t))
	stderr := c.Stderr(t)
	require.True(t, strings.HasSuffix(stderr, "E-17\n"))
	require.Len(t, stderr, 1<<20+300<<10+len("E-17\n"))
}

func TestAServerThatStopsReadingStaysAlive(t *testing.T) {
	c, scripted := play1(t, script.LSP{Rules: []script.Rule{script.When("initialized", script.StopReading())}})
	c.Initialize(t, nil)
	scripted.Await(t, standins.Is("", journal.Received, "initialized"))
	c.Notify(t, "after", nil)
	c.CloseInput()
	require.NoError(t, c.Cmd.Process.Signal(unix.SIGCONT))
	scripted.Await(t, standins.Is("", journal.Signal, "SIGCONT"))
	require.Empty(t, scripted.Select(t, standins.Is("", journal.Received, "after")))
	require.Empty(t, scripted.Select(t, standins.Is("", journal.EOF, "")))
}

func TestAServerThatStopsItselfIsInStateT(t *testing.T) {
	c, _ := play1(t, script.LSP{Rules: []script.Rule{script.When("initialized", script.StopSelf())}})
	c.Initialize(t, nil)
	require.True(t, standins.Until(standins.Bound, func() bool {
		letter, _ := journal.State(c.PID)
		return letter == 'T'
	}))
	require.NoError(t, c.Cmd.Process.Signal(unix.SIGCONT))
	c.CloseInput()
	require.ErrorIs(t, c.AwaitEnd(t), io.EOF)
}

func TestAMisspeltScriptEndsTheProcess(t *testing.T) {
	c, _ := play1(t, script.LSP{Rules: []script.Rule{{When: "start", Do: []script.Action{{Do: "wibble"}}}}})
	require.Equal(t, play.Misuse, c.ExitCode(t))
	require.Contains(t, c.Stderr(t), "wibble")
}
