package lsp

import (
	"context"
	"crypto/sha256"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// unchanged says that a call found the text that the server has, and asks about it.
type unchanged struct {
	id   messages.OperationID
	text []byte
}

// askUnchanged begins a call about a document that the server has open. Nearly always
// its file is as it was: then the worker that read it asks at once, which saves the
// caller two turns of the mailbox, a good part of what a hover costs beside the
// server's own work. Other bytes go the long way.
func (s *Session) askUnchanged(c *call, plan Plan, sum [sha256.Size]byte) {
	c.early, c.plan = !c.sent, plan
	s.sending(c)
	id, self, read, ask := c.id, s.self, s.read, requestOf(s.client, s.watcher, c)
	actors.Go(s.self, c.ctx, func(ctx context.Context) (any, error) {
		text, err := read(plan.Path)
		if err != nil || sha256.Sum256(text) != sum {
			return fileRead{id, text, err}, nil
		}
		self.Tell(unchanged{id, text})
		reply, err := ask(ctx, Source{Path: plan.Path, Text: text})
		return opDone{id, reply, err}, nil
	}, func(msg any, err error) any {
		if err != nil { // it panicked
			return opDone{id, nil, err}
		}
		return msg
	}, nil)
}

func (s *Session) onUnchanged(c *call, msg unchanged) {
	c.early, c.text = false, msg.text
	s.docs.Confirmed(c.id, c.claim.Path)
	s.next()
}
