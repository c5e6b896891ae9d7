package watch_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/test/standins"
)

// A shorter gate for what isn't about its exact time.
var quickly = []string{"--per-file", "2s"}

// A gate that no honest compile is caught by: a slow machine may take seconds over one.
const (
	patient     = 6 * time.Second
	patientFlag = "--per-file=6s"
)

const anyTime = time.Minute

// project is a C project in which every file waits for a header that nobody writes,
// where it includes it.
func project(t testing.TB, files map[string]string) (dir string) {
	dir = t.TempDir()
	write(t, 0o644, "CC = gcc\nOBJECTS = $(patsubst %.c,%.o,$(wildcard *.c sub/*.c))\nall: $(OBJECTS)\n"+
		"%.o: %.c\n\t$(CC) -I. -c -o $@ $<\n", dir, "Makefile")
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "never.h"), 0o600))
	for name, text := range files {
		write(t, 0o644, text, dir, name)
	}
	return dir
}

const waits = "#include \"never.h\"\n"

func TestSlowFileOfAMakeIsCaughtAndNamed(t *testing.T) {
	need(t, "make", "gcc")
	dir := project(t, map[string]string{"a.c": "int a;\n", "b.c": "int b;\n", "sub/slow.c": waits, "z.c": "int z;\n"})
	w := watching(t, dir, patientFlag, "--", "make", "-j2", "-k")
	report := w.expectBreach(t, w.run(t), "sub/slow.c", patient, anyTime)
	assert.Equal(t, "sub/slow.c", report.Slowest[0].File)
	assert.Greater(t, report.Slowest[0].Peak, int64(1<<20), "the compiler's memory, not its driver's alone")
	assert.NoFileExists(t, filepath.Join(dir, "sub/slow.o"))
	assert.FileExists(t, filepath.Join(dir, "a.o"))
	assert.Contains(t, w.stderr.String(), "SECONDS  MEMORY")
}

func TestSlowPackageOfAGoBuildIsCaughtAndNamed(t *testing.T) {
	dir := t.TempDir()
	write(t, 0o644, "module example.com/m\n\ngo 1.24\n", dir, "go.mod")
	write(t, 0o644, fmt.Sprintf("package quick\n\nconst At = %d\n", time.Now().UnixNano()), dir, "quick/quick.go")
	write(t, 0o644, fmt.Sprintf("package slow\n\nconst At = %d\n", time.Now().UnixNano()), dir, "slow/slow.go")
	// The compiler itself is there, and waits for a file that nobody writes.
	never := filepath.Join(dir, "never")
	require.NoError(t, unix.Mkfifo(never, 0o600))
	write(t, 0o755, `#!/bin/sh
tool=$1
shift
case "$*" in
*slow.go*) exec "$tool" -embedcfg '`+never+`' "$@" ;;
*) exec "$tool" "$@" ;;
esac
`, dir, "tool")
	for name, args := range map[string][]string{"all families": nil, "go": {"--match", "go"}} {
		t.Run(name, func(t *testing.T) {
			w := watching(t, dir, append(append([]string{patientFlag}, args...), "--", "go", "build", "-toolexec", filepath.Join(dir, "tool"), "./...")...)
			w.Env = append(w.Env, "GOFLAGS=", "GOWORK=off")
			w.expectBreach(t, w.run(t), "slow/slow.go", patient, anyTime)
		})
	}
}

func TestSlowFileOfALakeBuildIsCaughtAndNamed(t *testing.T) {
	dir, journal := standins.Project(t, "lean"), standins.JournalPath(t)
	standins.EndSurvivors(t, journal)
	write(t, 0o644, "-- fake: ignore-term\n-- fake: sleep 10m\n", dir, "Slow.lean")
	write(t, 0o644, "def x : Nat := 1\n", dir, "Quick.lean")
	w := watching(t, dir, append(quickly, "--match", "lean", "--grace", "300ms", "--", "lake", "build")...)
	w.Env = append(w.Env, standins.Build(t).LeanEnv(journal)...)
	w.expectBreach(t, w.run(t), "Slow.lean", 2*time.Second, anyTime)
	standins.AwaitNoSurvivor(t, journal)
}

func TestExpressionNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	write(t, 0o755, "#!/bin/sh\nsleep 600\n", dir, "kompile")
	w := watching(t, dir, append(quickly, "--match", `kompile --out=\S+ (\S+)$`, "--", "./kompile", "--out=x", "deep.k")...)
	w.expectBreach(t, w.run(t), "deep.k", 2*time.Second, anyTime)
}

func TestCompileIsCaughtWhereverItMovedTo(t *testing.T) {
	need(t, "setsid")
	dir := t.TempDir()
	write(t, 0o755, "#!/bin/sh\ntrap '' TERM HUP\ntouch begun\nwhile :; do sleep 600; done\n", dir, "cc")
	w := watching(t, dir, append(quickly, "--grace", "300ms", "--", "sh", "-c",
		"(setsid ./cc -c orphan.c &); while ! test -e begun; do :; done; sleep 600")...)
	w.expectBreach(t, w.run(t), "orphan.c", 2*time.Second, anyTime)
}

// A name with parentheses and blanks has moved the fields of stat before.
func TestGateFiresInTimeWhateverTheCompilerIsCalled(t *testing.T) {
	dir := t.TempDir()
	write(t, 0o755, "#!/bin/sh\nsleep 600\n", dir, "a) S 1 (b")
	for _, command := range [][]string{{"./a) S 1 (b", "-c", "slow.c"}, {"sh", "-c", "./'a) S 1 (b' -c slow.c & wait"}} {
		w := watching(t, dir, append([]string{"--per-file", "6s", "--interval", "5s", "--"}, command...)...)
		w.expectBreach(t, w.run(t), "slow.c", 6*time.Second, 5*time.Second)
	}
}

// Elapsed time must not be computed from a boot time that isn't the process's.
func TestGateFiresInTimeWhenTheBootTimeIsShifted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("shifting the boot time needs root")
	}
	need(t, "unshare")
	dir := t.TempDir()
	write(t, 0o755, "#!/bin/sh\nsleep 600\n", dir, "cc")
	write(t, 0o644, "1000000.00 1000000.00\n", dir, "uptime")
	write(t, 0o644, "cpu 0 0 0 0\nbtime 86400\n", dir, "stat")
	binds := "mount --bind " + dir + "/uptime /proc/uptime && mount --bind " + dir + "/stat /proc/stat && "
	for name, wrapper := range map[string][]string{
		"by a time namespace":            {"unshare", "--fork", "--time", "--boottime", "864000", "--monotonic", "432000", "--"},
		"by what /proc says of the boot": {"unshare", "--mount", "--", "sh", "-c", binds + `exec "$@"`, "sh"},
	} {
		t.Run(name, func(t *testing.T) {
			if output, err := exec.Command(wrapper[0], append(wrapper[1:], "true")...).CombinedOutput(); err != nil {
				t.Skipf("it can't be shifted here: %v: %s", err, strings.TrimSpace(string(output)))
			}
			w := watching(t, dir, "--per-file", "6s", "--interval", "5s", "--", "./cc", "-c", "slow.c")
			path, err := exec.LookPath(wrapper[0])
			require.NoError(t, err)
			w.Path, w.Args = path, append(wrapper, append([]string{program}, w.Args[1:]...)...)
			began := time.Now()
			w.expectBreach(t, w.run(t), "slow.c", 6*time.Second, 5*time.Second)
			assert.Greater(t, time.Since(began), 5*time.Second, "the clock on the wall agrees")
		})
	}
}

func TestWholeCommandHasALimit(t *testing.T) {
	w := watching(t, t.TempDir(), "--limit", "1s", "--", "sleep", "600")
	assert.Equal(t, 124, w.run(t))
	assert.Regexp(t, `hearth: the build ran for [0-9.]+s, over its limit of 1s`, w.stderr.String())
	assert.Empty(t, w.read(t).Breaches[0].File)
}

func TestNothingIsTooSlowWithoutALimit(t *testing.T) {
	dir := t.TempDir()
	write(t, 0o755, "#!/bin/sh\nsleep 3\n", dir, "cc")
	w := watching(t, dir, "--per-file", "0", "--limit", "0", "--", "./cc", "-c", "slow.c")
	assert.Zero(t, w.run(t), w.stderr.String())
	report := w.read(t)
	require.Len(t, report.Slowest, 1)
	assert.Equal(t, "slow.c", report.Slowest[0].File)
	assert.Positive(t, report.Slowest[0].Seconds)
}

func TestBreachIsShownWhereGitHubShowsErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, 0o755, "#!/bin/sh\nsleep 600\n", dir, "cc")
	w := watching(t, dir, append(quickly, "--", "./cc", "-c", "50%,a:b.c")...)
	w.Env = append(w.Env, "GITHUB_ACTIONS=true")
	report := w.expectBreach(t, w.run(t), "50%,a:b.c", 2*time.Second, anyTime)
	assert.Contains(t, w.stderr.String(), "\n::error file=50%25%2Ca%3Ab.c::50%25,a:b.c "+
		strings.TrimPrefix(report.Breaches[0].Err().Error(), "50%,a:b.c ")+"\n")
}

func TestDaemonsThatABuildLeavesAreEndedToo(t *testing.T) {
	need(t, "setsid")
	w := watching(t, t.TempDir(), "--grace", "300ms", "--", "sh", "-c", `setsid sh -c 'trap "" TERM; sleep 600' & exit 4`)
	assert.Equal(t, 4, w.run(t))
}
