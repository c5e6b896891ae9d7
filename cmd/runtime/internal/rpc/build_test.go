package rpc_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

const watch = `{"jsonrpc":"2.0","id":"b-1","method":"build.watch","params":{"dir":"/p","command":["make"],"per_file":2,"match":"cc"}}` + "\n"

func TestBuildIsToldAsItGoesAndAnsweredBehindThat(t *testing.T) {
	r := serve(t)
	breach := messages.Breach{File: "a.c", Elapsed: 2, Limit: 2}
	r.runtime.build = func(_ context.Context, build messages.Build, hear func(messages.BuildEvent)) (messages.BuildReport, error) {
		assert.Equal(t, []string{"make"}, build.Argv)
		hear(messages.BuildEvent{Output: "gcc a.c\n"})
		hear(messages.BuildEvent{Running: []messages.RunningFile{{File: "a.c", PID: 7, Seconds: 2}}, Compiles: 1, Breaches: []messages.Breach{breach}})
		return messages.BuildReport{ExitCode: messages.ExitBreach, Breaches: []messages.Breach{breach}}, nil
	}
	p := r.connect(t)
	p.send(watch)
	assert.JSONEq(t, `{"jsonrpc":"2.0","method":"build.event","params":{"id":"b-1","output":"gcc a.c\n"}}`, p.line())
	assert.JSONEq(t, `{"jsonrpc":"2.0","method":"build.event","params":{"id":"b-1","compiles":1,
		"running":[{"file":"a.c","pid":7,"seconds":2}],"breaches":[{"file":"a.c","elapsed_seconds":2,"limit_seconds":2}]}}`, p.line())
	var answer struct {
		ID     string
		Result messages.BuildReport
	}
	require.NoError(t, json.Unmarshal([]byte(p.line()), &answer))
	assert.Equal(t, "b-1", answer.ID)
	report := answer.Result
	assert.Equal(t, messages.ExitBreach, report.ExitCode)
	assert.Equal(t, []messages.Breach{breach}, report.Breaches)
}

func TestBuildInVersion1HasItsReportAlone(t *testing.T) {
	r := serve(t)
	r.runtime.build = func(_ context.Context, _ messages.Build, hear func(messages.BuildEvent)) (messages.BuildReport, error) {
		assert.Nil(t, hear)
		return messages.BuildReport{ExitCode: 3, Tail: "error"}, nil
	}
	var report messages.BuildReport
	params := wire.BuildParams{Build: messages.Build{Dir: "/p", Argv: []string{"make"}}}
	require.NoError(t, json.Unmarshal(r.result(t, wire.MethodBuild, params), &report))
	assert.Equal(t, 3, report.ExitCode)
	assert.Equal(t, "error", report.Tail)
}

func TestBuildWhoseClientCancelsOrHangsUpIsCancelled(t *testing.T) {
	for name, leave := range map[string]func(*peer){
		"cancels":  func(p *peer) { p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"b-1"}}` + "\n") },
		"hangs up": func(p *peer) { _ = p.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			r := serve(t)
			begun, ended := make(chan struct{}), make(chan struct{})
			r.runtime.build = func(ctx context.Context, _ messages.Build, _ func(messages.BuildEvent)) (messages.BuildReport, error) {
				close(begun)
				<-ctx.Done()
				close(ended)
				return messages.BuildReport{}, context.Cause(ctx)
			}
			p := r.connect(t)
			p.send(watch)
			<-begun
			leave(p)
			<-ended
		})
	}
}

func TestBuildThatIsNoneIsRefused(t *testing.T) {
	p := serve(t).connect(t)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"build.watch","params":{"dir":"/p","command":"make"}}` + "\n")
	assert.Contains(t, p.line(), "-32602")
}
