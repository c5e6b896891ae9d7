package lsp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var t0 = time.Unix(1_700_000_000, 0)

// desk drives Documents through whole calls.
type desk struct {
	*testing.T
	*Documents[int]
	now  time.Time
	last int
	told uint64
}

func newDesk(t *testing.T, limit int) *desk {
	return &desk{T: t, Documents: NewDocuments[int](limit, 5*time.Minute), now: t0}
}

// find takes a call to the point where its plan is known.
func (d *desk) find(c Claim, text string) (id int, plan Plan, ok bool) {
	require.True(d, d.Free(c), "%+v is not free", c)
	d.last++
	d.now = d.now.Add(time.Second)
	c.LanguageID = "go"
	d.Enter(d.last, c, d.now)
	plan, ok = d.Found(d.last, c.Path, []byte(text), d.told)
	return d.last, plan, ok
}

// changed tells of changes of files.
func (d *desk) changed(unwatched bool, paths ...string) {
	d.told++
	d.FilesChanged(d.told, paths, unwatched)
}

// start takes a call to the point where its request runs.
func (d *desk) start(c Claim, text string) (id int, plan Plan) {
	id, plan, ok := d.find(c, text)
	require.True(d, ok, "%+v has to wait", c)
	d.Sent(id, plan, len(plan.Close)+notifications(plan.Kind))
	return id, plan
}

// run takes a call from its beginning to its end.
func (d *desk) run(path, text string) (plan, after Plan) {
	id, plan := d.start(Claim{Path: path, Diagnoses: true}, text)
	after = d.Leave(id, path, d.now)
	d.Closed(after, len(after.Close))
	return plan, after
}

func notifications(k PlanKind) int {
	return map[PlanKind]int{PlanNothing: 0, PlanOpen: 1, PlanChange: 1, PlanReopen: 2}[k]
}

func TestEqualBytesSendNothingAndOthersTheWholeText(t *testing.T) {
	d := newDesk(t, 8)
	for i, step := range []struct {
		text    string
		kind    PlanKind
		version int32
	}{
		{"one", PlanOpen, 1}, {"one", PlanNothing, 1}, {"two", PlanChange, 2},
		{"two", PlanNothing, 2}, {"one", PlanChange, 3}, {"", PlanChange, 4},
	} {
		plan, after := d.run("/a", step.text)
		assert.Equal(t, Plan{Kind: step.kind, Path: "/a", LanguageID: "go", Version: step.version}, plan, "step %d", i)
		assert.True(t, after.Empty(), "step %d", i)
	}
}

func TestAVersionNeverMeansTwoTextsOfAPath(t *testing.T) {
	d := newDesk(t, 0)
	last := int32(0)
	for range 3 {
		plan, after := d.run("/a", "same")
		assert.Equal(t, PlanOpen, plan.Kind)
		assert.Greater(t, plan.Version, last)
		last = plan.Version + 1 // which may be that of a last text before the closing
		assert.Equal(t, []string{"/a"}, after.Close, "a limit of 0 closes after each call")
	}
}

func TestTheLeastRecentlyUsedIsClosedFirst(t *testing.T) {
	d := newDesk(t, 2)
	d.run("/a", "x")
	d.run("/b", "x")
	d.run("/a", "x")
	plan, _ := d.run("/c", "x")
	assert.Equal(t, []string{"/b"}, plan.Close)
	plan, _ = d.run("/d", "x")
	assert.Equal(t, []string{"/a"}, plan.Close)
	plan, _ = d.run("/c", "x")
	assert.Equal(t, PlanNothing, plan.Kind)
}

func TestWhatIsInUseStaysOpenBeyondTheLimit(t *testing.T) {
	d := newDesk(t, 1)
	a, _ := d.start(Claim{Path: "/a"}, "x")
	b, plan := d.start(Claim{Path: "/b"}, "x")
	assert.Empty(t, plan.Close)
	assert.Len(t, d.Open(), 2)
	after := d.Leave(a, "/a", d.now)
	assert.Equal(t, []string{"/a"}, after.Close)
	assert.Empty(t, d.Leave(b, "/b", d.now).Close, "/a is on its way out already")
}

func TestADocumentThatIsBeingClosedIsNotFree(t *testing.T) {
	d := newDesk(t, 1)
	d.run("/a", "x")
	id, plan, _ := d.find(Claim{Path: "/b"}, "x")
	require.Equal(t, []string{"/a"}, plan.Close)
	assert.False(t, d.Free(Claim{Path: "/a"}), "its didClose may come after another call's didOpen")
	d.Sent(id, plan, 2)
	_, plan = d.start(Claim{Path: "/a"}, "x")
	assert.Equal(t, PlanOpen, plan.Kind)
}

func TestOneCallAtATimeSynchronisesADocument(t *testing.T) {
	d := newDesk(t, 8)
	d.Enter(1, Claim{Path: "/a"}, t0)
	assert.False(t, d.Free(Claim{Path: "/a"}))
	assert.True(t, d.Free(Claim{Path: "/b"}))
	plan, _ := d.Found(1, "/a", []byte("x"), 0)
	assert.False(t, d.Free(Claim{Path: "/a"}))
	d.Sent(1, plan, 1)
	assert.True(t, d.Free(Claim{Path: "/a"}), "the request itself holds up nobody")
}

func TestCallsThatFoundTheSameBytesRunSideBySide(t *testing.T) {
	d := newDesk(t, 8)
	d.start(Claim{Path: "/a", Diagnoses: true}, "x")
	for range 3 {
		_, plan := d.start(Claim{Path: "/a", Diagnoses: true}, "x")
		assert.Equal(t, PlanNothing, plan.Kind)
	}
}

func TestDiagnosticsOfOtherBytesWaitForThoseInFlight(t *testing.T) {
	d := newDesk(t, 8)
	claim := Claim{Path: "/a", Diagnoses: true}
	old, _ := d.start(claim, "old")
	_, _, ok := d.find(claim, "new")
	require.False(t, ok)
	assert.False(t, d.Free(claim), "it would find the same again")
	assert.True(t, d.Free(Claim{Path: "/a"}), "a hover waits for nobody")
	d.Leave(old, "/a", d.now)
	_, plan := d.start(claim, "new")
	assert.Equal(t, PlanChange, plan.Kind)
}

func TestAHoverOfOtherBytesGoesAheadAndFreesTheWaiting(t *testing.T) {
	d := newDesk(t, 8)
	claim := Claim{Path: "/a", Diagnoses: true}
	d.start(claim, "old")
	_, _, ok := d.find(claim, "new")
	require.False(t, ok)
	_, plan := d.start(Claim{Path: "/a"}, "new")
	assert.Equal(t, PlanChange, plan.Kind)
	assert.True(t, d.Free(claim))
	_, plan = d.start(claim, "new")
	assert.Equal(t, PlanNothing, plan.Kind)
}

func TestAReopenSendsEqualBytesAgain(t *testing.T) {
	d := newDesk(t, 8)
	d.run("/a", "x")
	id, plan := d.start(Claim{Path: "/a", Diagnoses: true, Reopen: 1}, "x")
	assert.Equal(t, PlanReopen, plan.Kind)
	assert.EqualValues(t, 2, plan.Version)
	_, plan = d.start(Claim{Path: "/a", Diagnoses: true, Reopen: 1}, "x")
	assert.Equal(t, PlanNothing, plan.Kind, "another call did it")
	_, _, ok := d.find(Claim{Path: "/a", Diagnoses: true, Reopen: 2}, "x")
	assert.False(t, ok, "it would take the first one's answer away")
	d.Leave(id, "/a", d.now)
}

func TestWhatWasNotWrittenHasNotHappened(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    PlanKind
		written int
		want    PlanKind // of the next call with the same text
	}{
		{"an open", PlanOpen, 0, PlanOpen},
		{"a change", PlanChange, 0, PlanChange},
		{"a close to reopen", PlanReopen, 0, PlanNothing},
		{"an open after a close", PlanReopen, 1, PlanOpen},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, 8)
			text, claim := "new", Claim{Path: "/a"}
			if c.kind != PlanOpen {
				d.run("/a", "old")
			}
			if c.kind == PlanReopen {
				text, claim.Reopen = "old", 1
			}
			id, plan, _ := d.find(claim, text)
			require.Equal(t, c.kind, plan.Kind)
			d.Sent(id, plan, c.written)
			d.Leave(id, "/a", d.now)
			_, plan = d.start(Claim{Path: "/a"}, text)
			assert.Equal(t, c.want, plan.Kind)
		})
	}
	t.Run("a victim's close", func(t *testing.T) {
		d := newDesk(t, 1)
		d.run("/a", "x")
		id, plan, _ := d.find(Claim{Path: "/b"}, "x")
		require.Equal(t, []string{"/a"}, plan.Close)
		d.Sent(id, plan, 0)
		assert.Equal(t, []string{"/a"}, d.Open())
		_, plan = d.start(Claim{Path: "/a"}, "x")
		assert.Equal(t, PlanNothing, plan.Kind)
	})
}

func TestACallMayLeaveAfterItsFileCouldNotBeRead(t *testing.T) {
	d := newDesk(t, 8)
	d.Enter(1, Claim{Path: "/a"}, t0)
	assert.True(t, d.Leave(1, "/a", t0).Empty())
	assert.True(t, d.Leave(1, "/a", t0).Empty(), "leaving is idempotent")
	assert.True(t, d.Free(Claim{Path: "/a"}))
	assert.Empty(t, d.docs)
}

func TestIdleDocumentsAreClosedAfterTheirTime(t *testing.T) {
	d := newDesk(t, 8)
	d.run("/a", "x")
	first := d.now
	d.run("/b", "x")
	_, _ = d.start(Claim{Path: "/used"}, "x")
	plan, next := d.Expire(first.Add(d.idle - 1))
	assert.True(t, plan.Empty())
	assert.Equal(t, first.Add(d.idle), next)
	plan, next = d.Expire(first.Add(d.idle))
	assert.Equal(t, []string{"/a"}, plan.Close)
	assert.Equal(t, first.Add(d.idle+time.Second), next)
	d.Closed(plan, 1)
	plan, next = d.Expire(first.Add(time.Hour))
	assert.Equal(t, []string{"/b"}, plan.Close)
	assert.Zero(t, next, "a document in use has no idle time")
}

// TestDocumentsAgreeWithTheServer runs random calls, with random failures to write, and
// plays the server: a didOpen never comes for an open document, nothing else for a
// closed one, and a call's text is what the server has when its request goes out.
