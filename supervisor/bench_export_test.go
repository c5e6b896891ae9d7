package supervisor

import (
	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// AwaitStart returns once the children of a supervisor under test have their addresses.
func AwaitStart(root *actors.Handle) {
	reply := messages.NewReplyTo[struct{}]()
	root.Send(started{reply})
	<-reply.Answer()
}
