//go:build unix

package procscan

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// child is the Child of an OSLauncher.
type child struct {
	path, dir string
	id        Identity
	leader    *leader
	stdin     *os.File
	stdout    *os.File
	stderr    *drain
	cage      *treeCage
	terminal  *terminal
	disown    func() // tells the launcher that the PID is free

	// mu is held over every use of the leader's PID as a number, so that the
	// zombie which pins it can't be reaped meanwhile.
	mu     sync.Mutex
	stage  Stage
	reaped bool
	status Status
}

func (c *child) Identity() Identity { return c.id }

func (c *child) Stdin() Pipe  { return pipeOrNil(c.stdin) }
func (c *child) Stdout() Pipe { return pipeOrNil(c.stdout) }

// pipeOrNil keeps a nil file from becoming an interface that isn't nil.
func pipeOrNil(file *os.File) Pipe {
	if file == nil {
		return nil
	}
	return file
}

func (c *child) Stderr() *Ring {
	if c.stderr == nil {
		return nil
	}
	return &c.stderr.ring
}

func (c *child) Cage() Cage {
	if c.cage == nil {
		return nil
	}
	return c.cage
}

func (c *child) CloseStdin() error {
	if c.stdin == nil {
		return nil
	}
	_ = c.stdin.Close() // fails only when it was closed before
	return nil
}

func (c *child) Exited(ctx context.Context) (Status, error) {
	if err := c.awaitExit(ctx); err != nil {
		return Status{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status, nil
}

func (c *child) awaitExit(ctx context.Context) error {
	if err := c.leader.wait(ctx, c.ended); err != nil {
		return err
	}
	if c.stderr != nil {
		c.stderr.settle()
	}
	return nil
}

func (c *child) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.endedLocked()
}

func (c *child) endedLocked() bool {
	if c.reaped {
		return true
	}
	status, ended := c.leader.peek()
	if ended {
		c.status = status
	}
	return ended
}

func (c *child) SignalGroup(sig os.Signal) error {
	number, ok := sig.(syscall.Signal)
	if !ok {
		return fmt.Errorf("signal %v is none of this system", sig)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stage == Reaping:
		return ErrReaped
	case c.stage == Retired:
		return ErrRetired
	case c.endedLocked() && c.status.stolen():
		return ErrReaped // by the host program: the number isn't pinned any more
	}
	if err := unix.Kill(-c.id.PID, number); err != nil {
		return fmt.Errorf("signal process group %d: %w", c.id.PID, err)
	}
	return nil
}

func (c *child) GroupAlive(ctx context.Context) (bool, error) {
	c.mu.Lock()
	ended, pinned := c.endedLocked(), !c.reaped && !c.status.stolen()
	c.mu.Unlock()
	switch {
	case !ended:
		return true, nil
	case !pinned:
		return false, nil // what has this number now is not ours
	}
	return groupAlive(ctx, system, c.id.PID)
}

func (c *child) Retire() { c.advance(Retired) }

func (c *child) advance(to Stage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stage = max(c.stage, to)
}

func (c *child) Stage() Stage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stage
}

// Reap takes the status before it closes the pipes: a leader that is reaped
// can't be woken by them.
func (c *child) Reap(ctx context.Context) (Status, error) {
	c.advance(Reaping)
	if err := c.awaitExit(ctx); err != nil {
		return Status{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return c.status, nil
	}
	c.status = c.leader.reap()
	c.reaped = true
	c.release()
	return c.status, nil
}

func (c *child) release() {
	c.disown()
	c.leader.close()
	for _, file := range []*os.File{c.stdin, c.stdout} {
		if file != nil {
			_ = file.Close()
		}
	}
	if c.stderr != nil {
		c.stderr.close()
	}
	c.cage.remove()
	c.terminal.restore()
}

func (c *child) Diagnose() string {
	text := fmt.Sprintf("%s in %s", c.path, c.dir)
	if c.stderr == nil {
		return text
	}
	if line := c.stderr.ring.Tail(1); line != "" {
		text += ": " + line
	}
	return text
}
