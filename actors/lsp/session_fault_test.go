package lsp_test

import "github.com/seed-f6977891/hearth/actors"

// fault makes a failing behaviour do what ends no Receive.
type fault func()

// failing adds a message to a behaviour at which it panics or exits.
func failing(create func(*actors.Self) actors.Behaviour) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		behaviour := create(self)
		return faulty{behaviour, behaviour.(actors.Refuser)}
	}
}

type faulty struct {
	actors.Behaviour
	actors.Refuser
}

func (f faulty) Receive(msg any) {
	if fail, ok := msg.(fault); ok {
		fail()
		return
	}
	f.Behaviour.Receive(msg)
}
