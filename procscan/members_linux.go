package procscan

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

var watched memberSource = procfs{}

func (procfs) args(pid int, buf []byte) ([]byte, error) {
	return readAll("/proc/"+strconv.Itoa(pid)+"/cmdline", buf, 0)
}

// dir is empty below a path that is too long to be named: the tests of a configure script
// go there, and must not end its build.
func (procfs) dir(pid int) (string, error) {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	if errors.Is(err, unix.ENAMETOOLONG) {
		return "", nil
	}
	return path, err
}

// asleep reads the clock that goes on first: what passes between the two must not look
// like sleep.
func (procfs) asleep() int64 {
	var on, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &on) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil {
		return 0
	}
	return (on.Nano() - awake.Nano()) / (1e9 / clockTick)
}

// peak reads VmHWM of proc(5), status. A process that is just ending has none.
func (procfs) peak(pid int) (int64, error) {
	var buf [4096]byte
	path := "/proc/" + strconv.Itoa(pid) + "/status"
	raw, err := readAll(path, buf[:], '\n')
	if err != nil {
		return 0, err
	}
	return parsePeak(path, raw)
}

func parsePeak(path string, raw []byte) (int64, error) {
	_, rest, found := bytes.Cut(raw, []byte("\nVmHWM:"))
	if !found {
		return 0, nil
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	number, isKB := bytes.CutSuffix(bytes.TrimSpace(line), []byte(" kB"))
	kB, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil || !isKB {
		return 0, fmt.Errorf("can't read VmHWM in %s: %q", path, line)
	}
	return kB << 10, nil
}
