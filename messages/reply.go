package messages

// Result is what one operation came to: a value or an error, never both.
type Result[T any] struct {
	Value T
	Err   error
}

// ReplyTo is the address of one waiting caller. It is one shot: the first answer
// wins and every later one is dropped, so that an actor which answers, and the
// actor that kept a copy of the operation, can't deliver two answers and can't
// block each other. The zero ReplyTo discards every answer.
//
// hollywood's own Request is not used: its random ids collide and a second
// Respond blocks the replier for ever.
type ReplyTo[T any] struct {
	answer chan Result[T]
}

// NewReplyTo makes the address of a caller that is about to wait.
func NewReplyTo[T any]() ReplyTo[T] {
	return ReplyTo[T]{answer: make(chan Result[T], 1)}
}

// Send answers with a value. It never blocks.
func (r ReplyTo[T]) Send(value T) { r.send(Result[T]{Value: value}) }

// Fail answers with an error. It never blocks.
func (r ReplyTo[T]) Fail(err error) { r.send(Result[T]{Err: err}) }

func (r ReplyTo[T]) send(result Result[T]) {
	select {
	case r.answer <- result:
	default: // answered before, or nobody waits: the first answer has won
	}
}

// Answer is where the caller waits. At most one Result ever arrives, and the
// channel is never closed: wait on the asked actor's end beside it.
func (r ReplyTo[T]) Answer() <-chan Result[T] { return r.answer }
