package procscan

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func init() {
	runtime.LockOSThread() // so that the main goroutine has the first thread
	endThread = func() { _, _, _ = syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0) }
}

// inside runs the calling test again in a process that change set up, and
// reports true there. Outside it waits for that run, takes over its result, and
// reports false.
func inside(t *testing.T, change func(*exec.Cmd)) bool {
	const variable = "PROCSCAN_TEST_INSIDE"
	if os.Getenv(variable) == t.Name() {
		return true
	}
	cmd := exec.Command(executablePath(), "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=100s")
	cmd.Env = append(os.Environ(), variable+"="+t.Name())
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	change(cmd)
	err := cmd.Run()
	if cmd.Process == nil {
		t.Skipf("such a process can't be made here: %v", err)
	}
	if err != nil || !strings.Contains(out.String(), "--- PASS: "+t.Name()) {
		t.Fatalf("inside: %v\n%s", err, out.String())
	}
	return false
}

func needRoot(t *testing.T, why string) {
	if os.Getuid() != 0 {
		t.Skip(why + " needs root")
	}
}

// inNamespace runs the calling test as the first process of a PID namespace of
// its own, with its own /proc.
func inNamespace(t *testing.T) bool {
	if !inside(t, func(cmd *exec.Cmd) {
		needRoot(t, "a PID namespace of its own")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	}) {
		return false
	}
	require.NoError(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	require.NoError(t, syscall.Mount("proc", "/proc", "proc", 0, ""))
	return true
}

// asNobody runs the calling test as a user who may look into few processes, in a directory
// that prepare may have put something into.
func asNobody(t *testing.T, prepare ...func(dir string)) bool {
	return inside(t, func(cmd *exec.Cmd) {
		needRoot(t, "another user's process")
		dir, err := os.MkdirTemp("", "procscan") // t.TempDir is closed to other users
		require.NoError(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		require.NoError(t, os.Chmod(dir, 0o755))
		cmd.Path = filepath.Join(dir, "procscan.test")
		copyFile(t, executablePath(), cmd.Path)
		for _, put := range prepare {
			put(dir)
		}
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	})
}

func copyFile(t *testing.T, from, to string) {
	source, err := os.Open(from)
	require.NoError(t, err)
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(target, source)
	require.NoError(t, err)
	require.NoError(t, target.Close())
}
