package client_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

var build = messages.Build{Dir: "/p", Argv: []string{"make"}, PerFile: time.Minute}

// tell sends one event of a build.
func tell(conn io.Writer, r wire.Request, event messages.BuildEvent) {
	line, _ := wire.Notification(wire.MethodBuildEvent, wire.BuildEvent{ID: r.ID, BuildEvent: event})
	_, _ = conn.Write(line)
}

func TestABuildsEventsComeInTheirOrderAndBeforeItsReport(t *testing.T) {
	i := impersonate(t, func(r wire.Request, conn io.ReadWriteCloser) {
		params, err := wire.DecodeBuild(r.Params)
		assert.NoError(t, err)
		assert.Equal(t, build, params.Build)
		for _, text := range []string{"a", "b", "c"} {
			tell(conn, r, messages.BuildEvent{Output: text})
		}
		_, _ = io.WriteString(conn, `{"jsonrpc":"2.0","method":"build.news","params":{"output":"x"}}`+"\n")
		_, _ = conn.Write(r.Reply(messages.BuildReport{ExitCode: 5, Tail: "abc"}))
	})
	c, output := i.client(), ""
	report, err := c.WatchBuild(t.Context(), build, func(e messages.BuildEvent) { output += e.Output })
	require.NoError(t, err)
	assert.Equal(t, "abc", output)
	assert.Equal(t, 5, report.ExitCode)
	_, err = c.WatchBuild(t.Context(), build, nil)
	assert.NoError(t, err, "nobody has to listen")
	assert.EqualValues(t, 2, i.conns.Load(), "each has a connection of its own")
}

func TestABuildWhoseCallerLeavesIsCancelledAndItsEndAwaited(t *testing.T) {
	var pending wire.Request
	i := impersonate(t, func(r wire.Request, conn io.ReadWriteCloser) {
		if r.Method != wire.MethodCancel {
			pending = r
			tell(conn, r, messages.BuildEvent{Output: "begun"})
			return
		}
		assert.Equal(t, string(pending.ID), string(r.Params["id"]))
		tell(conn, pending, messages.BuildEvent{Output: "ended"})
		_, _ = conn.Write(pending.Refuse(context.Canceled))
	})
	ctx, cancel := context.WithCancel(t.Context())
	output := ""
	report, err := i.client().WatchBuild(ctx, build, func(e messages.BuildEvent) { output += e.Output; cancel() })
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, "begunended", output)
	assert.Equal(t, -1, report.ExitCode)
}

func TestABuildEndsWithItsClientAndWithItsDaemon(t *testing.T) {
	t.Run("client", func(t *testing.T) {
		i := impersonate(t, func(r wire.Request, conn io.ReadWriteCloser) { tell(conn, r, messages.BuildEvent{Compiles: 1}) })
		c := i.client()
		_, err := c.WatchBuild(t.Context(), build, func(messages.BuildEvent) { assert.NoError(t, c.Close()) })
		assert.ErrorIs(t, err, messages.ErrClosed)
		_, err = c.WatchBuild(t.Context(), build, nil)
		assert.ErrorIs(t, err, messages.ErrClosed)
	})
	t.Run("daemon", func(t *testing.T) {
		i := impersonate(t, func(_ wire.Request, conn io.ReadWriteCloser) { _ = conn.Close() })
		_, err := i.client().WatchBuild(t.Context(), build, nil)
		assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(err))
	})
}

func TestABuildCanNotHaveTheCallersStreams(t *testing.T) {
	mine := build
	mine.Stdio = &procscan.Stdio{}
	_, err := impersonate(t, nil).client().WatchBuild(t.Context(), mine, nil)
	assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
}
