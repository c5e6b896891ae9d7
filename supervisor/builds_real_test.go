package supervisor_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
)

// onThisMachine is a runtime with real children.
func onThisMachine(t *testing.T) *supervisor.Runtime {
	rt, err := supervisor.Start(t.Context(), supervisor.DefaultConfig())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, rt.Close()) })
	return rt
}

func script(t *testing.T, text string) supervisor.Build {
	return supervisor.Build{Dir: t.TempDir(), Argv: []string{"sh", "-c", text}}
}

// minute bounds what is far quicker.
func minute(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestBuildsOutputComesInItsOrderAndItsInputIsEmpty(t *testing.T) {
	rt := onThisMachine(t)
	var output strings.Builder
	report, err := rt.WatchBuild(minute(t), script(t, "cat; for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 9"),
		func(e supervisor.BuildEvent) { output.WriteString(e.Output) })
	require.NoError(t, err)
	assert.Equal(t, 9, report.ExitCode)
	assert.Equal(t, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n", output.String())
	assert.Equal(t, strings.TrimSpace(output.String()), report.Tail)
}

func TestOutputOfADeafCallerIsStillReadAndReported(t *testing.T) {
	report, err := onThisMachine(t).WatchBuild(minute(t), script(t, "head -c 300000 /dev/zero | tr '\\0' '\\n'; echo end"), nil)
	require.NoError(t, err)
	assert.Zero(t, report.ExitCode)
	assert.Equal(t, "end", report.Tail)
}

// TestSlowCallerGetsTheWholeOutput: it is busy with the first piece until the build is gone.
func TestSlowCallerGetsTheWholeOutput(t *testing.T) {
	var output strings.Builder
	var busy sync.Once
	report, err := onThisMachine(t).WatchBuild(minute(t), script(t, "seq 12000; echo end"), func(e supervisor.BuildEvent) {
		output.WriteString(e.Output)
		if e.Output != "" {
			busy.Do(func() { <-time.After(2 * time.Second) })
		}
	})
	require.NoError(t, err)
	assert.Equal(t, 12001, strings.Count(output.String(), "\n"))
	assert.Regexp(t, "\nend$", report.Tail)
}

func TestBuildRunsInItsProjectsCanonicalDirectory(t *testing.T) {
	build := script(t, "pwd -P")
	real, err := filepath.EvalSymlinks(build.Dir)
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(build.Dir, link))
	build.Dir = link
	report, err := onThisMachine(t).WatchBuild(minute(t), build, nil)
	require.NoError(t, err)
	assert.Equal(t, real, report.Tail)
}

func TestBuildIsShownInTheStatusOfItsProjectAlone(t *testing.T) {
	rt := onThisMachine(t)
	build := script(t, "echo begun; sleep 60")
	ctx, cancel := context.WithCancel(minute(t))
	_, err := rt.WatchBuild(ctx, build, func(e supervisor.BuildEvent) {
		if e.Output == "" {
			return
		}
		status, err := rt.ProjectStatus(t.Context(), build.Dir)
		if assert.NoError(t, err) && assert.Len(t, status.Builds, 1) {
			assert.Equal(t, "sh -c echo begun; sleep 60", status.Builds[0].Command)
			assert.Equal(t, messages.RoleWatch, status.Trees[0].Role)
		}
		status, err = rt.ProjectStatus(t.Context(), t.TempDir())
		if assert.NoError(t, err) {
			assert.Empty(t, status.Builds)
		}
		cancel()
	})
	assert.Equal(t, messages.KindCancelled, messages.KindOf(err))
	status, err := rt.Status(t.Context())
	require.NoError(t, err)
	assert.Empty(t, status.Builds, "who has the answer sees it in status")
}

func TestBuildThatCanNotBeIsRefused(t *testing.T) {
	rt := onThisMachine(t)
	for law, change := range map[string]func(*supervisor.Build){
		"no command":        func(b *supervisor.Build) { b.Argv = nil },
		"no directory":      func(b *supervisor.Build) { b.Dir = "" },
		"missing directory": func(b *supervisor.Build) { b.Dir += "/none" },
		"relative":          func(b *supervisor.Build) { b.Dir = "." },
		"negative limit":    func(b *supervisor.Build) { b.Limit = -1 },
		"negative gate":     func(b *supervisor.Build) { b.PerFile = -1 },
		"negative grace":    func(b *supervisor.Build) { b.Grace = -1 },
		"a look too often":  func(b *supervisor.Build) { b.Interval = time.Millisecond },
		"a bad expression":  func(b *supervisor.Build) { b.Match = "no group" },
	} {
		build := script(t, "exit 0")
		change(&build)
		report, err := rt.WatchBuild(minute(t), build, nil)
		assert.Equal(t, messages.KindInvalid, messages.KindOf(err), "%s: %v", law, err)
		assert.Equal(t, -1, report.ExitCode, law)
	}
	_, err := rt.WatchBuild(minute(t), supervisor.Build{Dir: t.TempDir(), Argv: []string{"no-such-program"}}, nil)
	var launch *messages.LaunchError
	assert.ErrorAs(t, err, &launch)
}

func TestBuildOfAClosedRuntimeIsRefused(t *testing.T) {
	rt := onThisMachine(t)
	require.NoError(t, rt.Close())
	_, err := rt.WatchBuild(minute(t), script(t, "exit 0"), nil)
	assert.ErrorIs(t, err, messages.ErrClosed)
}

func TestBuildOfARuntimeThatFailsIsAnswered(t *testing.T) {
	rt := onThisMachine(t)
	_, err := rt.WatchBuild(minute(t), script(t, "echo begun; sleep 60"), func(e supervisor.BuildEvent) {
		if e.Output != "" {
			rt.FailRoot()
		}
	})
	assert.Equal(t, messages.KindInternal, messages.KindOf(err), "%v", err)
}
