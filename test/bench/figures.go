package main

// figure is one promise: a metric that a benchmark reports, and the most that it may be.
type figure struct {
	What    string  `json:"what"`
	Package string  `json:"package"`
	Bench   string  `json:"benchmark"` // its full name, sub-benchmarks included
	Metric  string  `json:"metric"`
	Limit   float64 `json:"limit"`
}

// benchtimes are the packages for which the go command can't find the number of rounds:
// theirs take so long that it would make one, where a median needs more, or are not timed
// by its clock, so that it would make them for ever.
var benchtimes = map[string]string{"test/watch": "7x", "test/repl": "30x"}

// figures are all of them, in the order in which they are printed.
var figures = []figure{
	{"an idle actor's memory, bytes", "actors", "IdleActor", "B/actor", 1500},
	{"Ask of an actor : a channel round trip", "actors", "Ask", "x-channel", 2.5},
	{"a call through Cache, Entry and Session : three channel round trips", "supervisor", "CallThroughTheTree/no_document", "x-bare", 6},
	{"admit and release : map lookup and list move, 4 entries", "actors/cache", "AdmitAndRelease/4", "x-lookup", 6},
	{"the same with 10,000 entries", "actors/cache", "AdmitAndRelease/10000", "x-lookup", 6},
	{"10,000 entries : 4 entries", "actors/cache", "AdmitAndReleaseAtTenThousand", "x-at-4", 2},
	{"10,000 idle Entry actors, MB", "actors/cache", "MemoryOfIdleEntries", "MB", 40},
	{"status of 1,000 entries : encoding it", "actors/observer", "Status1000", "x-encoding", 2},
	{"slowest status in a storm of snapshots, ms", "actors/observer", "StatusUnderStorm", "ms-slowest", 50},
	{"scan of 1,000 processes : bare walk", "procscan", "Scan/1000", "x-bare", 1.2},
	{"scan of 3,000 processes : bare walk", "procscan", "Scan/3000", "x-bare", 1.2},
	{"clean close over two scans, 1,000 processes, ms", "procscan", "CleanClose", "over-ms", 15},
	{"warm fresh run : bare exchange", "test/repl", "WarmCallAgainstABareChild", "fresh/bare", 1.3},
	{"resident run : bare exchange", "test/repl", "WarmCallAgainstABareChild", "resident/bare", 1.15},
	{"hover on warm gopls : its bare pipes", "test/lsp", "WarmHover", "x-pipes", 1.3},
	{"diagnostics after an edit : a bare client", "test/lsp", "DiagnosticsAfterEdit", "x-bare", 1.15},
	{"8 agents on 8 files : the slowest alone", "test/lsp", "EightAgents", "x-slowest", 1.3},
	{"a close over the server's own exit, ms", "test/lsp", "Close", "over-ms", 30},
	{"ping : bare line echo, one client", "test/daemon", "Ping/clients=1", "x-echo", 1.5},
	{"the same with 8 clients", "test/daemon", "Ping/clients=8", "x-echo", 1.5},
	{"the same with 64 clients", "test/daemon", "Ping/clients=64", "x-echo", 1.5},
	{"status with 4 projects : ping", "test/daemon", "Status", "x-ping", 2},
	{"hover on gopls through the daemon : bare pipes", "test/daemon", "Hover", "x-pipes", 1.5},
	{"a daemon's start to its first answer, ms", "test/daemon", "Start", "ms-to-ping", 15},
	{"hearth status over true, ms", "test/daemon", "StatusCommand", "ms-over-true", 15},
	{"an idle daemon's memory, MiB", "test/daemon", "IdleMemory", "MiB", 20},
	{"a watched build of 2,000 compiles : unwatched", "test/watch", "WatchCost", "time-ratio", 1.03},
}
