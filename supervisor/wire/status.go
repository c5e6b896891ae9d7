package wire

import (
	"encoding/json"
	"strconv"
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

// Encode writes a ping, with the JSON of its Config, which never changes.
func (p Ping) Encode(config []byte) Encoded {
	line := make([]byte, 0, len(config)+256)
	line = strconv.AppendBool(append(line, `{"running":`...), p.Running)
	line = strconv.AppendInt(append(line, `,"pid":`...), int64(p.PID), 10)
	line = strconv.AppendInt(append(line, `,"protocol":`...), int64(p.Protocol), 10)
	line = strconv.AppendQuote(append(line, `,"install_id":`...), p.InstallID) // hexadecimal: quoted alike in Go and JSON
	line = strconv.AppendInt(append(line, `,"build_generation":`...), p.BuildGeneration, 10)
	line = p.Uptime.append(append(line, `,"uptime_seconds":`...))
	line = append(append(line, `,"config":`...), config...)
	if p.Stopping {
		line = append(line, `,"stopping":true`...)
	}
	return append(line, '}')
}

// Encode writes a status, with the JSON of its Config. encoding/json would take longer
// over that, which is always the same, than over all the rest.
func (s Status) Encode(config []byte) (Encoded, error) {
	rest, err := json.Marshal(struct {
		REPLProjects Projects  `json:"repl_projects"`
		LSPProjects  Projects  `json:"lsp_projects"`
		Processes    []Process `json:"processes"`
		Keeping      Keeping   `json:"keeping"`
		Goroutines   int       `json:"goroutines"`
		OpenFiles    int       `json:"open_files"`
		Events       []Event   `json:"events"`
	}{s.REPLProjects, s.LSPProjects, s.Processes, s.Keeping, s.Goroutines, s.OpenFiles, s.Events})
	if err != nil {
		return nil, err
	}
	line := s.Ping.Encode(config)
	line[len(line)-1] = ',' // in the place of its closing brace, as the rest's opening one
	return append(line, rest[1:]...), nil
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

// eventsMost is how many events a status has: those of the last minutes, mostly. All that
// the Observer has kept are in the report.
const eventsMost = 32

func events(happened []messages.Event) []Event {
	happened = happened[max(0, len(happened)-eventsMost):]
	list := make([]Event, len(happened))
	for i, e := range happened {
		list[i] = Event{e.At, e.Kind, e.Actor, e.Key.Root, e.Key.Language, e.Detail}
	}
	return list
}
