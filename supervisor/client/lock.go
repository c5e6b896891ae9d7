package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
)

// Lock is a lock on a file, for as long as this process lives or until Release. The
// file itself stays: one that is removed could be locked by two, under one name.
type Lock struct{ file *os.File }

// errLocked says that somebody else has the lock.
var errLocked = errors.New("locked")

const (
	lockPoll     = time.Millisecond // at first
	lockPollMost = 25 * time.Millisecond
)

// TryLock takes a lock without waiting; ok is false where somebody else has it.
func TryLock(path string) (lock *Lock, ok bool, err error) {
	file, err := openLock(path)
	if err != nil {
		return nil, false, err
	}
	switch err := flock(file); {
	case errors.Is(err, errLocked):
		return nil, false, file.Close()
	case err != nil:
		_ = file.Close()
		return nil, false, err
	}
	return &Lock{file}, true, nil
}

// AwaitLock takes a lock. It asks again and again, since a wait in flock(2) itself could
// not be ended with ctx.
func AwaitLock(ctx context.Context, path string) (*Lock, error) {
	file, err := openLock(path)
	if err != nil {
		return nil, err
	}
	for pause := lockPoll; ; pause = min(2*pause, lockPollMost) {
		err := flock(file)
		if err == nil {
			return &Lock{file}, nil
		}
		if errors.Is(err, errLocked) {
			err = sleep(ctx, pause)
		}
		if err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("wait for the lock %s: %w", path, err)
		}
	}
}

// Release lets go of the lock.
func (l *Lock) Release() { _ = l.file.Close() }

// openLock opens the file of a lock. Go closes it in children, which would hold the
// lock otherwise.
func openLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, messages.Errorf(messages.KindInternal, "cannot open a lock: %w", err)
	}
	return file, nil
}

func flock(file *os.File) error {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errLocked
		case err != nil:
			return messages.Errorf(messages.KindInternal, "cannot lock %s: %w", file.Name(), err)
		}
		return nil
	}
}

// sleep waits a moment, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
