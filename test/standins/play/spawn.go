package play

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// Kinds of children.
const (
	Sleeper   = "sleeper"    // waits
	Daemon    = "daemon"     // double fork and setsid: parent 1 and a session of its own
	ReSession = "re-session" // a session of its own, in it a child with yet another session
	Zombie    = "zombie"     // ends at once and is never waited for
	ForkLoop  = "fork-loop"  // starts a short-lived process every Every
	ExecLoop  = "exec-loop"  // executes itself anew every Every, as the same process
)

// Spawn describes a child. The zero value is a Sleeper in the parent's group with its environment, ten minutes long.
type Spawn struct {
	Kind       string `json:"kind,omitempty"`
	Setsid     bool   `json:"setsid,omitempty"`
	ClearEnv   bool   `json:"clear_env,omitempty"` // an empty environment: a mark in it is lost
	HugeEnv    bool   `json:"huge_env,omitempty"`  // 1 MiB of environment more
	IgnoreTerm bool   `json:"ignore_term,omitempty"`
	HoldStdout bool   `json:"hold_stdout,omitempty"` // keeps the parent's stdout and stderr open
	Every      string `json:"every,omitempty"`       // of the loops, default 10ms
	For        string `json:"for,omitempty"`         // life, default 10m: what a failed test leaves behind ends too
}

const childWord = "__child"

// childArgs is what a child learns by its command line, since its environment may be empty.
type childArgs struct {
	Spawn
	Journal string    `json:"journal,omitempty"`
	Until   time.Time `json:"until"`
	Again   bool      `json:"again,omitempty"` // executed anew by an exec loop
	Second  bool      `json:"second,omitempty"`
}

// Spawn starts a child and notes it. The child of a Daemon is on its own when Spawn returns.
func (p *Process) Spawn(s Spawn) error {
	life, err := duration(s.For, 10*time.Minute)
	if err != nil {
		return err
	}
	return p.start(childArgs{Spawn: s, Journal: p.journalPath, Until: time.Now().Add(life)})
}

func (p *Process) start(a childArgs) error {
	if a.Kind == "" {
		a.Kind = Sleeper
	}
	if _, known := deeds[a.Kind]; !known {
		return fmt.Errorf("no kind of child is named %q", a.Kind)
	}
	cmd, err := command(a)
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	child := journal.Child{PID: cmd.Process.Pid, StartTicks: journal.StartTicks(cmd.Process.Pid)}
	p.Journal.Note(journal.Spawned, a.Kind, child)
	switch {
	case a.Kind == Zombie:
	case a.Kind == Daemon && !a.Second:
		return cmd.Wait()
	default:
		go func() { _ = cmd.Wait() }()
	}
	return nil
}

func command(a childArgs) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, childWord, string(args))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: a.Setsid || a.Kind == ReSession || a.Kind == Daemon && a.Second}
	switch {
	case a.ClearEnv:
		cmd.Env = []string{}
	case a.HugeEnv:
		cmd.Env = os.Environ()
		for i := range 16 { // a single string may have 128 KiB at most
			cmd.Env = append(cmd.Env, fmt.Sprintf("FILL_%d=%s", i, strings.Repeat("x", 64<<10)))
		}
	}
	if a.HoldStdout {
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	}
	return cmd, nil
}

// ChildMain plays a child if this process was started as one, and then never returns. It is the first call of main in
// each program that spawns.
func ChildMain() {
	if len(os.Args) != 3 || os.Args[1] != childWord {
		return
	}
	var a childArgs
	if err := json.Unmarshal([]byte(os.Args[2]), &a); err != nil {
		Begin("child", "").Misused(err)
	}
	if a.Again {
		execAnew(nil, a)
	}
	p := begin(a.Kind, a.Journal, a.IgnoreTerm)
	if err := deeds[a.Kind](p, a); err != nil {
		p.Misused(err)
	}
	p.Exit(0)
}
