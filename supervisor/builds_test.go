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
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
)

// building is a family whose supervisor watches builds; looks show what look gives.
func building(t *testing.T, name string, look procscan.Look, test func(*testing.T, *family)) {
	kept(t, name, func() supervisor.Machine {
		return supervisor.Machine{Members: func(context.Context, procscan.Mark) (procscan.Look, error) { return look, nil }}
	}, test)
}

// watch asks for a build. change makes it unusual.
func (f *family) watch(change ...func(*messages.WatchBuild)) messages.WatchBuild {
	op := messages.WatchBuild{Head: messages.Head{ID: 1, Ctx: f.t.Context(), Key: messages.Key{Root: "/p"}},
		Build: messages.Build{Dir: "/p", Argv: []string{"make"}, Interval: time.Second, Grace: 3 * time.Second},
		Spec:  procscan.Spec{Argv: []string{"make"}, Dir: "/p"}, Reply: messages.NewReplyTo[messages.BuildOutcome]()}
	for _, c := range change {
		c(&op)
	}
	f.root.Send(op)
	synctest.Wait()
	return op
}

func (f *family) answer(op messages.WatchBuild) messages.Result[messages.BuildOutcome] {
	f.t.Helper()
	synctest.Wait()
	require.Len(f.t, op.Reply.Answer(), 1)
	return <-op.Reply.Answer()
}

func (f *family) builds() (found []messages.BuildSnapshot) {
	for _, snapshot := range f.seen().published {
		if build, ok := snapshot.(messages.BuildSnapshot); ok {
			found = append(found, build)
		}
	}
	return found
}

func TestBuildIsWatchedOnATreeOfItsOwnWithItsOwnGrace(t *testing.T) {
	building(t, "build", procscan.Look{}, func(t *testing.T, f *family) {
		op := f.watch()
		child := f.machine.Children()[0]
		assert.Equal(t, []string{"make"}, child.Spec.Argv)
		require.Len(t, f.builds(), 1)
		assert.Equal(t, "watching", f.builds()[0].State)
		stubborn := child.Escapee()
		stubborn.IgnoreTERM()
		child.Exit(procscan.Status{Code: 5})
		time.Sleep(3*time.Second - time.Millisecond)
		assert.Empty(t, op.Reply.Answer())
		assert.Equal(t, []int{stubborn.PID}, f.machine.Alive())
		time.Sleep(time.Second)
		assert.Equal(t, 5, f.answer(op).Value.Report.ExitCode)
		assert.Empty(t, f.builds(), "its snapshot is gone")
		assert.Zero(t, f.runtime().Trees)
	})
}

func TestBuildsAreRefusedOnceTheRuntimeIsEnding(t *testing.T) {
	building(t, "stopping", procscan.Look{}, func(t *testing.T, f *family) {
		admitted := f.watch()
		reply := supervisor.Shutdown(t.Context(), f.root)
		assert.ErrorIs(t, f.answer(f.watch()).Err, messages.ErrClosing)
		time.Sleep(10 * time.Minute)
		assert.Empty(t, reply.Answer(), "an admitted build is finished first")
		f.machine.Children()[0].Exit(procscan.Status{})
		time.Sleep(time.Minute)
		assert.NoError(t, f.answer(admitted).Err)
		require.Len(t, reply.Answer(), 1)
		assert.NoError(t, (<-reply.Answer()).Err)
		f.root.Stop()
		<-f.root.Done()
	})
}

func TestAbortEndsBuilds(t *testing.T) {
	building(t, "abort", procscan.Look{}, func(t *testing.T, f *family) {
		op := f.watch()
		supervisor.Abort(f.root)
		time.Sleep(time.Minute)
		assert.ErrorIs(t, f.answer(op).Value.Err, messages.ErrAborted)
		assert.Empty(t, f.machine.Alive())
	})
}

func TestBuildWhoseExpressionIsWrongIsRefused(t *testing.T) {
	building(t, "match", procscan.Look{}, func(t *testing.T, f *family) {
		op := f.watch(func(op *messages.WatchBuild) { op.Build.Match = "(" })
		assert.Equal(t, messages.KindInvalid, messages.KindOf(f.answer(op).Err))
		assert.Empty(t, f.machine.Children())
	})
}

func TestCallerIsAnsweredAlsoWhenItsWatcherFails(t *testing.T) {
	broken := procscan.Look{Members: []procscan.Member{{}}} // a process without any word is none
	building(t, "while watching", broken, func(t *testing.T, f *family) {
		op := f.watch()
		assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(f.answer(op).Err))
		time.Sleep(time.Minute)
		assert.Empty(t, f.machine.Alive(), "and the build is ended")
		assert.Empty(t, f.builds())
		assert.NotEmpty(t, f.answerAgain(), "the next is watched")
	})
	building(t, "before it began", procscan.Look{}, func(t *testing.T, f *family) {
		op := f.watch(func(op *messages.WatchBuild) { op.Ctx = nil })
		assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(f.answer(op).Err), "from the supervisor's copy")
		time.Sleep(time.Minute)
		assert.Empty(t, f.machine.Children())
	})
}

// answerAgain watches another build.
func (f *family) answerAgain() []messages.BuildSnapshot {
	f.watch()
	return f.builds()
}

func TestInterruptReachesTheBuildsGroupBeforeItsEnd(t *testing.T) {
	building(t, "interrupt", procscan.Look{}, func(t *testing.T, f *family) {
		ctx, cancel := context.WithCancelCause(t.Context())
		op := f.watch(func(op *messages.WatchBuild) { op.Ctx = ctx })
		f.machine.Journal()
		cancel(&messages.Interrupt{Signal: os.Interrupt})
		synctest.Wait()
		assert.Equal(t, []string{"group interrupt"}, f.machine.Journal())
		time.Sleep(3 * time.Second)
		synctest.Wait()
		assert.Equal(t, "group terminated", f.machine.Journal()[0], "it ignored the first")
		time.Sleep(time.Minute)
		assert.Equal(t, messages.KindCancelled, messages.KindOf(f.answer(op).Value.Err))
	})
}
