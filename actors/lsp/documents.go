package lsp

import (
	"crypto/sha256"
	"time"
)

// Documents is the bookkeeping of what one session has open at its server: which calls
// may go on, and what has to be sent for the bytes that a call found on disk. It is
// pure: no clock, no I/O, one goroutine. K identifies calls.
//
// A call goes through Free, Enter, (the file is read), Found, (the plan is sent), Sent,
// (the request runs), Leave. From Enter to Sent it has the document to itself, which
// keeps the versions in order; after that, calls that found the same bytes run side by
// side.
type Documents[K comparable] struct {
	limit    int
	idle     time.Duration
	docs     map[string]*document[K]
	versions map[string]int32 // the last of each path, kept past its closing: none means two texts
	reopens  bool             // see Reopens
}

type document[K comparable] struct {
	languageID string
	version    int32 // at the server; 0: not open
	sum        [sha256.Size]byte
	next       [sha256.Size]byte // of the text that a plan is sending
	busy       bool              // from Enter to Sent, or while it is being closed
	outdated   bool              // a diagnostics call found other bytes and waits
	crashed    bool              // see Crashed
	dirty      uint64            // the last change of its file that is no part of what was sent; 0: none
	stale      uint64            // the same of other files, where the server doesn't look by itself
	users      map[K]*user
	used       time.Time
}

// user is one call between Enter and Leave. version is that of the text it asks
// about; 0 until it is sent.
type user struct {
	claim   Claim
	version int32
	told    uint64 // the last change that was told before it read the file
}

// Claim is a call's interest in a document.
type Claim struct {
	Path       string
	LanguageID string
	Diagnoses  bool  // its answer is lost when the text changes meanwhile
	Reopen     int32 // a version that is closed and opened even for equal bytes, to be checked again; 0: none
}

// PlanKind is what a plan sends for its own document: nothing for equal bytes.
type PlanKind int

const (
	PlanNothing PlanKind = iota
	PlanOpen
	PlanChange
	PlanReopen // didClose, didOpen
)

// Plan is what to send, in this order: didClose for each path of Close, then what Kind
// says. Whoever sends it reports with Sent how far that came.
type Plan struct {
	Close      []string
	Kind       PlanKind
	Path       string
	LanguageID string
	Version    int32 // of the text that the call asks about
}

// Empty reports whether there is nothing to send.
func (p Plan) Empty() bool { return p.Kind == PlanNothing && len(p.Close) == 0 }

// NewDocuments keeps up to limit documents open (0: none longer than a call needs it),
// each for idle after its last use.
func NewDocuments[K comparable](limit int, idle time.Duration) *Documents[K] {
	return &Documents[K]{
		limit: limit, idle: idle,
		docs: map[string]*document[K]{}, versions: map[string]int32{},
	}
}

// Reopens says that the server takes no changes: a new text is opened anew.
func (d *Documents[K]) Reopens() { d.reopens = true }

// Free reports whether a call may Enter now: nobody is synchronising the document, none
// whose file has changed is being closed, and it isn't a diagnostics call that would have
// to wait for others on the old text.
func (d *Documents[K]) Free(c Claim) bool {
	if d.settling() {
		return false
	}
	doc := d.docs[c.Path]
	return doc == nil || !doc.busy && !(c.Diagnoses && doc.outdated)
}

// Enter takes a free document for the call id.
func (d *Documents[K]) Enter(id K, c Claim, now time.Time) {
	doc := d.docs[c.Path]
	if doc == nil {
		doc = &document[K]{users: map[K]*user{}}
		d.docs[c.Path] = doc
	}
	doc.busy = true
	doc.used = now
	doc.languageID = c.LanguageID
	doc.users[id] = &user{claim: c}
}

// Found decides what id sends for the bytes that it read; told is the last change that
// was told before that. false: diagnostics of the old text are in flight, and sending now
// would take their answer away, or a document whose file has changed is being closed; id
// has left the document and comes again when it is Free.
func (d *Documents[K]) Found(id K, path string, text []byte, told uint64) (Plan, bool) {
	doc := d.docs[path]
	u := doc.users[id]
	u.told = told
	if d.settling() {
		d.drop(doc, path, id)
		return Plan{}, false
	}
	plan := Plan{Path: path, LanguageID: doc.languageID, Version: doc.version}
	doc.next = sha256.Sum256(text)
	reopen := doc.crashed || u.claim.Diagnoses && doc.stale != 0 || u.claim.Reopen != 0 && u.claim.Reopen == doc.version
	if doc.version != 0 && doc.next == doc.sum && !reopen {
		plan.Close = d.takeDirty()
		return plan, true
	}
	if u.claim.Diagnoses && doc.diagnosing() {
		doc.outdated = true
		d.drop(doc, path, id)
		return Plan{}, false
	}
	d.versions[path]++
	plan.Version = d.versions[path]
	plan.Close = d.takeDirty()
	switch {
	case doc.version == 0:
		plan.Kind = PlanOpen
		plan.Close = append(plan.Close, d.victims(d.limit-1)...)
	case reopen || d.reopens:
		plan.Kind = PlanReopen
	default:
		plan.Kind = PlanChange
	}
	return plan, true
}

// Sent takes in how many of a plan's notifications were written before an error. What
// was not written has not happened.
func (d *Documents[K]) Sent(id K, plan Plan, written int) {
	d.Closed(plan, written)
	if plan.Path == "" {
		return
	}
	doc := d.docs[plan.Path]
	u := doc.users[id]
	doc.busy = false
	written -= len(plan.Close)
	switch {
	case plan.Kind == PlanNothing:
		doc.dirty = later(doc.dirty, u.told)
	case plan.Kind == PlanReopen && written == 1:
		doc.version = 0
	case plan.Kind == PlanReopen && written == 2,
		plan.Kind == PlanOpen && written == 1, plan.Kind == PlanChange && written == 1:
		doc.version, doc.sum = plan.Version, doc.next
		doc.dirty, doc.stale = later(doc.dirty, u.told), later(doc.stale, u.told)
		doc.outdated, doc.crashed = false, false
	}
	u.version = plan.Version
}

// Closed is Sent for a plan that only closes, as Leave and Expire give them.
func (d *Documents[K]) Closed(plan Plan, written int) {
	for i, path := range plan.Close {
		doc := d.docs[path]
		doc.busy = false
		if i < written {
			doc.version = 0
			d.versions[path]++ // the client may have used it for a last text
			d.forget(path)
		}
	}
}

// Leave ends the call id and returns what has to be closed because more is open than
// the limit allows. A call may leave at any step but between Found and Sent, while its
// plan is being written. Leave is idempotent.
func (d *Documents[K]) Leave(id K, path string, now time.Time) Plan {
	doc := d.docs[path]
	if doc == nil || doc.users[id] == nil {
		return Plan{}
	}
	doc.used = now
	d.drop(doc, path, id)
	return Plan{Close: d.victims(d.limit)}
}

// Expire returns what has to be closed because nobody used it for the idle time, and
// when to ask again; the zero time: not before the next Leave.
func (d *Documents[K]) Expire(now time.Time) (Plan, time.Time) {
	var plan Plan
	var next time.Time
	for _, path := range d.unused() {
		doc := d.docs[path]
		if end := doc.used.Add(d.idle); end.After(now) {
			if next.IsZero() {
				next = end
			}
			continue
		}
		plan.Close = append(plan.Close, path)
	}
	d.close(plan.Close)
	return plan, next
}

// Open are the documents that the server has open.
func (d *Documents[K]) Open() []string {
	var paths []string
	for path, doc := range d.docs {
		if doc.version != 0 {
			paths = append(paths, path)
		}
	}
	return paths
}

// diagnosing reports whether a diagnostics call on the present text is in flight.
func (doc *document[K]) diagnosing() bool {
	for _, u := range doc.users {
		if u.claim.Diagnoses && u.version == doc.version && doc.version != 0 {
			return true
		}
	}
	return false
}

// drop takes a call out. One that leaves before its plan was sent frees the document.
func (d *Documents[K]) drop(doc *document[K], path string, id K) {
	if doc.users[id].version == 0 {
		doc.busy = false
	}
	delete(doc.users, id)
	if !doc.diagnosing() {
		doc.outdated = false
	}
	d.forget(path)
}

// forget drops the record of a document that is neither open nor used.
func (d *Documents[K]) forget(path string) {
	if doc := d.docs[path]; doc.version == 0 && len(doc.users) == 0 && !doc.busy {
		delete(d.docs, path)
	}
}
