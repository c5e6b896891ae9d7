package procscan

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// crowd fills the machine with idle processes.
func crowd(b *testing.B, count int) {
	cmd := exec.Command("sh", "-c", fmt.Sprintf("i=0; while [ $i -lt %d ]; do sleep 600 & i=$((i+1)); done; echo ready; wait", count))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		eventually(b, "the crowd is gone", func() bool {
			alive, err := groupAlive(context.Background(), system, cmd.Process.Pid)
			return err == nil && !alive
		})
	})
	_, err = io.ReadFull(out, make([]byte, len("ready\n")))
	require.NoError(b, err)
}

// bareWalk is the least that reading every environment can cost.
func bareWalk(b *testing.B, buf []byte) {
	dir, err := os.Open("/proc")
	require.NoError(b, err)
	names, err := dir.Readdirnames(-1)
	require.NoError(b, err)
	_ = dir.Close()
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		fd, err := unix.Open("/proc/"+name+"/environ", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		_, _ = unix.Read(fd, buf)
		unix.Close(fd)
	}
}

// BenchmarkScan compares a scan with a bare walk, one after the other so that
// both see the same machine. x-bare is to be 1.2 at most.
func BenchmarkScan(b *testing.B) {
	for _, count := range []int{1000, 3000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			crowd(b, count)
			mark, buf := NewMark(SessionVar), make([]byte, environBuffer)
			var scans, walks []time.Duration
			for b.Loop() {
				walks = append(walks, timed(func() { bareWalk(b, buf) }))
				scans = append(scans, timed(func() {
					scan, err := SystemTable().Scan(b.Context(), mark)
					require.NoError(b, err)
					scan.Close()
				}))
			}
			b.ReportMetric(milliseconds(median(scans)), "scan-ms")
			b.ReportMetric(milliseconds(median(walks)), "bare-ms")
			b.ReportMetric(float64(median(scans))/float64(median(walks)), "x-bare")
		})
	}
}

// BenchmarkCleanClose is the end of a tree whose only process exits by itself,
// from that exit on. over-ms is what it costs beyond two scans, and is to be 15
// at most; 10 of them are the pause between the two.
func BenchmarkCleanClose(b *testing.B) {
	crowd(b, 1000)
	launcher := NewLauncher()
	var closes, scans []time.Duration
	for b.Loop() {
		mark := NewMark(SessionVar)
		child, err := launcher.Launch(b.Context(), Spec{Argv: []string{"true"}, Dir: "/", Env: os.Environ(), Marks: []Mark{mark}})
		require.NoError(b, err)
		_, err = child.Exited(b.Context())
		require.NoError(b, err)
		closes = append(closes, timed(func() {
			require.NoError(b, RetireGroup(b.Context(), child, DefaultGrace))
			require.NoError(b, Sweep(b.Context(), SystemTable(), Target{Mark: mark, Leader: child.Identity()}, DefaultGrace))
			_, err = child.Reap(b.Context())
			require.NoError(b, err)
		}))
		scans = append(scans, timed(func() {
			scan, err := SystemTable().Scan(b.Context(), mark)
			require.NoError(b, err)
			scan.Close()
		}))
	}
	b.ReportMetric(milliseconds(median(closes)), "close-ms")
	b.ReportMetric(milliseconds(median(scans)), "scan-ms")
	b.ReportMetric(milliseconds(median(closes)-2*median(scans)), "over-ms")
}

func timed(work func()) time.Duration {
	began := time.Now()
	work()
	return time.Since(began)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
