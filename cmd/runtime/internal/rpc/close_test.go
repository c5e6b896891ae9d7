package rpc_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

func TestCloseWaitsForWhatIsInFlight(t *testing.T) {
	r := serve(t)
	release := make(chan struct{})
	r.runtime.run = func(context.Context, messages.Snippet) (messages.RunReport, error) {
		<-release
		return messages.RunReport{Protocol: messages.ReportJSONL, Output: "done"}, nil
	}
	one, two, idle := r.connect(t), r.connect(t), r.connect(t)
	one.send(runV1("x"))
	two.send(run("1", "x"))
	idle.send(`{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}` + "\n")
	idle.line()
	eventually(t, func() bool { return r.runtime.running.Load() == 2 }, "in flight")
	ended := make(chan struct{})
	go func() {
		r.end(context.Background())
		close(ended)
	}()
	idle.closed()
	close(release)
	assert.Equal(t, `{"v":1,"id":"x","ok":true,"result":"done"}`+"\n", one.line())
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"done"}`+"\n", two.line())
	two.closed()
	<-ended
}

func TestCloseCutsOffWhenItsTimeIsOver(t *testing.T) {
	r := serve(t)
	ended := r.parked()
	p := r.connect(t)
	p.send(runV1("x"))
	eventually(t, func() bool { return r.runtime.running.Load() == 1 }, "in flight")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.end(ctx)
	assert.ErrorIs(t, <-ended, context.Canceled)
}

func TestAConnectionThatWaitsInTheQueueIsStillAnswered(t *testing.T) {
	r := serve(t)
	p := r.connect(t)
	p.send(runV1("x"))
	require.NoError(t, os.Remove(r.socket))
	r.end(context.Background())
	assert.Equal(t, `{"v":1,"id":"x","ok":true,"result":"x"}`+"\n", p.line())
}

func TestAHalfSentRequestIsToldThatTheServerCloses(t *testing.T) {
	r := serve(t)
	p := r.connect(t)
	p.send(`{"v":1,"id":5`)
	r.end(context.Background())
	assert.Contains(t, p.line(), `"ok":false,"error":{"type":"RuntimeError","message":"closing; try again when it has ended"}`)
}
