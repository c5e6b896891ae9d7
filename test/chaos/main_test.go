//go:build linux

// Package chaos_test proves that nothing survives. A round lets a runtime in a process
// of its own hold a tree that does its worst, lets something die at some moment, all
// drawn from a seed, and then looks for what is left.
//
// main_test.go makes the test binary what a round needs: a host of a runtime
// (host_test.go), its guard, and, where the user may, the first process of a PID
// namespace, so that numbers can be made to come around. draw_test.go draws the rounds,
// round_test.go plays them, world_test.go is what must stay untouched.
// reported_test.go has the faults that users of others reported.
package chaos_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
)

var (
	rounds = flag.Int("rounds", 50, "how many rounds are played")
	seed   = flag.Uint64("seed", rand.Uint64N(1_000_000), "what the rounds are drawn from; round N of a seed is the same every time")
)

// initVar is set in the environment of the first process of a PID namespace, and
// insideVar in what it runs.
const (
	initVar   = "CHAOS_INIT"
	insideVar = "CHAOS_INSIDE"
	// firstVar makes a host the first process of a PID namespace of its own.
	firstVar = "CHAOS_FIRST"
)

func TestMain(m *testing.M) {
	supervisor.GuardMain()
	if setup := os.Getenv(hostVar); setup != "" {
		if os.Getenv(firstVar) != "" && os.Getpid() != 1 {
			os.Unsetenv(firstVar)
			code, _ := inNamespace()
			os.Exit(code)
		}
		os.Exit(hostMain(setup))
	}
	if os.Getenv(initVar) != "" {
		os.Exit(initMain())
	}
	if os.Geteuid() == 0 && os.Getenv(insideVar) == "" && !slices.Contains(os.Args, "-test.list") {
		os.Setenv(initVar, "1")
		code, ok := inNamespace()
		os.Unsetenv(initVar)
		if ok {
			os.Exit(code)
		}
	}
	if err := procscan.SealDescriptors(); err != nil { // whoever runs the tests may leave some open
		fmt.Println(err)
		os.Exit(1)
	}
	flag.Parse()
	_ = flag.Set("test.parallel", "6") // rounds wait most of their time
	goleak.VerifyTestMain(m)
}

// inNamespace runs this program anew as the first process of a PID namespace. It is not
// ok where there can't be one.
func inNamespace() (code int, ok bool) {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// Everything in the namespace ends with its first process, and that with us.
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
	if err := cmd.Start(); err != nil {
		return 0, false
	}
	_ = cmd.Wait() // its code says it all
	code = cmd.ProcessState.ExitCode()
	return code, code != noNamespace
}

// noNamespace is the exit code of a first process that may not mount: some containers
// give root a PID namespace and nothing more.
const noNamespace = 125

// initMain is the first process: it mounts the namespace's own /proc, runs the tests and
// waits for every orphan.
func initMain() int {
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return noNamespace
	}
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool { return entry == initVar+"=1" })
	self, err := os.Executable()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	tests, err := syscall.ForkExec(self, os.Args, &syscall.ProcAttr{Env: append(env, insideVar+"=1"), Files: []uintptr{0, 1, 2}})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			fmt.Println("wait:", err)
			return 1
		case pid == tests && status.Exited():
			return status.ExitStatus()
		case pid == tests:
			fmt.Println("the tests ended by", status.Signal())
			return 1
		}
	}
}
