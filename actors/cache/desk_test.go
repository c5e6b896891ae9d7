package cache

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

// epoch is where every ledger's time begins; it only has to be some time.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func keyOf(name string) messages.Key {
	return messages.Key{Kind: messages.LSP, Root: name, Language: "go"}
}

// desk drives a ledger as a Cache does, and says what was decided in words.
type desk struct {
	t      *testing.T
	l      *ledger
	now    time.Time
	lastID messages.OperationID
	claims map[string]*claim // by the name of the key and a number: a1, a2, b1
	counts map[string]int
}

func newDesk(t *testing.T, limit int64) *desk {
	return &desk{t: t, l: newLedger(limit), now: epoch, claims: map[string]*claim{}, counts: map[string]int{}}
}

// want is what an operation asks for beside its key.
type want struct {
	weight   int64
	patience time.Duration // until AcquireBy; 0: an hour
	creation time.Duration
	version  string
	taken    time.Duration // since epoch
}

func (d *desk) newClaim(key string, w want) *claim {
	d.lastID++
	d.counts[key]++
	if w.patience == 0 {
		w.patience = time.Hour
	}
	c := &claim{weight: w.weight, creation: w.creation, head: messages.Head{
		ID: d.lastID, Key: keyOf(key), AcquireBy: d.now.Add(w.patience),
		Fingerprint: messages.Fingerprint{Value: w.version, Taken: epoch.Add(w.taken)},
	}}
	d.claims[fmt.Sprintf("%s%d", key, d.counts[key])] = c
	return c
}

// ask admits an operation for a key.
func (d *desk) ask(key string, w want) string {
	return d.words(d.l.admit(d.now, d.newClaim(key, w)))
}

// release gives back a lease, and serves as the Cache does.
func (d *desk) release(name string, verdict messages.Verdict) string {
	c := d.claims[name]
	require.NotNil(d.t, c.row, "%s has no lease", name)
	said := []string{}
	key := c.row.key.Root
	if d.l.release(d.now, c, verdict) {
		said = append(said, "close "+key)
	}
	var fresh []*claim
	if verdict == messages.Returned && !c.returned {
		d.l.requeue(c)
		fresh = append(fresh, c)
	}
	return d.join(said, d.l.serve(d.now, fresh...))
}

// gone frees the slot of a key.
func (d *desk) gone(key string) string {
	crossed := d.l.free(d.l.rows[keyOf(key)])
	for _, c := range crossed {
		d.l.requeue(c)
	}
	return d.words(d.l.serve(d.now, crossed...))
}

func (d *desk) leave(name string) string {
	d.l.leave(d.claims[name])
	return d.words(d.l.serve(d.now))
}

func (d *desk) words(decisions []decision) string { return d.join(nil, decisions) }

func (d *desk) join(said []string, decisions []decision) string {
	for _, decision := range decisions {
		said = append(said, d.word(decision))
	}
	return strings.Join(said, ", ")
}

func (d *desk) word(decision decision) string {
	name := "?"
	for candidate, c := range d.claims {
		if c == decision.claim {
			name = candidate
		}
	}
	keys := []string{}
	for _, victim := range decision.victims {
		keys = append(keys, victim.key.Root)
	}
	switch decision.act {
	case grant:
		return "grant " + name
	case create:
		return "create " + name
	case evict:
		return "evict " + strings.Join(keys, "+") + " for " + name
	case wait:
		return name + " waits"
	case outdate:
		return "outdate " + strings.Join(keys, "+")
	case refuse:
		return fmt.Sprintf("refuse %s %s", name, map[messages.BusyReason]string{messages.Slot: "slot", messages.CreationBudget: "budget"}[decision.reason])
	}
	return "?"
}

// idle makes keys resident and idle, one second after the other.
func (d *desk) idle(keys ...string) {
	for _, key := range keys {
		d.now = d.now.Add(time.Second)
		require.Equal(d.t, "create "+key+"1", d.ask(key, want{}))
		require.Empty(d.t, d.release(key+"1", messages.Healthy))
	}
}
