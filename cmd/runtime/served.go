package main

import (
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

const (
	// healthInterval is how soon the daemon notices that its runtime has failed.
	healthInterval = time.Second
	// lastAnswers is how long clients may take to accept answers at the end.
	lastAnswers = 5 * time.Second
	// stopsKept is how many wishes to stop are kept; one would do, and a second to
	// make it quick.
	stopsKept = 8
)

// served is the daemon in this process.
type served struct {
	app      *app
	cfg      config.Config
	settings wire.Config
	install  config.Install
	paths    config.Paths
	lifetime *client.Lock
	listener *daemonListener
	log      *slog.Logger
	began    time.Time
	manager  string    // where a service manager wants to be told; empty: nowhere
	stops    chan bool // true: now
	stopping atomic.Bool
}

// ownPID is asked once: clients ping all the time.
var ownPID = os.Getpid()

func (d *served) ping() wire.Ping {
	ping := wire.NewPing(ownPID, d.install.String(), d.install.Generation, d.began, time.Now(), d.settings)
	ping.Stopping = d.stopping.Load()
	return ping
}

// shutdown asks for the end. It never blocks: when so many have asked before, the end
// is on its way.
func (d *served) shutdown(now bool) {
	select {
	case d.stops <- now:
	default:
	}
}

// notify tells a service manager how far the daemon has come, as sd_notify(3) has it.
// It is best effort, as there: nobody may be listening.
func (d *served) notify(state string) {
	if d.manager == "" {
		return
	}
	conn, err := net.Dial("unixgram", d.manager) // a leading @ is an abstract one to both
	if err == nil {
		defer conn.Close()
		_, err = conn.Write([]byte(state))
	}
	if err != nil {
		d.log.Warn("cannot tell the service manager", "state", state, "reason", err)
	}
}

// pathHint is for a program that the daemon doesn't find, and a caller perhaps does.
const pathHint = "the daemon has the PATH of whoever started it: hearth stop lets the next call start one with the PATH of today"

// withPathHint adds it to how the programs that are looked up in PATH are installed.
func withPathHint(cfg config.Config) config.Config {
	cfg.Languages = maps.Clone(cfg.Languages)
	for name, language := range cfg.Languages {
		install := make(map[string]string)
		maps.Copy(install, language.Install)
		for _, command := range slices.Concat(language.Server.Commands, []config.Command{language.REPL.Command, language.REPL.HeaderCommand}) {
			if len(command) == 0 || filepath.Base(command[0]) != command[0] {
				continue
			}
			hint := pathHint
			if known, ok := language.InstallHint(command[0]); ok {
				hint = known + "; " + pathHint
			}
			install[command[0]] = hint
		}
		language.Install = install
		cfg.Languages[name] = language
	}
	return cfg
}

// describe is what status says of the settings: the predecessor's names, and all by
// their own keys.
func describe(cfg config.Config, origins config.Origins) wire.Config {
	lean := cfg.Languages["lean"]
	c := wire.Config{
		MaxProjects: cfg.MaxProjects, Idle: seconds(cfg.Idle),
		TotalREPLWorkers: cfg.REPL.TotalWorkers, REPLWorkersPerProject: cfg.REPL.WorkersPerProject,
		REPLProjectLimit: cfg.LeanPools(), REPLCommand: lean.REPL.Command, REPLHeaderCommand: lean.REPL.HeaderCommand,
		LSPTimeout: seconds(cfg.LSP.Timeout), MaxLSPRequest: seconds(cfg.LSP.MaxTimeout),
		REPLRequestTimeout: seconds(cfg.REPL.Timeout), MaxREPLRequest: seconds(cfg.REPL.MaxTimeout),
		ReadTimeout: seconds(cfg.ReadTimeout), MaxConnections: cfg.MaxConnections,
		ResponseTimeout: seconds(cfg.ResponseTimeout), Settings: make(map[string]string),
	}
	if len(lean.Server.Commands) > 0 {
		c.LSPCommand = lean.Server.Commands[0]
	}
	for _, row := range cfg.Table(origins) {
		c.Settings[row.Key] = row.Value
	}
	return c
}

func seconds(d time.Duration) wire.Decimal { return wire.Decimal(d.Seconds()) }
