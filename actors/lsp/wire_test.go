package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestACallReturnsTheResultUndecoded(t *testing.T) {
	p := started(t, Answers{})
	for _, result := range []string{`null`, `[]`, `{"a": [1,2.50,"x"]}`, `"\ud83d"`, `true`} {
		got, err := p.answering(nil, func(id string) string {
			return frame(`{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`)
		})
		require.NoError(t, err)
		assert.Equal(t, result, string(got))
	}
}

func TestNilParamsSendNoMember(t *testing.T) {
	p := started(t, Answers{})
	require.NoError(t, p.Notify(context.Background(), "exit", nil))
	_, raw := p.receive()
	assert.NotContains(t, raw, "params")
	require.NoError(t, p.Notify(context.Background(), "m", map[string]string{"text": "<𝕏&\u2028>"}))
	_, raw = p.receive()
	assert.Contains(t, raw, "<𝕏&", "text goes as it is")
}

func TestTheServersErrorIsTheCallsAndTheWireLives(t *testing.T) {
	p := started(t, Answers{})
	_, err := p.answering(struct{}{}, func(id string) string {
		return frame(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32801,"message":"modified","data":{"a":1}}}`)
	})
	assert.Equal(t, &ResponseError{Method: "test/call", Code: codeContentModified, Message: "modified", Data: json.RawMessage(`{"a":1}`)}, err)
	_, err = p.answering(nil, func(id string) string { return frame(`{"jsonrpc":"2.0","id":` + id + `,"result":1}`) })
	assert.NoError(t, err)
}

func TestNoiseBeforeAnAnswerIsTold(t *testing.T) {
	p := started(t, Answers{})
	for _, noise := range []string{"hello\n", "warning: x\n"} {
		_, err := p.answering(nil, func(id string) string {
			return noise + frame(`{"jsonrpc":"2.0","id":`+id+`,"result":1}`)
		})
		require.NoError(t, err)
		assert.Equal(t, Noise{Text: strings.TrimSpace(noise)}, p.event())
	}
}

func TestAResultOfNineMebibytesIsIntact(t *testing.T) {
	p := started(t, Answers{})
	want := `"` + strings.Repeat("é𝕏x", 9<<20/7) + `"`
	got, err := p.answering(nil, func(id string) string { return frame(`{"jsonrpc":"2.0","id":` + id + `,"result":` + want + `}`) })
	require.NoError(t, err)
	assert.True(t, string(got) == want)
}

func TestABrokenMessageFailsAllCallsAtOnce(t *testing.T) {
	for name, body := range map[string]string{
		"not JSON":               frame(`{"jsonrpc":`),
		"another version":        frame(`{"jsonrpc":"1.0","id":1,"result":1}`),
		"no result and no error": frame(`{"jsonrpc":"2.0","id":1}`),
		"a scalar":               frame(`1`),
		"a broken header":        "Content-Length: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := started(t, Answers{})
			_, err := p.answering(nil, func(string) string { return body })
			var stream *StreamError
			require.ErrorAs(t, err, &stream)
			down, ok := p.event().(Down)
			require.True(t, ok)
			assert.ErrorAs(t, down.Err, &stream)
			assert.Equal(t, down.Err, p.hungUp, "the reason is there before the server can see the pipes closed")
			_, err = p.Call(context.Background(), "m", nil)
			assert.Equal(t, down.Err, err, "the reason stays")
			assert.ErrorAs(t, p.Notify(context.Background(), "m", nil), &stream)
		})
	}
}

func TestTheEndOfTheOutputIsToldAndEndsCalls(t *testing.T) {
	p := started(t, Answers{})
	done := make(chan error, 1)
	go func() { _, err := p.Call(context.Background(), "shutdown", nil); done <- err }()
	p.receive()
	require.NoError(t, p.out.Close())
	assert.ErrorIs(t, <-done, io.EOF)
	down, ok := p.event().(Down)
	require.True(t, ok)
	assert.ErrorIs(t, down.Err, io.EOF)
}

func TestACallEndsWithItsContextAndTheServerIsTold(t *testing.T) {
	p := started(t, Answers{})
	why := errors.New("the caller went away")
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error, 1)
	go func() { _, err := p.Call(ctx, "slow", nil); done <- err }()
	call, _ := p.receive()
	cancel(why)
	assert.Equal(t, why, <-done)
	told, _ := p.receive()
	assert.Equal(t, "$/cancelRequest", told.Method)
	assert.JSONEq(t, `{"id":`+string(call.ID)+`}`, string(told.Params))
	p.send(`{"jsonrpc":"2.0","id":` + string(call.ID) + `,"result":"late"}`)
	got, err := p.answering(nil, func(id string) string { return frame(`{"jsonrpc":"2.0","id":` + id + `,"result":"own"}`) })
	require.NoError(t, err)
	assert.Equal(t, `"own"`, string(got), "a late answer is nobody else's")
}

func TestACallWhoseContextHasEndedSendsNothing(t *testing.T) {
	p := started(t, Answers{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := p.Call(ctx, "never", nil)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, p.Notify(ctx, "never", nil), context.Canceled)
	require.NoError(t, p.Notify(context.Background(), "first", nil))
	for { // the cancel of a call that was never sent may come, and harms nobody
		m, _ := p.receive()
		require.NotEqual(t, "never", m.Method)
		if m.Method == "first" {
			return
		}
	}
}

func TestAServerThatStopsReadingHoldsNobodyPastItsOwnTime(t *testing.T) {
	p := newPeer(t, 3*time.Second, Answers{})
	down := make(chan error, 1)
	p.Start(func(e Event) {
		if d, ok := e.(Down); ok {
			down <- d.Err
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan error, 1)
	go func() {
		_, err := p.Call(ctx, "big", strings.Repeat("x", 4<<20))
		first <- err
	}()
	_, err := io.ReadFull(p.in, make([]byte, 1)) // it is being written, and fills the pipe
	require.NoError(t, err)
	cancel()
	assert.ErrorIs(t, <-first, context.Canceled)
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	_, err = p.Call(ctx, "second", nil)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = p.Call(context.Background(), "small", nil)
	assert.ErrorContains(t, err, "has read nothing for 3s")
	assert.Equal(t, err, <-down)
}

func TestAServerThatWritesBeforeItReadsIsServed(t *testing.T) {
	p := newPeer(t, generous, Answers{})
	p.Start(func(Event) {})
	sent := make(chan error, 1)
	go func() { sent <- p.Notify(context.Background(), "big", strings.Repeat("x", 4<<20)) }()
	log := frame(`{"jsonrpc":"2.0","method":"window/logMessage","params":"` + strings.Repeat("y", 1<<20) + `"}`)
	for i := range 8 {
		p.raw(log)
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r-%d","method":"window/workDoneProgress/create","params":{}}`, i))
	}
	seen := map[string]bool{}
	for len(seen) < 9 {
		m, raw := p.receive()
		require.NotEmpty(t, raw)
		seen[m.Method+string(m.ID)] = true
	}
	assert.NoError(t, <-sent)
}

func TestAServerThatNeverReadsItsAnswersIsGivenUp(t *testing.T) {
	p := newPeer(t, time.Minute, Answers{})
	down := make(chan error, 1)
	p.Start(func(e Event) {
		if d, ok := e.(Down); ok {
			down <- d.Err
		}
	})
	ask := frame(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 64<<10) + `","params":{}}`)
	var err error
	for err == nil {
		_, err = io.WriteString(p.out, ask)
	}
	assert.ErrorContains(t, <-down, "asks but reads no answers")
}

func TestAMessageBeyondTheLimitIsRefusedAndTheWireLives(t *testing.T) {
	p := started(t, Answers{})
	err := p.Notify(context.Background(), "big", strings.Repeat("x", 17<<20))
	var large *TooLargeError
	require.ErrorAs(t, err, &large)
	assert.ErrorContains(t, err, "limit is 16776192")
	_, err = p.answering(nil, func(id string) string { return frame(`{"jsonrpc":"2.0","id":` + id + `,"result":1}`) })
	assert.NoError(t, err)
}

func TestCloseEndsCallsAndIsIdempotent(t *testing.T) {
	p := started(t, Answers{})
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			_, err := p.Call(context.Background(), "m", nil)
			assert.ErrorContains(t, err, "closed")
		})
	}
	for range 3 {
		p.receive()
	}
	for range 3 {
		all.Go(func() { assert.NoError(t, p.Close(context.Background())) })
	}
	all.Wait()
	_, err := p.Call(context.Background(), "m", nil)
	assert.ErrorContains(t, err, "closed")
	assert.IsType(t, Down{}, p.event())
	assert.Empty(t, p.events, "Down is the last event, once")
}

func TestCloseIsBoundedWhileTheReaderIsHeld(t *testing.T) {
	p := newPeer(t, generous, Answers{})
	hold, held := make(chan struct{}), make(chan struct{})
	var once sync.Once
	p.Start(func(Event) { once.Do(func() { close(held) }); <-hold })
	p.send(`{"jsonrpc":"2.0","method":"m"}`)
	<-held
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorIs(t, p.Close(ctx), context.Canceled)
	close(hold)
}

func TestAWireThatWasNeverStartedCloses(t *testing.T) {
	p := newPeer(t, generous, Answers{})
	assert.NoError(t, p.Close(context.Background()))
}

func TestAPanicOfTheListenerEndsTheWireNotTheProgram(t *testing.T) {
	p := newPeer(t, generous, Answers{})
	down := make(chan error, 1)
	p.Start(func(e Event) {
		switch e := e.(type) {
		case Publication:
			panic("boom")
		case Down:
			down <- e.Err
		}
	})
	p.send(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///a","diagnostics":[]}}`)
	assert.ErrorContains(t, <-down, "handling textDocument/publishDiagnostics panicked: boom")
}
