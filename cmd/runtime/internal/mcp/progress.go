package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
)

// progressInterval is how often a caller that waits is told what for. Clients take that
// for a sign of life and extend their own time limits.
const progressInterval = 2 * time.Second

// progress tells the caller of a tool, if it asked for that, what its call waits for,
// until the function that it gives is called.
func (a *adapter) progress(ctx context.Context, request *sdk.CallToolRequest) (stop func()) {
	token := request.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		began := time.Now()
		ticks := time.NewTicker(progressInterval)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			_ = request.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token,
				Progress: time.Since(began).Seconds(), Message: a.awaited(ctx)}) // a client that has gone ends the session itself
		}
	}()
	return func() {
		cancel()
		<-done // nothing about a call comes after its result
	}
}

func (a *adapter) awaited(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, progressInterval)
	defer cancel()
	if status, err := a.runtime.Status(ctx); err == nil {
		if text := render.Awaited(status); text != "" {
			return text
		}
	}
	return "waiting for the daemon"
}
