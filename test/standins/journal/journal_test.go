package journal_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-f6977891/hearth/test/standins/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWriterNamesTheProcessAndKeepsMessagesAsTheyCame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	w, err := journal.Open(path, "tester")
	require.NoError(t, err)
	w.Note(journal.Received, "m", json.RawMessage(`{"id":"r-1", "result":"<&>"}`))
	w.Note(journal.Received, "long", json.RawMessage(`"`+strings.Repeat("x", 100_000)+`"`))
	w.Note(journal.Received, "bad", json.RawMessage(`{`))
	require.NoError(t, w.Close())

	events, err := journal.Read(path)
	require.NoError(t, err)
	require.Len(t, events, 3)
	require.Equal(t, os.Getpid(), events[0].PID)
	require.Equal(t, journal.StartTicks(os.Getpid()), events[0].StartTicks)
	require.NotZero(t, events[0].StartTicks)
	require.Equal(t, `{"id":"r-1","result":"<&>"}`, string(events[0].Data))
	require.JSONEq(t, `{"bytes":100002}`, string(events[1].Data))
	require.Equal(t, `"{"`, string(events[2].Data))
	require.LessOrEqual(t, events[0].TimeNS, events[1].TimeNS)
}

func TestReadLeavesAnUnfinishedLineForLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	require.NoError(t, os.WriteFile(path, []byte("{\"pid\":1}\n{\"pid\":"), 0o600))
	events, err := journal.Read(path)
	require.NoError(t, err)
	require.Len(t, events, 1)
}

func TestReadPassesOverWhatAKilledWriterBegan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	require.NoError(t, os.WriteFile(path, []byte(`{"time_ns":1,"pid":1}`+"\n"+`{"time_ns":2,"ro{"time_ns":3,"pid":3}`+"\n"), 0o600))
	events, err := journal.Read(path)
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.Equal(t, 3, events[1].PID)
	require.NoError(t, os.WriteFile(path, []byte("{no\n"), 0o600))
	_, err = journal.Read(path)
	require.ErrorContains(t, err, "journal line 1")
}

func TestParseTellsHowFarItCame(t *testing.T) {
	const first = `{"time_ns":1,"pid":1}` + "\n" + `{"time_ns":2,"ro{"time_ns":3,"pid":3}` + "\n"
	events, read, err := journal.Parse([]byte(first + `{"time_ns":4,`))
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.Equal(t, len(first), read)
}

func TestNilWriterDropsEvents(t *testing.T) {
	w, err := journal.Open("", "nobody")
	require.NoError(t, err)
	w.Note(journal.Start, "", nil)
	require.NoError(t, w.Close())
}

func TestStateOfAMissingProcessIsZero(t *testing.T) {
	letter, ticks := journal.State(1 << 30)
	require.Zero(t, letter)
	require.Zero(t, ticks)
}
