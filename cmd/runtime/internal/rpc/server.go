package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// Runtime is what a server asks of the engine; *supervisor.Runtime is one.
type Runtime interface {
	Diagnostics(context.Context, messages.Document) (messages.DiagnosticsReport, error)
	Hover(context.Context, messages.Document, messages.Position) (messages.HoverReport, error)
	Query(ctx context.Context, doc messages.Document, method string, at *messages.Position, params json.RawMessage) (messages.QueryReport, error)
	RunCode(context.Context, messages.Snippet) (messages.RunReport, error)
	WatchBuild(context.Context, messages.Build, func(messages.BuildEvent)) (messages.BuildReport, error)
	Status(context.Context) (messages.Status, error)
	ProjectStatus(ctx context.Context, project string) (messages.Status, error)
}

// Options are what a Server is made of; all of them are needed.
type Options struct {
	Config   config.Config
	Ping     func() wire.Ping // who answers, as of now; its Config never changes
	Shutdown func(now bool)   // a client asked for the end; it must not block
	Log      *slog.Logger
}

// Server serves both protocols on one listener.
type Server struct {
	Options
	settings []byte          // JSON of the ping\'s Config
	runtime  Runtime         // after attached
	attached chan struct{}   // closed by Attach
	base     context.Context // of all that it does
	cancel   context.CancelFunc

	refusals chan struct{} // a place for each connection that is being refused
	served   chan struct{} // closed when no connection is accepted any more
	handlers sync.WaitGroup

	mu      sync.Mutex
	open    map[*connection]struct{}
	closing bool
}

const (
	// refusedAtOnce is how many connections over max_connections are answered at a time.
	// Further ones wait in the listener's queue, each at most refusalTimeout for a place.
	refusedAtOnce  = 64
	refusalTimeout = time.Second
	// writeTimeout is how long a client may take to accept an answer.
	writeTimeout = 30 * time.Second
	// lastRead is how long a closing server goes on reading: what a client had sent
	// before is refused under its id, and not lost.
	lastRead = 20 * time.Millisecond
	// cutOffGrace is how long handlers may take to notice that they were cut off. The
	// runtime answers a cancelled call sooner.
	cutOffGrace = 2 * time.Second
)

// New makes a server that isn't listening yet.
func New(options Options) *Server {
	s := &Server{Options: options, attached: make(chan struct{}), refusals: make(chan struct{}, refusedAtOnce),
		served: make(chan struct{}), open: make(map[*connection]struct{})}
	s.base, s.cancel = context.WithCancel(context.Background())
	s.settings, _ = json.Marshal(options.Ping().Config) // of plain values: it can't fail
	return s
}

// Attach gives the server the runtime that does its requests, once. Until then those
// that need one wait; a ping doesn't.
func (s *Server) Attach(runtime Runtime) {
	s.runtime = runtime
	close(s.attached)
}

// engine is the runtime, as soon as there is one.
func (s *Server) engine(ctx context.Context) (Runtime, error) {
	select {
	case <-s.attached:
		return s.runtime, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Serve accepts connections until Close, once in a Server's life. Errors of single
// connections never end it: without free descriptors, for example, clients wait in the
// listener's queue.
func (s *Server) Serve(listener *net.UnixListener) {
	go s.accept(listener)
	<-s.served
}

// accept takes one connection, leaves the next to a goroutine of its own, and serves the
// one that it has. The other way round, a new goroutine would serve, and mostly on
// another processor: that alone takes as long as a small request.
func (s *Server) accept(listener *net.UnixListener) {
	pause := time.Duration(0)
	for {
		conn, err := next(listener)
		switch {
		case err == nil:
			serve := s.admit(conn)
			go s.accept(listener)
			serve()
			return
		case errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrDeadlineExceeded):
			close(s.served)
			return
		default:
			s.Log.Warn("cannot accept a connection", "reason", err)
			pause = min(max(2*pause, 10*time.Millisecond), time.Second)
			time.Sleep(pause)
		}
	}
}

// next accepts a connection. What waits in the queue when the server closes is taken,
// however late a busy machine lets it come to that.
func next(listener *net.UnixListener) (*net.UnixConn, error) {
	conn, err := listener.AcceptUnix()
	if errors.Is(err, os.ErrDeadlineExceeded) && ready(listener) {
		_ = listener.SetDeadline(time.Now().Add(atOnce))
		conn, err = listener.AcceptUnix()
		_ = listener.SetDeadline(past)
	}
	return conn, err
}

// admit counts a connection in, and gives what is to be done with it: serve or refuse.
func (s *Server) admit(conn *net.UnixConn) (serve func()) {
	if err := wire.CheckPeer(conn); err != nil {
		s.Log.Warn("a connection was refused", "reason", err)
		return func() { _ = conn.Close() } // to somebody else there is nothing to say
	}
	c := newConnection(s, conn)
	if s.enter(c) {
		return c.serve
	}
	s.refusals <- struct{}{}
	s.handlers.Add(1)
	return func() {
		defer s.handlers.Done()
		defer func() { <-s.refusals }()
		defer s.survive("refusal")
		c.refuse(&messages.BusyError{Reason: messages.Connections})
	}
}

// enter counts a connection, unless there are max_connections.
func (s *Server) enter(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= s.Config.MaxConnections {
		return false
	}
	s.open[c] = struct{}{}
	s.handlers.Add(1)
	if s.closing {
		c.stopReading(time.Now().Add(lastRead))
	}
	return true
}

func (s *Server) leave(c *connection) {
	s.mu.Lock()
	delete(s.open, c)
	s.mu.Unlock()
	s.handlers.Done()
}

func (s *Server) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// survive keeps a fault in one connection from ending the daemon with all others.
func (s *Server) survive(where string) {
	if value := recover(); value != nil {
		s.Log.Error("a fault in the socket's server", "where", where, "panic", value, "stack", string(debug.Stack()))
	}
}

// Close ends the server: what waits in the listener's queue is still taken, what is
// being done is waited for, and when ctx ends first it is cut off. The caller has made
// sure that no client finds the socket any more, and closes the listener afterwards.
func (s *Server) Close(ctx context.Context, listener *net.UnixListener) {
	s.mu.Lock()
	s.closing = true
	soon := time.Now().Add(lastRead)
	_ = listener.SetDeadline(soon)
	for c := range s.open {
		c.stopReading(soon)
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		<-s.served
		s.handlers.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.cutOff()
		select {
		case <-done:
		case <-time.After(cutOffGrace): // a handler that hears nothing must not hold up the end
		}
	}
	s.cancel()
}

// cutOff ends what is being done, and every connection.
func (s *Server) cutOff() {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		_ = c.conn.Close()
	}
}
