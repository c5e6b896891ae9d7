package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
)

func main() {
	supervisor.GuardMain()
	// What whoever started us had open by accident is no child's business, and could be
	// a pipe whose end is waited for. Where it can't be done, nothing is lost but that.
	found := inherited()
	_ = procscan.SealDescriptors()
	// Uncaught, a write to standard output or error that nobody reads any more would end
	// the program at once, with all that it had started still running; caught, it fails as
	// any write does. Then it also comes for every other pipe and socket whose reader has
	// gone, a server's or a client's, so it says nothing, and nobody receives it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	a := &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		environ: os.Getenv, start: startEmbedded, width: terminalWidth(), colour: showsColours(), inherited: found,
	}
	if install, err := a.install(); err == nil && !install.Temporary() {
		a.connect = a.connectShared
	}
	code := a.execute(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// showsColours tells whether standard output is a terminal whose user wants colours;
// https://no-color.org is the convention for who doesn't.
func showsColours() bool {
	return term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// terminalWidth is that of standard error's terminal; 0: it is none.
func terminalWidth() int {
	stderr := int(os.Stderr.Fd())
	if !term.IsTerminal(stderr) {
		return 0
	}
	if width, _, err := term.GetSize(stderr); err == nil && width > 0 {
		return width
	}
	return 80 // a serial line or a recorder doesn't know
}
