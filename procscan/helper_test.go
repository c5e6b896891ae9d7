package procscan

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// helperWord as the first argument makes the test binary a process of a test.
const helperWord = "procscan-helper"

// helperLife ends helpers whose test died.
const helperLife = 2 * time.Minute

// patient is for machines that stand still now and then: what is killed may take its time.
var patient = Grace{Term: DefaultGrace.Term, Kill: time.Minute, Pause: DefaultGrace.Pause}

// polite is for trees of which every process obeys SIGTERM, and must have had the time to.
var polite = Grace{Term: time.Minute, Kill: time.Minute, Pause: DefaultGrace.Pause}

// runMark is inherited by every process that the tests start (but by those that
// clear their environment), so that TestMain can look for what was left behind.
var runMark = NewMark("PROCSCAN_TEST_RUN")

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == helperWord {
		os.Exit(runHelper(os.Args[2]))
	}
	os.Setenv(runMark.Var, runMark.Value)
	if err := SealDescriptors(); err != nil { // whoever runs the tests may leave some open
		fmt.Println(err)
		os.Exit(1)
	}
	before := descriptors()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.Exit(max(code, leftBehind(before)))
	}))
}

// leftBehind is 1 if a process or a descriptor outlived the tests.
func leftBehind(before []string) int {
	scan, err := SystemTable().Scan(context.Background(), runMark)
	if err != nil {
		fmt.Println("look for what the tests left behind:", err)
		return 1
	}
	defer scan.Close()
	if others, err := strangers(scan.Hits); err != nil || len(others) > 0 {
		fmt.Println("processes left behind:", survivors(others), err)
		return 1
	}
	scan.Close()
	if after := descriptors(); len(after) > len(before) {
		fmt.Printf("descriptors left behind: %d before, now %q\n", len(before), after)
		return 1
	}
	return 0
}

// descriptors lists what our open descriptors are. The poller's own are opened at
// its first use and stay.
func descriptors() (open []string) {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		link, err := os.Readlink("/dev/fd/" + entry.Name())
		if err == nil && !strings.Contains(link, "[eventpoll]") && !strings.Contains(link, "[eventfd]") && !strings.HasSuffix(link, "/fd") {
			open = append(open, entry.Name()+" "+link)
		}
	}
	return open
}

// node is a process of a test's tree, written as JSON in its argument. It
// writes lines "name pid" to its standard output, which all of a tree share, and
// lives until it is killed.
type node struct {
	Name     string
	Session  bool   // in a session of its own
	Term     string // on SIGTERM: "" ends, "ignore", "tell" writes "name term" and ends
	Kids     []node // started, and never waited for
	Leave    bool   // ends when the kids were started
	Stopped  bool   // stops itself
	NoEnv    bool   // is started with an empty environment
	Silent   bool   // has no standard output
	Headless bool   // its first thread ends and the others go on
	Sweeps   bool   // on SIGUSR1 sweeps the mark that it carries itself, and writes "name swept"
	MiB      int    // has that much memory, which the kernel needs time to free
}

func (n node) argv() []string {
	raw, err := json.Marshal(n)
	if err != nil {
		panic(err)
	}
	return []string{executablePath(), helperWord, string(raw)}
}

var executablePath = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
})

func runHelper(argument string) int {
	time.AfterFunc(helperLife, func() { os.Exit(99) })
	var n node
	if err := json.Unmarshal([]byte(argument), &n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 98
	}
	term, sweep := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(sweep, syscall.SIGUSR1)
	switch n.Term {
	case "ignore":
		signal.Ignore(syscall.SIGTERM)
	case "tell":
		signal.Notify(term, syscall.SIGTERM)
	}
	for _, kid := range n.Kids {
		if err := kid.start(); err != nil {
			fmt.Fprintln(os.Stderr, "start", kid.Name, err)
			return 97
		}
	}
	memory := make([]byte, n.MiB<<20)
	for i := 0; i < len(memory); i += os.Getpagesize() {
		memory[i] = 1
	}
	defer runtime.KeepAlive(memory)
	fmt.Println(n.Name, os.Getpid())
	switch {
	case n.Leave:
		return 0
	case n.Stopped:
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case n.Sweeps:
		<-sweep
		mark := Mark{Var: SessionVar, Value: os.Getenv(SessionVar)}
		fmt.Println(n.Name, "swept", Sweep(context.Background(), SystemTable(), Target{Mark: mark}, patient))
	case n.Headless:
		go tellTerm(n.Name, term)
		endThread()
	}
	tellTerm(n.Name, term)
	return 0
}

// endThread ends the first thread and no other, where that can be done.
var endThread = func() {}

func tellTerm(name string, term <-chan os.Signal) {
	<-term
	fmt.Println(name, "term")
	os.Exit(0)
}

func (n node) start() error {
	argv := n.argv()
	cmd := exec.Command(argv[0], argv[1:]...)
	if !n.Silent {
		cmd.Stdout = os.Stdout
	}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: n.Session}
	if n.NoEnv {
		cmd.Env = []string{}
	}
	return cmd.Start()
}
