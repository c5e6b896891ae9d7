package lsp

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDocumentsAgreeWithTheServer(t *testing.T) {
	confirmed := 0
	for seed := range uint64(300) {
		confirmed += simulate(t, rand.New(rand.NewPCG(seed, 1)))
	}
	require.Greater(t, confirmed, 300, "calls that found the text which the server has")
}

type simulated struct {
	claim Claim
	known bool
	sum   [sha256.Size]byte
	plan  Plan
	step  int // 1 entered, 2 read, 3 found, 4 sent
	text  string
	told  uint64
}

func simulate(t *testing.T, r *rand.Rand) (confirmed int) {
	d := NewDocuments[int](r.IntN(4), time.Minute)
	takesChanges := r.IntN(4) > 0
	if !takesChanges {
		d.Reopens()
	}
	now := t0
	disk, server, calls := map[string]string{}, map[string]string{}, map[int]*simulated{}
	changes, told := uint64(0), map[string]uint64{} // when the last change of a file was told; 0: it wasn't
	apply := func(p Plan, text string) int {
		todo := len(p.Close) + notifications(p.Kind)
		written := todo
		if r.IntN(5) == 0 {
			written = r.IntN(todo + 1)
		}
		for i := range written {
			playServer(t, server, p, i, text)
		}
		return written
	}
	for n := range 200 {
		now = now.Add(time.Duration(r.IntN(20)) * time.Second)
		path := fmt.Sprintf("/%d", r.IntN(5))
		if text := fmt.Sprint(r.IntN(3)); text != disk[path] {
			disk[path], told[path] = text, 0
		}
		claim := Claim{Path: path, Diagnoses: r.IntN(2) == 0, Reopen: int32(max(0, r.IntN(16)-8))}
		if r.IntN(3) == 0 {
			changes++
			told[path] = changes
			d.FilesChanged(changes, []string{path}, r.IntN(2) == 0)
		}
		if d.Free(claim) && len(calls) < 8 {
			plan, sum, known := d.Known(claim)
			d.Enter(n, claim, now)
			calls[n] = &simulated{claim: claim, plan: plan, sum: sum, known: known, step: 1}
		}
		for id, c := range calls {
			if r.IntN(2) == 0 {
				continue
			}
			switch c.step {
			case 1:
				c.text, c.told = disk[c.claim.Path], changes
			case 2:
				var ok bool
				if c.known && sha256.Sum256([]byte(c.text)) == c.sum {
					require.Equal(t, c.text, server[c.claim.Path])
					d.Confirmed(id, c.claim.Path, c.told)
					confirmed++
					c.step = 4
					continue
				}
				if c.plan, ok = d.Found(id, c.claim.Path, []byte(c.text), c.told); !ok {
					delete(calls, id)
					break
				}
				for _, other := range d.Open() {
					if old := server[other] != disk[other] && told[other] > 0 && told[other] <= c.told; old && len(d.docs[other].users) == 0 {
						require.Contains(t, c.plan.Close, other, "%s is answered by an old text of another", c.claim.Path)
					}
				}
			case 3:
				require.True(t, takesChanges || c.plan.Kind != PlanChange)
				written := apply(c.plan, c.text)
				d.Sent(id, c.plan, written)
				if written == len(c.plan.Close)+notifications(c.plan.Kind) {
					require.Equal(t, c.text, server[c.claim.Path])
				}
			case 4:
				after := d.Leave(id, c.claim.Path, now)
				d.Closed(after, apply(after, ""))
				delete(calls, id)
			}
			c.step++
		}
		after, _ := d.Expire(now)
		d.Closed(after, apply(after, ""))
		open := d.Open()
		slices.Sort(open)
		require.Len(t, server, len(open))
		for _, path := range open {
			require.Contains(t, server, path)
			if doc := d.docs[path]; doc.unused() && told[path] > 0 && server[path] != disk[path] {
				require.NotZero(t, doc.dirty, "others would be answered by an old text of %s for ever", path)
			}
		}
	}
	return confirmed
}

// playServer takes the i-th notification of a plan.
func playServer(t *testing.T, server map[string]string, p Plan, i int, text string) {
	if i < len(p.Close) {
		require.Contains(t, server, p.Close[i])
		delete(server, p.Close[i])
		return
	}
	switch first := i == len(p.Close); {
	case p.Kind == PlanReopen && first:
		require.Contains(t, server, p.Path)
		delete(server, p.Path)
		return
	case p.Kind == PlanChange:
		require.Contains(t, server, p.Path)
	default:
		require.NotContains(t, server, p.Path)
	}
	server[p.Path] = text
}
