package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"time"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// method does one method. A request is never done twice, nor sent on a second time.
type method func(*Server, context.Context, wire.Request) (any, error)

// methods are all that there are; $/cancelRequest is the connection's own.
var methods = map[string]method{
	wire.MethodPing:        (*Server).ping,
	wire.MethodStatus:      (*Server).status,
	wire.MethodTree:        (*Server).tree,
	wire.MethodShutdown:    (*Server).shutdown,
	wire.MethodRun:         (*Server).run,
	wire.MethodREPLStatus:  (*Server).replStatus,
	wire.MethodDiagnostics: (*Server).diagnostics,
	wire.MethodHover:       (*Server).hover,
	wire.MethodQuery:       (*Server).query,
	wire.MethodBuild:       (*Server).build,
}

// answer does a request and gives the line that answers it, nil for a notification. A
// panic is an answer too.
func (s *Server) answer(ctx context.Context, request wire.Request) (line []byte) {
	began := time.Now()
	defer func() {
		if value := recover(); value != nil {
			err := &messages.PanicError{Actor: request.Method, Value: fmt.Sprint(value)}
			s.Log.Error("a request's handler failed", "method", request.Method, "panic", value, "stack", string(debug.Stack()))
			line = request.Refuse(err)
		}
	}()
	do, known := methods[request.Method]
	if !known {
		return request.Refuse(wire.UnknownMethod(request.Method))
	}
	result, err := do(s, ctx, request)
	if err != nil {
		s.Log.Log(ctx, gravity(err), "a request failed", "method", request.Method, "kind", messages.KindOf(err).String(),
			"reason", err, "after", time.Since(began))
		return request.Refuse(err)
	}
	return request.Reply(result)
}

// gravity is the level at which a failed request is logged: what its caller did, or a
// full machine, is no fault of ours.
func gravity(err error) slog.Level {
	switch messages.KindOf(err) {
	case messages.KindInvalid, messages.KindBusy, messages.KindCancelled, messages.KindClosed:
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

func (s *Server) ping(context.Context, wire.Request) (any, error) {
	return s.Ping().Encode(s.settings), nil
}

func (s *Server) status(ctx context.Context, request wire.Request) (any, error) {
	params, err := wire.DecodeStatus(request.Params)
	if err != nil {
		return nil, err
	}
	picture, err := s.picture(ctx, params.Project)
	if err != nil || params.Format == wire.FormatReport {
		return picture, err
	}
	return wire.NewStatus(s.Ping(), picture, goruntime.NumGoroutine(), openFiles()).Encode(s.settings)
}

func (s *Server) picture(ctx context.Context, project string) (messages.Status, error) {
	runtime, err := s.engine(ctx)
	if err != nil {
		return messages.Status{}, err
	}
	if project == "" {
		return runtime.Status(ctx)
	}
	return runtime.ProjectStatus(ctx, project)
}

func (s *Server) tree(ctx context.Context, _ wire.Request) (any, error) {
	picture, err := s.picture(ctx, "")
	if err != nil {
		return nil, err
	}
	return wire.NewTree(picture), nil
}

func (s *Server) shutdown(_ context.Context, request wire.Request) (any, error) {
	params, err := wire.DecodeShutdown(request.Params)
	if err != nil {
		return nil, err
	}
	s.Shutdown(params.Now)
	return struct {
		Stopping bool `json:"stopping"`
		PID      int  `json:"pid"`
	}{true, os.Getpid()}, nil
}

// run gives version 1 a result for whatever became of the code, as its clients expect;
// JSON-RPC has errors for that.
func (s *Server) run(ctx context.Context, request wire.Request) (any, error) {
	params, err := wire.DecodeRun(request.Params, s.Config.REPL.MaxTimeout)
	if err != nil {
		return nil, err
	}
	runtime, err := s.engine(ctx)
	if err != nil {
		return nil, err
	}
	report, err := runtime.RunCode(ctx, params.Snippet)
	if ran := (*messages.RunError)(nil); request.Protocol == wire.Version1 && errors.As(err, &ran) {
		report, err = ran.Report(), nil
	}
	if err != nil {
		return nil, err
	}
	return wire.Run(report, params.Format), nil
}

func (s *Server) replStatus(ctx context.Context, request wire.Request) (any, error) {
	params, err := wire.DecodeProject(request.Params)
	if err != nil {
		return nil, err
	}
	found, err := config.Resolve(s.Config, config.Request{Project: params.Project, Language: params.Language, NeedREPL: true})
	if err != nil {
		return nil, err
	}
	picture, err := s.picture(ctx, found.Root)
	if err != nil {
		return nil, err
	}
	node := wire.Node{PID: os.Getpid(), TotalWorkers: s.Config.REPL.TotalWorkers,
		Capacity: s.Config.REPL.WorkersPerProject, Mode: string(s.Config.REPL.Mode)}
	key := messages.Key{Kind: messages.REPL, Root: found.Root, Language: found.Language.Name}
	return wire.NewREPLStatus(node, key, picture), nil
}

func (s *Server) diagnostics(ctx context.Context, request wire.Request) (any, error) {
	params, err := wire.DecodeDiagnostics(request.Params, s.Config.LSP.MaxTimeout)
	if err != nil {
		return nil, err
	}
	runtime, err := s.engine(ctx)
	if err != nil {
		return nil, err
	}
	report, err := runtime.Diagnostics(ctx, params.Document)
	if err != nil {
		return nil, err
	}
	return wire.Diagnostics(report, params.Format), nil
}

func (s *Server) hover(ctx context.Context, request wire.Request) (any, error) {
	params, err := wire.DecodeHover(request.Params, s.Config.LSP.MaxTimeout)
	if err != nil {
		return nil, err
	}
	runtime, err := s.engine(ctx)
	if err != nil {
		return nil, err
	}
	report, err := runtime.Hover(ctx, params.Document, params.Position)
	if err != nil {
		return nil, err
	}
	return wire.Hover(report, params.Format), nil
}

func (s *Server) query(ctx context.Context, request wire.Request) (any, error) {
	params, err := wire.DecodeQuery(request.Params, s.Config.LSP.MaxTimeout)
	if err != nil {
		return nil, err
	}
	runtime, err := s.engine(ctx)
	if err != nil {
		return nil, err
	}
	report, err := runtime.Query(ctx, params.Document, params.Method, params.Position, params.Params)
	if err != nil {
		return nil, err
	}
	if params.Format == wire.FormatText {
		return render.Query(params.Document, report), nil
	}
	return wire.Query(report, params.Format), nil
}

// openFiles counts this process's descriptors, 0 where that can't be known. On Linux
// since 6.2 the directory's size is their number.
func openFiles() int {
	if info, err := os.Stat("/proc/self/fd"); err == nil && info.Size() > 0 {
		return int(info.Size())
	}
	entries, _ := os.ReadDir("/dev/fd")
	return len(entries)
}
