package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNewsIsToldOnceUntilItIsTaken(t *testing.T) {
	told := 0
	c := NewCollector(func() { told++ })
	for range 3 {
		c.Handle(Registered{ID: "1", Method: "m"})
		c.Handle(Progress{Token: "t", Title: "T"})
	}
	assert.Equal(t, 1, told)
	assert.Equal(t, News{Registrations: true, Progress: true}, c.TakeNews())
	assert.Equal(t, News{}, c.TakeNews())
	c.Handle(Frame{})
	c.Handle(Publication{URI: "file:///a"})
	assert.Equal(t, 1, told, "frames and publications are waited for, not told")
	gone := errors.New("gone")
	c.Handle(Down{Err: gone})
	c.Handle(Down{Err: errors.New("later")})
	assert.Equal(t, 2, told)
	c.TakeNews()
	assert.Equal(t, News{Down: gone}, c.TakeNews(), "the end stays")
}

func TestTheCollectorsMemoryIsBounded(t *testing.T) {
	c := NewCollector(func() {})
	for n := range 10_000 {
		id := fmt.Sprint(n)
		c.Handle(Registered{ID: id, Method: "m"})
		c.Handle(Progress{Token: id, Title: id})
		c.Handle(Publication{URI: "file:///" + id, Diagnostics: json.RawMessage(`[]`)})
		c.Handle(Noise{Text: id})
	}
	assert.Len(t, c.Registrations("m"), maxRegs)
	assert.Len(t, c.tokens, maxTokens)
	assert.Empty(t, c.files)
	lines, last := c.Noise()
	assert.EqualValues(t, 10_000, lines)
	assert.Equal(t, "9999", last)
}

func TestProgressIsTheFilesOwnOrTheLatest(t *testing.T) {
	c := NewCollector(func() {})
	c.Track("file:///a")
	assert.Empty(t, c.Progress("file:///a"))
	c.Handle(Progress{Token: "1", Title: "Loading"})
	c.Handle(Progress{Token: "2", Title: "Indexing"})
	c.Handle(Progress{Token: "1", Text: "50 %"})
	assert.Equal(t, "Loading 50 %", c.Progress("file:///a"))
	c.Handle(Progress{Token: "1", Done: true})
	assert.Equal(t, "Indexing", c.Progress("file:///a"))
	c.Handle(Progress{URI: "file:///a", Title: "elaborating", Text: "x"})
	assert.Equal(t, "elaborating x", c.Progress("file:///a"))
	assert.Equal(t, "Indexing", c.Progress("file:///b"))
	c.Handle(Progress{URI: "file:///a", Title: "elaborating", Done: true})
	assert.Equal(t, "Indexing", c.Progress("file:///a"))
}
