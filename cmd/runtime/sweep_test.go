package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
)

// deadRuntime makes a runtime directory with the file of a runtime that died. Its
// mark is nobody's, so nothing is ever found by it.
func deadRuntime(t *testing.T, content string) (dir, file string) {
	t.Helper()
	short, err := os.MkdirTemp("", "h") // t.TempDir is too long a place for sockets
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(short)) })
	dir = filepath.Join(short, "run")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "trees"), 0o700))
	file = filepath.Join(dir, "trees", "4321-x.json")
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return dir, file
}

func ofThisBoot(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"boot_id": procscan.BootID(), "pid": 4321,
		"runtime": procscan.NewMark(procscan.RuntimeVar).Value})
	require.NoError(t, err)
	return string(text)
}

func TestSweepSaysWhatItDidAndADryRunChangesNothing(t *testing.T) {
	dir, file := deadRuntime(t, ofThisBoot(t))
	for _, args := range [][]string{{"doctor"}, {"sweep", "--dry-run"}} {
		got := hearth(t, &fakeEngine{}, "", append(args, "--runtime_dir", dir)...)
		assert.Zero(t, got.code)
		assert.Contains(t, got.stdout, "runtime 4321: no process of it is left", args)
		assert.FileExists(t, file)
	}
	got := hearth(t, &fakeEngine{}, "", "sweep", "--json", "--runtime_dir", dir)
	var found []leftover
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &found))
	assert.Equal(t, []leftover{{PID: 4321, File: file, Processes: []int{}}}, found)
	assert.NoFileExists(t, file)
	got = hearth(t, &fakeEngine{}, "", "sweep", "--runtime_dir", dir)
	assert.Contains(t, got.stdout, "No runtime that died has left anything")
}

func TestSweepSaysWhatItCouldNotReadAndFails(t *testing.T) {
	dir, file := deadRuntime(t, "not JSON")
	got := hearth(t, &fakeEngine{}, "", "sweep", "--runtime_dir", dir)
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.stdout, file)
	assert.Contains(t, got.stderr, "remove it")
	require.NoError(t, os.Chmod(dir, 0o755))
	got = hearth(t, &fakeEngine{}, "", "sweep", "--runtime_dir", dir)
	assert.Equal(t, 2, got.code, "others could have written it")
	assert.Contains(t, got.stderr, "chmod 700")
}

func TestALeftoverIsOneLine(t *testing.T) {
	left := supervisor.Leftover{PID: 4321, Processes: []procscan.Identity{{PID: 1}, {PID: 2}}}
	assert.Equal(t, "runtime 4321: would be ended: 1 2", leftoverText(left, true))
	assert.Equal(t, "runtime 4321: ended: 1 2", leftoverText(left, false))
	left.Err = errors.New("still alive")
	assert.Equal(t, "runtime 4321: still alive", leftoverText(left, false))
}
