package rpc

import (
	"context"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// teller sends a notification to the client of a request.
type teller func(method string, params any)

type tellerKey struct{}

// withTeller lets what is done in ctx tell its client something before it answers.
func withTeller(ctx context.Context, tell teller) context.Context {
	return context.WithValue(ctx, tellerKey{}, tell)
}

// tell sends a notification. A client that doesn't take it in time has gone.
func (c *connection) tell(method string, params any) {
	line, err := wire.Notification(method, params)
	if err != nil { // larger than a frame may be
		c.server.Log.Warn("a notification can't be sent", "method", method, "reason", err)
		return
	}
	c.write(line)
}

// build runs a build in the daemon. What happens to it is told as it comes in JSON-RPC;
// version 1 has no words for that, and gets the end of the output in the report.
func (s *Server) build(ctx context.Context, request wire.Request) (any, error) {
	params, err := wire.DecodeBuild(request.Params)
	if err != nil {
		return nil, err
	}
	runtime, err := s.engine(ctx)
	if err != nil {
		return nil, err
	}
	var hear func(messages.BuildEvent)
	if tell, ok := ctx.Value(tellerKey{}).(teller); ok {
		hear = func(event messages.BuildEvent) {
			tell(wire.MethodBuildEvent, wire.BuildEvent{ID: request.ID, BuildEvent: event})
		}
	}
	report, err := runtime.WatchBuild(ctx, params.Build, hear)
	if err != nil {
		return nil, err
	}
	return report, nil
}
