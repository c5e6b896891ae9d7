package lsp

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"time"
)

const (
	// echoTime is how long after a didClose its empty publication may still come.
	echoTime = 100 * time.Millisecond
	// echoBarrier bounds the wait until a server has read a didClose: a slow machine's may
	// take long. echoDeaf is for one that left the barrier before unanswered, as those do
	// that answer no unknown request.
	echoBarrier = 2 * time.Second
	echoDeaf    = 200 * time.Millisecond
	// echoMemory is how long a closing is remembered.
	echoMemory = 5 * time.Second
)

// text is what the server was last sent of one document. mark is the number of the last
// publication before that.
type text struct {
	uri     string
	version int32
	sum     [sha256.Size]byte
	mark    uint64
	pulled  pulled
}

// Sync sends what plan says, with data as its document's text, and returns how many of
// the plan's notifications were written; all of them where the error is nil.
func (c *Client) Sync(ctx context.Context, plan Plan, data []byte) (written int, err error) {
	for _, path := range plan.Close {
		changed, err := c.catchUp(ctx, path)
		if err != nil {
			return written, err
		}
		closing := ctx
		if changed { // The caller's cancel must not leave the server a text that nobody knows of.
			closing = context.WithoutCancel(ctx)
		}
		if err := c.didClose(closing, path); err != nil {
			return written, err
		}
		written++
	}
	switch {
	case plan.Kind == PlanNothing:
		return written, nil
	case plan.Kind == PlanOpen:
		err = c.didOpen(ctx, plan, data)
	case plan.Kind == PlanChange:
		err = c.didChange(ctx, plan, data)
	default:
		if err := c.didClose(ctx, plan.Path); err != nil {
			return written, err
		}
		written++
		// The caller's cancel must not leave closed what it takes for open.
		err = c.didOpen(context.WithoutCancel(ctx), plan, data)
	}
	if err != nil {
		return written, err
	}
	return written + 1, nil
}

func (c *Client) didOpen(ctx context.Context, plan Plan, data []byte) error {
	c.awaitEcho(ctx, plan.Path)
	uri := PathToURI(plan.Path)
	document := map[string]any{
		"uri": uri, "languageId": plan.LanguageID, "version": plan.Version, "text": string(data),
	}
	params := map[string]any{"textDocument": document}
	if c.profile.DependencyBuildMode != "" {
		params["dependencyBuildMode"] = c.profile.DependencyBuildMode
	}
	c.Track(uri)
	t := &text{uri: uri, version: plan.Version, sum: sha256.Sum256(data), mark: c.Mark()}
	if err := c.wire.Notify(ctx, "textDocument/didOpen", params); err != nil {
		c.Untrack(uri)
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts[plan.Path] = t
	return nil
}

// didChange sends the whole text, which every server takes that takes changes, and
// didSave to those that want it: the bytes came from the disk, so it is true, and some
// servers check only then. One that is asked for its findings checks when it is asked;
// told of the save, gopls would check the same text once more, beside the next call.
func (c *Client) didChange(ctx context.Context, plan Plan, data []byte) error {
	uri, mark, content := PathToURI(plan.Path), c.Mark(), string(data)
	err := c.wire.Notify(ctx, "textDocument/didChange", changeParams(uri, plan.Version, content))
	if err != nil {
		return err
	}
	c.mu.Lock()
	t := &text{uri: uri, version: plan.Version, sum: sha256.Sum256(data), mark: mark}
	if old := c.texts[plan.Path]; old != nil {
		t.pulled = old.pulled
	}
	c.texts[plan.Path] = t
	c.touched = touch{mark: mark, at: time.Now()}
	c.mu.Unlock()
	if !c.caps.save || c.pulls() {
		return nil
	}
	params := map[string]any{"textDocument": map[string]any{"uri": uri}}
	if c.caps.saveText {
		params["text"] = content
	}
	// The change is sent whatever becomes of this; a broken stream shows at the next use.
	_ = c.wire.Notify(ctx, "textDocument/didSave", params)
	return nil
}

func changeParams(uri string, version int32, content string) map[string]any {
	return map[string]any{
		"textDocument":   map[string]any{"uri": uri, "version": version},
		"contentChanges": []any{map[string]string{"text": content}},
	}
}

// catchUp sends a document that is about to be closed what its file holds now, if that
// is something else. A closed document is what is on disk, but a server may keep the
// text it was sent: tsserver reads the file again only if the text was ever changed. A
// file that is gone is the watcher's to tell; one that has become what no server could
// be sent must not keep its document open, nor fail the other's call that closes it.
func (c *Client) catchUp(ctx context.Context, path string) (changed bool, err error) {
	c.mu.Lock()
	t := c.texts[path]
	c.mu.Unlock()
	if t == nil || c.caps.resync {
		return false, nil
	}
	data, err := readText(path)
	if err != nil || t.sum == sha256.Sum256(data) {
		return false, nil
	}
	err = c.wire.Notify(ctx, "textDocument/didChange", changeParams(t.uri, t.version+1, string(data)))
	if errors.As(err, new(*TooLargeError)) {
		return false, nil
	}
	return err == nil, err
}

func (c *Client) didClose(ctx context.Context, path string) error {
	done, err := c.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	uri := PathToURI(path)
	err = c.wire.Notify(ctx, "textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}})
	if err != nil {
		return err
	}
	c.Untrack(uri)
	c.mu.Lock()
	delete(c.texts, path)
	maps.DeleteFunc(c.closed, func(_ string, at time.Time) bool { return time.Since(at) > echoMemory })
	c.closed[path] = time.Now()
	c.mu.Unlock()
	// didClose is sent: a broken stream shows at the next use.
	_ = c.tellHeld(context.WithoutCancel(ctx), func(held string) bool { return held == path })
	return nil
}

// awaitEcho holds up the opening of a document that was closed just now, until the
// empty list that most servers publish on didClose has come: behind the didOpen it
// would be taken for the new text's. A server that names versions needs no such wait.
func (c *Client) awaitEcho(ctx context.Context, path string) {
	c.mu.Lock()
	at, closed := c.closed[path]
	limit := echoBarrier
	if c.deaf {
		limit = echoDeaf
	}
	c.mu.Unlock()
	if !closed || c.profile.Complete != CompleteQuiet || time.Since(at) > echoMemory {
		return
	}
	barrier, stop := context.WithTimeout(ctx, limit)
	defer stop()
	unanswered := c.Barrier(barrier)
	if ctx.Err() == nil { // else the caller has not waited for it
		c.mu.Lock()
		c.deaf = unanswered != nil
		c.mu.Unlock()
	}
	echo, stop := context.WithTimeout(ctx, time.Until(at.Add(echoTime)))
	defer stop()
	<-echo.Done()
}
