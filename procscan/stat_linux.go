package procscan

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

var pageSize = int64(os.Getpagesize())

// The fields of /proc/PID/stat that count here, numbered as in proc(5).
const (
	statState    = 3
	statPPID     = 4
	statPGID     = 5
	statSID      = 6
	statFlags    = 9
	statThreads  = 20
	statStart    = 22
	statRSS      = 24
	statEnvStart = 50
	statEnvEnd   = 51

	flagKernelThread = 0x00200000 // PF_KTHREAD
)

// parseStat reads one line of /proc/PID/stat. The name in it is what the program
// called itself, parentheses, blanks and newlines included: it ends at the
// last closing parenthesis.
func parseStat(raw []byte) (procStat, error) {
	opening, closing := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if opening < 2 || closing < opening {
		return procStat{}, fmt.Errorf("can't read the stat line %q", raw)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(raw[:opening])))
	if err != nil {
		return procStat{}, fmt.Errorf("can't read the PID in the stat line %q", raw)
	}
	fields := statFields{raw: raw, list: strings.Fields(string(raw[closing+1:]))}
	st := procStat{Info: Info{
		Identity: Identity{PID: pid, StartTicks: fields.number(statStart)},
		PPID:     int(fields.number(statPPID)),
		PGID:     int(fields.number(statPGID)),
		SID:      int(fields.number(statSID)),
		State:    fields.text(statState)[0],
		Comm:     string(raw[opening+1 : closing]),
	}}
	st.kernel = fields.number(statFlags)&flagKernelThread != 0
	st.rss = int64(fields.number(statRSS)) * pageSize
	st.threads = int(fields.number(statThreads))
	start, end := fields.number(statEnvStart), fields.number(statEnvEnd)
	st.noEnv = start != 0 && start == end
	return st, fields.err
}

// statFields keeps the first error, so that a line is checked once.
type statFields struct {
	raw  []byte
	list []string // from field 3 on
	err  error
}

func (f *statFields) text(field int) string {
	if i := field - statState; i < len(f.list) {
		return f.list[i]
	}
	f.fail(field)
	return "?"
}

func (f *statFields) number(field int) uint64 {
	text := f.text(field)
	n, err := strconv.ParseUint(text, 10, 64)
	if err == nil {
		return n
	}
	// Groups and sessions outside our PID namespace are -1 or 0; rss was
	// negative in some kernels.
	if signed, err := strconv.ParseInt(text, 10, 64); err == nil && signed < 0 {
		return 0
	}
	f.fail(field)
	return 0
}

func (f *statFields) fail(field int) {
	if f.err == nil {
		f.err = fmt.Errorf("can't read field %d of the stat line %q", field, f.raw)
	}
}
