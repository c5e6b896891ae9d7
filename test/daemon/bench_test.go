package daemon_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/standins"
)

// lineEcho is the bare server that a ping is compared with: one line in, the same line
// out, one request a connection. It is this test's own program, run once more, so that
// it is another process as the daemon is.
const lineEcho = "HEARTH_TEST_LINE_ECHO"

// serveLineEcho serves until its standard input ends.
func serveLineEcho(path string) {
	listener, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if line, err := bufio.NewReader(conn).ReadBytes('\n'); err == nil {
					_, _ = conn.Write(line)
				}
			}()
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// startLineEcho gives the socket of one.
func startLineEcho(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("", "echo")
	require.NoError(b, err)
	b.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), lineEcho+"="+path)
	input, err := c.StdinPipe()
	require.NoError(b, err)
	require.NoError(b, c.Start())
	b.Cleanup(func() {
		_ = input.Close()
		_ = c.Wait()
	})
	require.True(b, standins.Until(bound, func() bool {
		conn, err := net.Dial("unix", path)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}))
	return path
}

// exchange makes one request on a connection of its own.
func exchange(socket, line string, buffer []byte) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, line); err != nil {
		return err
	}
	for read := 0; ; {
		n, err := conn.Read(buffer[read:])
		read += n
		if read > 0 && buffer[read-1] == '\n' {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

const (
	pingLine   = `{"v":1,"id":1,"method":"daemon.ping","params":{}}` + "\n"
	statusLine = `{"v":1,"id":1,"method":"daemon.status","params":{}}` + "\n"
)

// timed makes n requests by so many clients and gives the median time of one.
func timed(b *testing.B, clients, n int, socket, line string) time.Duration {
	b.Helper()
	each := max(1, n/clients)
	all := make([][]time.Duration, clients)
	var work sync.WaitGroup
	for i := range all {
		work.Go(func() {
			buffer := make([]byte, 1<<20)
			for range each {
				began := time.Now()
				if err := exchange(socket, line, buffer); err != nil {
					b.Error(err)
					return
				}
				all[i] = append(all[i], time.Since(began))
			}
		})
	}
	work.Wait()
	flat := slices.Concat(all...)
	slices.Sort(flat)
	if len(flat) == 0 {
		return 1 // an error was reported
	}
	return flat[len(flat)/2]
}

// rounds is how often the two sides of a ratio take turns.
const rounds = 15

// reportRatio measures two things in turns and reports the median of all their ratios.
func reportRatio(b *testing.B, metric string, measured, bare func() time.Duration) {
	b.Helper()
	var ratios []float64
	for b.Loop() {
		for range rounds {
			ratios = append(ratios, float64(measured())/float64(bare()))
		}
	}
	b.ReportMetric(middle(ratios), metric)
}

// middle is the median.
func middle(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkPing compares a ping with a bare line echo.
func BenchmarkPing(b *testing.B) {
	h := newHome(b, options{})
	h.start()
	echo, socket := startLineEcho(b), h.socket()
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			n := 20 * clients
			reportRatio(b, "x-echo",
				func() time.Duration { return timed(b, clients, n, socket, pingLine) },
				func() time.Duration { return timed(b, clients, n, echo, pingLine) })
		})
	}
}

// BenchmarkStatus compares a status with four projects with a ping.
func BenchmarkStatus(b *testing.B) {
	h := newHome(b, options{})
	h.start()
	for range 4 {
		require.Zero(b, h.hearth("check", writeCode(b, "word")).code)
	}
	socket := h.socket()
	reportRatio(b, "x-ping",
		func() time.Duration { return timed(b, 1, 20, socket, statusLine) },
		func() time.Duration { return timed(b, 1, 20, socket, pingLine) })
}

// BenchmarkStart measures a daemon from its start as a process to its first answer.
func BenchmarkStart(b *testing.B) {
	h := newHome(b, options{})
	h.start()
	require.Zero(b, h.hearth("stop").code)
	socket, buffer := h.socket(), make([]byte, 1<<16)
	times := make([]time.Duration, 0, rounds)
	for b.Loop() {
		times = times[:0]
		for range rounds {
			c := h.command("serve", "--log", filepath.Join(h.dir, "serve.log"))
			began := time.Now()
			require.NoError(b, c.Start())
			for exchange(socket, pingLine, buffer) != nil {
				time.Sleep(200 * time.Microsecond)
			}
			times = append(times, time.Since(began))
			_ = c.Process.Signal(os.Interrupt)
			require.NoError(b, c.Wait())
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[rounds/2])/1e6, "ms-to-ping")
	}
}

// BenchmarkStatusCommand compares hearth status with a program that does nothing.
func BenchmarkStatusCommand(b *testing.B) {
	h := newHome(b, options{})
	h.start()
	run := func(c *exec.Cmd) time.Duration {
		began := time.Now()
		if err := c.Run(); err != nil {
			b.Error(err)
		}
		return time.Since(began)
	}
	for b.Loop() {
		differences := make([]time.Duration, rounds)
		for i := range differences {
			differences[i] = run(h.command("status")) - run(exec.Command("true"))
		}
		slices.Sort(differences)
		b.ReportMetric(float64(differences[rounds/2])/1e6, "ms-over-true")
	}
}

// BenchmarkIdleMemory measures the resident memory of a daemon that has nothing to do.
func BenchmarkIdleMemory(b *testing.B) {
	h := newHome(b, options{})
	pid := h.start().PID
	for b.Loop() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		require.NoError(b, err)
		_, rest, _ := strings.Cut(string(text), "VmRSS:")
		var kib float64
		_, err = fmt.Sscan(rest, &kib)
		require.NoError(b, err)
		b.ReportMetric(kib/1024, "MiB")
	}
}
