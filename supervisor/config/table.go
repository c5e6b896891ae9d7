package config

import (
	"log/slog"
	"time"
)

// settings is the one table: the order is that of `hearth config`, and a default may
// depend on the rows above it.
var settings = []setting{
	row("max_projects", "HEARTH_MAX_PROJECTS",
		"language servers, and REPL pools, that may be resident at a time",
		count(1), at(func(c *Config) *int { return &c.MaxProjects }), always(4),
		older[int]("AUTOFORM_MAX_LEAN_PROJECTS")...),
	row("idle", "HEARTH_IDLE",
		"close a server or pool that nobody used for so long",
		span("never"), at(func(c *Config) *time.Duration { return &c.Idle }), always(30*time.Minute),
		inSeconds("AUTOFORM_LEAN_IDLE_SECONDS")),

	row("repl.total_workers", "HEARTH_REPL_TOTAL_WORKERS",
		"Lean workers on this machine; other languages take their part of the same memory by weight",
		count(1), at(func(c *Config) *int { return &c.REPL.TotalWorkers }), defaultTotalWorkers,
		older[int]("AUTOFORM_REPL_TOTAL_WORKERS")...),
	row("repl.workers_per_project", "HEARTH_REPL_WORKERS_PER_PROJECT",
		"workers in each project's pool; at most repl.total_workers",
		count(1), at(func(c *Config) *int { return &c.REPL.WorkersPerProject }), always(1),
		old[int]{name: "AUTOFORM_REPL_WORKERS_PER_PROJECT"}, old[int]{name: "LEAN_NUM_REPLS", unset: "0"}),
	row("repl.mode", "HEARTH_REPL_MODE",
		"fresh: each call runs in a child that no call used before; resident: a worker serves many calls",
		mode, at(func(c *Config) *Mode { return &c.REPL.Mode }), always(Fresh)),
	row("repl.timeout", "HEARTH_REPL_TIMEOUT",
		"of a run that names none: waiting for a worker, header check and run together",
		span(""), at(func(c *Config) *time.Duration { return &c.REPL.Timeout }), always(30*time.Second),
		older[time.Duration]("AUTOFORM_REPL_REQUEST_TIMEOUT")...),
	row("repl.max_timeout", "HEARTH_REPL_MAX_TIMEOUT",
		"the most that a run may ask for",
		span(""), at(func(c *Config) *time.Duration { return &c.REPL.MaxTimeout }), always(240*time.Second),
		inSeconds("AUTOFORM_MAX_REPL_REQUEST_SECONDS")),
	row("repl.startup_timeout", "HEARTH_REPL_STARTUP_TIMEOUT",
		"for one worker to start and load its warm-up imports",
		span(""), at(func(c *Config) *time.Duration { return &c.REPL.StartupTimeout }), always(180*time.Second)),
	row("repl.memory_limit", "HEARTH_REPL_MEMORY_LIMIT",
		"of one worker with everything that it started",
		memory, at(func(c *Config) *Size { return &c.REPL.MemoryLimit }), always(16*GiB)),
	row("repl.memory_ratio", "HEARTH_REPL_MEMORY_RATIO",
		"a resident worker over this part of its memory limit is replaced before the next call",
		ratio, at(func(c *Config) *float64 { return &c.REPL.MemoryRatio }), always(0.9)),
	row("repl.max_uses", "HEARTH_REPL_MAX_USES",
		"a resident worker is replaced after so many calls; 0 = never",
		count(0), at(func(c *Config) *int { return &c.REPL.MaxUses }), always(0)),

	row("lsp.timeout", "HEARTH_LSP_TIMEOUT",
		"of a check or hover that names none",
		span(""), at(func(c *Config) *time.Duration { return &c.LSP.Timeout }), always(60*time.Second),
		older[time.Duration]("LEAN_LSP_TIMEOUT")...),
	row("lsp.max_timeout", "HEARTH_LSP_MAX_TIMEOUT",
		"the most that a check or hover may ask for",
		span(""), at(func(c *Config) *time.Duration { return &c.LSP.MaxTimeout }), always(600*time.Second),
		inSeconds("AUTOFORM_MAX_LSP_REQUEST_SECONDS")),
	row("lsp.startup_timeout", "HEARTH_LSP_STARTUP_TIMEOUT",
		"for a language server to start and answer initialize",
		span(""), at(func(c *Config) *time.Duration { return &c.LSP.StartupTimeout }), always(60*time.Second)),
	row("lsp.open_documents", "HEARTH_LSP_OPEN_DOCUMENTS",
		"documents that a server keeps open; 0 = closed after each call",
		count(0), at(func(c *Config) *int { return &c.LSP.OpenDocuments }), defaultOpenDocuments),
	row("lsp.parallel", "HEARTH_LSP_PARALLEL",
		"calls in flight per language server; 1 = one at a time",
		count(1), at(func(c *Config) *int { return &c.LSP.Parallel }), always(8)),

	row("response_timeout", "HEARTH_RESPONSE_TIMEOUT",
		"the whole budget of a call: starting a child, running, and a margin of 30s",
		span(""), at(func(c *Config) *time.Duration { return &c.ResponseTimeout }), always(900*time.Second),
		older[time.Duration]("AUTOFORM_RUNTIME_RESPONSE_TIMEOUT")...),
	row("stop_timeout", "HEARTH_STOP_TIMEOUT",
		"how long a graceful stop waits for the calls in flight; default: response_timeout",
		span(""), at(func(c *Config) *time.Duration { return &c.StopTimeout }),
		func(c Config) time.Duration { return c.ResponseTimeout }),
	row("abort_grace", "HEARTH_ABORT_GRACE",
		"how long an abort waits for the process trees to end; what is left then is reported",
		span("no wait"), at(func(c *Config) *time.Duration { return &c.AbortGrace }), always(5*time.Second)),
	row("max_operations", "HEARTH_MAX_OPERATIONS",
		"calls in flight in the whole runtime; more are refused as busy",
		count(1), at(func(c *Config) *int { return &c.MaxOperations }), always(4096)),
	row("read_timeout", "HEARTH_READ_TIMEOUT",
		"for a request to arrive on a new connection",
		span(""), at(func(c *Config) *time.Duration { return &c.ReadTimeout }), always(10*time.Second),
		older[time.Duration]("AUTOFORM_RUNTIME_READ_TIMEOUT")...),
	row("max_connections", "HEARTH_MAX_CONNECTIONS",
		"open connections; more are refused as busy",
		count(1), at(func(c *Config) *int { return &c.MaxConnections }), always(1024),
		older[int]("AUTOFORM_RUNTIME_MAX_CONNECTIONS")...),
	row("runtime_dir", "HEARTH_RUNTIME_DIR",
		"directory of socket, locks, log and list of trees; default: $XDG_RUNTIME_DIR/hearth, else /tmp/hearth-UID",
		directory, runtimeDirPlace, always(""),
		older[string]("AUTOFORM_RUNTIME_DIR")...),
	row("log_level", "HEARTH_LOG_LEVEL",
		"least level that is logged",
		level, at(func(c *Config) *slog.Level { return &c.LogLevel }), always(slog.LevelInfo),
		older[slog.Level]("AUTOFORM_LOG_LEVEL")...),

	row("languages.lean.lsp.command", "HEARTH_LEAN_LSP_CMD",
		"Lean's language server",
		alternatives, leanPlace(func(l *Language) *[]Command { return &l.Server.Commands }), nil,
		older[[]Command]("LEAN_LSP_CMD")...),
	row("languages.lean.repl.command", "HEARTH_LEAN_REPL_CMD",
		"Lean's REPL",
		command, leanPlace(func(l *Language) *Command { return &l.REPL.Command }), nil,
		older[Command]("LEAN_REPL_CMD")...),
	row("languages.lean.repl.header_command", "HEARTH_LEAN_HEADER_CMD",
		"prints the imports of the Lean code on its standard input",
		command, leanPlace(func(l *Language) *Command { return &l.REPL.HeaderCommand }), nil,
		older[Command]("LEAN_REPL_HEADER_CMD")...),
}

// Row is a setting as `hearth config` prints it.
type Row struct {
	Key   string
	Value string
	From  string   // "default", "--KEY", a variable's name or the file's
	Env   []string // the variables that can hold it, in the order in which they are asked
	Want  string   // what it may be
	Help  string
}

// Table gives every setting with its value in force and where that came from.
func (c Config) Table(from Origins) []Row {
	rows := make([]Row, len(settings))
	for i, s := range settings {
		rows[i] = Row{Key: s.key, Value: s.format(c), From: "default", Want: s.want, Help: s.help}
		if origin, ok := from[s.key]; ok {
			rows[i].From = origin
		}
		for _, v := range s.names {
			rows[i].Env = append(rows[i].Env, v.name)
		}
	}
	return rows
}

// runtimeDirPlace shows the directory in force and sets the configured one.
var runtimeDirPlace = lens[string]{
	get: Config.Dir,
	put: func(c *Config, dir string) { c.RuntimeDir = dir },
}

// leanPlace is the lens of a field of Lean's profile, which is a value in a map.
func leanPlace[T any](field func(*Language) *T) lens[T] {
	return lens[T]{
		get: func(c Config) T {
			l := c.Languages["lean"]
			return *field(&l)
		},
		put: func(c *Config, value T) {
			l := c.Languages["lean"]
			*field(&l) = value
			c.Languages["lean"] = l
		},
	}
}
