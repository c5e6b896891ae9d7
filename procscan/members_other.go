//go:build !linux

package procscan

import (
	"strings"

	"github.com/shirou/gopsutil/v4/process"
)

var watched memberSource = portable{}

// clockTick is the unit of start times here.
const clockTick = 1000

func (portable) args(pid int, _ []byte) ([]byte, error) {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return nil, goneIfMissing(pid, err)
	}
	words, err := p.CmdlineSlice()
	if err != nil {
		return nil, goneIfMissing(pid, err)
	}
	return []byte(strings.Join(words, "\x00")), nil
}

// dir isn't told without a debugger's rights: files keep the names that the
// command line gives them.
func (portable) dir(int) (string, error) { return "", nil }

// asleep isn't told.
func (portable) asleep() int64 { return 0 }

// peak is what a process has now: the system keeps no peak that others may read.
func (src portable) peak(pid int) (int64, error) {
	st, err := src.stat(pid)
	return st.rss, err
}
