package supervisor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/procscan"
)

const (
	// guardWord as the first argument makes a program a guard process.
	guardWord = "hearth-guard"
	// farewell tells the guard that nothing is left to guard.
	farewell = "farewell\n"
	// watching is the guard's word that it has its orders.
	watching = "watching\n"
)

// guardMainRan is what WithGuard asks for: without GuardMain at its beginning a
// host's program, executed again as a guard, would do the host's own work.
var guardMainRan atomic.Bool

// guardOrders is the line that a guard is sent first.
type guardOrders struct {
	Runtime     string `json:"runtime"` // the value of the runtime's mark
	Containment string `json:"containment,omitempty"`
	Record      string `json:"record,omitempty"` // the runtime's file in trees/
}

func (o guardOrders) left() leftBehind {
	return leftBehind{mark: procscan.Mark{Var: procscan.RuntimeVar, Value: o.Runtime}, containment: o.Containment}
}

// GuardMain makes the guard of [WithGuard] possible. It is the first line of main:
// in a guard process, which is the same program started once more, it never
// returns; everywhere else it returns at once. The program's init functions run in
// the guard as well.
func GuardMain() {
	if len(os.Args) < 2 || os.Args[1] != guardWord {
		guardMainRan.Store(true)
		return
	}
	// A Ctrl-C or a closed terminal ends the runtime, and then the guard has work.
	// SIGPIPE: the guard's output is a pipe of the runtime that may be gone.
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGPIPE)
	os.Exit(guard(os.Stdin, os.Stdout, procscan.SystemTable()))
}

// guard waits for the end of its input, which the runtime holds open as long as it
// lives. The end without a farewell means that the runtime has died.
func guard(stdin io.Reader, stdout io.Writer, table procscan.Table) (code int) {
	input := bufio.NewReader(stdin)
	line, err := input.ReadBytes('\n')
	if err != nil {
		return 0 // started by hand: a runtime has the orders there before its guard
	}
	var orders guardOrders
	err = json.Unmarshal(line, &orders)
	if err == nil {
		err = orders.left().mark.Validate()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "guard: its orders make no sense:", err)
		return 2
	}
	if _, err := io.WriteString(stdout, watching); err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err) // not a reason to leave the trees alone
	}
	if word, _ := input.ReadString('\n'); word == farewell {
		return 0
	}
	if err := avenge(table, orders); err != nil {
		fmt.Fprintln(os.Stderr, "guard: gives up, and leaves it to the next start:", err)
		return 1
	}
	return 0
}

// blindLimit is how long a guard goes on that can't look at any process.
const blindLimit = time.Minute

// avenge ends what the dead runtime left. While processes are seen it never gives up:
// one that can't be killed yet can be later, and nobody else is left to do it. A guard
// that sees nothing at all would only be one more process that is left behind.
func avenge(table procscan.Table, orders guardOrders) error {
	seen := time.Now()
	for wait := retryFirst; ; wait = min(2*wait, retryLast) {
		err := orders.left().end(context.Background(), table)
		if err == nil {
			break
		}
		if errors.As(err, new(*procscan.SurvivorsError)) {
			seen = time.Now()
		} else if time.Since(seen) >= blindLimit {
			return err
		}
		time.Sleep(wait)
	}
	if orders.Record != "" {
		_ = os.Remove(orders.Record) // else the next start finds it, and nothing behind it
	}
	return nil
}

// guardStep is how far a guard process has come.
type guardStep struct {
	pid      int
	watching bool // it has its orders
}

const (
	// guardStart bounds how long a guard may take to say that it has its orders: far
	// longer than a program takes to start on a busy machine.
	guardStart = 30 * time.Second
	// guardLeave bounds how long one may take over a farewell.
	guardLeave = 2 * time.Second
)

// runGuard starts a guard process and watches it until it ends, which is an error,
// or until ctx ends: then the guard is told farewell. No child of the runtime
// can be left then, so a guard that won't go is killed.
func runGuard(ctx context.Context, launcher procscan.Launcher, orders guardOrders, tell func(guardStep)) error {
	stdin, rope, err := newRope(orders)
	if err != nil {
		return err
	}
	child, err := launcher.Launch(ctx, guardSpec(stdin))
	_ = stdin.Close()
	if err != nil {
		_ = rope.Close()
		return err
	}
	defer endGuard(child, rope)
	pid := child.Identity().PID
	tell(guardStep{pid: pid})
	_ = child.Stdout().SetReadDeadline(time.Now().Add(guardStart))
	stop := context.AfterFunc(ctx, func() { _ = child.Stdout().SetReadDeadline(time.Now()) })
	err = awaitWatching(child.Stdout())
	stop()
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("the guard process did not say that it watches: %w; %s", err, child.Diagnose())
	}
	tell(guardStep{pid: pid, watching: true})
	status, err := child.Exited(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("guard process %d ended: %s", pid, status)
}

// awaitWatching reads until the guard says that it watches: the host's init functions run
// in it before, and may print.
func awaitWatching(stdout io.Reader) error {
	for lines := bufio.NewReader(stdout); ; {
		if line, err := lines.ReadString('\n'); err != nil || strings.HasSuffix(line, watching) {
			return err
		}
	}
}

// newRope makes the pipe whose end tells the guard of our death. The orders are in it before
// there is a guard: this process may die as soon as it has started one.
func newRope(orders guardOrders) (theirs, ours *os.File, err error) {
	line, err := json.Marshal(orders)
	if err != nil {
		return nil, nil, err
	}
	if theirs, ours, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	if _, err = ours.Write(append(line, '\n')); err != nil { // far less than a pipe takes without a reader
		_, _ = theirs.Close(), ours.Close()
		return nil, nil, err
	}
	return theirs, ours, nil
}

// guardSpec describes the guard: this very program, even if its file was replaced
// meanwhile, in a session of its own, without any mark (a sweep must not find it),
// and outside of the control groups that it may have to empty.
func guardSpec(stdin *os.File) procscan.Spec {
	env := procscan.ChildEnv(os.Environ(), []string{procscan.SessionVar, procscan.RuntimeVar}, nil, nil)
	return procscan.Spec{Argv: []string{self(), guardWord, strconv.Itoa(os.Getpid())}, Dir: "/", Env: env,
		Stdio: procscan.Stdio{Stdin: stdin}, Uncaged: true}
}

// self is a path of the running program.
func self() string {
	const linux = "/proc/self/exe"
	if _, err := os.Stat(linux); err == nil {
		return linux
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// endGuard says farewell and reaps. One that has ended before is only reaped.
func endGuard(child procscan.Child, rope *os.File) {
	_ = rope.SetWriteDeadline(time.Now().Add(guardLeave))
	_, _ = io.WriteString(rope, farewell) // it has ended, or is killed below
	_ = rope.Close()
	ctx, cancel := context.WithTimeout(context.Background(), guardLeave)
	defer cancel()
	if _, err := child.Exited(ctx); err != nil {
		_ = child.SignalGroup(os.Kill)
	}
	_, _ = child.Reap(context.Background()) // its status was told, or is of no interest
}
