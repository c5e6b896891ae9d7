package procscan

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeChild is a process group in memory. What isn't needed here panics.
type fakeChild struct {
	Child
	stage  Stage
	endsOf syscall.Signal // ends of this signal; 0: of none
	// aliveErr is what a look at the group gives: the first ones or, where blindLooks is
	// 0, each.
	aliveErr   error
	blindLooks int
	looks      int
	signalErr  error
	log        []string
	ended      bool
}

func (c *fakeChild) Identity() Identity { return Identity{PID: 50, StartTicks: 5} }
func (c *fakeChild) Stage() Stage       { return c.stage }
func (c *fakeChild) Retire()            { c.stage = Retired }

func (c *fakeChild) GroupAlive(context.Context) (bool, error) {
	if c.looks++; c.blindLooks > 0 && c.looks > c.blindLooks {
		return !c.ended, nil
	}
	return !c.ended, c.aliveErr
}

func (c *fakeChild) SignalGroup(sig os.Signal) error {
	c.log = append(c.log, fmt.Sprint(sig))
	c.ended = c.ended || sig == c.endsOf
	return c.signalErr
}

func TestRetireGroup(t *testing.T) {
	for _, tt := range []struct {
		law     string
		child   fakeChild
		log     []string
		takes   time.Duration
		retired bool
		err     string
	}{
		{law: "ends a polite group at once", child: fakeChild{endsOf: syscall.SIGTERM},
			log: []string{"terminated", "continued"}, retired: true},
		{law: "wakes a stopped one so that it takes SIGTERM", child: fakeChild{endsOf: syscall.SIGCONT},
			log: []string{"terminated", "continued"}, retired: true},
		{law: "kills a stubborn one", child: fakeChild{endsOf: syscall.SIGKILL},
			log: []string{"terminated", "continued", "killed"}, takes: 500 * time.Millisecond, retired: true},
		{law: "fails when SIGKILL doesn't work, and doesn't retire", child: fakeChild{},
			log: []string{"terminated", "continued", "killed"}, takes: 1500 * time.Millisecond, err: "still alive"},
		{law: "never signals a retired group again", child: fakeChild{stage: Retired}, retired: true},
		{law: "never signals a group whose leader is being reaped", child: fakeChild{stage: Reaping}},
		{law: "fails when the table can't be read, but has gone as far as SIGKILL", child: fakeChild{aliveErr: errTable},
			log: []string{"terminated", "continued", "killed"}, takes: 1500 * time.Millisecond, err: "table broke"},
		{law: "goes on when the table could not be read for a while", child: fakeChild{endsOf: syscall.SIGTERM, blindLooks: 3, aliveErr: errTable},
			log: []string{"terminated", "continued"}, takes: 7 * time.Millisecond, retired: true},
		{law: "fails when signals can't be sent", child: fakeChild{signalErr: syscall.EINVAL},
			log: []string{"terminated"}, err: "invalid argument"},
		{law: "goes by the states when there is nobody left to signal", child: fakeChild{signalErr: syscall.ESRCH, ended: true},
			log: []string{"terminated", "continued"}, retired: true},
		{law: "goes by the states when others own what is left", child: fakeChild{signalErr: syscall.EPERM, ended: true},
			log: []string{"terminated", "continued"}, retired: true},
		{law: "goes by the states when the host took the leader's status", child: fakeChild{signalErr: ErrReaped, ended: true},
			log: []string{"terminated", "continued"}, retired: true},
	} {
		t.Run(tt.law, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := RetireGroup(t.Context(), &tt.child, DefaultGrace)
				if tt.err == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, tt.err)
				}
				require.Equal(t, tt.log, tt.child.log)
				require.Equal(t, tt.takes, time.Since(began))
				require.Equal(t, tt.retired, tt.child.stage == Retired)
			})
		})
	}
}

func TestRetireGroupEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		child := &fakeChild{}
		require.ErrorIs(t, RetireGroup(ctx, child, DefaultGrace), context.DeadlineExceeded)
		require.Equal(t, Running, child.stage, "it may be tried again")
	})
}
