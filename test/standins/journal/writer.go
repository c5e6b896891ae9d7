package journal

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxData bounds what a line keeps of a message: a journal of a test that sends megabytes stays readable.
const maxData = 64 << 10

// Writer appends the events of this process to a journal. The nil Writer drops them.
type Writer struct {
	file  *os.File
	role  string
	ticks uint64
}

// Open appends to the journal at path as role. An empty path gives the nil Writer.
func Open(path, role string) (*Writer, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &Writer{file: file, role: role, ticks: StartTicks(os.Getpid())}, nil
}

// Note writes an event. Data may be nil or anything that JSON can hold; a json.RawMessage is kept but for its spaces.
func (w *Writer) Note(event, detail string, data any) {
	if w == nil {
		return
	}
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	sid, _ := unix.Getsid(0)
	e := Event{
		TimeNS: now.Nano(), Role: w.role, PID: os.Getpid(), PPID: os.Getppid(), PGID: unix.Getpgrp(), SID: sid,
		StartTicks: w.ticks, Event: event, Detail: detail, Data: encode(data),
	}
	line, err := marshal(e)
	if err != nil { // a message that is no JSON: what it was is still worth a line
		e.Data = encode(string(e.Data))
		line, _ = marshal(e)
	}
	_, _ = w.file.Write(line)
}

// Close releases the file; nothing is buffered.
func (w *Writer) Close() error {
	if w == nil {
		return nil
	}
	return w.file.Close()
}

func encode(data any) json.RawMessage {
	if data == nil {
		return nil
	}
	raw, isRaw := data.(json.RawMessage)
	if !isRaw {
		raw, _ = marshal(data)
	}
	if len(raw) > maxData {
		raw, _ = json.Marshal(map[string]int{"bytes": len(raw)})
	}
	return raw
}

// marshal is json.Marshal with <, > and & left as they came, and a newline at the end.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// StartTicks returns the start time of pid in clock ticks since boot, 0 if there is no such process.
func StartTicks(pid int) uint64 {
	_, ticks := State(pid)
	return ticks
}

// State returns the state letter of pid ('R', 'S', 'Z', …) and its start time in clock ticks since boot; 0 and 0 if
// there is no such process.
func State(pid int) (letter byte, startTicks uint64) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0
	}
	// The name in parentheses may hold spaces and parentheses itself, so fields are counted from the last one.
	_, after, found := strings.Cut(string(stat[lastParen(stat):]), ") ")
	fields := strings.Fields(after)
	if !found || len(fields) < 20 {
		return 0, 0
	}
	ticks, _ := strconv.ParseUint(fields[19], 10, 64)
	return fields[0][0], ticks
}

func lastParen(stat []byte) int {
	return max(0, strings.LastIndexByte(string(stat), ')'))
}
