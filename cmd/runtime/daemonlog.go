package main

import (
	"io"
	"log/slog"

	"gopkg.in/natefinch/lumberjack.v2"
)

const (
	logMegabytes = 2
	logBackups   = 2
)

// daemonLog logs to a file that is bounded, or to where there is none. It becomes the
// default logger, which the actors' library logs to. slog drops a record that can't be
// written, so that a full disk costs the log and nothing else.
func daemonLog(file string, without io.Writer, level slog.Level) *slog.Logger {
	out := without
	if file != "" {
		out = &lumberjack.Logger{Filename: file, MaxSize: logMegabytes, MaxBackups: logBackups}
	}
	log := slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
	slog.SetDefault(log)
	return log
}
