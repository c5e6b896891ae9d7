package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/supervisor/config"
)

func TestOnlyWhatIsLookedUpInPATHIsHintedAt(t *testing.T) {
	cfg := config.Default()
	golang := cfg.Languages["go"]
	known, _ := golang.InstallHint("gopls")
	for program, want := range map[string]string{
		"gopls":      known + "; " + pathHint,
		"other":      pathHint,
		"/opt/gopls": known,
		"bin/gopls":  known,
		"/opt/other": "",
	} {
		golang.Server.Commands = []config.Command{{program}}
		cfg.Languages["go"] = golang
		got, _ := withPathHint(cfg).Languages["go"].InstallHint(program)
		assert.Equal(t, want, got, program)
		assert.Equal(t, known, golang.Install["gopls"], "the settings are as they were")
	}
}

func TestAStartedDaemonIsEndedFromWhereItIs(t *testing.T) {
	for want, a := range map[string]*app{
		"hearth stop":             {},
		"hearth --socket /s stop": {socket: "/s"},
		"hearth --config c.toml --runtime_dir /run/x stop": {configFile: "c.toml", settings: map[string]string{"runtime_dir": "/run/x", "idle": "5m"}},
	} {
		var said bytes.Buffer
		a.stderr = &said
		a.sayStarted(7)
		assert.Equal(t, clearLine+"hearth: started the shared daemon (process 7); `"+want+"` ends it\n", said.String())
	}
}
