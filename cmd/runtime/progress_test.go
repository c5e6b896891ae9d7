package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
)

// busyEngine says of itself that a server is at work.
type busyEngine struct {
	fakeEngine
	progress string
}

func (b *busyEngine) Status(context.Context) (supervisor.Status, error) {
	return supervisor.Status{Sessions: []messages.SessionSnapshot{{Server: "gopls", Active: 1, Progress: b.progress,
		Key: messages.Key{Root: "/home/me/hello", Language: "go"}}}}, nil
}

// progressAfterWaiting is what a terminal of some width gets to see of a wait.
func progressAfterWaiting(t *testing.T, width int, progress string, wait time.Duration) (before, after string) {
	var stderr bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		stop := (&app{stderr: &stderr, width: width}).progress(t.Context(), &busyEngine{progress: progress})
		time.Sleep(wait) // a bubble's clock: this is the wait itself
		synctest.Wait()
		before = stderr.String()
		stop()
		time.Sleep(time.Minute)
		after = strings.TrimPrefix(stderr.String(), before)
	})
	return before, after
}

func TestAShortWaitShowsNothing(t *testing.T) {
	before, after := progressAfterWaiting(t, 80, "", 900*time.Millisecond)
	assert.Empty(t, before+after)
}

func TestALongWaitShowsWhatForAndHowLongAndIsWipedOut(t *testing.T) {
	before, after := progressAfterWaiting(t, 80, "loading", 2*time.Second)
	assert.True(t, strings.HasPrefix(before, "\r\x1b[Kwaiting for gopls for hello: loading (1s)"), "%q", before)
	assert.True(t, strings.HasSuffix(before, "\r\x1b[Kwaiting for gopls for hello: loading (2s)"), "%q", before)
	assert.Equal(t, "\r\x1b[K", after, "and nothing later")
}

func TestProgressStaysOnOneLineOfTheTerminal(t *testing.T) {
	before, _ := progressAfterWaiting(t, 20, strings.Repeat("é", 100), time.Second)
	assert.Equal(t, "\r\x1b[Kwaiting for gopls f", before)
}

func TestAPipeGetsNoProgress(t *testing.T) {
	before, after := progressAfterWaiting(t, 0, "loading", time.Minute)
	assert.Empty(t, before+after)
}
