package runtime_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/standins"
)

func TestBadInputGetsOneLineAndStartsNothing(t *testing.T) {
	l := startLean(t)
	outside := standins.WriteFile(t, filepath.Join(t.TempDir(), "Outside.lean"), "")
	plain := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(l.project, "Link.lean")))
	for name, doc := range map[string]supervisor.Document{
		"no project":           {File: "Main.lean"},
		"relative project":     {Project: "project", File: "Main.lean"},
		"missing project":      {Project: l.project + "/none", File: "Main.lean"},
		"file as project":      {Project: l.project + "/Main.lean", File: "Main.lean"},
		"no marker":            {Project: plain, File: "Main.lean"},
		"no file":              {Project: l.project},
		"missing file":         {Project: l.project, File: "None.lean"},
		"outside":              {Project: l.project, File: outside},
		"outside by a link":    {Project: l.project, File: "Link.lean"},
		"outside by dots":      {Project: l.project, File: "../x.lean"},
		"wrong extension":      {Project: l.project, File: "lakefile.toml"},
		"unknown language":     {Project: l.project, File: "Main.lean", Language: "cobol"},
		"negative timeout":     {Project: l.project, File: "Main.lean", Timeout: -1},
		"timeout over the top": {Project: l.project, File: "Main.lean", Timeout: 1 << 50},
	} {
		_, err := l.Diagnostics(bounded(t), doc)
		assert.Equal(t, messages.KindInvalid, messages.KindOf(err), "%s: %v", name, err)
		assert.NotContains(t, err.Error(), "\n", name)
	}
	_, err := l.Hover(bounded(t), supervisor.Document{Project: l.project, File: "Main.lean"}, supervisor.Position{Line: -1})
	assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
	assert.Empty(t, standins.ReadJournal(t, l.journal), "nothing was started")
}

func TestMissingProgramIsNamedWithTheWayToGetIt(t *testing.T) {
	cfg := supervisor.DefaultConfig()
	language := cfg.Languages["go"]
	language.Server.Commands = []config.Command{{"no-such-gopls"}, {"no-such-server"}}
	language.Install = map[string]string{"no-such-gopls": "go install example.org/no-such-gopls@latest"}
	cfg.Languages["go"] = language
	rt, err := supervisor.Start(t.Context(), cfg)
	require.NoError(t, err)
	defer func() { assert.NoError(t, rt.Close()) }()
	_, err = rt.Diagnostics(bounded(t), supervisor.Document{Project: standins.Project(t, "go"), File: "main.go"})
	var launch *messages.LaunchError
	require.ErrorAs(t, err, &launch)
	assert.Contains(t, err.Error(), "no-such-gopls")
	assert.Contains(t, err.Error(), "go install example.org/no-such-gopls@latest")
}

func TestServerThatDiesAtItsStartIsReportedWithItsReason(t *testing.T) {
	l := startLean(t, standins.At("server", "stderr-text E-17", "exit 3"))
	_, err := l.Diagnostics(bounded(t), supervisor.Document{Project: l.project, File: "Main.lean"})
	var exit *messages.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Contains(t, exit.StderrTail, "E-17")
	assert.Equal(t, "exit status 3", exit.Status)
	standins.AwaitNoSurvivor(t, l.journal)
}
