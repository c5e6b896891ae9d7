package daemon_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	listTools = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
)

// callTool is the request that calls a tool of this home's project.
func (h *home) callTool(id int, name, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"project_dir":%q%s}}}`+"\n",
		id, name, h.project, arguments)
}

// adapter is hearth mcp under the test's own hand.
type adapter struct {
	*exec.Cmd
	input  *os.File
	output *bufio.Reader
}

func (h *home) adapter() *adapter {
	h.t.Helper()
	c := h.command("mcp")
	theirs, input, err := os.Pipe()
	require.NoError(h.t, err)
	output, theirOutput, err := os.Pipe()
	require.NoError(h.t, err)
	c.Stdin, c.Stdout = theirs, theirOutput
	require.NoError(h.t, c.Start())
	_, _ = theirs.Close(), theirOutput.Close()
	h.t.Cleanup(func() {
		_, _ = input.Close(), output.Close()
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return &adapter{c, input, bufio.NewReaderSize(output, 1<<20)}
}

func (a *adapter) send(t testing.TB, text string) {
	t.Helper()
	_, err := io.WriteString(a.input, text)
	require.NoError(t, err)
}

// end waits for the adapter's end and gives its exit code and how long that took.
func (a *adapter) end(t testing.TB) (code int, took time.Duration) {
	t.Helper()
	began := time.Now()
	timer := time.AfterFunc(bound, func() { _ = a.Process.Kill() })
	defer timer.Stop()
	_, _ = io.Copy(io.Discard, a.output)
	_ = a.Wait()
	return a.ProcessState.ExitCode(), time.Since(began)
}

// soon is what the end of an adapter may take: 2 s, and as much again for a machine
// that has other things to do. None of the calls below would end by itself.
const soon = 10 * time.Second

func TestReportedFault2TheEndOfItsInputEndsTheAdapter(t *testing.T) {
	h := newHome(t, options{repl: slowly(time.Hour)})
	pid := h.start().PID

	got := h.hearth("mcp") // standard input is /dev/null
	assert.Equal(t, outcome{0, "", ""}, got)

	a := h.adapter()
	a.send(t, initialize+listTools)
	require.NoError(t, a.input.Close())
	for range 2 {
		_, err := a.output.ReadString('\n')
		assert.NoError(t, err, "what came before the end is answered")
	}
	code, took := a.end(t)
	assert.Zero(t, code)
	assert.Less(t, took, soon)

	a = h.adapter()
	a.send(t, initialize+h.callTool(3, "run_code", `,"code":"slow 1"`))
	require.True(t, standins.Until(bound, func() bool { return h.received("slow 1") == 1 }))
	require.NoError(t, a.input.Close())
	code, took = a.end(t)
	assert.Zero(t, code)
	assert.Less(t, took, soon)
	standins.AwaitGone(t, h.startOf("slow 1").PID, h.startOf("slow 1").StartTicks)

	// Somebody else holds the pipe, and is killed with the adapter's parent.
	c := exec.Command("sh", "-c", `{ printf '%s' "$1"; exec sleep 600; } | "$0" mcp >/dev/null & wait`, h.program,
		initialize+h.callTool(3, "run_code", `,"code":"slow 2"`))
	c.Env, c.Dir = h.env, h.project
	require.NoError(t, c.Start())
	require.True(t, standins.Until(bound, func() bool { return h.received("slow 2") == 1 }))
	require.NoError(t, c.Process.Kill())
	_ = c.Wait()
	require.NotEmpty(t, h.running(" mcp "))
	assert.True(t, standins.Until(bound, func() bool {
		for _, holder := range h.running("sleep ") { // one that just becomes a sleep isn't seen
			_ = syscall.Kill(holder, syscall.SIGKILL)
		}
		return len(h.running(" mcp ")) == 0
	}))
	assert.Equal(t, pid, h.status().PID, "the daemon goes on")
}

// running are the processes of this home whose command lines have a word.
func (h *home) running(word string) (pids []int) {
	for pid, line := range h.left() {
		if strings.Contains(line, word) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// startOf is the start of the REPL that got this code.
func (h *home) startOf(code string) standins.Event {
	h.t.Helper()
	got := h.repl.Select(h.t, standins.Is("", journal.Received, code))
	require.NotEmpty(h.t, got)
	return got[0]
}

func TestReportedFault19TheAdaptersOutputIsProtocolAlone(t *testing.T) {
	h := newHome(t, options{})
	h.env = h.with("HEARTH_LOG_LEVEL=debug")
	a := h.adapter()
	a.send(t, initialize+h.callTool(2, "run_code", `,"code":"x"`)+h.callTool(3, "check_file", `,"file_path":"a.fake"`)+
		h.callTool(4, "runtime_status", ``))
	for range 4 {
		line, err := a.output.ReadString('\n')
		require.NoError(t, err)
		var message struct {
			JSONRPC string
			Result  json.RawMessage
		}
		assert.NoError(t, json.Unmarshal([]byte(line), &message), line)
		assert.Equal(t, "2.0", message.JSONRPC)
		assert.NotEmpty(t, message.Result)
	}
	for pid := range h.left() {
		if pid == a.Process.Pid {
			continue
		}
		for _, fd := range []string{"0", "1"} {
			theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd))
			if err != nil {
				continue // it has ended
			}
			for _, own := range []string{pipeOf(t, a.input), pipeOf(t, a.Stdout.(*os.File))} {
				assert.NotEqual(t, own, theirs, "process %d has the adapter's", pid)
			}
		}
	}
	require.NoError(t, a.input.Close())
	rest, err := io.ReadAll(a.output)
	require.NoError(t, err)
	assert.Empty(t, string(rest))
	code, _ := a.end(t)
	assert.Zero(t, code)
}

// pipeOf is the kernel's name of the pipe that a file of ours is an end of.
func pipeOf(t *testing.T, file *os.File) string {
	t.Helper()
	raw, err := file.SyscallConn()
	if err != nil {
		return "closed"
	}
	name := "closed"
	_ = raw.Control(func(fd uintptr) { name, _ = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)) })
	return name
}
