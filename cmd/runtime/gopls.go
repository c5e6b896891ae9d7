package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// goplsModule is what the demo installs where no gopls is in PATH: one version, so
// that a demo which worked once works again.
const goplsModule = "golang.org/x/tools/gopls@v0.23.0"

const lockInterval = 100 * time.Millisecond

// gopls gives the Go language server: that in PATH, else one of hearth's own in the
// user's cache directory, which it installs through the Go toolchain.
func (a *app) gopls(ctx context.Context) (program, origin string, err error) {
	if program, err := procscan.LookPath("gopls", "", a.environ("PATH")); err == nil {
		return program, "from PATH", nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", messages.Errorf(messages.KindProcess, "no gopls in PATH, and no place to install it: %w", err)
	}
	dir := filepath.Join(cache, "hearth", path.Base(goplsModule))
	program = filepath.Join(dir, "gopls")
	if isFile(program) {
		return program, "from the cache", nil
	}
	began := time.Now()
	if err := installGopls(ctx, dir); err != nil {
		return "", "", err
	}
	return program, fmt.Sprintf("installed in %.1fs", time.Since(began).Seconds()), nil
}

// installGopls builds gopls into dir. Two demos at once install it once: the second
// waits for the first. The program appears under its name when it is complete.
func installGopls(ctx context.Context, dir string) error {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return messages.Errorf(messages.KindProcess, "neither gopls nor go is in PATH; install Go from https://go.dev/dl")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return messages.Errorf(messages.KindProcess, "no place to install gopls: %w", err)
	}
	unlock, err := lockFile(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	program := filepath.Join(dir, "gopls")
	if isFile(program) {
		return nil
	}
	part := filepath.Join(dir, "part")
	install := exec.CommandContext(ctx, goTool, "install", goplsModule)
	// What a user has set for projects of their own would break this build.
	install.Env = append(os.Environ(), "GOBIN="+part, "GOFLAGS=", "GOWORK=off", "GOOS=", "GOARCH=")
	install.Dir = dir
	install.Cancel = func() error { return install.Process.Signal(os.Interrupt) } // go then ends its compilers, too
	install.WaitDelay = 10 * time.Second
	if output, err := install.CombinedOutput(); err != nil {
		return messages.Errorf(messages.KindProcess, "cannot install gopls (go install %s): %w: %s", goplsModule, err, strings.TrimSpace(string(output)))
	}
	if err := os.Rename(filepath.Join(part, "gopls"), program); err != nil {
		return messages.Errorf(messages.KindProcess, "cannot install gopls: %w", err)
	}
	return nil
}

// lockFile takes an exclusive lock, which the kernel gives back when its holder dies.
func lockFile(ctx context.Context, name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, messages.Errorf(messages.KindProcess, "cannot lock: %w", err)
	}
	retry := time.NewTicker(lockInterval)
	defer retry.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			file.Close()
			return nil, messages.Errorf(messages.KindProcess, "cannot lock %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, messages.Errorf(messages.KindOf(ctx.Err()), "waiting for another installation of gopls: %w", ctx.Err())
		case <-retry.C:
		}
	}
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
