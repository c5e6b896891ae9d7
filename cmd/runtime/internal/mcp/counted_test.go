package mcp

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// waited is how long the end of the input waits for answers.
func waited(t *testing.T, act func(*adapter)) (long time.Duration) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		a := &adapter{over: make(chan struct{})} // of the bubble, or its clock would stand still
		a.asked.Store(2)
		go act(a)
		began := time.Now()
		a.awaitAnswers()
		long = time.Since(began).Round(100 * time.Millisecond) // but for a poll
		synctest.Wait()
	})
	return long
}

func TestTheInputsEndWaitsForWhatABusyMachineHasYetToComeTo(t *testing.T) {
	answer := func(after time.Duration) func(*adapter) {
		return func(a *adapter) {
			time.Sleep(after)
			a.asked.Store(0)
		}
	}
	assert.Zero(t, waited(t, answer(0)))
	assert.Equal(t, 5*time.Second, waited(t, answer(5*time.Second)), "none is at work yet")
	assert.Equal(t, 3*time.Second+lastCalls, waited(t, func(a *adapter) {
		time.Sleep(3 * time.Second)
		a.calls.Store(2)
	}), "tools have their time from when they are at work")
	assert.Equal(t, lastCallsBegin, waited(t, func(*adapter) {}))
}
