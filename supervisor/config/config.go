package config

import (
	"log/slog"
	"time"

	"github.com/shirou/gopsutil/v4/mem"
)

// Config is everything that a runtime may be told. Start with Default or Load and
// change what should differ; the zero Config is not valid.
type Config struct {
	MaxProjects int           // resident language servers, and REPL pools
	Idle        time.Duration // an unused resource is closed after it; 0: never
	REPL        REPL
	LSP         LSP

	ResponseTimeout time.Duration // the whole budget of a call that sets no deadline
	StopTimeout     time.Duration // how long a graceful stop drains
	AbortGrace      time.Duration // after an abort; then what is left is reported
	MaxOperations   int           // in flight in the runtime; over it a call is refused as busy
	ReadTimeout     time.Duration // for one request to arrive on a connection
	MaxConnections  int

	// RuntimeDir is where sockets, locks, logs and the list of trees are kept. Empty
	// means DefaultRuntimeDir for a daemon, and no files at all for an embedded engine.
	// An engine that has one ends at its start what dead runtimes left, as far as their
	// files there tell. That costs it one file, an open descriptor, and, after such a
	// death, a second or more before its first child; and it doesn't start where the
	// directory isn't this user's alone.
	RuntimeDir string
	// DefaultRuntimeDir is filled in by Default and Load.
	DefaultRuntimeDir string

	LogLevel  slog.Level
	Languages map[string]Language // by name

	// RAM is the memory from which defaults were computed; 0 if it is unknown.
	RAM Size
}

// REPL holds the settings of the REPL pools.
type REPL struct {
	TotalWorkers      int // Lean workers on the node; see NodeBudget for other languages
	WorkersPerProject int
	Mode              Mode
	Timeout           time.Duration // of a call that names none
	MaxTimeout        time.Duration // the most that a call may name
	StartupTimeout    time.Duration // of one worker, warm-up included
	MemoryLimit       Size          // of a worker's whole tree; 0: none
	MemoryRatio       float64       // a resident worker above this part of the limit is replaced; 0: never
	MaxUses           int           // a resident worker is replaced after so many calls; 0: never
}

// LSP holds the settings of the language-server sessions.
type LSP struct {
	Timeout        time.Duration // of a call that names none
	MaxTimeout     time.Duration // the most that a call may name
	StartupTimeout time.Duration // from launch to initialized
	OpenDocuments  int           // kept open per session; 0: closed after each call
	Parallel       int           // operations in flight per session
}

// Mode says how long a REPL worker lives.
type Mode string

// The modes.
const (
	Fresh    Mode = "fresh"    // every call gets a child that no call used before
	Resident Mode = "resident" // a worker serves many calls
)

// Default is the configuration of this machine without file, environment or flags.
func Default() Config {
	return defaultsFor(machineRAM())
}

// defaultsFor computes every default for a machine with so much memory.
func defaultsFor(ram Size) Config {
	c := Config{RAM: ram, Languages: BuiltinLanguages(), DefaultRuntimeDir: defaultRuntimeDir("")}
	for _, s := range settings {
		s.fill(&c)
	}
	return c
}

// machineRAM is the total memory, or 0 where it can't be read: the defaults then
// are those of the smallest machine.
func machineRAM() Size {
	memory, err := mem.VirtualMemory()
	if err != nil {
		return 0
	}
	return Size(memory.Total)
}
