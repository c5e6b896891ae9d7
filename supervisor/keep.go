package supervisor

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// keep is what a runtime has outside of its actors, so that nothing survives its
// death. Every part may be missing.
type keep struct {
	leash          *leash
	containment    *procscan.Containment
	record         *recordFile
	sweepLeftovers func(context.Context) ([]Leftover, error)
	reaper         reaper
	wake           <-chan os.Signal
	cleared        *sync.Once
}

// enter writes the runtime's file, and has the supervisor sweep what the files of
// dead runtimes tell of.
func (k *keep) enter(dir string, mark procscan.Mark) error {
	r := record{Boot: procscan.BootID(), PID: os.Getpid(), Runtime: mark.Value}
	if k.containment != nil {
		r.Containment = k.containment.Path()
	}
	var err error
	k.record, err = writeRecord(dir, r)
	k.sweepLeftovers = func(ctx context.Context) ([]Leftover, error) { return SweepLeftovers(ctx, dir, false) }
	return err
}

// guardBy has the guard started by the launcher that a reaper knows: to it, any other
// child in a session of its own is an orphan.
func (k *keep) guardBy(launcher procscan.Launcher, mark procscan.Mark) {
	orders := guardOrders{Runtime: mark.Value}
	if k.containment != nil {
		orders.Containment = k.containment.Path()
	}
	if k.record != nil {
		orders.Record = k.record.file.Name()
	}
	k.leash = newLeash(func(ctx context.Context, tell func(guardStep)) error {
		return runGuard(ctx, launcher, orders, tell)
	})
}

func (k *keep) reapBeside(launcher *procscan.OSLauncher, mark procscan.Mark, limits *[]string) error {
	if err := procscan.Subreaper(); err != nil {
		*limits = append(*limits, "orphans go to process 1: "+err.Error())
		return nil
	}
	reaper, err := procscan.NewReaper(launcher, mark)
	if err != nil {
		return messages.Errorf(messages.KindInternal, "%w", err)
	}
	k.reaper = reaper
	return nil
}

// empty ends what no mark leads to, for a runtime whose supervisor has failed.
func (k *keep) empty(ctx context.Context, grace procscan.Grace) (err error) {
	if k.containment != nil {
		err = procscan.EndContainment(ctx, k.containment.Path(), grace)
	}
	if k.reaper != nil {
		err = errors.Join(err, k.reaper.EndAdopted(ctx, grace))
	}
	return err
}

// clear takes away what a later start could find, once: nothing of the runtime lives any
// more. A control group that won't go keeps the file, so that the next start ends it.
func (k *keep) clear() {
	k.cleared.Do(func() {
		if k.containment != nil {
			ctx, cancel := context.WithTimeout(context.Background(), clearLimit)
			defer cancel()
			if procscan.EndContainment(ctx, k.containment.Path(), procscan.DefaultGrace) != nil {
				_ = k.record.unlock()
				return
			}
		}
		_ = k.record.remove()
	})
}

// clearLimit is longer than the kernel takes for groups that are empty.
const clearLimit = 5 * time.Second

// release lets go of everything. It blocks for the guard's end; again is harmless.
//
// The guard goes last: should this process die in the middle, it does the rest.
func (k *keep) release() {
	k.clear()
	k.leash.farewell()
}
