package lsp

import (
	"context"

	"github.com/seed-f6977891/hearth/actors"
)

// filesChanged are files below the project that have changed on disk, under the number
// of their telling. unwatched: the server was not told, since it asked to hear of none.
type filesChanged struct {
	number    uint64
	paths     []string
	unwatched bool
}

// updateWatch follows what has to be noticed: what the server asked to hear of, else
// the profile's sources. It begins to watch with the first wish and stops at the
// session's end.
func (s *Session) updateWatch() {
	patterns := s.client.WatchPatterns()
	if len(patterns) == 0 {
		patterns = s.client.SourcePatterns()
	}
	switch {
	case s.watcher != nil:
		s.watcher.SetPatterns(patterns)
	case s.unwatch == nil && len(patterns) > 0 && s.cfg.NewNotifier != nil:
		s.watch(patterns)
	}
}

// watch lets a worker watch until the session ends. Opening a Notifier waits for the
// kernel, so the worker does that too, and hands the Watcher over before it goes on.
func (s *Session) watch(patterns []Pattern) {
	ctx, cancel := context.WithCancel(s.self.Context())
	s.unwatch = cancel
	self, deliver, open, root, unwatched, connected := s.self, s.deliver(), s.cfg.NewNotifier, s.cfg.Key.Root, s.cfg.Unwatched, s.connected
	actors.Go(s.self, ctx, func(ctx context.Context) (struct{}, error) {
		notifier, err := open()
		if err != nil {
			return struct{}{}, err
		}
		watcher := NewWatcher(root, unwatched, notifier)
		watcher.Since(connected)
		watcher.SetPatterns(patterns)
		self.Tell(watching{watcher})
		return struct{}{}, watcher.Run(ctx, deliver)
	}, func(_ struct{}, err error) any { return watchEnded{err} }, nil)
}

// deliver makes the function that passes changes on, to the server if it asked, and to
// the session, which then has the server look at open documents again. Lean is left to
// itself: its imports come from builds, and opening anew would elaborate for nothing.
func (s *Session) deliver() func(context.Context, []FileChange) error {
	self, client, number, lean := s.self, s.client, s.changes, s.cfg.Profile.Complete == CompleteLean
	return func(ctx context.Context, changes []FileChange) error {
		asked := len(client.WatchPatterns()) > 0
		if asked {
			if err := client.FilesChanged(ctx, changes); err != nil {
				return err
			}
		}
		if lean {
			return nil
		}
		told := filesChanged{number: number.Add(1), unwatched: !asked}
		for _, change := range changes {
			told.paths = append(told.paths, change.Path)
		}
		self.Tell(told)
		return nil
	}
}
