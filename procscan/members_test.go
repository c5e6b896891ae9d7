package procscan

import (
	"context"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeMembers is a fakeSource whose processes can be watched. Readers that have no
// entry answer as for an ordinary process.
type fakeMembers struct {
	*fakeSource
	cmdline map[int]string
	fail    map[string]error // by reader
}

func (s *fakeMembers) stat(pid int) (procStat, error) {
	if err := s.fail["stat"]; err != nil {
		return procStat{}, err
	}
	return s.fakeSource.stat(pid)
}

func (s *fakeMembers) args(pid int, buf []byte) ([]byte, error) {
	return append(buf[:0], s.cmdline[pid]...), s.fail["args"]
}

func (s *fakeMembers) asleep() int64 { return 7 }

func (s *fakeMembers) dir(pid int) (string, error) { return fmt.Sprintf("/dir/%d", pid), s.fail["dir"] }
func (s *fakeMembers) peak(pid int) (int64, error) { return int64(pid) << 20, s.fail["peak"] }

func watchable() *fakeMembers {
	tagged := block(testMark.Env())
	return &fakeMembers{fail: map[string]error{}, cmdline: map[int]string{7: "cc\x00-c\x00a b.c\x00", 8: "sh\x00"},
		fakeSource: newFakeSource(fakeRunning(3, block("HOME=/")), fakeRunning(7, tagged), fakeRunning(8, tagged))}
}

func TestMembersAreTheCarriersWithTheirCommandLines(t *testing.T) {
	look, err := members(t.Context(), watchable(), testMark)
	require.NoError(t, err)
	require.Len(t, look.Members, 2)
	require.Equal(t, []string{"cc", "-c", "a b.c"}, look.Members[0].Args)
	require.Equal(t, "/dir/7", look.Members[0].Dir)
	require.Equal(t, int64(7<<20), look.Members[0].Peak)
	require.Equal(t, Identity{7, 7}, look.Members[0].Identity)
	require.Equal(t, uint64(1000), look.At)
	require.Equal(t, 993*time.Second/clockTick, look.Age(look.Members[0].Identity))
	require.Zero(t, look.Age(Identity{9, 1001}), "what began after the look has no age yet")
}

// TestReportedFault30GoneBetweenOpenAndRead: ESRCH from a read was taken for a hard
// error, and healthy builds failed at random.
func TestReportedFault30GoneBetweenOpenAndRead(t *testing.T) {
	for _, reader := range []string{"environ", "args", "stat", "peak", "dir"} {
		for _, tt := range []struct {
			err   error
			fails bool
		}{{err: syscall.ENOENT}, {err: syscall.ESRCH}, {err: ErrGone}, {err: syscall.EACCES}, {err: syscall.EPERM},
			{err: syscall.EIO, fails: true}, {err: syscall.EMFILE, fails: true}} {
			t.Run(reader+" "+tt.err.Error(), func(t *testing.T) {
				src := watchable()
				src.fail[reader] = tt.err
				if reader == "environ" {
					for _, pid := range []int{7, 8} {
						src.procs[pid].environ = []fakeEnviron{{err: tt.err}}
					}
				}
				look, err := members(t.Context(), src, testMark)
				if !tt.fails {
					require.NoError(t, err)
					require.Empty(t, look.Members, "it is simply not there")
					return
				}
				require.ErrorIs(t, err, tt.err)
				require.False(t, IsGone(err), "a failure must not look like an end")
			})
		}
	}
	t.Run("empty", func(t *testing.T) {
		src := watchable()
		src.cmdline[7], src.procs[8].environ = "", []fakeEnviron{{}}
		look, err := members(t.Context(), src, testMark)
		require.NoError(t, err)
		require.Empty(t, look.Members)
	})
	t.Run("zombie", func(t *testing.T) {
		src := watchable()
		src.procs[7].stat.State, src.procs[8].stat.State = 'Z', 'X'
		look, err := members(t.Context(), src, testMark)
		require.NoError(t, err)
		require.Empty(t, look.Members)
	})
}

func TestMembersOfAnUnreadableTableAreNotNone(t *testing.T) {
	src := watchable()
	src.pidsErr = fs.ErrPermission
	_, err := members(t.Context(), src, testMark)
	require.Error(t, err)
	_, err = members(t.Context(), watchable(), Mark{Var: SessionVar})
	require.Error(t, err, "no mark")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = members(ctx, watchable(), testMark)
	require.ErrorIs(t, err, context.Canceled)
}

func TestExitCodeIsAsShellsGiveIt(t *testing.T) {
	require.Equal(t, 3, Status{Code: 3}.ExitCode())
	require.Equal(t, 143, Status{Code: -1, Signal: syscall.SIGTERM}.ExitCode())
	require.Equal(t, -1, Status{Code: -1}.ExitCode())
}

func TestStoppedMeansTheProcessOrTheChildThatHoldsItUp(t *testing.T) {
	leader, child := Identity{PID: 5, StartTicks: 1}, Identity{PID: 6, StartTicks: 2}
	for _, tt := range []struct {
		name            string
		leader, child   byte
		parent          int
		stopped, theirs bool
	}{
		{"runs", 'R', 'S', 5, false, false},
		{"stopped", 'T', 'T', 5, true, true},
		{"in the middle of a vfork", 'D', 'T', 5, true, true},
		{"waits for a disk beside another's stopped child", 'D', 'T', 1, false, true},
		{"has stopped its child itself", 'S', 'T', 5, false, true},
		{"is traced", 't', 'S', 5, false, false},
	} {
		look := Look{Members: []Member{
			{Info: Info{Identity: child, PPID: tt.parent, State: tt.child}}, {Info: Info{Identity: leader, PPID: 1, State: tt.leader}}}}
		require.Equal(t, tt.stopped, look.Stopped(leader), tt.name)
		require.Equal(t, tt.theirs, look.Stopped(child), tt.name)
		require.False(t, look.Stopped(Identity{PID: 5, StartTicks: 9}), tt.name)
	}
}
