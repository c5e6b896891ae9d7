package watch_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/standins"
)

// tidy is a build that notes the signal that ends it, and takes a code from it.
const tidy = `trap 'touch int; exit 9' INT; trap 'touch term; exit 8' TERM; trap 'touch hup; exit 7' HUP
touch begun; while :; do sleep 1; done`

func TestSignalsReachTheBuildAndItsCodeCounts(t *testing.T) {
	for _, tt := range []struct {
		signal syscall.Signal
		file   string
		code   int
	}{{syscall.SIGINT, "int", 9}, {syscall.SIGTERM, "term", 8}, {syscall.SIGHUP, "hup", 7}} {
		t.Run(tt.file, func(t *testing.T) {
			dir := t.TempDir()
			w := watching(t, dir, "--grace", "30s", "--", "sh", "-c", tidy)
			require.NoError(t, w.Start())
			await(t, dir, "begun")
			require.NoError(t, w.Process.Signal(tt.signal))
			assert.Equal(t, tt.code, w.wait(t), w.stderr.String())
			assert.FileExists(t, filepath.Join(dir, tt.file))
			assert.Contains(t, w.stderr.String(), "hearth: ", "the reason is said")
			assert.NoFileExists(t, w.report, "a build that was cut off has no report")
		})
	}
}

func TestBuildThatIgnoresSignalsIsEndedAllTheSame(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			w := watching(t, dir, "--grace", "200ms", "--", "sh", "-c",
				`trap '' INT TERM; setsid sh -c 'sleep 600' & touch begun; while :; do sleep 1; done`)
			require.NoError(t, w.Start())
			await(t, dir, "begun")
			require.NoError(t, w.Process.Signal(signal))
			assert.Equal(t, 128+int(syscall.SIGKILL), w.wait(t), w.stderr.String())
		})
	}
}

func TestBuildDoesNotOutliveAWatcherThatIsKilled(t *testing.T) {
	dir := t.TempDir()
	w := watching(t, dir, "--", "sh", "-c", `setsid sh -c 'trap "" TERM; touch begun; sleep 600' & sleep 600`)
	require.NoError(t, w.Start())
	await(t, dir, "begun")
	require.NoError(t, w.Process.Kill())
	assert.Error(t, w.Wait())
	assert.True(t, standins.Until(bound, func() bool {
		scan, err := procscan.SystemTable().Scan(t.Context(), w.mark)
		require.NoError(t, err)
		defer scan.Close()
		return len(scan.Hits) == 0
	}), "its guard ends what it left")
}
