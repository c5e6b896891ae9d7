package lsp

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// unchanged says that a call found the text that the server has, and asks about it
// from then on.
type unchanged struct {
	id   messages.OperationID
	at   time.Time
	told uint64 // see fileRead
}

// askUnchanged begins a call about a document that the server has open. Nearly always
// its file is as it was: then the worker that read it asks at once, which saves the
// caller two turns of the mailbox, a good part of what a hover costs beside the
// server's own work. Other bytes go the long way.
//
// Until it has told so it counts as one that was not sent. What only asks can be asked
// of the next server too, should this one end in between.
func (s *Session) askUnchanged(c *call, plan Plan, sum [sha256.Size]byte) {
	c.plan = plan
	found := false
	id, self, read, ask := c.id, s.self, s.reading(c.id, plan.Path), requestOf(s.client, c)
	actors.Go(s.self, c.ctx, func(ctx context.Context) (any, error) {
		file := read()
		if file.err != nil || sha256.Sum256(file.text) != sum {
			return file, nil
		}
		found = true
		self.Tell(unchanged{id, time.Now(), file.told})
		reply, err := ask(ctx, Source{Path: plan.Path, Text: file.text})
		return opDone{id, reply, err}, nil
	}, func(msg any, err error) any {
		switch {
		case err == nil:
			return msg
		case found: // it panicked
			return opDone{id, nil, err}
		}
		return fileRead{id: id, err: err}
	}, nil)
}

func (s *Session) onUnchanged(c *call, msg unchanged) {
	s.sending(c, msg.at)
	s.docs.Confirmed(c.id, c.claim.Path, msg.told)
	s.next()
}
