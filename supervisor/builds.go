package supervisor

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/buildwatch"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// What a build is, and what comes of it.
type (
	Build       = messages.Build
	BuildReport = messages.BuildReport
	BuildEvent  = messages.BuildEvent
)

// buildInterval is between two looks at a build, and the least that may be asked for.
const (
	buildInterval      = 250 * time.Millisecond
	buildIntervalLeast = 10 * time.Millisecond
)

// WatchBuild runs a command in its project's directory and ends it, with everything
// that it started, when one file's compile or the whole takes longer than its limit.
// The report then has messages.ExitBreach and the breaches, and the error is nil: it
// says only why a build could not be started, could not be watched or was ended since
// ctx ended, and the report is as far as it got.
//
// onEvent, which may be nil, hears of each look and of the command's output; it is
// called on this goroutine, and holds the output up while it runs. WatchBuild returns
// when nothing of the build is left; where that takes longer than abort_grace beside the
// build's own grace, the error is an *UnreapedError and the end goes on. There is no time
// limit but the build's own: not response_timeout.
func (rt *Runtime) WatchBuild(ctx context.Context, build Build, onEvent func(BuildEvent)) (BuildReport, error) {
	if err := rt.admit(); err != nil {
		return BuildReport{ExitCode: -1}, err
	}
	defer rt.operations.Add(-1)
	op, err := rt.buildOperation(ctx, build)
	if err != nil {
		return BuildReport{ExitCode: -1}, err
	}
	defer closeStreams(op)
	defer op.Events.Leave()
	if onEvent == nil {
		onEvent = func(BuildEvent) {}
	}
	rt.supervisor.Send(op)
	return rt.awaitBuild(ctx, op, onEvent)
}

// buildOperation checks a build and fills in what it leaves to the runtime.
func (rt *Runtime) buildOperation(ctx context.Context, build Build) (messages.WatchBuild, error) {
	build.Interval = cmp.Or(build.Interval, buildInterval)
	build.Grace = cmp.Or(build.Grace, rt.grace.Term)
	switch {
	case len(build.Argv) == 0:
		return messages.WatchBuild{}, messages.Invalidf("no command is named that is to be watched")
	case build.PerFile < 0, build.Limit < 0, build.Grace < 0, build.Interval < buildIntervalLeast:
		return messages.WatchBuild{}, messages.Invalidf("limits and grace must not be negative, the interval not below %s", buildIntervalLeast)
	}
	root, err := config.CanonicalRoot(build.Dir)
	if err != nil {
		return messages.WatchBuild{}, err
	}
	build.Dir = root
	op := messages.WatchBuild{
		Head:  messages.Head{ID: messages.OperationID(rt.sys.NextID()), Key: messages.Key{Root: root}, Ctx: ctx},
		Build: build, Events: messages.NewBuildEvents(), Reply: messages.NewReplyTo[messages.BuildOutcome](),
		Spec: procscan.Spec{Argv: build.Argv, Dir: root, Env: procscan.ChildEnv(os.Environ(), nil, nil, nil)},
	}
	return op, openStreams(&op)
}

// openStreams gives the command its streams: those of the caller, in the foreground,
// or nothing to read and one pipe to us, so that its lines keep their order.
func openStreams(op *messages.WatchBuild) error {
	if op.Build.Stdio != nil {
		op.Spec.Stdio, op.Spec.Mode = *op.Build.Stdio, procscan.Foreground
		return nil
	}
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return messages.Errorf(messages.KindInternal, "cannot give the build its streams: %w", err)
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		_ = nothing.Close()
		return messages.Errorf(messages.KindInternal, "cannot give the build its streams: %w", err)
	}
	theirs.Fd() // sets it to blocking, as a command expects it; os.Pipe gives an end that refuses what it has no room for
	op.Spec.Stdio, op.Output = procscan.Stdio{Stdin: nothing, Stdout: theirs, Stderr: theirs}, ours
	return nil
}

// closeStreams closes what openStreams opened; most of it is closed already.
func closeStreams(op messages.WatchBuild) {
	if op.Output != nil {
		_ = op.Spec.Stdio.Stdin.Close()
		_ = op.Spec.Stdio.Stdout.Close()
		_ = op.Output.Close()
	}
}

// awaitBuild hears of a build until its answer. Once ctx has ended the answer comes
// when the build has: in the time that such an end takes, and a while.
func (rt *Runtime) awaitBuild(ctx context.Context, op messages.WatchBuild, onEvent func(BuildEvent)) (BuildReport, error) {
	left, late := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case event := <-op.Events.Looks():
			onEvent(event)
		case event := <-op.Events.Output():
			onEvent(event)
		case result := <-op.Reply.Answer():
			return answered(op, result, onEvent)
		case <-rt.supervisor.Done():
			return unanswered(op, messages.ErrClosing, onEvent)
		case <-rt.rootDown:
			return unanswered(op, rt.Failed(), onEvent)
		case <-left: // the watcher answers in that time, but its machine may be slow
			left, late = nil, time.After(2*(op.Build.Grace+rt.cfg.AbortGrace))
		case <-late:
			return unanswered(op, messages.Errorf(messages.KindOutcomeUnknown,
				"the build's processes are still being ended: %w", context.Cause(ctx)), onEvent)
		}
	}
}

// answered gives the caller what it hasn't heard yet, and the result.
func answered(op messages.WatchBuild, result messages.Result[messages.BuildOutcome], onEvent func(BuildEvent)) (BuildReport, error) {
	for len(op.Events.Looks()) > 0 {
		onEvent(<-op.Events.Looks())
	}
	if result.Err != nil {
		return BuildReport{ExitCode: -1}, result.Err
	}
	return result.Value.Report, result.Value.Err
}

// unanswered prefers an answer that arrived together with the end of the wait.
func unanswered(op messages.WatchBuild, otherwise error, onEvent func(BuildEvent)) (BuildReport, error) {
	select {
	case result := <-op.Reply.Answer():
		return answered(op, result, onEvent)
	default:
		return answered(op, messages.Result[messages.BuildOutcome]{Err: otherwise}, onEvent)
	}
}

// temporary is a child that ends by itself and is never restarted: a build's watcher.
type temporary struct {
	handle *actors.Handle
	op     messages.Operation // a copy until it is settled, else nil
}

// watch starts a build's watcher.
func (s *supervisor) watch(op messages.WatchBuild) {
	if !s.machine.In(running) {
		op.Refuse(messages.ErrClosing)
		return
	}
	match, err := buildwatch.ParseMatch(op.Build.Match)
	if err != nil {
		op.Refuse(err)
		return
	}
	h := s.self.Spawn("build", "watch", buildwatch.New(buildwatch.Config{Op: op, Match: match, Look: s.members,
		BootID: s.bootID, Patience: s.abortGrace}))
	s.temporary[h.Ref()] = &temporary{handle: h, op: op}
}

func (s *supervisor) onSettled(from messages.Ref) {
	if t := s.temporary[from]; t != nil {
		t.op = nil
	}
}

// refuseBuild answers for a watcher that has failed; its tree is being swept.
func (s *supervisor) refuseBuild(down messages.Down) {
	if t := s.temporary[down.From]; t != nil && t.op != nil {
		t.op.Refuse(buildwatch.MayHaveRun(down.Reason))
		t.op = nil
	}
}
