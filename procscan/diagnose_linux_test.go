package procscan

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStartErrorsSayWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	machine := func(number byte) string {
		raw, err := os.ReadFile(executablePath())
		require.NoError(t, err)
		raw = raw[:4096]
		raw[18], raw[19] = number, 0 // e_machine
		return string(raw)
	}
	for _, tt := range []struct {
		law  string
		spec Spec
		want string
		is   error
	}{
		{"a missing program", Spec{Argv: []string{"no-such-program"}, Dir: "/"}, "no program no-such-program in PATH", fs.ErrNotExist},
		{"a missing path", Spec{Argv: []string{"/no/such/program"}, Dir: "/"}, "/no/such/program doesn't exist", fs.ErrNotExist},
		{"no execute bit", Spec{Argv: []string{write("plain", "#!/bin/sh\n", 0o644)}, Dir: "/"}, "is not executable (-rw-r--r-- ", fs.ErrPermission},
		{"a directory as program", Spec{Argv: []string{dir}, Dir: "/"}, "is a directory", fs.ErrPermission},
		{"a missing directory", Spec{Argv: []string{"sh"}, Dir: "/no/such"}, "directory /no/such: no such file or directory", fs.ErrNotExist},
		{"a file as directory", Spec{Argv: []string{"sh"}, Dir: write("file", "", 0o600)}, "is not a directory", syscall.ENOTDIR},
		{"a relative directory", Spec{Argv: []string{"sh"}, Dir: "sub"}, `working directory "sub" is not an absolute path`, nil},
		{"a missing interpreter", Spec{Argv: []string{write("script", "#!/no/interp -x\n", 0o755)}, Dir: "/"}, "needs /no/interp, which doesn't exist", fs.ErrNotExist},
		{"neither script nor program", Spec{Argv: []string{write("text", "hello", 0o755)}, Dir: "/"}, "neither an ELF file nor a script", syscall.ENOEXEC},
		{"another machine's program", Spec{Argv: []string{write("alien", machine(0xB7^0x3E^byte(hostMachine())), 0o755)}, Dir: "/"}, "built for EM_", syscall.ENOEXEC},
		{"no program at all", Spec{Dir: "/"}, "no program is named", nil},
		{"an empty mark", Spec{Argv: []string{"sh"}, Dir: "/", Marks: []Mark{{Var: SessionVar}}}, "is empty", nil},
		{"a NUL byte", Spec{Argv: []string{"sh", "a\x00b"}, Dir: "/"}, "NUL byte", syscall.EINVAL},
		{"too long arguments", Spec{Argv: []string{"sh", "-c", "true", strings.Repeat("x", 4<<20)}, Dir: "/"}, "too long", syscall.E2BIG},
	} {
		t.Run(tt.law, func(t *testing.T) {
			tt.spec.Env = []string{"PATH=" + os.Getenv("PATH")}
			_, err := NewLauncher().Launch(t.Context(), tt.spec)
			var start *StartError
			require.ErrorAs(t, err, &start)
			require.Contains(t, start.Diagnosis, tt.want)
			require.Contains(t, err.Error(), "start ")
			require.NotContains(t, err.Error(), "\n")
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
			}
		})
	}
}

// hostMachine is the e_machine of our own binary, an ELF file's two bytes at 18.
func hostMachine() int {
	raw, err := os.ReadFile(executablePath())
	if err != nil {
		panic(err)
	}
	return int(raw[18])
}

func TestAMissingLoaderIsNamed(t *testing.T) {
	path, err := exec.LookPath("sleep")
	require.NoError(t, err)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	at := bytes.Index(raw, []byte("/ld-"))
	if at < 0 {
		t.Skip(path + " isn't linked dynamically here")
	}
	copy(raw[at:], "/no-")
	alien := filepath.Join(t.TempDir(), "alien")
	require.NoError(t, os.WriteFile(alien, raw, 0o755))
	_, err = NewLauncher().Launch(t.Context(), Spec{Argv: []string{alien}, Dir: "/"})
	require.ErrorContains(t, err, "which doesn't exist")
	require.ErrorContains(t, err, "/no-")
}

func TestADirectoryThatMayNotBeEnteredIsSaid(t *testing.T) {
	require.Contains(t, diagnoseStart("/bin/sh", "/", fmt.Errorf("fork/exec: %w", syscall.EACCES)), "or directory /: permission denied")
}

// TestKernelsAnswersHaveWords: what can't be brought about in a test.
func TestKernelsAnswersHaveWords(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.ETXTBSY: "is being written to",
		syscall.EAGAIN:  "no process or memory left",
		syscall.ENOMEM:  "no process or memory left",
		syscall.EMFILE:  "no file descriptor left",
		syscall.EIO:     "input/output error",
	} {
		require.Contains(t, diagnoseStart("/bin/sh", "/", errno), want)
	}
}
