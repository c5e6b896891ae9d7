//go:build linux

package chaos_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// hostVar holds a setup as JSON; it makes the test binary a host.
const hostVar = "CHAOS_HOST"

// setup says what a host is like.
type setup struct {
	RuntimeDir string   `json:"runtime_dir,omitempty"`
	Journal    string   `json:"journal"` // of the processes that it starts
	Command    []string `json:"command"` // the language server of Lean projects
	Lake       string   `json:"lake"`    // runs their REPL
	Idle       string   `json:"idle,omitempty"`
	Guard      bool     `json:"guard,omitempty"`
	Contained  bool     `json:"contained,omitempty"`
	Subreaper  bool     `json:"subreaper,omitempty"`
	// Flaky is how many times the end of each tree fails before it works.
	Flaky int `json:"flaky,omitempty"`
}

// order is a line to the host.
type order struct {
	Do      string `json:"do"` // check, run, status, zombies, shutdown, close, leave
	Project string `json:"project,omitempty"`
	File    string `json:"file,omitempty"`
	Code    string `json:"code,omitempty"`
}

// told is a line from the host.
type told struct {
	What  string `json:"what"` // started, answered, status, zombies, closed, left
	Error string `json:"error,omitempty"`

	Status  *supervisor.Status `json:"status,omitempty"`
	Zombies int                `json:"zombies,omitempty"` // of the machine, or of the namespace

	// Alive are the processes of the journal that lived when the runtime said that it
	// was closed.
	Alive []journal.Event `json:"alive,omitempty"`
	Took  time.Duration   `json:"took,omitempty"`
	// Kept are the descriptors and goroutines that weren't there before the runtime.
	Kept []string `json:"kept,omitempty"`
}

// host is a process whose only business is one runtime.
type host struct {
	setup
	rt  *supervisor.Runtime
	mu  sync.Mutex
	out *json.Encoder
}

func hostMain(text string) int {
	h := &host{out: json.NewEncoder(os.Stdout)}
	if err := json.Unmarshal([]byte(text), &h.setup); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = os.Unsetenv(hostVar) // else what it starts of this program would be a host too
	if os.Getpid() == 1 {
		if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	before := here()
	if err := h.start(); err != nil {
		h.tell(told{What: "started", Error: err.Error()})
		return 1
	}
	h.tell(told{What: "started"})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if o.Do == "leave" {
			h.tell(told{What: "left", Kept: keptSince(before)})
			return 0
		}
		h.obey(o)
	}
	_ = h.rt.Close() // the test has ended
	return 0
}

func (h *host) tell(t told) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.out.Encode(t)
}

func (s setup) config() (cfg supervisor.Config, err error) {
	cfg = supervisor.DefaultConfig()
	cfg.RuntimeDir = s.RuntimeDir
	cfg.REPL.TotalWorkers, cfg.REPL.WorkersPerProject = 1, 1
	if s.Idle != "" {
		cfg.Idle, err = time.ParseDuration(s.Idle)
	}
	language := cfg.Languages["lean"]
	language.Server.Commands, language.Server.Env = []config.Command{s.Command}, map[string]string{}
	language.REPL.Command, language.REPL.AllowedImports = config.Command{s.Lake, "exe", "@repl/repl"}, nil
	language.REPL.HeaderCommand[0] = s.Lake
	cfg.Languages["lean"] = language
	return cfg, err
}

func (h *host) start() error {
	cfg, err := h.config()
	var options []supervisor.Option
	if h.Guard {
		options = append(options, supervisor.WithGuard())
	}
	if h.Contained {
		options = append(options, supervisor.WithContainment())
	}
	if h.Subreaper {
		wake := make(chan os.Signal, 1)
		signal.Notify(wake, unix.SIGCHLD)
		options = append(options, supervisor.WithSubreaper(wake))
	}
	if h.Flaky > 0 {
		options = append(options, supervisor.WithLauncher(flakyLauncher{procscan.NewLauncher(), h.Flaky}))
	}
	if err == nil {
		h.rt, err = supervisor.Start(context.Background(), cfg, options...)
	}
	return err
}

func (h *host) obey(o order) {
	switch o.Do {
	case "check":
		go func() {
			_, err := h.rt.Diagnostics(context.Background(), supervisor.Document{Project: o.Project, File: o.File})
			h.tell(told{What: "answered", Error: text(err)})
		}()
	case "run":
		go func() {
			_, err := h.rt.RunCode(context.Background(), supervisor.Snippet{Project: o.Project, Code: o.Code})
			h.tell(told{What: "answered", Error: text(err)})
		}()
	case "zombies":
		h.tell(told{What: "zombies", Zombies: zombies()})
	case "status":
		status, err := h.rt.Status(context.Background())
		h.tell(told{What: "status", Status: &status, Error: text(err)})
	case "shutdown", "close":
		go h.end(o.Do)
	}
}

func (h *host) end(how string) {
	began, err := time.Now(), error(nil)
	if how == "close" {
		err = h.rt.Close()
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		err = h.rt.Shutdown(ctx)
		cancel()
	}
	h.tell(told{What: "closed", Error: text(err), Took: time.Since(began), Alive: alive(h.Journal)})
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// alive gives the processes of a journal that live now. A state of Z alone doesn't mean
// that one has ended: while a process with threads executes a program it shows that too.
func alive(path string) (found []journal.Event) {
	events, err := journal.Read(path)
	if err != nil {
		return []journal.Event{{Role: "journal", Detail: err.Error()}}
	}
	for _, e := range events {
		if e.Event != journal.Start {
			continue
		}
		if id, err := procscan.Read(e.PID); err == nil && id.StartTicks == e.StartTicks && !isNewcomer(e.PID) {
			found = append(found, e)
		}
	}
	return found
}

func zombies() (n int) {
	infos, err := procscan.SystemTable().Walk(context.Background())
	if err != nil {
		return -1
	}
	for _, p := range infos {
		if p.State == 'Z' {
			n++
		}
	}
	return n
}

// possessions are what a runtime has to give back.
type possessions struct {
	files      map[string]bool
	goroutines int
}

func here() possessions {
	p := possessions{files: map[string]bool{}, goroutines: runtime.NumGoroutine()}
	entries, _ := os.ReadDir("/dev/fd")
	for _, entry := range entries {
		link, err := os.Readlink("/dev/fd/" + entry.Name())
		// The poller's own stay from their first use on.
		if err == nil && !strings.Contains(link, "[eventpoll]") && !strings.Contains(link, "[eventfd]") {
			p.files[entry.Name()+" "+link] = true
		}
	}
	return p
}

// keptSince waits a little for goroutines: one that has sent its last word is still there
// for a moment.
func keptSince(before possessions) (kept []string) {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		kept = nil
		now := here()
		for file := range now.files {
			if !before.files[file] {
				kept = append(kept, file)
			}
		}
		// signal.Notify has one of its own, for good.
		if more := now.goroutines - before.goroutines - 1; more > 0 {
			stacks := make([]byte, 1<<20)
			kept = append(kept, fmt.Sprintf("%d goroutines: %s", more, stacks[:runtime.Stack(stacks, true)]))
		}
		if len(kept) == 0 || time.Now().After(deadline) {
			return kept
		}
	}
}

// flakyLauncher's children can't be reaped the first times that it is tried: so a
// tree comes into the state in which its end is retried.
type flakyLauncher struct {
	procscan.Launcher
	failures int
}

func (l flakyLauncher) Launch(ctx context.Context, spec procscan.Spec) (procscan.Child, error) {
	child, err := l.Launcher.Launch(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &flakyChild{Child: child, left: l.failures}, nil
}

// flakyChild is used by one worker at a time.
type flakyChild struct {
	procscan.Child
	left int
}

func (c *flakyChild) GroupAlive(ctx context.Context) (bool, error) {
	if c.left > 0 {
		c.left--
		return false, fmt.Errorf("flaky for %d times more", c.left)
	}
	return c.Child.GroupAlive(ctx)
}
