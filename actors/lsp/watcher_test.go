package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type watched struct {
	*testing.T
	*Watcher
	root string
	end  func()

	mu   sync.Mutex
	told *Watcher // has pending what was told: a change may come in parts
}

func watch(t *testing.T, n Notifier, glob string, prepare func(root string)) *watched {
	root := t.TempDir()
	prepare(root)
	w := &watched{T: t, Watcher: NewWatcher(root, []string{"left-out"}, n), root: root, told: NewWatcher(root, nil, nil)}
	pattern, ok := parsePattern(json.RawMessage(`"`+glob+`"`), 0)
	require.True(t, ok)
	w.SetPatterns([]Pattern{pattern})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Watcher.Run(ctx, w.deliver) }()
	w.end = sync.OnceFunc(func() { cancel(); assert.NoError(t, <-ended) })
	t.Cleanup(w.end)
	for w.Flush(ctx) != nil { // not running yet
		time.Sleep(time.Millisecond)
	}
	return w
}

func watchFiles(t *testing.T, glob string, prepare func(root string)) *watched {
	n, err := NewNotifier()
	require.NoError(t, err)
	return watch(t, n, glob, prepare)
}

func (w *watched) deliver(_ context.Context, changes []FileChange) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range changes {
		rel, err := filepath.Rel(w.root, c.Path)
		assert.NoError(w, err)
		w.told.merge(rel, change{kind: c.Type})
	}
	return nil
}

// expect flushes and wants exactly these changes since the last time.
func (w *watched) expect(want map[string]ChangeType) {
	w.Helper()
	ctx, stop := context.WithTimeout(context.Background(), generous)
	defer stop()
	require.NoError(w, w.Flush(ctx))
	w.mu.Lock()
	defer w.mu.Unlock()
	told := map[string]ChangeType{}
	for rel, c := range w.told.pending {
		told[rel] = c.kind
	}
	assert.Equal(w, want, told)
	clear(w.told.pending)
}

func (w *watched) write(rel, text string) {
	w.Helper()
	require.NoError(w, os.WriteFile(filepath.Join(w.root, rel), []byte(text), 0o600))
}

func (w *watched) mkdir(rel string) {
	w.Helper()
	require.NoError(w, os.MkdirAll(filepath.Join(w.root, rel), 0o700))
}

func (w *watched) rename(from, to string) {
	w.Helper()
	require.NoError(w, os.Rename(filepath.Join(w.root, from), filepath.Join(w.root, to)))
}

func (w *watched) remove(rel string) {
	w.Helper()
	require.NoError(w, os.RemoveAll(filepath.Join(w.root, rel)))
}

func populate(t *testing.T) func(root string) {
	return func(root string) {
		for _, dir := range []string{"a/b", "build", "left-out", "c/.git"} {
			require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(root, dir, "old.go"), nil, 0o600))
		}
	}
}

func TestAFlushTellsEveryChangeThatWasMadeBeforeIt(t *testing.T) {
	w := watchFiles(t, "**/*.go", populate(t))
	for round := range 20 {
		name := fmt.Sprintf("a/b/%d.go", round)
		w.write("a/b/old.go", fmt.Sprint(round))
		w.write(name, "new")
		w.write("a/b/other.txt", "not asked for")
		w.expect(map[string]ChangeType{name: FileCreated, "a/b/old.go": FileChanged})
	}
	w.remove("a/b/old.go")
	w.expect(map[string]ChangeType{"a/b/old.go": FileDeleted})
}

// TestAFileThatIsReplacedHasChangedForWhoAskedForChangesAlone: editors and tools write a
// new file and rename it, which looks as if a file was made.
func TestAFileThatIsReplacedHasChangedForWhoAskedForChangesAlone(t *testing.T) {
	w := watchFiles(t, "**", populate(t))
	const changed, deleted = 2, 4
	for kinds, want := range map[int]map[string]ChangeType{
		changed: {"a/b/old.go": FileChanged}, allKinds: {"a/b/old.go": FileCreated}, deleted: {},
	} {
		pattern, ok := parsePattern(json.RawMessage(`"**/*.go"`), kinds)
		require.True(t, ok)
		w.SetPatterns([]Pattern{pattern})
		w.write("a/b/new", "text")
		w.rename("a/b/new", "a/b/old.go")
		w.expect(want)
	}
}

func TestWhatIsLeftOutIsNotWatched(t *testing.T) {
	w := watchFiles(t, "**", populate(t))
	for _, dir := range []string{"build", "left-out", "c/.git"} {
		w.write(dir+"/new.go", "x")
	}
	w.mkdir("a/node_modules/deep")
	w.write("a/node_modules/deep/x.go", "x")
	w.expect(map[string]ChangeType{})
}

func TestAnUnwatchedChangeIsToldWithoutAFlush(t *testing.T) {
	w := watchFiles(t, "**/*.go", populate(t))
	w.write("a/new.go", "x")
	assert.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.told.pending["a/new.go"].kind == FileCreated
	}, generous, time.Millisecond)
}

func TestANewFolderIsWatchedWithWhatIsInIt(t *testing.T) {
	w := watchFiles(t, "**/*.go", populate(t))
	w.mkdir("n/m")
	w.write("n/m/1.go", "x")
	w.expect(map[string]ChangeType{"n/m/1.go": FileCreated})
	w.write("n/m/1.go", "y")
	w.expect(map[string]ChangeType{"n/m/1.go": FileChanged})
}

func TestAMovedFolderIsGoneThereAndNewHere(t *testing.T) {
	w := watchFiles(t, "**/*.go", populate(t))
	w.rename("a", "z")
	w.expect(map[string]ChangeType{"a": FileDeleted, "z/b/old.go": FileCreated})
	w.write("z/b/old.go", "y")
	w.expect(map[string]ChangeType{"z/b/old.go": FileChanged})
	w.remove("z")
	w.expect(map[string]ChangeType{"z": FileDeleted, "z/b": FileDeleted, "z/b/old.go": FileDeleted})
}

func TestAFileThatWasReplacedHasChanged(t *testing.T) {
	w := watchFiles(t, "**/*.go", populate(t))
	w.write("a/tmp", "new")
	w.remove("a/b/old.go")
	w.rename("a/tmp", "a/b/old.go")
	w.expect(map[string]ChangeType{"a/b/old.go": FileChanged})
	w.write("a/short.go", "x")
	w.remove("a/short.go")
	w.expect(map[string]ChangeType{})
}

func TestPatternsApplyFromThenOn(t *testing.T) {
	w := watchFiles(t, "**/*.go", populate(t))
	w.SetPatterns(nil)
	w.write("a/1.go", "x")
	w.expect(map[string]ChangeType{})
}
