package lsp

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

const (
	maxTokens = 64  // of $/progress that are remembered at once
	maxRegs   = 256 // registrations that are remembered at once
)

// Collector takes a Wire's events: it keeps the latest of each kind in bounded memory
// and tells its owner once that there is news. Diagnostics are kept for tracked files
// only, which are the open ones.
type Collector struct {
	tell func()

	mu        sync.Mutex
	sequence  uint64 // of publications
	files     map[string]*tracked
	tokens    []Progress // active ones, oldest first
	regs      []Registered
	leanSeen  bool // the server sent Lean's own progress
	versions  bool // the server named a version in some publication
	news      News
	told      bool
	down      error
	frames    uint64
	heard     time.Time
	noise     uint64
	lastNoise string
	beat      map[*func()]struct{} // called at the next frame
	wake      chan struct{}        // closed at the next change; nil: nobody waits
}

// News is what happened since it was last taken.
type News struct {
	Registrations bool  // some came or went
	Progress      bool  // some report changed
	Down          error // the connection has ended; stays
}

// NewCollector calls tell, which must not block, when there is news that was not there
// at the last TakeNews. tell must not call the collector.
func NewCollector(tell func()) *Collector {
	return &Collector{tell: tell, files: map[string]*tracked{}, beat: map[*func()]struct{}{}, heard: time.Now()}
}

// Handle takes one event; it is the callback of Wire.Start.
func (c *Collector) Handle(e Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e := e.(type) {
	case Frame:
		c.frame()
	case Noise:
		c.noise++
		c.lastNoise = e.Text
	case Publication:
		c.publication(e)
	case Progress:
		c.progress(e)
	case Registered:
		c.register(e)
	case Unregistered:
		c.unregister(e)
	case Down:
		if c.down == nil {
			c.down = e.Err
			c.changed(News{Down: e.Err})
		}
	}
}

func (c *Collector) frame() {
	c.frames++
	c.heard = time.Now()
	for call := range c.beat {
		delete(c.beat, call)
		(*call)()
	}
}

func (c *Collector) progress(e Progress) {
	if e.URI != "" {
		c.leanSeen = true
		if file := c.files[fileKey(e.URI)]; file != nil {
			file.progress, file.gaveUp = describe(e), e.GaveUp
			c.changed(News{Progress: true})
		}
		return
	}
	for i, old := range c.tokens {
		if old.Token == e.Token {
			e.Title = cmp.Or(e.Title, old.Title)
			c.tokens = slices.Delete(c.tokens, i, i+1)
			break
		}
	}
	if !e.Done {
		if len(c.tokens) == maxTokens {
			c.tokens = c.tokens[1:]
		}
		c.tokens = append(c.tokens, e)
	}
	c.changed(News{Progress: true})
}

func describe(p Progress) string {
	switch {
	case p.Done:
		return ""
	case p.Title == "" || p.Text == "":
		return p.Title + p.Text
	}
	return p.Title + " " + p.Text
}

// register replaces a registration of the same id. A server with more than any real
// one has can't make the list grow.
func (c *Collector) register(e Registered) {
	c.dropRegistration(e.ID)
	e.patterns = e.watches()
	if len(c.regs) < maxRegs {
		c.regs = append(c.regs, e)
	}
	c.changed(News{Registrations: true})
}

func (c *Collector) unregister(e Unregistered) {
	c.dropRegistration(e.ID)
	c.changed(News{Registrations: true})
}

func (c *Collector) dropRegistration(id string) {
	c.regs = slices.DeleteFunc(c.regs, func(r Registered) bool { return r.ID == id })
}

// changed wakes those who wait here and tells the owner, unless it has yet to take
// what it was told of before.
func (c *Collector) changed(n News) {
	c.news.Registrations = c.news.Registrations || n.Registrations
	c.news.Progress = c.news.Progress || n.Progress
	c.wakeAll()
	if !c.told {
		c.told = true
		c.tell()
	}
}

func (c *Collector) wakeAll() {
	if c.wake != nil {
		close(c.wake)
		c.wake = nil
	}
}

// TakeNews returns what happened since the last time.
func (c *Collector) TakeNews() News {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.news
	n.Down = c.down
	c.news, c.told = News{}, false
	return n
}

// Track begins to keep publications for a file, forgetting earlier ones.
func (c *Collector) Track(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[fileKey(uri)] = &tracked{}
}

// Untrack ends it.
func (c *Collector) Untrack(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.files, fileKey(uri))
}

// Mark is the number of the latest publication: those that come later have higher ones.
func (c *Collector) Mark() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sequence
}

// Heard is when the last frame came, or when the collector was made.
func (c *Collector) Heard() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heard
}

// Frames is how many frames came.
func (c *Collector) Frames() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frames
}

// Noise is how many lines came that belong to no frame, and the last of them.
func (c *Collector) Noise() (lines uint64, last string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.noise, c.lastNoise
}

// Progress is what the server last said it was doing with a file, or else in general;
// empty: it didn't say.
func (c *Collector) Progress(uri string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if file := c.files[fileKey(uri)]; file != nil && file.progress != "" {
		return file.progress
	}
	if len(c.tokens) > 0 {
		return describe(c.tokens[len(c.tokens)-1])
	}
	return ""
}

// Registrations are the current ones of a method.
func (c *Collector) Registrations(method string) []Registered {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []Registered
	for _, r := range c.regs {
		if r.Method == method {
			found = append(found, r)
		}
	}
	return found
}

// onFrame calls do, which must not block, at the next frame, unless stopped before.
func (c *Collector) onFrame(do func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beat[&do] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.beat, &do)
	}
}
