package lsp

import (
	"encoding/json"
	"time"
)

// tracked is what one file's publications and progress said last. Versioned and plain
// ones are kept apart: servers that know versions also publish lists without one, which
// belong to no text in particular.
type tracked struct {
	versioned, plain published
	progress         string
	gaveUp           bool
}

// published is one publication; sequence 0: none.
type published struct {
	sequence uint64
	at       time.Time
	version  int32
	raw      json.RawMessage
}

func (c *Collector) publication(e Publication) {
	file := c.files[fileKey(e.URI)]
	if file == nil {
		return
	}
	c.sequence++
	p := published{sequence: c.sequence, at: time.Now(), raw: e.Diagnostics}
	switch {
	case e.Version == nil:
		file.plain = p
	case *e.Version >= file.versioned.version:
		p.version = *e.Version
		file.versioned = p
		c.versions = true
	}
	c.wakeAll()
}

// GaveUp reports whether the server last said that nothing more will come for a file.
func (c *Collector) GaveUp(uri string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	file := c.files[fileKey(uri)]
	return file != nil && file.gaveUp
}

// status is what the server has shown of itself and said about one file.
type status struct {
	versioned, plain published
	knowsVersions    bool
	speaksLean       bool
	down             error
	changed          <-chan struct{} // closed at the next change of any of these
}

func (c *Collector) status(uri string) status {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wake == nil {
		c.wake = make(chan struct{})
	}
	s := status{knowsVersions: c.versions, speaksLean: c.leanSeen, down: c.down, changed: c.wake}
	if file := c.files[fileKey(uri)]; file != nil {
		s.versioned, s.plain = file.versioned, file.plain
	}
	return s
}
