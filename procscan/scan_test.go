package procscan

import (
	"context"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

var testMark = Mark{Var: SessionVar, Value: "0123456789abcdef"}

// hits lists what a scan found, and closes it.
func hits(scan Scan) (pids []int) {
	for _, p := range scan.Hits {
		pids = append(pids, p.Identity().PID)
	}
	scan.Close()
	return pids
}

// TestScanRules has one row for each way in which a process can look at a scan.
func TestScanRules(t *testing.T) {
	tagged, plain := block(testMark.Env(), "HOME=/"), block("HOME=/", "PATH=/bin")
	failed := func(err error) fakeEnviron { return fakeEnviron{err: err} }
	withStat := func(p *fakeProc, change func(*procStat)) *fakeProc { change(&p.stat); return p }
	for _, tt := range []struct {
		law        string
		proc       *fakeProc
		hit        bool
		unreadable int
		unknown    bool
	}{
		{law: "a carrier is a hit", proc: fakeRunning(7, tagged), hit: true},
		{law: "others are not", proc: fakeRunning(7, plain)},
		{law: "the entry counts wherever it is", proc: fakeRunning(7, block("A=B", testMark.Env())), hit: true},
		{law: "a longer value is another's", proc: fakeRunning(7, block(testMark.Env()+"0"))},
		{law: "a longer name is another's", proc: fakeRunning(7, block("X"+testMark.Env()))},
		{law: "a value that quotes the entry is another's", proc: fakeRunning(7, block("ARGS=a "+testMark.Env()+" b"))},
		{law: "a quotation doesn't hide the entry", proc: fakeRunning(7, block("ARGS="+testMark.Env(), testMark.Env())), hit: true},
		{law: "a block cut at its end still counts", proc: fakeRunning(7, fakeEnviron{block: "A=B\x00" + testMark.Env()}), hit: true},
		{law: "ENOENT is gone", proc: fakeRunning(7, failed(syscall.ENOENT))},
		{law: "ESRCH is gone, and its state is not asked for", proc: &fakeProc{stat: fakeRunning(7).stat,
			environ: []fakeEnviron{failed(syscall.ESRCH)}, statErr: syscall.EIO}},
		{law: "EACCES is unreadable", proc: fakeRunning(7, failed(syscall.EACCES)), unreadable: 1},
		{law: "EPERM is unreadable", proc: fakeRunning(7, failed(syscall.EPERM)), unreadable: 1},
		{law: "an empty environment of a zombie is gone",
			proc: withStat(fakeRunning(7, fakeEnviron{}), func(st *procStat) { st.State = 'Z' })},
		{law: "an empty environment of a dead process is gone",
			proc: withStat(fakeRunning(7, fakeEnviron{}), func(st *procStat) { st.State = 'X' })},
		{law: "an empty environment of a kernel thread is gone",
			proc: withStat(fakeRunning(7, fakeEnviron{}), func(st *procStat) { st.kernel = true })},
		{law: "an environment cleared at the start carries no mark",
			proc: withStat(fakeRunning(7, fakeEnviron{}), func(st *procStat) { st.noEnv = true })},
		{law: "empty, and gone when asked for its state", proc: &fakeProc{stat: procStat{Info: Info{Identity: Identity{PID: 7}}},
			environ: []fakeEnviron{{}}, statErr: syscall.ESRCH}},
		{law: "empty, and unreadable when asked for its state", proc: &fakeProc{stat: procStat{Info: Info{Identity: Identity{PID: 7}}},
			environ: []fakeEnviron{{}}, statErr: syscall.EPERM}, unreadable: 1},
		{law: "in exec is read again until it shows", proc: fakeRunning(7, fakeEnviron{}, fakeEnviron{}, fakeEnviron{}, tagged), hit: true},
		{law: "in exec and then without the mark", proc: fakeRunning(7, fakeEnviron{}, plain)},
		{law: "in exec for too long is unknown", proc: fakeRunning(7, fakeEnviron{}), unknown: true},
		{law: "a carrier that executes another program is read again", proc: fakeRunning(7, tagged, fakeEnviron{}, tagged), hit: true},
		{law: "a number that belongs to another by the second look", proc: fakeRunning(7, tagged, plain)},
		{law: "a carrier that ends before it is held", proc: &fakeProc{stat: fakeRunning(7).stat,
			environ: []fakeEnviron{tagged}, holdErr: syscall.ESRCH}},
		{law: "a carrier that ends before the second look", proc: fakeRunning(7, tagged, failed(syscall.ENOENT))},
		{law: "a carrier that gives up its memory before the second look", proc: fakeRunning(7, tagged, fakeEnviron{}), unknown: true},
		{law: "a number reused between hold and second look", proc: &fakeProc{stat: fakeRunning(7).stat,
			environ: []fakeEnviron{tagged}, signalErr: syscall.ESRCH}},
	} {
		t.Run(tt.law, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src := newFakeSource(fakeRunning(3, plain), tt.proc, fakeRunning(9, plain))
				scan, err := scanner{src}.Scan(t.Context(), testMark)
				require.NoError(t, err)
				require.Equal(t, tt.unreadable, scan.Unreadable)
				require.Equal(t, tt.unknown, len(scan.Unknown) == 1)
				require.Equal(t, uint64(1000), scan.Began)
				if tt.hit {
					require.Equal(t, []int{7}, hits(scan))
				} else {
					require.Empty(t, hits(scan))
				}
				require.Zero(t, src.held, "a hold was left open")
				if src.lastHold != nil {
					for _, sig := range src.lastHold.signals {
						require.Equal(t, syscall.Signal(0), sig, "a scan only asks")
					}
				}
			})
		})
	}
}

func TestScanFailsOnWhatItCantJudge(t *testing.T) {
	tagged := block(testMark.Env())
	broken := func(change func(*fakeProc)) *fakeSource {
		p := fakeRunning(7, fakeEnviron{})
		change(p)
		return newFakeSource(fakeRunning(3, tagged), p)
	}
	for law, src := range map[string]*fakeSource{
		"an unreadable table":                      {pidsErr: fs.ErrPermission},
		"EIO from an environment":                  broken(func(p *fakeProc) { p.environ = []fakeEnviron{{err: syscall.EIO}} }),
		"EIO from a state":                         broken(func(p *fakeProc) { p.statErr = syscall.EIO }),
		"EIO from a hold":                          broken(func(p *fakeProc) { p.environ, p.holdErr = []fakeEnviron{tagged}, syscall.EIO }),
		"EIO from a signal":                        broken(func(p *fakeProc) { p.environ, p.signalErr = []fakeEnviron{tagged}, syscall.EIO }),
		"ENOSYS from pidfd_open":                   broken(func(p *fakeProc) { p.environ, p.holdErr = []fakeEnviron{tagged}, syscall.ENOSYS }),
		"no descriptor even for the first carrier": {order: []int{7}, procs: map[int]*fakeProc{7: {environ: []fakeEnviron{tagged}, holdErr: syscall.EMFILE}}},
	} {
		t.Run(law, func(t *testing.T) {
			_, err := scanner{src}.Scan(t.Context(), testMark)
			require.Error(t, err)
			require.False(t, IsGone(err), "a failure must not look like an end: %v", err)
			require.Zero(t, src.held, "a hold was left open")
		})
	}
}

func TestScanWithoutAMarkIsRefused(t *testing.T) {
	for _, mark := range []Mark{{}, {Var: SessionVar}, {Value: "x"}, {Var: "A=B", Value: "x"}, {Var: "A", Value: "x\x00"}} {
		_, err := scanner{newFakeSource(fakeRunning(7, block("HOME=/")))}.Scan(t.Context(), mark)
		require.Error(t, err, "%+v", mark)
	}
}

func TestScanTakesAsManyCarriersAsItMayHold(t *testing.T) {
	src := newFakeSource(fakeRunning(3, block(testMark.Env())), fakeRunning(5, block(testMark.Env())), fakeRunning(7, block(testMark.Env())))
	src.holdMax = 2
	scan, err := scanner{src}.Scan(t.Context(), testMark)
	require.NoError(t, err)
	require.Equal(t, []int{3, 5}, hits(scan))
}

func TestScanChasesWhatWasStartedMeanwhile(t *testing.T) {
	plain, tagged := block("HOME=/"), block(testMark.Env())
	chase := func(t *testing.T, newests []int, listed []int, procs ...*fakeProc) []int {
		src := newFakeSource(procs...)
		src.order, src.newests = listed, newests
		for pid := range 2000 { // whoever isn't said to live doesn't
			if src.procs[pid] == nil {
				src.procs[pid] = &fakeProc{environ: []fakeEnviron{{err: syscall.ENOENT}}}
			}
		}
		scan, err := scanner{src}.Scan(t.Context(), testMark)
		require.NoError(t, err)
		require.Zero(t, scan.Vanished)
		found := hits(scan)
		require.Zero(t, src.held)
		return found
	}
	old := fakeRunning(400, plain)
	t.Run("the next of a chain", func(t *testing.T) {
		require.Equal(t, []int{403}, chase(t, []int{400, 402, 403}, []int{400}, old, fakeRunning(402, plain), fakeRunning(403, tagged)))
	})
	t.Run("once, if the list had it already", func(t *testing.T) {
		require.Equal(t, []int{401}, chase(t, []int{400, 401}, []int{400, 401}, old, fakeRunning(401, tagged)))
	})
	t.Run("after the numbers began again", func(t *testing.T) {
		require.Equal(t, []int{301}, chase(t, []int{400, 301}, []int{400}, old, fakeRunning(301, tagged)))
	})
	t.Run("a thread is no process", func(t *testing.T) {
		thread := fakeRunning(401, tagged)
		thread.holdErr = errThread
		require.Empty(t, chase(t, []int{400, 401}, []int{400}, old, thread))
	})
	t.Run("not for ever", func(t *testing.T) {
		numbers := make([]int, 0, 1000)
		for pid := 400; pid < 1400; pid++ {
			numbers = append(numbers, pid)
		}
		require.Empty(t, chase(t, numbers, []int{400}, old))
	})
}

func TestScanCountsTheCarriersThatVanish(t *testing.T) {
	p := fakeRunning(7, block(testMark.Env()))
	p.holdErr = syscall.ESRCH
	scan, err := scanner{newFakeSource(p)}.Scan(t.Context(), testMark)
	require.NoError(t, err)
	require.Equal(t, 1, scan.Vanished)
}

func TestScanEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := scanner{newFakeSource(fakeRunning(7, fakeEnviron{}))}.Scan(ctx, testMark)
	require.ErrorIs(t, err, context.Canceled)
	_, err = scanner{newFakeSource(fakeRunning(7, fakeEnviron{}))}.Walk(ctx)
	require.ErrorIs(t, err, context.Canceled)
	_, err = sample(ctx, newFakeSource(fakeRunning(7, fakeEnviron{})), SessionVar)
	require.ErrorIs(t, err, context.Canceled)
	_, err = measure(ctx, newFakeSource(fakeRunning(7)), []Identity{{7, 7}})
	require.ErrorIs(t, err, context.Canceled)
}

func TestWalkLeavesOutWhatEndedAndFailsOnTheRest(t *testing.T) {
	ended, hidden := fakeRunning(5), fakeRunning(6)
	ended.statErr, hidden.statErr = syscall.ESRCH, syscall.EACCES
	infos, err := scanner{newFakeSource(fakeRunning(3), ended, hidden, fakeRunning(9))}.Walk(t.Context())
	require.NoError(t, err)
	require.Len(t, infos, 2)

	ended.statErr = syscall.EIO
	_, err = scanner{newFakeSource(fakeRunning(3), ended)}.Walk(t.Context())
	require.ErrorIs(t, err, syscall.EIO)
	_, err = scanner{&fakeSource{pidsErr: syscall.EIO}}.Walk(t.Context())
	require.ErrorIs(t, err, syscall.EIO)
}

func TestSampleGroupsByTheValueAndMeasureChecksIdentities(t *testing.T) {
	weigh := func(p *fakeProc, rss int64) *fakeProc { p.stat.rss = rss; return p }
	zombie := weigh(fakeRunning(6, block("T=a")), 1000)
	zombie.stat.State = 'Z'
	src := newFakeSource(
		weigh(fakeRunning(3, block("X=1", "T=a")), 10), weigh(fakeRunning(4, block("T=b")), 20), weigh(fakeRunning(5, block("T=a")), 40), zombie,
		fakeRunning(7, fakeEnviron{err: syscall.EACCES}), fakeRunning(8, fakeEnviron{err: syscall.ESRCH}), fakeRunning(9, block("XT=a", "U=T=a", "T=")))
	trees, err := sample(t.Context(), src, "T")
	require.NoError(t, err)
	require.Equal(t, map[string]TreeSample{
		"a": {Members: []Identity{{3, 3}, {5, 5}}, RSS: 50},
		"b": {Members: []Identity{{4, 4}}, RSS: 20},
	}, trees)

	rss, err := measure(t.Context(), src, []Identity{{3, 3}, {5, 5}, {6, 6}, {4, 999}})
	require.NoError(t, err)
	require.Equal(t, int64(50), rss, "zombies and reused numbers don't count")

	src.procs[3].statErr = syscall.EIO
	_, err = measure(t.Context(), src, []Identity{{3, 3}})
	require.ErrorIs(t, err, syscall.EIO)
	_, err = sample(t.Context(), src, "T")
	require.ErrorIs(t, err, syscall.EIO)
	src.procs[3].environ = []fakeEnviron{{err: syscall.EIO}}
	_, err = sample(t.Context(), src, "T")
	require.ErrorIs(t, err, syscall.EIO)
	_, err = sample(t.Context(), &fakeSource{pidsErr: syscall.EIO}, "T")
	require.ErrorIs(t, err, syscall.EIO)
}

func FuzzHasEntry(f *testing.F) {
	f.Add("A=B\x00C=D\x00", "C=D")
	f.Add("A=C=D\x00C=D", "C=D")
	f.Fuzz(func(t *testing.T, block, entry string) {
		if entry == "" || strings.Contains(entry, "\x00") {
			t.Skip("no mark looks like this")
		}
		want := false
		for _, e := range strings.Split(block, "\x00") {
			want = want || e == entry
		}
		require.Equal(t, want, hasEntry([]byte(block), []byte(entry)))
	})
}
