package messages_test

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/messages"
)

func TestLooksAtABuildAreDroppedWhereNobodyTakesThemButABreachIsNot(t *testing.T) {
	events := messages.NewBuildEvents()
	for n := range 100 {
		events.Send(messages.BuildEvent{Compiles: n + 1})
	}
	for range 2 {
		events.Send(messages.BuildEvent{Breaches: []messages.Breach{{File: "a.c"}}})
	}
	events.Send(messages.BuildEvent{Breaches: []messages.Breach{{}}}) // one too many is dropped, and blocks nobody
	var heard []messages.BuildEvent
	for len(events.Looks()) > 0 {
		heard = append(heard, <-events.Looks())
	}
	assert.Len(t, heard, 4)
	assert.Equal(t, 1, heard[0].Compiles)
	assert.Equal(t, "a.c", heard[3].Breaches[0].File)
	messages.BuildEvents{}.Send(messages.BuildEvent{})
}

func TestWhoSendsOutputWaitsUntilItIsTakenOrNobodyCan(t *testing.T) {
	for name, release := range map[string]func(messages.BuildEvents, context.CancelFunc){
		"taken":            func(e messages.BuildEvents, _ context.CancelFunc) { assert.Equal(t, "x", (<-e.Output()).Output) },
		"the caller left":  func(e messages.BuildEvents, _ context.CancelFunc) { e.Leave() },
		"the sender's end": func(_ messages.BuildEvents, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				events, sent := messages.NewBuildEvents(), make(chan struct{})
				go func() {
					defer close(sent)
					events.SendOutput(ctx, "x")
				}()
				synctest.Wait()
				select {
				case <-sent:
					assert.Fail(t, "it didn't wait")
				default:
				}
				release(events, cancel)
				<-sent
			})
		})
	}
	messages.BuildEvents{}.SendOutput(t.Context(), "x")
}

func TestBreachIsAnErrorWithFileTimeAndLimit(t *testing.T) {
	breach := messages.Breach{File: "a.c", Elapsed: 6.25, Limit: 6}
	assert.Equal(t, &messages.BreachError{File: "a.c", Elapsed: 6250 * time.Millisecond, Limit: 6 * time.Second}, breach.Err())
	assert.Equal(t, messages.KindCancelled, messages.KindOf(&messages.Interrupt{Signal: os.Interrupt}))
	assert.Equal(t, "interrupted by the signal interrupt", (&messages.Interrupt{Signal: os.Interrupt}).Error())
}
