package wire

import (
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// Ping is the result of daemon.ping: which daemon this is.
type Ping struct {
	Running         bool    `json:"running"`
	PID             int     `json:"pid"`
	Protocol        int     `json:"protocol"`
	InstallID       string  `json:"install_id"`
	BuildGeneration int64   `json:"build_generation"`
	Uptime          Decimal `json:"uptime_seconds"`
	Config          Config  `json:"config"`
	Stopping        bool    `json:"stopping,omitempty"` // it finishes what it has admitted, and takes nothing more
}

// NewPing fills in what is the same for every daemon that answers.
func NewPing(pid int, installID string, generation int64, started, now time.Time, config Config) Ping {
	return Ping{
		Running: true, PID: pid, Protocol: protocolVersion, InstallID: installID, BuildGeneration: generation,
		Uptime: secondsBetween(started, now), Config: config,
	}
}

// Config is what a daemon says of its settings: the predecessor's names, and every
// setting by its own key.
type Config struct {
	MaxProjects           int               `json:"max_projects"`
	Idle                  Decimal           `json:"idle_seconds"`
	TotalREPLWorkers      int               `json:"total_repl_workers"`
	REPLWorkersPerProject int               `json:"repl_workers_per_project"`
	REPLProjectLimit      int               `json:"repl_project_limit"`
	REPLCommand           []string          `json:"repl_command"`
	REPLHeaderCommand     []string          `json:"repl_header_command"`
	LSPCommand            []string          `json:"lsp_command"`
	LSPTimeout            Decimal           `json:"lsp_timeout"`
	MaxLSPRequest         Decimal           `json:"max_lsp_request_seconds"`
	REPLRequestTimeout    Decimal           `json:"repl_request_timeout"`
	MaxREPLRequest        Decimal           `json:"max_repl_request_seconds"`
	ReadTimeout           Decimal           `json:"rpc_read_timeout"`
	MaxConnections        int               `json:"max_connections"`
	ResponseTimeout       Decimal           `json:"response_timeout"`
	Settings              map[string]string `json:"settings"`
}

// Status is the result of daemon.status.
type Status struct {
	Ping
	REPLProjects Projects  `json:"repl_projects"`
	LSPProjects  Projects  `json:"lsp_projects"`
	Processes    []Process `json:"processes"`
	Keeping      Keeping   `json:"keeping"`
	Goroutines   int       `json:"goroutines"`
	OpenFiles    int       `json:"open_files"`
	Events       []Event   `json:"events"`
}

// NewStatus makes the result of daemon.status from the Observer's picture.
func NewStatus(ping Ping, picture messages.Status, goroutines, openFiles int) Status {
	v := newView(picture)
	return Status{
		Ping:         ping,
		REPLProjects: v.projects(messages.REPL),
		LSPProjects:  v.projects(messages.LSP),
		Processes:    v.processes(),
		Keeping:      newKeeping(picture.Runtime),
		Goroutines:   goroutines,
		OpenFiles:    openFiles,
		Events:       events(picture.Events),
	}
}

// Keeping is what the runtime does so that no process survives it.
type Keeping struct {
	Guard     string   `json:"guard"`               // state of the guard process; empty: there is none
	Leftovers string   `json:"leftovers,omitempty"` // how far the sweep of what dead runtimes left has come
	Adopted   []Orphan `json:"adopted"`             // processes of trees that no sweep can find
	Limits    []string `json:"limits"`              // what can't be promised here
}

// Orphan is a process whose parent ended and whose tree can't be told.
type Orphan struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

func newKeeping(r messages.RuntimeSnapshot) Keeping {
	k := Keeping{Guard: r.Guard, Leftovers: r.Leftovers, Adopted: make([]Orphan, len(r.Adopted)), Limits: append([]string{}, r.Limits...)}
	for i, p := range r.Adopted {
		k.Adopted[i] = Orphan{p.PID, p.Comm}
	}
	return k
}

// Process is one process tree.
type Process struct {
	Role       messages.Role `json:"role"`
	ProjectDir string        `json:"project_dir"`
	Leader     int           `json:"leader"`
	PIDs       []int         `json:"pids"`
	State      string        `json:"state"`
	Age        Decimal       `json:"age_seconds"`
	Memory     int64         `json:"memory_bytes"`
	Restarts   int           `json:"restarts"` // of the resource that it belongs to
}

func (v *view) processes() []Process {
	list := make([]Process, len(v.picture.Trees))
	for i, tree := range v.picture.Trees {
		list[i] = v.process(tree)
	}
	return list
}

func (v *view) process(tree messages.TreeStatus) Process {
	return Process{
		Role: tree.Role, ProjectDir: tree.Key.Root, Leader: tree.Leader.PID,
		PIDs: pids([]messages.TreeStatus{tree}), State: tree.State,
		Age: secondsBetween(tree.Started, v.picture.At), Memory: tree.RSS, Restarts: v.restarts[tree.Key],
	}
}

// Event is one thing that happened.
type Event struct {
	At         time.Time          `json:"at"`
	Kind       messages.EventKind `json:"kind"`
	Actor      string             `json:"actor"`
	ProjectDir string             `json:"project_dir,omitempty"`
	Language   string             `json:"language,omitempty"`
	Detail     string             `json:"detail,omitempty"`
}

func events(happened []messages.Event) []Event {
	list := make([]Event, len(happened))
	for i, e := range happened {
		list[i] = Event{e.At, e.Kind, e.Actor, e.Key.Root, e.Key.Language, e.Detail}
	}
	return list
}
