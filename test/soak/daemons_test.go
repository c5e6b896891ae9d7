//go:build linux

package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/supervisor/wire"
	"github.com/seed-f6977891/hearth/test/standins"
)

// install replaces the program by the other build, with a modification time of now. A
// link and no copy: a process that is being started while a program is still open for
// writing would make it "text file busy".
func (w *world) install(number int64) error {
	fresh := w.program + ".new"
	if err := os.Link(w.builds[number%int64(len(w.builds))], fresh); err != nil {
		return err
	}
	now := time.Now()
	if err := os.Chtimes(fresh, now, now); err != nil {
		return err
	}
	return os.Rename(fresh, w.program)
}

// upgrade installs the next build and waits until its daemon answers, with all that the
// one before it had begun behind it. It runs beside everything else.
func (w *world) upgrade() {
	err := w.install(w.started.Add(1))
	if err == nil {
		err = w.start()
	}
	if err != nil {
		w.breach("upgrade %d: %v", w.started.Load(), err)
	}
	w.finished.Add(1)
}

// start makes sure that a daemon of the installed build runs.
func (w *world) start() error {
	c, err := w.client()
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ping, err := c.Ping(ctx)
	if err != nil {
		return err
	}
	return w.follow(ping)
}

// follow takes note of a daemon that is new.
func (w *world) follow(ping wire.Ping) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.lives); n > 0 && w.lives[n-1].pid == ping.PID {
		return fmt.Errorf("process %d was not replaced", ping.PID)
	}
	w.lives = append(w.lives, &life{pid: ping.PID})
	return nil
}

// sample looks at the present daemon. One that is gone has been replaced.
func (w *world) sample() {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lives[len(w.lives)-1]
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", l.pid))
	if err != nil {
		return
	}
	fields := strings.Fields(string(text))
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", l.pid))
	if err != nil || len(fields) < 2 {
		return
	}
	if pages, err := strconv.Atoi(fields[1]); err == nil && pages > 0 { // a zombie has none
		l.memory = append(l.memory, pages*os.Getpagesize()/1024)
		l.descriptors = append(l.descriptors, len(entries))
	}
}

// strike kills a process, a leader as likely as one below it, of a project that isn't
// sheltered. It tells whether there was one.
func (w *world) strike(t *testing.T, rng *rand.Rand) bool {
	c, err := w.client(client.WithoutStart())
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), standins.Bound)
	defer cancel()
	status, err := c.Status(ctx)
	if err != nil {
		return false // it is being replaced
	}
	p := w.projects[rng.IntN(len(w.projects))]
	for _, i := range rng.Perm(len(status.Trees)) {
		tree := status.Trees[i]
		if p.sheltered || tree.Key.Root != p.dir {
			continue
		}
		victim := tree.Leader
		if n := len(tree.Members); n > 0 && rng.IntN(2) == 0 {
			victim = tree.Members[rng.IntN(n)]
		}
		if victim.PID == 0 { // it is being started
			continue
		}
		p.strike() // before, since its effects begin at once
		standins.Kill(t, standins.Event{Role: string(tree.Role), PID: victim.PID, StartTicks: victim.StartTicks}, unix.SIGKILL)
		p.strike()
		return true
	}
	return false
}
