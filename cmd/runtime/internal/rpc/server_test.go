package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

func TestVersion1IsOneRequestAndOneReply(t *testing.T) {
	r := serve(t)
	p := r.connect(t)
	p.send(runV1("hi") + runV1("never"))
	assert.Equal(t, `{"v":1,"id":"x","ok":true,"result":"hi"}`+"\n", p.line())
	_, err := p.lines.ReadByte()
	assert.Error(t, err, "one request on a connection")
}

func TestRequestsOfJSONRPCAreAnsweredAsTheyFinish(t *testing.T) {
	r := serve(t)
	release := make(chan struct{})
	r.runtime.run = func(_ context.Context, s messages.Snippet) (messages.RunReport, error) {
		if s.Code == "slow" {
			<-release
		}
		return messages.RunReport{Protocol: messages.ReportJSONL, Output: s.Code}, nil
	}
	p := r.connect(t)
	p.send(run("1", "slow") + run(`"two"`, "quick"))
	assert.Equal(t, `{"jsonrpc":"2.0","id":"two","result":"quick"}`+"\n", p.line())
	p.send(`{"jsonrpc":"2.0","id":3,"method":"daemon.ping"}` + "\n")
	assert.Contains(t, p.line(), `"id":3,"result":{"running":true,"pid":7,`)
	close(release)
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"slow"}`+"\n", p.line())
}

func TestPipelinedRequestsAreAllAnswered(t *testing.T) {
	r := serve(t)
	p := r.connect(t)
	const n = 500
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":"daemon.status"}`+"\n", i)
	}
	go func() {
		_, err := p.Write([]byte(lines.String()))
		assert.NoError(t, err)
	}()
	seen := make(map[int]bool)
	for range n {
		var reply struct {
			ID     int
			Result json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(p.line()), &reply))
		assert.NotEmpty(t, reply.Result)
		seen[reply.ID] = true
	}
	assert.Len(t, seen, n)
}

// parked makes runs wait for their context, and tells how each ended.
func (r *rig) parked() (ended chan error) {
	ended = make(chan error, 2000)
	r.runtime.run = func(ctx context.Context, _ messages.Snippet) (messages.RunReport, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return messages.RunReport{}, ctx.Err()
	}
	return ended
}

func TestCancelRequestCancelsTheOneThatItNames(t *testing.T) {
	r := serve(t)
	r.parked()
	p := r.connect(t)
	p.send(run("1", "a") + run(`"1"`, "b"))
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"1"}}` + "\n")
	assert.Contains(t, p.line(), `"id":"1","error":{"code":-32800,`)
	p.send(`{"jsonrpc":"2.0","id":5,"method":"$/cancelRequest","params":{"id":"gone"}}` + "\n")
	assert.Equal(t, `{"jsonrpc":"2.0","id":5,"result":null}`+"\n", p.line())
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}` + "\n")
	assert.Contains(t, p.line(), `"id":1,"error":{"code":-32800,`)
}

func TestAClientThatHangsUpCancelsWhatItHadInFlight(t *testing.T) {
	r := serve(t)
	ended := r.parked()
	p := r.connect(t)
	p.send(run("1", "a") + run("2", "b"))
	eventually(t, func() bool { return r.runtime.running.Load() == 2 }, "two in flight")
	require.NoError(t, p.Close())
	for range 2 {
		assert.ErrorIs(t, <-ended, context.Canceled)
	}
}

func TestAClientThatHasNoMoreToAskStillGetsItsAnswers(t *testing.T) {
	r := serve(t)
	release := make(chan struct{})
	r.runtime.run = func(ctx context.Context, s messages.Snippet) (messages.RunReport, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return messages.RunReport{Protocol: messages.ReportJSONL, Output: "done"}, ctx.Err()
	}
	p := r.connect(t)
	p.send(run("1", "a"))
	eventually(t, func() bool { return r.runtime.running.Load() == 1 }, "in flight")
	require.NoError(t, p.CloseWrite())
	close(release)
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"done"}`+"\n", p.line())
	p.closed()
}

func TestAHangUpAfterTheLastRequestCancelsToo(t *testing.T) {
	r := serve(t)
	ended := r.parked()
	p := r.connect(t)
	p.send(run("1", "a"))
	eventually(t, func() bool { return r.runtime.running.Load() == 1 }, "in flight")
	require.NoError(t, p.CloseWrite())
	require.NoError(t, p.Close())
	assert.ErrorIs(t, <-ended, context.Canceled)
}

func TestVersion1sWorkIsFinishedThoughItsClientHasGone(t *testing.T) {
	r := serve(t)
	release, ended := make(chan struct{}), make(chan error, 1)
	r.runtime.run = func(ctx context.Context, _ messages.Snippet) (messages.RunReport, error) {
		<-release
		ended <- ctx.Err()
		return messages.RunReport{}, nil
	}
	p := r.connect(t)
	p.send(runV1("x"))
	eventually(t, func() bool { return r.runtime.running.Load() == 1 }, "in flight")
	require.NoError(t, p.Close())
	close(release)
	assert.NoError(t, <-ended)
}

func TestOverMaxConnectionsTheAnswerIsBusyAndNeverSilence(t *testing.T) {
	r := prepare(t, func(c *config.Config) { c.MaxConnections = 1 })
	kept := r.connect(t) // the first in the queue
	kept.send(`{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}` + "\n")
	var clients sync.WaitGroup
	for i := range 100 {
		p := r.connect(t)
		p.send(fmt.Sprintf(`{"v":1,"id":%d,"method":"daemon.ping","params":{}}`+"\n", i))
		clients.Go(func() {
			line, err := p.lines.ReadString('\n')
			assert.NoError(t, err)
			assert.Equal(t, fmt.Sprintf(`{"v":1,"id":%d,"ok":false,"error":{"type":"Busy","message":"too many connections (max_connections); try again later"}}`+"\n", i), line)
		})
	}
	p := r.connect(t)
	p.send(run("4", "x"))
	go r.Serve(r.listener)
	kept.line()
	clients.Wait()
	assert.Contains(t, p.line(), `"id":4,"error":{"code":-32001,`)
	p.closed()
	require.NoError(t, kept.Close())
	eventually(t, func() bool {
		p := r.connect(t)
		p.send(runV1("x"))
		return strings.Contains(p.line(), `"ok":true`)
	}, "a place is free again")
}

func TestAConnectionWithoutARequestIsToldAndClosed(t *testing.T) {
	r := prepare(t, func(c *config.Config) { c.ReadTimeout = 50 * time.Millisecond })
	silent, half := r.connect(t), r.connect(t)
	half.send(`{"v":1,"id":1,`)
	go r.Serve(r.listener)
	for _, p := range []*peer{silent, half} {
		assert.Equal(t, `{"v":1,"id":null,"ok":false,"error":{"type":"TimeoutError","message":"no whole request arrived within 50ms (read_timeout)"}}`+"\n", p.line())
		p.closed()
	}
}

func TestAKeptConnectionIsCutOnlyInTheMiddleOfARequest(t *testing.T) {
	const timeout = 50 * time.Millisecond
	r := prepare(t, func(c *config.Config) { c.ReadTimeout = timeout })
	p := r.connect(t)
	ping := `{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}` + "\n"
	p.send(ping)
	go r.Serve(r.listener)
	p.line()
	require.NoError(t, p.SetReadDeadline(time.Now().Add(5*timeout)))
	_, err := p.lines.ReadByte()
	require.ErrorContains(t, err, "i/o timeout", "nothing comes, and the connection stays")
	require.NoError(t, p.SetDeadline(time.Now().Add(bound)))
	p.lines = bufio.NewReader(p.UnixConn)
	p.send(ping)
	p.line()
	p.send(ping[:20])
	assert.Contains(t, p.line(), `"id":null,"error":{"code":-32002,`)
	p.closed()
}

func TestTheIDOfARequestInFlightIsNotTakenTwice(t *testing.T) {
	r := serve(t)
	r.parked()
	p := r.connect(t)
	p.send(run("1", "a") + run("1", "b"))
	assert.Contains(t, p.line(), `"id":1,"error":{"code":-32600,`)
}

func TestOneConnectionHasABoundOfRequestsInFlight(t *testing.T) {
	r := serve(t)
	r.parked()
	p := r.connect(t)
	for i := range 1025 {
		p.send(run(fmt.Sprint(i), "a"))
	}
	assert.Contains(t, p.line(), `"id":1024,"error":{"code":-32001,`)
	p.send(`{"jsonrpc":"2.0","id":"p","method":"daemon.ping"}` + "\n")
	assert.Contains(t, p.line(), `"id":"p","result"`, "a ping comes through")
}

func TestAPanicIsAnAnswer(t *testing.T) {
	r := serve(t)
	r.runtime.run = func(context.Context, messages.Snippet) (messages.RunReport, error) { panic("boom") }
	p := r.connect(t)
	p.send(runV1("x"))
	assert.Contains(t, p.line(), `"ok":false,"error":{"type":"RuntimeError","message":`)
	p = r.connect(t)
	p.send(run("1", "x"))
	assert.Contains(t, p.line(), `"id":1,"error":{"code":-32603,`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"daemon.ping"}` + "\n")
	assert.Contains(t, p.line(), `"id":2,"result"`, "the connection goes on")
}

func TestALineOverTheLimitIsAnErrorThatNamesIt(t *testing.T) {
	r := serve(t)
	long := `{"v":1,"id":1,"method":"repl.run","params":{"code":"` + strings.Repeat("x", 17<<20) + `"}}` + "\n"
	p := r.connect(t)
	p.send(long) // whole: the server takes the rest before it closes
	assert.Contains(t, p.line(), `"type":"ValueError","message":"the message exceeds the limit of 16777216 bytes (16 MiB)"`)
	p.closed()
	p = r.connect(t)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}` + "\n" + long)
	p.line()
	assert.Contains(t, p.line(), `"id":null,"error":{"code":-32600,`)
	p.send(run("2", "on"))
	assert.Equal(t, `{"jsonrpc":"2.0","id":2,"result":"on"}`+"\n", p.line())
}

func TestAnAnswerOverTheLimitIsAnError(t *testing.T) {
	r := serve(t)
	r.runtime.run = func(context.Context, messages.Snippet) (messages.RunReport, error) {
		return messages.RunReport{Protocol: messages.ReportJSONL, Output: strings.Repeat("x", wire.MaxFrame)}, nil
	}
	p := r.connect(t)
	p.send(runV1(""))
	assert.Equal(t, `{"v":1,"id":"x","ok":false,"error":{"type":"ValueError","message":"response exceeds the message limit"}}`+"\n", p.line())
}

func TestWhatCannotBeReadIsAnswered(t *testing.T) {
	r := serve(t)
	for line, want := range map[string]string{
		"\n":    `{"v":1,"id":null,"ok":false,"error":{"type":"ValueError","message":"the message is empty, want one line of JSON"}}`,
		"nix\n": `"type":"ValueError","message":"invalid JSON: `,
		"[]\n":  `"message":"the message must be a JSON object"`,
		`{"v":1,"id":5,"method":"daemon.pong"}` + "\n":        `{"v":1,"id":5,"ok":false,"error":{"type":"ValueError","message":"unknown method: daemon.pong"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"nope"}` + "\n":     `"id":5,"error":{"code":-32601,`,
		`{"jsonrpc":"2.0","id":5,"method":7}` + "\n":          `"id":5,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":5,"method":"repl.run"}` + "\n": `"id":5,"error":{"code":-32602,`,
		`{"v":2,"id":5,"method":"daemon.ping"}` + "\n":        `"id":5,"ok":false,"error":{"type":"ValueError","message":"unknown protocol`,
	} {
		p := r.connect(t)
		p.send(line)
		assert.Contains(t, p.line(), want, line)
	}
	p := r.connect(t)
	p.send(`{"v":1,"id":5`)
	require.NoError(t, p.CloseWrite())
	assert.Contains(t, p.line(), "the message has no newline at its end")
	p.closed()
}
