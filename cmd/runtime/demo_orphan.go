package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

const demoPoll = 2 * time.Millisecond

// orphan makes a server start a child that outlives it, kills the server, and shows
// that the child is found and ended all the same.
func (d *demo) orphan(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	answered, answer := make(chan struct{}), error(nil)
	var call errgroup.Group
	call.Go(func() error {
		defer close(answered)
		_, answer = d.eng.Diagnostics(ctx, d.project.document(waitingLanguage))
		return nil
	})
	defer func() {
		cancel()
		_ = call.Wait()
	}()
	child, err := d.awaitChild(ctx, answered)
	if err != nil {
		return err
	}
	leader, err := d.leader(ctx, waitingLanguage)
	if err != nil {
		return err
	}
	d.say("child", "a second server (%d) asked its build system: %d, which waits in a session of its own and ignores SIGTERM", leader.PID, child.PID)
	killed := time.Now()
	if err := kill(leader); err != nil {
		return err
	}
	if err := d.watchOrphan(ctx, leader, child); err != nil {
		return err
	}
	if err := d.awaitSwept(ctx); err != nil {
		return err
	}
	<-answered
	d.say("sweep", "%d is gone, %s after the kill; whoever waited was told: %v", child.PID, since(killed), answer)
	return nil
}

// awaitChild waits until the child has said its PID.
func (d *demo) awaitChild(ctx context.Context, answered <-chan struct{}) (child procscan.Identity, err error) {
	err = poll(ctx, func() (bool, error) {
		text, err := os.ReadFile(d.project.child)
		if os.IsNotExist(err) {
			select {
			case <-answered:
				return false, messages.Errorf(messages.KindInternal, "the server answered without asking its build system")
			default:
				return false, nil
			}
		}
		if err != nil {
			return false, messages.Errorf(messages.KindInternal, "%w", err)
		}
		pid, err := strconv.Atoi(string(text))
		if err == nil {
			child, err = procscan.Read(pid)
		}
		return true, asInternal(err)
	})
	return child, err
}

// leader finds a language's server by the runtime's status.
func (d *demo) leader(ctx context.Context, language string) (procscan.Identity, error) {
	status, err := d.eng.Status(ctx)
	if err != nil {
		return procscan.Identity{}, err
	}
	for _, tree := range status.Trees {
		if tree.Key.Language == language {
			return tree.Leader, nil
		}
	}
	return procscan.Identity{}, messages.Errorf(messages.KindInternal, "status shows no server of %s", language)
}

// kill takes a server away as the kernel would when memory is short. The process is
// held before it is looked at, so that no other can get its number in between.
func kill(leader procscan.Identity) error {
	process, err := os.FindProcess(leader.PID)
	if err != nil {
		return asInternal(err)
	}
	defer process.Release()
	if now, err := procscan.Read(leader.PID); err != nil || now != leader {
		return messages.Errorf(messages.KindInternal, "the server %s has ended already", leader)
	}
	return asInternal(process.Kill())
}

// watchOrphan looks for the moment in which the leader is gone and the child is not:
// a sweep gives a process half a second after its SIGTERM. On a machine that was
// busy that long there is nothing to be seen.
func (d *demo) watchOrphan(ctx context.Context, leader, child procscan.Identity) error {
	seen := false
	err := poll(ctx, func() (bool, error) {
		orphan, server := lives(child), lives(leader)
		seen = orphan && !server
		return seen || !orphan, nil
	})
	if err != nil {
		return err
	}
	if !seen {
		d.say("kill", "%d died of SIGKILL; %d was swept before it could be looked at", leader.PID, child.PID)
		return nil
	}
	d.say("kill", "%d died of SIGKILL; its child %d is still there", leader.PID, child.PID)
	return nil
}

// awaitSwept waits until the runtime has proved the tree's end and let go of it.
func (d *demo) awaitSwept(ctx context.Context) error {
	return poll(ctx, func() (bool, error) {
		status, err := d.eng.Status(ctx)
		return !slices.ContainsFunc(status.Trees, func(t messages.TreeStatus) bool {
			return t.Key.Language == waitingLanguage
		}), err
	})
}

// findMark reads the runtime's mark off the server's environment: the proof at the
// end then rests on what the kernel shows, not on what the runtime says.
func (d *demo) findMark(ctx context.Context) error {
	leader, err := d.leader(ctx, "go")
	if err != nil {
		return err
	}
	marks, err := procscan.Sample(ctx, procscan.RuntimeVar)
	if err != nil {
		return asInternal(err)
	}
	for value, tree := range marks {
		if slices.Contains(tree.Members, leader) {
			d.mark = procscan.Mark{Var: procscan.RuntimeVar, Value: value}
			return nil
		}
	}
	return messages.Errorf(messages.KindInternal, "the server %s carries no mark of a runtime", leader)
}

// prove looks through the whole machine for the runtime's mark.
func (d *demo) prove(ctx context.Context) error {
	scan, err := procscan.SystemTable().Scan(ctx, d.mark)
	if err != nil {
		return asInternal(err)
	}
	defer scan.Close()
	if left := len(scan.Hits); left > 0 {
		return messages.Errorf(messages.KindUnreaped, "%d processes still carry %s", left, d.mark.Env())
	}
	d.say("proof", "no process on this machine carries %s", d.mark.Env())
	return nil
}

func lives(process procscan.Identity) bool {
	now, err := procscan.Read(process.PID)
	return err == nil && now == process
}

// poll asks until the answer is yes, or an error.
func poll(ctx context.Context, done func() (bool, error)) error {
	again := time.NewTicker(demoPoll)
	defer again.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the demo was called off: %w", ctx.Err())
		case <-again.C:
		}
	}
}

func asInternal(err error) error {
	if err == nil {
		return nil
	}
	return messages.Errorf(messages.KindInternal, "%w", err)
}
