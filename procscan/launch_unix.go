//go:build unix

package procscan

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// OSLauncher is the Launcher of this machine.
type OSLauncher struct {
	containment *Containment
	// starting is held for reading over every start, until the child is entered
	// in owned; a Reaper holds it for writing while it looks for zombies, so
	// that it never takes a child for an orphan.
	starting sync.RWMutex
	mu       sync.Mutex
	owned    map[int]*child
}

// Option sets up an OSLauncher.
type Option func(*OSLauncher)

// WithContainment makes the launcher put each tree into a control group of its
// own. A tree that can't be put into one starts without.
func WithContainment(c *Containment) Option { return func(l *OSLauncher) { l.containment = c } }

// NewLauncher gives a launcher of real processes. They inherit their standard
// streams and nothing else that this program opened through Go; see
// SealDescriptors for what it inherited itself.
func NewLauncher(options ...Option) *OSLauncher {
	l := &OSLauncher{owned: map[int]*child{}}
	for _, option := range options {
		option(l)
	}
	return l
}

// Launch implements Launcher.
func (l *OSLauncher) Launch(ctx context.Context, spec Spec) (Child, error) {
	path, env, err := prepare(ctx, spec)
	if err != nil {
		return nil, err
	}
	ends, err := openStreams(spec.Stdio)
	if err != nil {
		return nil, startError(path, spec, err)
	}
	defer ends.closeChild()
	c := &child{path: path, dir: spec.Dir, stdin: ends.stdin, stdout: ends.stdout}
	if err := l.start(c, spec, env, ends); err != nil {
		ends.closeOurs()
		return nil, startError(path, spec, err)
	}
	return c, nil
}

// prepare checks what can be checked before a process is made.
func prepare(ctx context.Context, spec Spec) (path string, env []string, err error) {
	if ctx.Err() != nil {
		return "", nil, fmt.Errorf("start a child: %w", context.Cause(ctx))
	}
	if len(spec.Argv) == 0 {
		return "", nil, &StartError{Dir: spec.Dir, Diagnosis: "no program is named", Err: syscall.EINVAL}
	}
	refuse := func(err error) (string, []string, error) {
		return "", nil, &StartError{Argv0: spec.Argv[0], Dir: spec.Dir, Diagnosis: err.Error(), Err: err}
	}
	if !filepath.IsAbs(spec.Dir) {
		return refuse(fmt.Errorf("working directory %q is not an absolute path", spec.Dir))
	}
	for _, mark := range spec.Marks {
		if err := mark.Validate(); err != nil {
			return refuse(err)
		}
	}
	env = ChildEnv(spec.Env, nil, nil, spec.Marks)
	if path, err = LookPath(spec.Argv[0], spec.Dir, envValue(env, "PATH")); err != nil {
		return refuse(err)
	}
	return path, env, nil
}

func startError(path string, spec Spec, err error) *StartError {
	return &StartError{Argv0: spec.Argv[0], Dir: spec.Dir, Diagnosis: diagnoseStart(path, spec.Dir, err), Err: err}
}

// start makes the process and fills the child in. Whatever it has begun when it
// fails it has also undone.
func (l *OSLauncher) start(c *child, spec Spec, env []string, ends *streams) (err error) {
	attr := &syscall.ProcAttr{Dir: spec.Dir, Env: env, Files: ends.child[:], Sys: &syscall.SysProcAttr{}}
	if spec.Mode == Foreground {
		attr.Sys.Setpgid = true
	} else {
		attr.Sys.Setsid = true
	}
	if ends.stderr != nil {
		if c.stderr, err = startDrain(ends.stderr); err != nil {
			return err
		}
	}
	l.starting.RLock()
	defer l.starting.RUnlock()
	pid, err := l.startCaged(c, spec, attr)
	if err == nil {
		c.id, err = identify(c.leader, pid)
	}
	if err != nil {
		if c.stderr != nil {
			c.stderr.close()
		}
		c.cage.remove()
		return err
	}
	l.own(c)
	if spec.Mode == Foreground {
		c.terminal = takeTerminal(spec.Stdio.Stdin, pid)
	}
	return nil
}

// startCaged starts in a control group where that works, and else without: the
// group may have been refused for a reason that the probe couldn't meet.
func (l *OSLauncher) startCaged(c *child, spec Spec, attr *syscall.ProcAttr) (pid int, err error) {
	if !spec.Uncaged {
		c.cage = l.containment.newTree()
	}
	if c.cage != nil {
		caged, sys := *attr, *attr.Sys
		caged.Sys = &sys
		leave := c.cage.enter(&sys)
		c.leader, pid, err = startLeader(c.path, spec.Argv, &caged)
		leave()
		if err == nil {
			return pid, nil
		}
		c.cage.remove()
		c.cage = nil
	}
	c.leader, pid, err = startLeader(c.path, spec.Argv, attr)
	return pid, err
}

// identify names a child that was just started; it can't vanish before it is
// reaped.
func identify(l *leader, pid int) (Identity, error) {
	st, err := system.stat(pid)
	if err != nil {
		discard(pid)
		l.close()
		return Identity{}, &blindError{err}
	}
	return st.Identity, nil
}

// blindError says that a child could not be identified. Its cause isn't unwrapped: that
// a file of /proc is missing says nothing about the program.
type blindError struct{ cause error }

func (e *blindError) Error() string { return "can't read the process table: " + e.cause.Error() }

// discard ends a child that can't be used, with what it has started in its group: no
// sweep will look for that.
func discard(pid int) {
	_ = unix.Kill(-pid, unix.SIGKILL)
	_ = unix.Kill(pid, unix.SIGKILL) // it may have left its group
	_, _ = retry(func() (int, error) { return unix.Wait4(pid, nil, 0, nil) })
}

func (l *OSLauncher) own(c *child) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owned[c.id.PID] = c
	c.disown = func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.owned[c.id.PID] == c { // else the number was given to a later child
			delete(l.owned, c.id.PID)
		}
	}
}
