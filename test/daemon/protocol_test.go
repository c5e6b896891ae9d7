package daemon_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/supervisor/wire"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// v1 is a client of the predecessor's protocol, made of the contract's text alone.
type v1 struct {
	t    testing.TB
	conn net.Conn
}

func connect(t testing.TB, socket string) *v1 {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(bound)))
	return &v1{t, conn}
}

func (c *v1) send(line string) {
	c.t.Helper()
	_, err := io.WriteString(c.conn, line+"\n")
	require.NoError(c.t, err)
}

// line reads the reply, after which there is nothing more.
func (c *v1) line() string {
	c.t.Helper()
	all, err := io.ReadAll(c.conn)
	require.NoError(c.t, err)
	require.Equal(c.t, 1, strings.Count(string(all), "\n"), "one line")
	return strings.TrimSuffix(string(all), "\n")
}

// ask makes one request on a connection of its own.
func (h *home) ask(line string) string {
	h.t.Helper()
	c := connect(h.t, h.socket())
	c.send(line)
	return c.line()
}

func TestThePredecessorsProtocolIsSpokenByteForByte(t *testing.T) {
	h := newHome(t, options{repl: script.REPL{Rules: []script.Rule{
		script.Match("loud", script.Reply(map[string]any{"ok": true, "stdout": "<é>\n", "stderr": "", "result": "", "error": nil}))}}})
	pid := h.start().PID
	unused := filepath.Join(t.TempDir(), "unused")
	require.NoError(t, os.Mkdir(unused, 0o700))
	place := fmt.Sprintf(`"project_dir":%q,"file_path":%q`, h.project, h.file())
	for _, c := range []struct{ request, reply string }{
		{`{"v":1,"id":[1,"a"],"method":"lsp.diagnostics","params":{` + place + `}}`,
			`{"v":1,"id":[1,"a"],"ok":true,"result":"No diagnostics — file compiles cleanly."}`},
		{`{"v":1,"id":"h","method":"lsp.hover","params":{` + place + `,"line":0,"character":1}}`,
			`{"v":1,"id":"h","ok":true,"result":"word"}`},
		{`{"v":1,"id":1,"method":"lsp.hover","params":{` + place + `,"line":-1,"character":1}}`,
			`{"v":1,"id":1,"ok":false,"error":{"type":"ValueError","message":"line must be a non-negative integer"}}`},
		{fmt.Sprintf(`{"v":1,"id":null,"method":"repl.run","params":{"project_dir":%q,"code":"loud","unknown":1}}`, h.project),
			`{"v":1,"id":null,"ok":true,"result":"<é>"}`},
		{fmt.Sprintf(`{"v":1,"id":2,"method":"repl.run","params":{"project_dir":%q,"code":"x","timeout":true}}`, h.project),
			`{"v":1,"id":2,"ok":false,"error":{"type":"ValueError","message":"timeout must be a finite positive number or null"}}`},
		{fmt.Sprintf(`{"v":1,"id":2,"method":"repl.run","params":{"project_dir":%q,"code":"x","timeout":241}}`, h.project),
			`{"v":1,"id":2,"ok":false,"error":{"type":"ValueError","message":"timeout exceeds the node-wide limit of 240 seconds"}}`},
		{`{"v":1,"id":3,"method":"daemon.dance","params":{}}`,
			`{"v":1,"id":3,"ok":false,"error":{"type":"ValueError","message":"unknown method: daemon.dance"}}`},
		{`{"v":1,"id":4,"method":"daemon.ping","params":[]}`,
			`{"v":1,"id":4,"ok":false,"error":{"type":"ValueError","message":"params must be an object"}}`},
		{`not json`, `{"v":1,"id":null,"ok":false,"error":{"type":"ValueError","message":"invalid JSON: invalid character 'o' in literal null (expecting 'u')"}}`},
		{fmt.Sprintf(`{"v":1,"id":5,"method":"repl.status","params":{"project_dir":%q,"language":"python"}}`, unused),
			fmt.Sprintf(`{"v":1,"id":5,"ok":false,"error":{"type":"ValueError","message":"%s`, "project_dir ")},
	} {
		got := h.ask(c.request)
		if strings.HasSuffix(c.reply, "}") {
			assert.Equal(t, c.reply, got, c.request)
		} else {
			assert.True(t, strings.HasPrefix(got, c.reply), got)
		}
	}
	assert.Regexp(t, fmt.Sprintf(`^\{"v":1,"id":1,"ok":true,"result":\{"running":true,"pid":%d,"protocol":1,"install_id":"[0-9a-f]{10}-[0-9a-f]{10}","build_generation":\d+,"uptime_seconds":\d+\.\d+,"config":\{"max_projects":4,"idle_seconds":1800\.0,`, pid),
		h.ask(`{"v":1,"id":1,"method":"daemon.ping","params":{}}`))
	assert.Regexp(t, fmt.Sprintf(`^\{"v":1,"id":1,"ok":true,"result":\{"state":"warm","capacity":1,"memory_usage_gb":\d+\.\d+,"shutdown":false,"daemon_pid":%d,"node_total_workers":\d+,`, pid),
		h.ask(fmt.Sprintf(`{"v":1,"id":1,"method":"repl.status","params":{"project_dir":%q}}`, h.project)))
	assert.Equal(t, fmt.Sprintf(`{"v":1,"id":9,"ok":true,"result":{"stopping":true,"pid":%d}}`, pid),
		h.ask(`{"v":1,"id":9,"method":"daemon.shutdown","params":{}}`))
	assert.True(t, standins.Until(bound, func() bool { return h.hearth("status").code == 1 }))
}

// TestManyClientsAtOnceAreAllServed has each on a connection of its own.
func TestManyClientsAtOnceAreAllServed(t *testing.T) {
	h := newHome(t, options{})
	h.start()
	hover := fmt.Sprintf(`"method":"lsp.hover","params":{"project_dir":%q,"file_path":"a.fake","line":0,"character":1}`, h.project)
	socket := h.socket()
	for _, what := range []string{`"method":"daemon.ping","params":{}`, `"method":"daemon.status","params":{}`, hover} {
		var clients sync.WaitGroup
		for i := range 256 {
			clients.Go(func() {
				conn, err := net.Dial("unix", socket)
				if !assert.NoError(t, err) {
					return
				}
				defer conn.Close()
				assert.NoError(t, conn.SetDeadline(time.Now().Add(2*bound)))
				_, err = fmt.Fprintf(conn, `{"v":1,"id":%d,%s}`+"\n", i, what)
				assert.NoError(t, err)
				line, err := bufio.NewReader(conn).ReadString('\n')
				assert.NoError(t, err)
				assert.True(t, strings.HasPrefix(line, fmt.Sprintf(`{"v":1,"id":%d,"ok":true,"result":`, i)), "%.200s", line)
			})
		}
		clients.Wait()
	}
}

func TestReportedFault21VeryLongLinesGoThroughTheSocketWhole(t *testing.T) {
	const hoverBytes, codeBytes, replBytes = 9 << 20, 4 << 20, 6 << 20
	h := newHome(t, options{
		lsp: script.LSP{Rules: []script.Rule{script.When("textDocument/hover",
			script.Reply(map[string]any{"contents": map[string]string{"kind": "plaintext", "value": script.Fill(hoverBytes)}}))}},
		repl: script.REPL{Rules: []script.Rule{
			script.Match("^much$", script.ReplyFill(replBytes)),
			script.Match("^too much$", script.ReplyFill(11<<20))}},
	})
	h.start()
	text := func(reply string) string {
		t.Helper()
		var r struct {
			OK     bool
			Result string
		}
		require.NoError(t, json.Unmarshal([]byte(reply), &r))
		require.True(t, r.OK, "%.300s", reply)
		return r.Result
	}
	run := func(code string) string {
		line, err := wire.Call(wire.Version1, 1, wire.MethodRun, map[string]string{"project_dir": h.project, "code": code})
		require.NoError(t, err)
		return h.ask(strings.TrimSpace(string(line)))
	}
	hover := fmt.Sprintf(`{"v":1,"id":1,"method":"lsp.hover","params":{"project_dir":%q,"file_path":"a.fake","line":0,"character":1}}`, h.project)
	assert.Equal(t, sha256.Sum256([]byte(script.Fill(hoverBytes))), sha256.Sum256([]byte(text(h.ask(hover)))))
	long := script.Fill(codeBytes)
	assert.Contains(t, text(run(long)), fmt.Sprintf("sha256 %x", sha256.Sum256([]byte(long))))
	assert.Contains(t, text(run("much")), script.Fill(replBytes))

	assert.Regexp(t, `limit|exceeded`, text(run("too much")))
	assert.Contains(t, text(run("next")), "generation", "the next call works")
	over := h.ask(`{"v":1,"id":1,"method":"repl.run","params":{"code":"` + strings.Repeat("x", 17<<20) + `"}}`)
	assert.Equal(t, `{"v":1,"id":null,"ok":false,"error":{"type":"ValueError","message":"the message exceeds the limit of 16777216 bytes (16 MiB)"}}`, over)
	assert.Contains(t, text(run("next")), "generation")
}

func TestALogThatCannotBeWrittenCostsTheLogAndNothingElse(t *testing.T) {
	h := newHome(t, options{})
	daemon := h.serveAs(h.command("serve", "--log", "/dev/full", "--log_level", "debug"))
	for range 3 {
		assert.Zero(t, h.hearth("run", writeCode(t, "quick")).code)
		assert.Equal(t, 2, h.hearth("run", "--timeout", "500s", writeCode(t, "quick")).code)
	}
	require.NoError(t, daemon.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, daemon.Wait())
}

func TestAFullDiskTakesNothingDown(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root for a file system of its own")
	}
	h := newHome(t, options{settings: `log_level = "debug"`})
	require.NoError(t, os.Mkdir(h.dir, 0o700))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k,mode=0700", "none", h.dir).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %s", out)
	}
	t.Cleanup(func() { assert.NoError(t, exec.Command("umount", "-l", h.dir).Run()) })
	h.start()
	pid := h.status().PID // it answers a ping before it has written its list of trees, a status after
	full, err := os.Create(filepath.Join(h.dir, "full"))
	require.NoError(t, err)
	for err == nil {
		_, err = full.Write(make([]byte, 4096))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, full.Close())
	for range 20 {
		assert.Zero(t, h.hearth("run", writeCode(t, "quick")).code)
	}
	assert.Equal(t, pid, h.status().PID)
	assert.Zero(t, h.hearth("stop").code)
}
