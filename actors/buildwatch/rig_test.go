package buildwatch_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/buildwatch"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/actortest"
)

const (
	interval = time.Second
	perFile  = 6 * time.Second
	limit    = time.Hour
	grace    = 2 * time.Second
	patience = 5 * time.Minute
)

var mark = procscan.NewMark(procscan.SessionVar)

// rig is one BuildWatch. The harness's Supervisor gets what it tells its Supervisor,
// and the Parent what it tells its parent, which is the same actor in a runtime.
type rig struct {
	*actortest.Harness
	t      *testing.T
	op     messages.WatchBuild
	cancel context.CancelCauseFunc
	handle *actors.Handle
	tree   messages.TreeID
	shown  messages.BuildSnapshot // the last

	mu    sync.Mutex
	looks []func() (procscan.Look, error) // one after the other, the last for ever
}

func bubble(t *testing.T, name string, test func(*testing.T, *rig)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			r := &rig{Harness: actortest.New(t), t: t, cancel: cancel, op: messages.WatchBuild{
				Head:  messages.Head{ID: 7, Ctx: ctx, Key: messages.Key{Root: "/p"}},
				Build: messages.Build{Dir: "/p", Argv: []string{"make", "all"}, PerFile: perFile, Limit: limit, Interval: interval, Grace: grace},
				Spec:  procscan.Spec{Argv: []string{"make", "all"}, Dir: "/p"}, Events: messages.NewBuildEvents(),
				Reply: messages.NewReplyTo[messages.BuildOutcome](),
			}}
			r.sees(nothing)
			test(t, r)
			cancel(nil)
		})
	})
}

// sees says what the looks from now on show, one after the other.
func (r *rig) sees(looks ...func() (procscan.Look, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looks = looks
}

func (r *rig) look(_ context.Context, m procscan.Mark) (procscan.Look, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.Equal(r.t, mark, m)
	next := r.looks[0]
	if len(r.looks) > 1 {
		r.looks = r.looks[1:]
	}
	return next()
}

func nothing() (procscan.Look, error) { return procscan.Look{}, nil }

func failing(err error) func() (procscan.Look, error) {
	return func() (procscan.Look, error) { return procscan.Look{}, err }
}

// ticks is a time in the unit of a look.
func ticks(d time.Duration) uint64 {
	for n := uint64(1); ; n++ {
		if grain := (procscan.Look{At: n}).Since(0); grain >= 10*time.Millisecond {
			return n * uint64(d/grain)
		}
	}
}

// compiling is a compile of a file since the bubble's now, by the kernel's clock.
func compiling(file string) func() (procscan.Look, error) {
	began := time.Now()
	return func() (procscan.Look, error) {
		return procscan.Look{At: ticks(time.Hour + time.Since(began)), Members: []procscan.Member{{
			Info: procscan.Info{Identity: procscan.Identity{PID: 9, StartTicks: ticks(time.Hour)}, PPID: 1, Comm: "cc"},
			Args: []string{"cc", "-c", file}, Dir: "/p", Peak: 5 << 20}}}, nil
	}
}

// launching brings the watcher to Launching.
func (r *rig) launching() {
	match, err := buildwatch.ParseMatch(r.op.Build.Match)
	require.NoError(r.t, err)
	r.handle = r.Spawn("build", "watch", buildwatch.New(buildwatch.Config{Op: r.op, Match: match, Look: r.look, BootID: "boot", Patience: patience}))
	adopt := actortest.Next[messages.Adopt](r.t, r.Supervisor)
	assert.Equal(r.t, messages.Adopt{Owner: r.handle.Ref(), Tree: adopt.Tree, Role: messages.RoleWatch, Key: r.op.Key,
		Spec: r.op.Spec, Grace: grace}, adopt)
	r.Supervisor.Take()
	r.tree = adopt.Tree
}

// watching brings it to Watching, where it has looked once.
func (r *rig) watching() {
	r.launching()
	r.handle.Send(messages.Launched{Tree: r.tree, Mark: mark, Began: time.Now()})
	r.expectState("watching")
	r.Supervisor.ExpectNothing(r.t)
}

// ending brings it to Ending by its leader's end.
func (r *rig) ending(code int) {
	r.watching()
	r.handle.Send(messages.LeaderDown{Tree: r.tree, Status: procscan.Status{Code: code}})
	r.expectSweep()
}

// snapshot is the last that was published.
func (r *rig) snapshot() messages.BuildSnapshot {
	for _, msg := range r.Observer.Take() {
		if publish, ok := msg.(messages.Publish); ok {
			r.shown = publish.Snapshot.(messages.BuildSnapshot)
		}
	}
	return r.shown
}

func (r *rig) expectState(want string) {
	r.t.Helper()
	assert.Equal(r.t, want, r.snapshot().State)
}

func (r *rig) expectSweep() {
	r.t.Helper()
	r.Supervisor.ExpectExactly(r.t, messages.Sweep{Tree: r.tree})
}

// reaped ends the tree, and gives the answer.
func (r *rig) reaped(status procscan.Status) messages.BuildOutcome {
	r.t.Helper()
	r.handle.Send(messages.LeaderReaped{Tree: r.tree, Status: status})
	return r.outcome()
}

// outcome expects the answer and the accounting behind it.
func (r *rig) outcome() messages.BuildOutcome {
	r.t.Helper()
	r.Parent.ExpectExactly(r.t, messages.Settled{From: r.handle.Ref(), ID: 7, Verdict: messages.Healthy}, messages.Closed{From: r.handle.Ref()})
	require.Len(r.t, r.op.Reply.Answer(), 1)
	result := <-r.op.Reply.Answer()
	require.NoError(r.t, result.Err)
	return result.Value
}

// finish ends a build that is being watched.
func (r *rig) finish() {
	r.handle.Send(messages.LeaderDown{Tree: r.tree})
	r.expectSweep()
	r.reaped(procscan.Status{})
}

// events gives what the caller has heard.
func (r *rig) events() (heard []messages.BuildEvent) {
	synctest.Wait()
	for len(r.op.Events.Looks()) > 0 {
		heard = append(heard, <-r.op.Events.Looks())
	}
	return heard
}

var interrupted = &messages.Interrupt{Signal: os.Interrupt}
