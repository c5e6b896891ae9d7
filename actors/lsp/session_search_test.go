package lsp_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest/explore"
)

func TestSearchOfAllOrdersFindsNoBrokenLawOfASession(t *testing.T) {
	explore.Run(t, explore.Config{Whole: true, Depth: 20, New: newSessionWorld, Crossing: []string{"the caller", "the calls", "no "}})
}

func TestSearchFindsTheSameStatesEveryTime(t *testing.T) {
	search := explore.Config{Depth: 5, New: newSessionWorld}
	first, err := explore.Search(t, search)
	require.NoError(t, err)
	second, err := explore.Search(t, search)
	require.NoError(t, err)
	assert.Equal(t, first, second)
}

func TestSearchFindsASessionThatNeverCloses(t *testing.T) {
	_, failure := explore.Search(t, explore.Config{Depth: 8, New: func(t testing.TB) explore.World {
		w := newSessionWorld(t)
		w.(*sessionWorld).Deafen(explore.Any[messages.LeaderReaped])
		return w
	}})
	assert.ErrorContains(t, failure, "no Closed")
}

func (w *sessionWorld) State() explore.State {
	fates := []hoverFate{w.hovers[0].hoverFate, w.hovers[1].hoverFate}
	for i := range fates {
		if fates[i].Settled > 0 { // how it came to that is over
			fates[i] = hoverFate{Sent: true, Settled: 1, Answers: fates[i].Answers}
		}
	}
	opaque := []string{
		"Session.cfg", "Session.lastUsed", "Session.publishing", "Session.step", "Session.connected", "Session.identity", "Session.turns",
		"Machine.since", "call.arrived", "Client.wire", "Client.profile", "Client.touched", "Collector.frames", "Collector.sequence",
		"document.used",
	}
	if w.past.Ready > 0 && w.state != "ready" { // what it still keeps of its serving days, it never looks at again
		opaque = append(opaque, "Session.docs", "Session.client", "Session.cause", "Session.exit", "Session.shaken", "Session.alarm", "Session.timer", "Session.owing",
			"Session.expiring", "Session.probing")
	}
	return explore.State{Actor: w.Actor(), World: []any{w.past, fates, w.wire.down.Err() != nil}, Owed: w.Owed(), Opaque: opaque}
}

func (w *sessionWorld) Check() error {
	for _, msg := range w.Observer.Take() {
		if published, ok := msg.(messages.Publish); ok {
			w.state = published.Snapshot.(messages.SessionSnapshot).State
		}
	}
	for _, msg := range w.Supervisor.Take() {
		if err := w.toSupervisor(msg); err != nil {
			return err
		}
	}
	for _, h := range w.hovers {
		for ; len(h.Reply.Answer()) > 0; h.Answers++ {
			<-h.Reply.Answer()
		}
	}
	for _, msg := range w.Parent.Take() {
		if err := w.toEntry(msg); err != nil {
			return err
		}
	}
	if w.forgotten {
		return errors.New("nothing was left to wait for, and a call was not settled")
	}
	for _, h := range w.hovers {
		switch {
		case h.Answers > 1:
			return fmt.Errorf("hover %d was answered %d times", h.ID, h.Answers)
		case h.Asked > 1:
			return fmt.Errorf("hover %d was asked %d times", h.ID, h.Asked)
		case w.past.Closed > 0 && h.Sent && h.Settled == 0:
			return fmt.Errorf("hover %d was not settled by a Session that has closed", h.ID)
		}
	}
	return nil
}

func (w *sessionWorld) toSupervisor(msg any) error {
	switch msg := msg.(type) {
	case messages.Adopt:
		w.adopted = msg.Tree
	case messages.Sweep:
		w.past.Sweeps++
		w.past.Swept = true
		if w.past.Sweeps > 1 {
			return errors.New("Sweep twice")
		}
		if w.past.Tree == treeGone {
			return errors.New("Sweep of a tree that is gone")
		}
	}
	return nil
}

func (w *sessionWorld) toEntry(msg any) error {
	switch msg := msg.(type) {
	case messages.Down:
		return msg.Reason
	case messages.Ready:
		w.past.Ready++
	case messages.StartFailed:
		w.past.NotStarted++
	case messages.Ending:
		w.past.Ended++
	case messages.Settled:
		return w.settledOne(w.hovers[msg.ID-1], msg.Verdict)
	case messages.Closed:
		w.past.Closed++
		if w.past.Closed > 1 || w.past.Tree != treeGone || len(w.Owed()) > 0 {
			return errors.New("Closed again, before the tree was gone, or while workers are out")
		}
		return nil
	}
	switch {
	case w.past.Closed > 0:
		return fmt.Errorf("%T after Closed", msg)
	case w.past.Ready+w.past.NotStarted > 1, w.past.Ended > w.past.Ready:
		return fmt.Errorf("%T in the wrong order", msg)
	}
	return nil
}

func (w *sessionWorld) settledOne(h *worldHover, verdict messages.Verdict) error {
	h.Settled++
	if verdict == messages.Returned {
		h.Answers++ // its caller's answer comes from somebody else
		if h.Asked > 0 && w.past.Abort {
			return fmt.Errorf("hover %d was returned, and the server was asked", h.ID)
		}
	}
	if h.Settled > 1 || h.Answers != 1 {
		return fmt.Errorf("hover %d was settled %s, %d answers, %d times", h.ID, verdict, h.Answers, h.Settled)
	}
	return nil
}

func (w *sessionWorld) Ended() error {
	if w.past.Closed != 1 {
		return errors.New("no Closed")
	}
	if workers := len(w.Owed()); workers > 0 {
		return fmt.Errorf("%d workers are out", workers)
	}
	return nil
}
