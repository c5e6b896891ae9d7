package lsp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnUnusedDocumentWhoseFileChangedIsClosedByTheNextPlan(t *testing.T) {
	d := newDesk(t, 8)
	d.run("/a", "x")
	d.run("/b", "x")
	used, _ := d.start(Claim{Path: "/used"}, "x")
	d.changed(false, "/a", "/used", "/never")
	plan, _ := d.run("/b", "x")
	assert.Equal(t, PlanNothing, plan.Kind)
	assert.Equal(t, []string{"/a"}, plan.Close)
	d.Leave(used, "/used", d.now)
	plan, _ = d.run("/a", "y")
	assert.Equal(t, PlanOpen, plan.Kind)
	assert.Equal(t, []string{"/used"}, plan.Close)
	plan, _ = d.run("/b", "x")
	assert.True(t, plan.Empty())
}

func TestAChangedFileThatIsAskedAboutIsNotClosed(t *testing.T) {
	d := newDesk(t, 8)
	d.run("/a", "x")
	d.changed(false, "/a")
	plan, _ := d.run("/a", "y")
	assert.Equal(t, PlanChange, plan.Kind)
	assert.Empty(t, plan.Close)
	d.changed(false, "/a")
	plan, _ = d.run("/a", "y")
	assert.True(t, plan.Empty())
	plan, _ = d.run("/b", "x")
	assert.Empty(t, plan.Close, "it was found unchanged")
}

func TestAChangeThatIsToldWhileATextIsOnItsWayIsNotForgotten(t *testing.T) {
	for _, written := range []int{0, 1} {
		d := newDesk(t, 8)
		d.run("/a", "x")
		d.run("/b", "x")
		id, plan, ok := d.find(Claim{Path: "/a"}, "y")
		require.True(t, ok)
		d.changed(false, "/a") // to z, after y was read
		d.Sent(id, plan, written)
		d.Leave(id, "/a", d.now)
		plan, _ = d.run("/b", "x")
		assert.Equal(t, []string{"/a"}, plan.Close, "%d notifications were written", written)
	}
}

func TestAServerThatIsNotToldOfFilesLooksAgainAtAnOpening(t *testing.T) {
	d := newDesk(t, 8)
	d.run("/a", "x")
	d.changed(true, "/other")
	_, plan := d.start(Claim{Path: "/a"}, "x")
	assert.Equal(t, PlanNothing, plan.Kind, "only diagnostics need it")
	plan, _ = d.run("/a", "x")
	assert.Equal(t, PlanReopen, plan.Kind)
	plan, _ = d.run("/a", "x")
	assert.Equal(t, PlanNothing, plan.Kind)
}

func TestAChangeThatIsToldAfterTheFileWasReadIsNoPartOfItsText(t *testing.T) {
	d := newDesk(t, 8)
	d.run("/a", "x")
	d.Enter(100, Claim{Path: "/a"}, d.now)
	read := d.told
	d.changed(false, "/a")
	plan, ok := d.Found(100, "/a", []byte("x"), read)
	require.True(t, ok)
	require.Equal(t, PlanNothing, plan.Kind)
	d.Sent(100, plan, 0)
	d.Leave(100, "/a", d.now)
	plan, _ = d.run("/b", "x")
	assert.Equal(t, []string{"/a"}, plan.Close)
}

func TestATextThatWasNotWrittenLeavesItsDocumentAsItWas(t *testing.T) {
	for _, stale := range []bool{false, true} {
		d := newDesk(t, 8)
		d.run("/a", "x")
		d.changed(stale, "/other")
		id, plan, ok := d.find(Claim{Path: "/a"}, "y")
		require.True(t, ok)
		d.Sent(id, plan, 0)
		d.Leave(id, "/a", d.now)
		want := map[bool]PlanKind{false: PlanChange, true: PlanReopen}[stale]
		plan, _ = d.run("/a", "y")
		assert.Equal(t, want, plan.Kind)
	}
}
