package actors

import "sync"

// maxParked is how many idle runners a system keeps. More than have work at the same
// time are of no use, and each holds the memory of its stack.
const maxParked = 16

// turn is what a runner does at a stretch: an actor's messages, or a worker's work. It
// may give the turn that the runner has next, where there would else be another to wake:
// that costs more than most turns.
type turn interface{ run() (next turn) }

// runners are the goroutines of a system. One that has finished a turn parks and takes
// the next: starting a goroutine costs little, but its small stack is then grown, by
// copying, deep inside Receive. They end with the system's last actor.
type runners struct {
	mu     sync.Mutex
	parked []chan turn // the last to park is the first to run: its stack is warm
	actors int
}

// start lets t have its turn. It never blocks.
func (r *runners) start(t turn) {
	r.mu.Lock()
	last := len(r.parked) - 1
	if last < 0 {
		r.mu.Unlock()
		go r.loop(t)
		return
	}
	next := r.parked[last]
	r.parked = r.parked[:last]
	r.mu.Unlock()
	next <- t // it has room for one, and is in nobody else's hands
}

func (r *runners) loop(t turn) {
	growStack()
	more := make(chan turn, 1)
	for some := true; some; t, some = <-more {
		for next := t; next != nil; {
			next = next.run()
		}
		if !r.park(more) {
			return
		}
	}
}

func (r *runners) park(more chan turn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.actors == 0 || len(r.parked) == maxParked {
		return false
	}
	r.parked = append(r.parked, more)
	return true
}

// enter counts an actor in.
func (r *runners) enter() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.actors++
}

// leave counts an actor out, and ends the parked runners after the last.
func (r *runners) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.actors--
	if r.actors > 0 {
		return
	}
	for _, parked := range r.parked {
		close(parked)
	}
	r.parked = nil
}

// growStack makes a new goroutine's stack as large as Receive mostly needs it while
// there is next to nothing on it to be copied.
//
//go:noinline
func growStack() byte {
	var space [6 << 10]byte
	return space[len(space)-1]
}
