package cache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

// scribe plays one script of bytes to a ledger and to the model, and compares them
// after each step.
type scribe struct {
	t      testing.TB
	script []byte
	now    time.Time
	l      *ledger
	m      *model
	claims map[messages.OperationID]*claim
	lastID messages.OperationID
	steps  int
	seen   map[act]int
}

// play gives how many steps it took, and how often the ledger decided what.
func play(t testing.TB, script []byte) (int, map[act]int) {
	const limit = 5
	s := &scribe{t: t, script: script, now: epoch, l: newLedger(limit), m: &model{limit: limit},
		claims: map[messages.OperationID]*claim{}, seen: map[act]int{}}
	for len(s.script) > 0 && (!s.m.draining || len(s.m.keys) > 0) {
		s.step()
		s.check()
	}
	return s.steps, s.seen
}

// next takes a number below n from the script.
func (s *scribe) next(n int) int {
	if len(s.script) == 0 {
		return 0
	}
	b := s.script[0]
	s.script = s.script[1:]
	return int(b) % n
}

func (s *scribe) step() {
	s.steps++
	switch s.next(16) {
	case 0, 1, 2, 3, 4:
		s.admit()
	case 5, 6, 7, 8, 9:
		s.release()
	case 10:
		s.leave()
	case 11, 12:
		s.free()
	case 13:
		s.drop()
	case 14:
		s.expire()
	case 15:
		if s.next(128) == 0 {
			s.drain()
		} else {
			s.now = s.now.Add(time.Duration(s.next(8)) * time.Second)
			s.same(s.m.serve(s.now), s.l.serve(s.now))
		}
	}
}

func (s *scribe) admit() {
	if s.m.draining {
		return // its Cache refuses by itself
	}
	s.lastID++
	name := string(rune('a' + s.next(7)))
	weight := []int64{1, 1, 1, 2, 2, 3, 9}[name[0]-'a']
	head := messages.Head{ID: s.lastID, Key: keyOf(name), AcquireBy: s.now.Add(time.Duration(s.next(20)-1) * time.Second)}
	look := s.next(12)
	head.Fingerprint = messages.Fingerprint{Value: strconv.Itoa(look / 6), Taken: epoch.Add(time.Duration(look) * time.Second)}
	creation := time.Duration(s.next(4)) * 2 * time.Second
	c := &claim{head: head, weight: weight, creation: creation}
	s.claims[head.ID] = c
	s.m.ops = append(s.m.ops, &modelOp{id: head.ID, place: int(head.ID), key: name, weight: min(weight, s.m.limit),
		by: head.AcquireBy, creation: creation, version: head.Fingerprint.Value, taken: head.Fingerprint.Taken})
	before := render(s.l)
	said := s.same(s.m.serve(s.now), s.l.admit(s.now, c))
	if slices.Equal(said, []string{fmt.Sprint("refuse ", c.head.ID, " budget")}) {
		require.Equal(s.t, before, render(s.l), "a refusal changes nothing")
	}
}

// pick gives the n-th operation that waits, or has a lease.
func (s *scribe) pick(leased bool) *modelOp {
	var found []*modelOp
	for _, op := range s.m.ops {
		if (op.on != nil) == leased {
			found = append(found, op)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[s.next(len(found))]
}

func (s *scribe) release() {
	op := s.pick(true)
	if op == nil {
		return
	}
	c := s.claims[op.id]
	verdict := []messages.Verdict{messages.Healthy, messages.Healthy, messages.Healthy, messages.Broken, messages.Returned}[s.next(5)]
	again := verdict == messages.Returned && !c.returned && !s.m.draining
	require.Equal(s.t, s.m.release(s.now, op, verdict == messages.Healthy, again), s.l.release(s.now, c, verdict))
	if again {
		s.l.requeue(c)
		s.same(s.m.serve(s.now), s.l.serve(s.now, c))
		return
	}
	s.same(s.m.serve(s.now), s.l.serve(s.now))
}

func (s *scribe) leave() {
	if op := s.pick(false); op != nil {
		s.m.remove(op)
		s.l.leave(s.claims[op.id])
		s.same(s.m.serve(s.now), s.l.serve(s.now))
	}
}

// key picks any key: an Entry may close unasked.
func (s *scribe) key() (*modelKey, *row) {
	if len(s.m.keys) == 0 {
		return nil, nil
	}
	k := s.m.keys[s.next(len(s.m.keys))]
	return k, s.l.rows[keyOf(k.name)]
}

func (s *scribe) free() {
	k, r := s.key()
	if k == nil {
		return
	}
	s.m.keys = slices.DeleteFunc(s.m.keys, func(other *modelKey) bool { return other == k })
	again := !s.m.draining
	crossed := s.l.free(r)
	s.sameClaims(s.m.drop(k, again), crossed)
	if !again {
		crossed = nil
	}
	for _, c := range crossed {
		s.l.requeue(c)
	}
	s.same(s.m.serve(s.now), s.l.serve(s.now, crossed...))
}

func (s *scribe) drop() {
	if k, r := s.key(); k != nil {
		s.sameClaims(s.m.drop(k, false), s.l.drop(r))
		s.same(s.m.serve(s.now), s.l.serve(s.now))
	}
}

func (s *scribe) expire() {
	idle := time.Duration(s.next(8)) * time.Second
	var want []string
	for _, k := range s.m.idle() {
		if s.now.Sub(k.last) >= idle {
			k.ending = true
			want = append(want, k.name)
		}
	}
	s.sameRows(want, s.l.expire(s.now, idle))
}

func (s *scribe) drain() {
	s.m.draining = true
	var waiters []messages.OperationID
	for _, op := range slices.Clone(s.m.ops) {
		if op.on == nil {
			waiters = append(waiters, op.id)
			s.m.remove(op)
		}
	}
	var want []string
	for _, k := range s.m.idle() {
		k.ending = true
		want = append(want, k.name)
	}
	out, ended := s.l.drain()
	s.sameClaims(waiters, out)
	s.sameRows(want, ended)
}

func (s *scribe) sameRows(want []string, rows []*row) {
	var got []string
	for _, r := range rows {
		got = append(got, r.key.Root)
	}
	require.Equal(s.t, want, got)
}

func (s *scribe) sameClaims(want []messages.OperationID, claims []*claim) {
	var got []messages.OperationID
	for _, c := range claims {
		got = append(got, c.head.ID)
	}
	require.Equal(s.t, want, got)
}

// same compares decisions, and gives them in words.
func (s *scribe) same(want []string, decisions []decision) []string {
	var got []string
	for _, d := range decisions {
		s.seen[d.act]++
		got = append(got, s.word(d))
	}
	if !slices.Equal(want, got) { // require's own comparison is slow
		require.Equal(s.t, want, got, "step %d", s.steps)
	}
	return got
}

func (s *scribe) word(d decision) string {
	names := ""
	for _, victim := range d.victims {
		names += victim.key.Root
	}
	id := d.claim.head.ID
	switch d.act {
	case grant:
		return fmt.Sprint("grant ", id)
	case create:
		return fmt.Sprint("create ", id)
	case wait:
		return fmt.Sprint("wait ", id)
	case outdate:
		return "outdate " + names
	case evict:
		return fmt.Sprint("evict ", names, " for ", id)
	case refuse:
		return fmt.Sprint("refuse ", id, " ", map[messages.BusyReason]string{messages.Slot: "slot", messages.CreationBudget: "budget"}[d.reason])
	}
	return "?"
}

// check compares the two pictures and holds the ledger to what is true of any rules.
func (s *scribe) check() {
	if model, ledger := s.m.String(), render(s.l); model != ledger {
		require.Equal(s.t, model, ledger, "step %d", s.steps)
	}
	var occupied, ending int64
	leased, busy := 0, false
	for _, r := range s.l.rows {
		occupied += r.weight
		if r.ending {
			ending += r.weight
		}
		leased += r.leases
		busy = busy || r.ending || r.leases > 0
	}
	require.Equal(s.t, occupied, s.l.occupied)
	require.Equal(s.t, ending, s.l.ending)
	require.LessOrEqual(s.t, occupied, s.l.limit)
	require.Len(s.t, s.l.claims, leased+s.l.queue.length)
	require.True(s.t, s.l.queue.length == 0 || busy, "somebody waits, and nothing is about to happen")
}

func TestLedgerDecidesAsItsModelDoes(t *testing.T) {
	steps, seen := 0, map[act]int{}
	for seed := uint64(0); steps < 100_000; seed++ {
		random := rand.New(rand.NewPCG(seed, 0))
		script := make([]byte, 4096)
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		took, decided := play(t, script)
		steps += took
		for act, times := range decided {
			seen[act] += times
		}
	}
	for act := grant; act <= outdate; act++ {
		require.Greater(t, seen[act], 500, "decision %d is hardly ever taken", act)
	}
}

func FuzzLedgerDecidesAsItsModelDoes(f *testing.F) {
	f.Fuzz(func(t *testing.T, script []byte) { play(t, script) })
}
