package cache

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/messages"
)

func TestFirstCallOfAKeyCreatesItAndTheOthersJoin(t *testing.T) {
	d := newDesk(t, 1)
	assert.Equal(t, "create a1", d.ask("a", want{}))
	assert.Equal(t, "grant a2", d.ask("a", want{}))
	assert.Equal(t, "grant a3", d.ask("a", want{}))
	assert.Len(t, d.l.rows, 1)
}

func TestVictimIsTheIdleKeyThatWasUsedLeastRecently(t *testing.T) {
	d := newDesk(t, 3)
	d.idle("c", "a", "b")
	assert.Equal(t, "grant c2", d.ask("c", want{}))
	d.now = d.now.Add(time.Second)
	d.release("c2", messages.Healthy)
	assert.Equal(t, "evict a for d1", d.ask("d", want{}))
	assert.Equal(t, "create d1", d.gone("a"))

	t.Run("of equal age the first by key", func(t *testing.T) {
		d := newDesk(t, 2)
		d.ask("b", want{})
		d.ask("a", want{})
		d.release("b1", messages.Healthy)
		d.release("a1", messages.Healthy)
		assert.Equal(t, "evict a for c1", d.ask("c", want{}))
	})
}

func TestKeyInUseIsNeverAVictim(t *testing.T) {
	d := newDesk(t, 2)
	d.idle("a", "b")
	d.ask("a", want{})
	assert.Equal(t, "evict b for c1", d.ask("c", want{}))
	assert.Equal(t, "d1 waits", d.ask("d", want{}))
	assert.False(t, d.l.rows[keyOf("a")].ending)
}

func TestHeadIsServedFirstWhateverItsKey(t *testing.T) {
	d := newDesk(t, 1)
	d.ask("a", want{})
	assert.Equal(t, "b1 waits", d.ask("b", want{}))
	assert.Equal(t, "c1 waits", d.ask("c", want{}))
	assert.Equal(t, "evict a for b1", d.release("a1", messages.Healthy))
	assert.Equal(t, "create b1", d.gone("a"))
	assert.Equal(t, "evict b for c1", d.release("b1", messages.Healthy))
	assert.Equal(t, "create c1", d.gone("b"))
}

func TestNobodyOvertakesAWaiterForWhomNoRoomIsInSight(t *testing.T) {
	d := newDesk(t, 1)
	d.ask("a", want{})
	assert.Equal(t, "b1 waits", d.ask("b", want{}))
	assert.Equal(t, "a2 waits", d.ask("a", want{}), "a lease would keep a busy for ever under steady load")
	assert.Equal(t, "evict a for b1", d.release("a1", messages.Healthy))
	assert.Equal(t, "create b1", d.gone("a"))
	assert.Equal(t, "evict b for a2", d.release("b1", messages.Healthy))

	t.Run("until it leaves", func(t *testing.T) {
		d := newDesk(t, 1)
		d.ask("a", want{})
		d.ask("b", want{})
		d.ask("a", want{})
		assert.Equal(t, "grant a2", d.leave("b1"))
	})
}

func TestWaiterToWhomRoomIsPromisedStopsNobody(t *testing.T) {
	d := newDesk(t, 3)
	d.idle("a", "b", "c")
	assert.Equal(t, "evict a for x1", d.ask("x", want{}))
	assert.Equal(t, "evict b for y1", d.ask("y", want{}), "two closings at the same time")
	assert.Equal(t, "grant c2", d.ask("c", want{}), "a lease takes nothing from those two")
	assert.Equal(t, "create x1", d.gone("b"), "the head first, whosever victim it was")
	assert.Equal(t, "create y1", d.gone("a"))
}

func TestVictimsThatAreClosingCountAsComingFree(t *testing.T) {
	d := newDesk(t, 2)
	d.idle("a", "b")
	assert.Equal(t, "evict a for x1", d.ask("x", want{}))
	assert.Equal(t, "x2 waits", d.ask("x", want{}), "and closes nothing more")
	assert.Equal(t, "create x1, grant x2", d.gone("a"))
	assert.False(t, d.l.rows[keyOf("b")].ending)
}

func TestWaiterForItsOwnKeysCallsStopsNobody(t *testing.T) {
	d := newDesk(t, 2)
	d.ask("a", want{version: "1", taken: 1})
	assert.Equal(t, "outdate a, a2 waits", d.ask("a", want{version: "2", taken: 2}))
	assert.Equal(t, "create b1", d.ask("b", want{}))
	assert.Equal(t, "grant b2", d.ask("b", want{}))
	assert.Equal(t, "close a", d.release("a1", messages.Healthy))
	assert.Equal(t, "create a2", d.gone("a"))
}

func TestVictimsAreClosedOnlyWhereTheySuffice(t *testing.T) {
	d := newDesk(t, 4)
	d.ask("a", want{weight: 2})
	d.idle("b", "c")
	assert.Equal(t, "x1 waits", d.ask("x", want{weight: 3}))
	assert.False(t, d.l.rows[keyOf("b")].ending)
	d.now = d.now.Add(time.Second)
	assert.Equal(t, "evict b+c+a for x1", d.release("a1", messages.Healthy))
	assert.Empty(t, d.gone("b"))
	assert.Equal(t, "create x1", d.gone("a"), "as soon as there is room enough")
}

func TestKeyHeavierThanTheBudgetIsAdmittedAlone(t *testing.T) {
	d := newDesk(t, 4)
	d.idle("a", "b")
	assert.Equal(t, "evict a+b for x1", d.ask("x", want{weight: 9}))
	assert.Empty(t, d.gone("a"))
	assert.Equal(t, "create x1", d.gone("b"))
	assert.Equal(t, "c1 waits", d.ask("c", want{}))
	assert.Equal(t, "evict x for c1", d.release("x1", messages.Healthy))
}

func TestStaleAndIdleWithTooLittleBudgetFailsAndStaysResident(t *testing.T) {
	d := newDesk(t, 1)
	d.ask("a", want{version: "1", taken: 1})
	d.release("a1", messages.Healthy)
	assert.Equal(t, "refuse a2 budget", d.ask("a", want{version: "2", taken: 2, patience: time.Minute, creation: 2 * time.Minute}))
	assert.Equal(t, "grant a3", d.ask("a", want{version: "1", taken: 1}))
	d.release("a3", messages.Healthy)
	assert.Equal(t, "evict a for a4", d.ask("a", want{version: "2", taken: 2, patience: 2 * time.Minute, creation: 2 * time.Minute}))
	assert.Equal(t, "create a4", d.gone("a"))
}

func TestStaleAndActiveWithTooLittleBudgetFailsOnTheBudgetAndNotAfterWaiting(t *testing.T) {
	d := newDesk(t, 1)
	d.ask("a", want{version: "1", taken: 1})
	assert.Equal(t, "refuse a2 budget", d.ask("a", want{version: "2", taken: 2, patience: time.Minute, creation: 2 * time.Minute}))
	assert.Equal(t, "grant a3", d.ask("a", want{version: "1", taken: 1}), "and it is not stale for having been refused")

	t.Run("behind a queue that stands still, too", func(t *testing.T) {
		d := newDesk(t, 1)
		d.ask("a", want{version: "1", taken: 1})
		d.ask("b", want{})
		assert.Equal(t, "refuse a2 budget", d.ask("a", want{version: "2", taken: 2, patience: time.Minute, creation: 2 * time.Minute}))
	})
}

func TestBudgetIsCheckedBeforeAnythingIsClosedForACreation(t *testing.T) {
	d := newDesk(t, 1)
	d.idle("a")
	assert.Equal(t, "refuse b1 budget", d.ask("b", want{patience: time.Minute, creation: 2 * time.Minute}))
	assert.Equal(t, "grant a2", d.ask("a", want{}))
}

func TestBudgetIsCheckedAgainWhenTheSlotIsFree(t *testing.T) {
	d := newDesk(t, 1)
	d.ask("a", want{})
	assert.Equal(t, "b1 waits", d.ask("b", want{patience: 2 * time.Minute, creation: time.Minute}))
	assert.Equal(t, "c1 waits", d.ask("c", want{}))
	d.now = d.now.Add(90 * time.Second)
	assert.Equal(t, "refuse b1 budget, evict a for c1", d.release("a1", messages.Healthy))
}

func TestWhoJoinsACreationNeedsNoBudgetForIt(t *testing.T) {
	d := newDesk(t, 1)
	d.ask("a", want{})
	assert.Equal(t, "grant a2", d.ask("a", want{patience: time.Second, creation: time.Minute}))
	assert.Equal(t, "refuse a3 slot", d.ask("a", want{patience: -time.Second}), "but time")
}

func TestOlderLookNeverReplacesWhatANewerOneCreated(t *testing.T) {
	d := newDesk(t, 1)
	d.ask("a", want{version: "2", taken: 2})
	assert.Equal(t, "grant a2", d.ask("a", want{version: "1", taken: 1}))
	assert.Equal(t, "grant a3", d.ask("a", want{version: "2", taken: 3}))
	assert.False(t, d.l.rows[keyOf("a")].stale)
}

func TestStaleKeyEndsWithItsLastLeaseAndIsCreatedAnew(t *testing.T) {
	d := newDesk(t, 2)
	d.ask("a", want{version: "1", taken: 1})
	d.ask("a", want{version: "1", taken: 1})
	assert.Equal(t, "outdate a, a3 waits", d.ask("a", want{version: "2", taken: 2}))
	assert.Equal(t, "a4 waits", d.ask("a", want{version: "1", taken: 1}), "an older look gets no lease on it either")
	assert.Empty(t, d.release("a1", messages.Healthy))
	assert.Equal(t, "close a", d.release("a2", messages.Healthy))
	assert.Equal(t, "create a3, grant a4", d.gone("a"))
}

func TestBrokenKeyIsNotLeasedUntilNothingIsLeftOfIt(t *testing.T) {
	d := newDesk(t, 2)
	d.ask("a", want{})
	d.ask("a", want{})
	assert.Empty(t, d.release("a1", messages.Broken))
	assert.Equal(t, "a3 waits", d.ask("a", want{}))
	assert.Empty(t, d.release("a2", messages.Healthy), "its Entry is ending by itself")
	assert.EqualValues(t, 1, d.l.occupied)
	assert.Equal(t, "create a3", d.gone("a"))
}

func TestReturnedOperationIsQueuedAtItsOldPlace(t *testing.T) {
	d := newDesk(t, 1)
	d.ask("a", want{})
	d.ask("a", want{})
	assert.Equal(t, "b1 waits", d.ask("b", want{}))
	assert.Equal(t, "a2 waits", d.release("a2", messages.Returned))
	assert.Equal(t, "a1 waits", d.release("a1", messages.Returned))
	assert.Equal(t, "create a1, grant a2", d.gone("a"), "both stood before b1")
	assert.True(t, d.claims["a1"].returned)
}

func TestLeasesThatCrossTheEndOfTheirKeyComeBack(t *testing.T) {
	d := newDesk(t, 1)
	d.ask("a", want{})
	d.ask("a", want{})
	assert.Equal(t, "create a1, grant a2", d.gone("a"))
	assert.EqualValues(t, 1, d.l.occupied)
}

func TestFailedKeyKeepsItsSlotUntilNothingIsLeftOfIt(t *testing.T) {
	d := newDesk(t, 1)
	d.ask("a", want{})
	assert.Equal(t, []*claim{d.claims["a1"]}, d.l.drop(d.l.rows[keyOf("a")]))
	assert.Equal(t, "b1 waits", d.ask("b", want{}))
	assert.EqualValues(t, 1, d.l.occupied)
	assert.Equal(t, "create b1", d.gone("a"))
}

func TestIdleTimeCountsFromTheLastRelease(t *testing.T) {
	d := newDesk(t, 2)
	d.ask("a", want{})
	d.ask("a", want{})
	d.ask("b", want{})
	d.now = d.now.Add(time.Hour)
	d.release("a1", messages.Healthy)
	d.release("b1", messages.Healthy)
	d.now = d.now.Add(time.Minute)
	assert.Empty(t, d.l.expire(d.now, time.Minute+1))
	assert.Equal(t, []*row{d.l.rows[keyOf("b")]}, d.l.expire(d.now, time.Minute))
	d.now = d.now.Add(time.Hour)
	assert.Empty(t, d.l.expire(d.now, time.Minute), "a2 is in use")
	d.release("a2", messages.Healthy)
	d.now = d.now.Add(time.Minute)
	assert.Equal(t, []*row{d.l.rows[keyOf("a")]}, d.l.expire(d.now, time.Minute))
}

func TestDrainingLedgerEndsEveryKeyWithItsLastLease(t *testing.T) {
	d := newDesk(t, 2)
	d.idle("a")
	d.ask("b", want{})
	d.ask("b", want{})
	d.ask("c", want{weight: 2})
	waiters, ended := d.l.drain()
	assert.Equal(t, []*claim{d.claims["c1"]}, waiters)
	assert.Equal(t, []*row{d.l.rows[keyOf("a")]}, ended)
	assert.Empty(t, d.release("b1", messages.Healthy))
	assert.Equal(t, "close b", d.release("b2", messages.Healthy))
	waiters, ended = d.l.drain()
	assert.Empty(t, waiters)
	assert.Empty(t, ended)
}

func TestOverdueIsAsEarlyAsItIsCertain(t *testing.T) {
	d := newDesk(t, 1)
	d.ask("a", want{})
	d.ask("b", want{patience: 3 * time.Minute, creation: time.Minute})
	d.ask("a", want{patience: 3 * time.Minute, creation: time.Minute})
	for _, at := range []struct {
		after time.Duration
		name  string
		want  messages.BusyReason
	}{
		{2*time.Minute - 1, "b1", 0},
		{2 * time.Minute, "b1", messages.CreationBudget},
		{2 * time.Minute, "a2", 0}, // its key is there
		{3 * time.Minute, "a2", messages.Slot},
		{3 * time.Minute, "b1", messages.Slot},
	} {
		reason, over := d.l.overdue(epoch.Add(at.after), d.claims[at.name])
		assert.Equal(t, at.want, reason, at)
		assert.Equal(t, at.want != 0, over, at)
	}
}
