package client

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// Client uses the user's shared daemon. It is safe for concurrent use; its calls share
// one connection, and go on to the next daemon when one has ended.
type Client struct {
	cfg    config.Config
	daemon *daemon

	dialing chan struct{} // capacity one: held by whoever makes the connection
	calls   sync.WaitGroup

	mu     sync.Mutex
	conn   *connection              // nil: none yet
	owned  map[*connection]struct{} // each of one call alone
	closed bool
}

// Option says which daemon a client uses.
type Option func(*settings)

type settings struct {
	install *config.Install
	program string
	socket  string
	args    []string
	noStart bool
	started func(pid int)
}

// WithProgram names hearth's program, which daemons are started from: a path or a name
// that is looked up in PATH, which is how "hearth" is found without this option.
func WithProgram(program string) Option { return func(s *settings) { s.program = program } }

// WithInstall names the program by what is known of it already.
func WithInstall(install config.Install) Option { return func(s *settings) { s.install = &install } }

// WithSocket uses a socket of one's own choice, as hearth serve --socket does.
func WithSocket(path string) Option { return func(s *settings) { s.socket = path } }

// WithArguments gives arguments to a daemon that is started, such as --config.
func WithArguments(args ...string) Option { return func(s *settings) { s.args = args } }

// WithoutStart makes a client that starts no daemon: without one its calls fail with
// ErrNotRunning.
func WithoutStart() Option { return func(s *settings) { s.noStart = true } }

// WithStarted names who is told of a daemon that a call has started, before that call
// goes on. It must not call the client.
func WithStarted(tell func(pid int)) Option { return func(s *settings) { s.started = tell } }

// New makes a client and touches nothing: the first call connects.
func New(cfg config.Config, opts ...Option) (*Client, error) {
	set := settings{started: func(int) {}}
	for _, opt := range opts {
		opt(&set)
	}
	install, err := set.findInstall()
	if err != nil {
		return nil, err
	}
	d := &daemon{install: install, paths: cfg.Paths(install), args: set.args, noStart: set.noStart, started: set.started}
	if set.socket != "" {
		d.explicit = true
		if d.paths, err = config.PathsFor(set.socket); err != nil {
			return nil, err
		}
	}
	return &Client{cfg: cfg, daemon: d, dialing: make(chan struct{}, 1), owned: make(map[*connection]struct{})}, nil
}

func (s settings) findInstall() (config.Install, error) {
	if s.install != nil {
		return *s.install, nil
	}
	program := s.program
	if program == "" {
		program = "hearth"
	}
	path, err := procscan.LookPath(program, "/", os.Getenv("PATH"))
	if err != nil {
		return config.Install{}, messages.Invalidf("%w; build it with go build -o hearth ./cmd/runtime, or name it", err)
	}
	install, err := config.ReadInstall(path)
	if err != nil {
		return config.Install{}, messages.Invalidf("cannot read hearth's program: %w", err)
	}
	return install, nil
}

// Connect makes a client and sees to it that a daemon runs, for which it starts one if
// need be. ctx bounds that and nothing later.
func Connect(ctx context.Context, cfg config.Config, opts ...Option) (*Client, error) {
	c, err := New(cfg, opts...)
	if err != nil {
		return nil, err
	}
	if _, err := c.connection(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Socket is where the daemon listens, or would.
func (c *Client) Socket() string { return c.daemon.paths.Socket }

// connection gives the kept connection. Where it has ended a new one is made, by one
// caller at a time; each of those that wait has its own ctx.
func (c *Client) connection(ctx context.Context) (*connection, error) {
	select {
	case c.dialing <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-c.dialing }()
	if conn, err := c.kept(); conn != nil || err != nil {
		return conn, err
	}
	conn, _, err := c.daemon.ensure(ctx)
	if err != nil {
		return nil, err
	}
	return conn, c.keep(conn)
}

// kept is the connection there is, if it has not ended.
func (c *Client) kept() (*connection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, messages.ErrClosed
	case c.conn != nil && !c.conn.ended():
		return c.conn, nil
	}
	return nil, nil
}

func (c *Client) keep(conn *connection) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		conn.end(messages.ErrClosed)
		return messages.ErrClosed
	}
	c.conn = conn
	return nil
}

// Call makes one call of any method of the socket, whose result is decoded into result
// unless that is nil. A ctx without a deadline gets response_timeout.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	if err := c.enter(); err != nil {
		return err
	}
	defer c.calls.Done()
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.cfg.ResponseTimeout)
		defer cancel()
	}
	err := c.try(ctx, method, params, result)
	if errors.Is(err, errNotSent) { // the daemon ended since the last call
		err = c.try(ctx, method, params, result)
	}
	if errors.Is(err, errNotSent) {
		err = messages.Errorf(messages.KindClosed, "the daemon ended before it took the request; it was not run")
	}
	return err
}

func (c *Client) try(ctx context.Context, method string, params, result any) error {
	conn, err := c.connection(ctx)
	if err != nil {
		return err
	}
	return conn.call(ctx, method, params, result)
}

func (c *Client) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return messages.ErrClosed
	}
	c.calls.Add(1)
	return nil
}

// Shutdown ends the client once its calls in flight have their answers; when ctx ends
// first they are cancelled. The daemon goes on.
func (c *Client) Shutdown(ctx context.Context) error {
	c.refuse()
	done := make(chan struct{})
	go func() {
		c.calls.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return c.Close()
}

func (c *Client) refuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// Close ends the client at once: calls in flight fail with ErrClosed, and the daemon
// cancels them. The daemon goes on.
func (c *Client) Close() error {
	c.refuse()
	c.mu.Lock()
	ending := slices.Collect(maps.Keys(c.owned))
	if c.conn != nil {
		ending = append(ending, c.conn)
	}
	c.conn = nil
	c.mu.Unlock()
	for _, conn := range ending {
		conn.end(messages.ErrClosed)
	}
	return nil
}
