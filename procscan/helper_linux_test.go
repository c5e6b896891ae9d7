package procscan

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func init() {
	runtime.LockOSThread() // so that the main goroutine has the first thread
	endThread = func() { _, _, _ = syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0) }
}

// inNamespace runs the calling test again as the first process of a PID
// namespace of its own, with its own /proc, and reports true there. Outside it
// waits for that run, takes over its result, and reports false.
func inNamespace(t *testing.T) bool {
	const inside = "PROCSCAN_TEST_INSIDE"
	if os.Getenv(inside) == t.Name() {
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
			t.Fatal(err)
		}
		return true
	}
	if os.Getuid() != 0 {
		t.Skip("a PID namespace of its own needs root")
	}
	cmd := exec.Command(executablePath(), "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=100s")
	cmd.Env = append(os.Environ(), inside+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if cmd.Process == nil {
		t.Skipf("no PID namespace can be made here: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("in its namespace: %v\n%s", err, out)
	}
	return false
}
