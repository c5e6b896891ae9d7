package lsp

import (
	"context"
	"slices"
	"strings"
	"time"
)

// touch is a moment at which the server was told that some file has changed. What it
// published for other files before may be out of date by it.
type touch struct {
	mark uint64
	at   time.Time
}

// FilesChanged tells the server of changed files; see Watcher. What it holds back is told
// before a question about another document, or when that document is closed.
func (c *Client) FilesChanged(ctx context.Context, changes []FileChange) error {
	done, err := c.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	return c.tellChanges(ctx, c.hold(changes))
}

// turn waits for everybody else who tells of changed files or closes a document: of two
// changes of one file the server must hear in their order.
func (c *Client) turn(ctx context.Context) (done func(), err error) {
	select {
	case c.telling <- struct{}{}:
		return func() { <-c.telling }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// hold takes out the changes of what the server has open, of which it goes by the text
// that it was sent. A server that publishes by itself is told at once, as it may look at
// other documents only then; one that is asked looks when it is asked, and would do the
// same work twice for one edit.
func (c *Client) hold(changes []FileChange) (now []FileChange) {
	asked := c.pulls()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, change := range changes {
		gone := change.Type == FileDeleted
		if held := c.held[change.Path]; held != 0 && !gone {
			change.Type = held
		}
		if asked && !gone && c.texts[change.Path] != nil {
			c.held[change.Path] = change.Type
			continue
		}
		delete(c.held, change.Path)
		now = append(now, change)
	}
	return now
}

// tellOthers tells what is held back of other documents than path, before the server is
// asked about that one. A file may be more to it than the text of an open document:
// pyright looks again for an import that it didn't find only when it hears of a new file.
func (c *Client) tellOthers(ctx context.Context, path string) error {
	others := func(held string) bool { return held != path }
	if len(c.heldOf(others)) == 0 {
		return nil
	}
	done, err := c.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	return c.tellHeld(ctx, others)
}

func (c *Client) tellHeld(ctx context.Context, of func(path string) bool) error {
	changes := c.heldOf(of)
	if err := c.tellChanges(ctx, changes); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, change := range changes {
		delete(c.held, change.Path)
	}
	return nil
}

func (c *Client) heldOf(of func(path string) bool) (changes []FileChange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, kind := range c.held {
		if of(path) {
			changes = append(changes, FileChange{Path: path, Type: kind})
		}
	}
	slices.SortFunc(changes, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

func (c *Client) tellChanges(ctx context.Context, changes []FileChange) error {
	if len(changes) == 0 {
		return nil
	}
	type event struct {
		URI  string     `json:"uri"`
		Type ChangeType `json:"type"`
	}
	events := make([]event, len(changes))
	for i, change := range changes {
		events[i] = event{URI: PathToURI(change.Path), Type: change.Type}
	}
	now := touch{mark: c.Mark(), at: time.Now()}
	err := c.wire.Notify(ctx, watchedFiles, map[string]any{"changes": events})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.touched = now
	return nil
}
