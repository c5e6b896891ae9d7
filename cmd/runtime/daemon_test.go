package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// onShared runs a command that can have both an engine of its own and a shared one.
func onShared(t *testing.T, own, shared *fakeEngine, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{stdin: strings.NewReader("x"), stdout: &stdout, stderr: &stderr, environ: func(string) string { return "" },
		start: func(context.Context, config.Config, *slog.Logger) (engine, error) {
			own.started++
			return own, nil
		},
		connect: func(context.Context, config.Config) (engine, error) {
			shared.started++
			return shared, nil
		}}
	code := a.execute(t.Context(), args)
	return outcome{code, stdout.String(), stderr.String()}
}

func TestCommandsUseTheSharedDaemonUnlessTheyAreToldNotTo(t *testing.T) {
	project(t, map[string]string{"go.mod": "module m\n", "a.go": "package a\n", "py/pyproject.toml": ""})
	for _, args := range [][]string{{"check", "a.go"}, {"hover", "a.go:1:1"}, {"run", "--project", "py"}} {
		own, shared := &fakeEngine{}, &fakeEngine{}
		onShared(t, own, shared, args...)
		assert.Equal(t, [3]int{0, 1, 1}, [3]int{own.started, shared.started, shared.stopped}, "%v", args)
		own, shared = &fakeEngine{}, &fakeEngine{}
		onShared(t, own, shared, append(args, "--embedded")...)
		assert.Equal(t, [3]int{1, 1, 0}, [3]int{own.started, own.stopped, shared.started}, "%v", args)
	}
}

func TestADaemonThatIsStartedGetsTheSettingsOfItsStarter(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, c := range []struct {
		app  app
		want []string
	}{
		{app{}, nil},
		{app{configFile: "c.toml", settings: map[string]string{"idle": "5m", "abort_grace": "-1s"}},
			[]string{"--config", filepath.Join(dir, "c.toml"), "--abort_grace=-1s", "--idle=5m"}},
		{app{configFile: "/c.toml"}, []string{"--config", "/c.toml"}},
	} {
		c.app.environ = func(string) string { return "" }
		got, err := c.app.daemonArguments()
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
	a := app{environ: func(name string) string { return map[string]string{"HEARTH_CONFIG": "env.toml"}[name] }}
	got, err := a.daemonArguments()
	require.NoError(t, err)
	assert.Equal(t, []string{"--config", filepath.Join(dir, "env.toml")}, got, "the daemon works in another directory")
}

func TestADaemonOfAProgramThatIsBuiltForOneRunIsRefused(t *testing.T) {
	got := hearth(t, &fakeEngine{}, "", "serve") // as this test's is
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "go build -o hearth ./cmd/runtime makes one")
}

func TestASocketIsMadeForThisUserAlone(t *testing.T) {
	dir, err := os.MkdirTemp("", "listen")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	path := filepath.Join(dir, "s")
	listener, err := listen(path)
	require.NoError(t, err)
	info, err := os.Lstat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	assert.Zero(t, syscall.Umask(0), "the umask is as it was")
	_, err = listen(path)
	assert.Equal(t, messages.KindBusy, messages.KindOf(err), "somebody listens: %v", err)

	require.NoError(t, listener.Close()) // as one that was killed leaves it
	next, err := listen(path)
	require.NoError(t, err)
	listener.remove()
	assert.FileExists(t, path, "the next one's")
	next.abandon()
	assert.NoFileExists(t, path)
}

func TestAServiceManagersSocketIsTakenOnlyIfItIsForUs(t *testing.T) {
	with := func(values map[string]string) func(string) string {
		return func(name string) string { return values[name] }
	}
	listener, err := activation(with(nil), 7)
	assert.NoError(t, err)
	assert.Nil(t, listener)
	listener, err = activation(with(map[string]string{"LISTEN_PID": "8", "LISTEN_FDS": "1"}), 7)
	assert.NoError(t, err)
	assert.Nil(t, listener, "it is for our parent")
	_, err = activation(with(map[string]string{"LISTEN_PID": "7", "LISTEN_FDS": "2"}), 7)
	assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
}

func TestOnlyWhatWasInheritedIsTakenForIt(t *testing.T) {
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s")) // Go's own
	require.NoError(t, err)
	defer listener.Close()
	before := inherited()
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	fd, err := syscall.Dup(int(null.Fd())) // without the flag, as a shell passes it on
	require.NoError(t, err)
	defer syscall.Close(fd)
	assert.ElementsMatch(t, append(before, fd), inherited())
}

func TestWhatADaemonSaysOfItsSettingsHasEachByItsKey(t *testing.T) {
	cfg := supervisor.DefaultConfig()
	said := describe(cfg, nil)
	for _, row := range cfg.Table(nil) {
		assert.Equal(t, row.Value, said.Settings[row.Key], row.Key)
	}
	text, err := json.Marshal(said)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"max_projects":4,"idle_seconds":1800.0,`)
	assert.Contains(t, string(text), `"lsp_command":["lake","serve"],"lsp_timeout":60.0,`)
}
