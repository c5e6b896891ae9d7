package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// paths are the daemon's files.
func (a *app) paths(cfg config.Config, install config.Install, socket string) (config.Paths, error) {
	if socket == "" {
		return cfg.Paths(install), nil
	}
	return config.PathsFor(socket)
}

// client makes a client of the shared daemon, which it touches at its first call.
func (a *app) client(cfg config.Config, opts ...client.Option) (*client.Client, error) {
	install, err := a.install()
	if err != nil {
		return nil, err
	}
	args, err := a.daemonArguments()
	if err != nil {
		return nil, err
	}
	opts = append(opts, client.WithInstall(install), client.WithArguments(args...))
	if a.socket != "" {
		opts = append(opts, client.WithSocket(a.socket))
	}
	if a.width > 0 {
		opts = append(opts, client.WithStarted(a.sayStarted))
	}
	if install.Temporary() { // it can use a daemon, and not be one
		opts = append(opts, client.WithoutStart())
	}
	return client.New(cfg, opts...)
}

// sayStarted tells a person at a terminal what their command leaves running, and how to
// end it: with the flags that say where it is. It comes over the line of progress, which
// is painted again.
func (a *app) sayStarted(pid int) {
	stop := "hearth"
	for _, place := range [][2]string{{"config", a.configFile}, {"runtime_dir", a.settings["runtime_dir"]}, {"socket", a.socket}} {
		if place[1] != "" {
			stop += " --" + place[0] + " " + place[1]
		}
	}
	fmt.Fprintf(a.stderr, clearLine+"hearth: started the shared daemon (process %d); `%s stop` ends it\n", pid, stop)
}

// daemonArguments hand the settings that this command was given to a daemon that it
// starts. That works in another directory, so a file is named by its whole path.
func (a *app) daemonArguments() ([]string, error) {
	var args []string
	file := a.configFile
	if file == "" {
		file = a.environ("HEARTH_CONFIG")
	}
	if file != "" {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, messages.Invalidf("--config %s: %w", file, err)
		}
		args = append(args, "--config", path)
	}
	for _, key := range slices.Sorted(maps.Keys(a.settings)) {
		args = append(args, "--"+key+"="+a.settings[key])
	}
	return args, nil
}

// thisInstall is this program's, read once.
var thisInstall = sync.OnceValues(config.ThisInstall)

func (*app) install() (config.Install, error) {
	install, err := thisInstall()
	if err != nil {
		err = messages.Errorf(messages.KindInternal, "%w", err)
	}
	return install, err
}

// withShared runs do on the shared daemon, which is started if need be, and leaves it
// running. An engine of its own is what --embedded asks for, and all that a program can
// have whose file vanishes when it ends.
func (a *app) withShared(ctx context.Context, cfg config.Config, do func(engine) error) error {
	if a.embedded || a.connect == nil {
		return a.withEngine(ctx, cfg, do)
	}
	shared, err := a.connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = shared.Shutdown(ctx) }()
	return do(shared)
}

// connectShared connects to the shared daemon.
func (a *app) connectShared(ctx context.Context, cfg config.Config) (engine, error) {
	return a.client(cfg)
}
