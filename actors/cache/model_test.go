package cache

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// model is the ledger's rules once more, without sums, lists or pointers to keep in
// step: everything is counted anew from what there is, each time it is asked for.
type model struct {
	limit    int64
	draining bool
	keys     []*modelKey
	ops      []*modelOp // all that wait or have a lease, by place
}

type modelKey struct {
	name          string
	version       string
	taken         time.Time
	weight        int64
	last          time.Time
	stale, ending bool
}

type modelOp struct {
	id       messages.OperationID
	place    int
	key      string
	weight   int64
	by       time.Time
	creation time.Duration
	version  string
	taken    time.Time
	told     bool
	on       *modelKey
}

func (m *model) key(name string) *modelKey {
	for _, k := range m.keys {
		if k.name == name {
			return k
		}
	}
	return nil
}

func (m *model) leases(k *modelKey) (n int) {
	for _, op := range m.ops {
		if op.on == k {
			n++
		}
	}
	return n
}

// inUse sums the weights of all keys, or of those that stay.
func (m *model) inUse(withEnding bool) (sum int64) {
	for _, k := range m.keys {
		if withEnding || !k.ending {
			sum += k.weight
		}
	}
	return sum
}

func (m *model) remove(op *modelOp) {
	m.ops = slices.DeleteFunc(m.ops, func(other *modelOp) bool { return other == op })
}

// serve goes through those who wait. Those who were told to wait are not looked at
// behind one that stands still.
func (m *model) serve(now time.Time) (said []string) {
	slices.SortFunc(m.ops, func(a, b *modelOp) int { return cmp.Compare(a.place, b.place) })
	promised := map[string]int64{}
	stuck := false
	for _, op := range slices.Clone(m.ops) {
		if op.on == nil && (!stuck || !op.told) {
			said = append(said, m.decide(now, op, promised, &stuck)...)
		}
	}
	return said
}

func (m *model) decide(now time.Time, op *modelOp, promised map[string]int64, stuck *bool) []string {
	k := m.key(op.key)
	newer := k != nil && op.version != k.version && op.taken.After(k.taken)
	good := k != nil && !k.ending && !k.stale && !newer
	switch {
	case !good && op.by.Before(now.Add(op.creation)):
		m.remove(op)
		return []string{fmt.Sprint("refuse ", op.id, " budget")}
	case !op.by.After(now):
		m.remove(op)
		return []string{fmt.Sprint("refuse ", op.id, " slot")}
	case good && !*stuck:
		op.on = k
		return []string{fmt.Sprint("grant ", op.id)}
	case good:
		return op.wait()
	}
	var said []string
	if newer && !k.stale {
		k.stale = true
		if m.leases(k) > 0 {
			said = append(said, "outdate "+k.name)
		}
	}
	switch _, isPromised := promised[op.key]; {
	case k != nil && !k.ending && m.leases(k) == 0:
		k.ending, op.told = true, true
		promised[op.key] = op.weight
		return append(said, fmt.Sprint("evict ", k.name, " for ", op.id))
	case *stuck, isPromised, k != nil && !k.ending:
		return append(said, op.wait()...)
	}
	return append(said, m.create(op, k, promised, stuck)...)
}

func (m *model) create(op *modelOp, old *modelKey, promised map[string]int64, stuck *bool) []string {
	inSight := m.limit - m.inUse(false)
	for _, weight := range promised {
		inSight -= weight
	}
	if inSight >= op.weight && old == nil && m.limit-m.inUse(true) >= op.weight {
		op.on = &modelKey{name: op.key, version: op.version, taken: op.taken, weight: op.weight}
		m.keys = append(m.keys, op.on)
		return []string{fmt.Sprint("create ", op.id)}
	}
	if inSight >= op.weight {
		promised[op.key] = op.weight
		return op.wait()
	}
	names := ""
	candidates := m.idle()
	for n, k := range candidates {
		names += k.name
		if inSight += k.weight; inSight >= op.weight {
			for _, victim := range candidates[:n+1] {
				victim.ending = true
			}
			promised[op.key], op.told = op.weight, true
			return []string{fmt.Sprint("evict ", names, " for ", op.id)}
		}
	}
	*stuck = true
	return op.wait()
}

func (op *modelOp) wait() []string {
	if op.told {
		return nil
	}
	op.told = true
	return []string{fmt.Sprint("wait ", op.id)}
}

// idle gives the keys that may be closed, the least recently used first.
func (m *model) idle() (keys []*modelKey) {
	for _, k := range m.keys {
		if !k.ending && m.leases(k) == 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b *modelKey) int {
		return cmp.Or(a.last.Compare(b.last), strings.Compare(a.name, b.name))
	})
	return keys
}

// release gives back a lease; again queues the operation once more.
func (m *model) release(now time.Time, op *modelOp, healthy, again bool) (closeNow bool) {
	k := op.on
	op.on, op.told = nil, false
	if !again {
		m.remove(op)
	}
	k.last = now
	wasEnding := k.ending || !healthy
	k.ending = wasEnding || (m.leases(k) == 0 && (k.stale || m.draining))
	return k.ending && !wasEnding
}

// drop takes away a key's leases and gives their operations.
func (m *model) drop(k *modelKey, again bool) (ids []messages.OperationID) {
	k.ending = true
	for _, op := range slices.Clone(m.ops) {
		if op.on == k {
			ids = append(ids, op.id)
			op.on, op.told = nil, false
			if !again {
				m.remove(op)
			}
		}
	}
	return ids
}

func (m *model) String() string {
	var lines []string
	for _, k := range m.keys {
		lines = append(lines, fmt.Sprintf("%s v%s w%d leases %d stale %t ending %t", k.name, k.version, k.weight, m.leases(k), k.stale, k.ending))
	}
	slices.Sort(lines)
	for _, op := range m.ops {
		if op.on == nil {
			lines = append(lines, fmt.Sprint("waits ", op.id))
		}
	}
	return strings.Join(lines, "\n")
}

// render says what a ledger holds in the model's words.
func render(l *ledger) string {
	var lines []string
	for _, r := range l.rows {
		lines = append(lines, fmt.Sprintf("%s v%s w%d leases %d stale %t ending %t", r.key.Root, r.fingerprint.Value, r.weight, r.leases, r.stale, r.ending))
	}
	slices.Sort(lines)
	for at := l.queue.first; at != nil; at = at.next {
		lines = append(lines, fmt.Sprint("waits ", at.member.head.ID))
	}
	return strings.Join(lines, "\n")
}
