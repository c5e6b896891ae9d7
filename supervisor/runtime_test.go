package supervisor_test

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// onMachine is a runtime outside of any bubble, whose children are made up and answer
// nothing.
func onMachine(t *testing.T, change func(*supervisor.Config)) (*supervisor.Runtime, *fakes.Machine) {
	machine := fakes.NewMachine()
	cfg := supervisor.DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	rt, err := supervisor.Start(t.Context(), cfg, supervisor.On(supervisor.Machine{Launcher: machine.Launcher(),
		Table: machine.Table(), Grace: fakes.Grace, Sample: machine.Sample}))
	require.NoError(t, err)
	return rt, machine
}

func goProject(t *testing.T) supervisor.Document {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/go.mod", []byte("module m\n"), 0o600))
	require.NoError(t, os.WriteFile(dir+"/m.go", []byte("package m\n"), 0o600))
	return supervisor.Document{Project: dir, File: "m.go"}
}

// pending makes a call that nobody answers, and waits until its server is launched.
func pending(t *testing.T, rt *supervisor.Runtime, machine *fakes.Machine) <-chan error {
	launched := make(chan struct{}, 1)
	machine.OnLaunch(func(*fakes.Child) { launched <- struct{}{} })
	answer := make(chan error, 1)
	doc := goProject(t)
	go func() {
		_, err := rt.Diagnostics(context.Background(), doc)
		answer <- err
	}()
	<-launched
	return answer
}

func TestRuntimeWhoseSupervisorFailedRefusesCallsAndSweepsItsMark(t *testing.T) {
	rt, machine := onMachine(t, nil)
	answer := pending(t, rt, machine)
	rt.FailRoot()
	for rt.Failed() == nil {
		time.Sleep(time.Millisecond)
	}
	_, err := rt.Diagnostics(t.Context(), goProject(t))
	assert.Equal(t, messages.KindInternal, messages.KindOf(err))
	assert.NoError(t, rt.Close())
	assert.Empty(t, machine.Alive())
	assert.Contains(t, machine.Journal(), "reap", "and no zombie is left either")
	assert.Error(t, <-answer, "the call in flight is answered")
}

func TestStatusWithoutAnObserverIsAnInternalError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // all failures in one instant, however slow the machine is
		rt, _ := onMachine(t, nil)
		for range 6 {
			_, err := rt.Status(t.Context())
			require.NoError(t, err)
			rt.FailObserver()
			synctest.Wait()
		}
		_, err := rt.Status(t.Context())
		assert.Equal(t, messages.KindInternal, messages.KindOf(err))
		assert.NoError(t, rt.Failed(), "nothing else has ended")
		assert.NoError(t, rt.Close())
	})
}

func TestCloseAnswersCallsInFlightAsAborted(t *testing.T) {
	rt, machine := onMachine(t, nil)
	answer := pending(t, rt, machine)
	assert.NoError(t, rt.Close())
	assert.ErrorIs(t, <-answer, messages.ErrClosed)
	assert.Empty(t, machine.Alive())
}

func TestOperationsOverTheLimitAreRefusedBeforeAnythingIsLookedAt(t *testing.T) {
	rt, machine := onMachine(t, func(cfg *supervisor.Config) { cfg.MaxOperations = 1 })
	answer := pending(t, rt, machine)
	_, err := rt.Diagnostics(t.Context(), supervisor.Document{Project: "/no/such"})
	var busy *messages.BusyError
	require.ErrorAs(t, err, &busy)
	assert.Equal(t, messages.Operations, busy.Reason)
	_, err = rt.Status(t.Context())
	assert.NoError(t, err, "status is not counted")
	assert.NoError(t, rt.Close())
	<-answer
}

func TestCallerWhoseTimeEndsInTheQueueOfAStartIsToldThatItIsBusy(t *testing.T) {
	rt, machine := onMachine(t, nil)
	answer := pending(t, rt, machine)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := rt.Diagnostics(ctx, goProject(t))
	assert.Equal(t, messages.KindBusy, messages.KindOf(err), "%v", err)
	assert.NoError(t, rt.Close())
	<-answer
}

func TestStartRefusesABadConfiguration(t *testing.T) {
	cfg := supervisor.DefaultConfig()
	cfg.MaxProjects = 0
	_, err := supervisor.Start(t.Context(), cfg)
	var bad *messages.ConfigError
	require.ErrorAs(t, err, &bad)
	assert.Contains(t, bad.Setting, "max_projects")
}

func TestStartThatIsCalledOffLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rt, err := supervisor.Start(ctx, supervisor.DefaultConfig())
	if err == nil { // it was faster than the cancel
		assert.NoError(t, rt.Close())
		return
	}
	assert.Equal(t, messages.KindCancelled, messages.KindOf(err))
	assert.Nil(t, rt)
}
