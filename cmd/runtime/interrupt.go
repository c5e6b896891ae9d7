package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// signalDelay is far more than it takes to learn which signal has ended a context.
const signalDelay = time.Second

// interruptible gives a context that ends when the program's does, and whose cause says
// which signal did that. A person's signals are an *Interrupt, so that a build gets the
// very same; SIGTERM isn't, since it is what every end begins with.
func interruptible(program context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(program))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	callOff := context.AfterFunc(program, func() {
		caught := os.Signal(syscall.SIGTERM)
		select {
		case caught = <-signals: // on its way, if not here
		case <-time.After(signalDelay):
		}
		if caught == os.Interrupt || caught == syscall.SIGHUP {
			cancel(&messages.Interrupt{Signal: caught})
			return
		}
		cancel(messages.Errorf(messages.KindCancelled, "ended by the signal %s", caught))
	})
	return ctx, func() {
		callOff()
		signal.Stop(signals)
		cancel(nil)
	}
}

// interruptCode is the exit code of a command that a signal has kept from having one.
func interruptCode(ctx context.Context) int {
	if interrupt := (*messages.Interrupt)(nil); errors.As(context.Cause(ctx), &interrupt) {
		return procscan.Status{Signal: interrupt.Signal}.ExitCode()
	}
	return procscan.Status{Signal: syscall.SIGTERM}.ExitCode()
}
