package lsp

import "github.com/seed-f6977891/hearth/actors"

// NewSessionReading is NewSession with another way to read files.
func NewSessionReading(cfg SessionConfig, read func(path string) ([]byte, error)) func(*actors.Self) actors.Behaviour {
	return newSession(cfg, read)
}

// ReadText is how sessions read files.
var ReadText = readText

// The bounds that tests count in.
const (
	ExitWait     = exitWait
	WorkerGrace  = workerGrace
	PublishDelay = publishDelay
	DocumentIdle = documentIdle
	MaxText      = maxParams
)
