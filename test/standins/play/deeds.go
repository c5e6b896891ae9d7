package play

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// deeds maps a kind of child to what it does.
var deeds map[string]func(*Process, childArgs) error

func init() { // assigned here because the deeds start children, which look their kind up
	deeds = map[string]func(*Process, childArgs) error{
		Sleeper:   sleepOut,
		Daemon:    daemonise,
		ReSession: sessionInSession,
		Zombie:    func(*Process, childArgs) error { return nil },
		ForkLoop:  forkLoop,
		ExecLoop:  execAnew,
	}
}

func sleepOut(_ *Process, a childArgs) error {
	time.Sleep(time.Until(a.Until))
	return nil
}

func daemonise(p *Process, a childArgs) error {
	if a.Second {
		return sleepOut(p, a)
	}
	a.Second = true
	return p.start(a)
}

func sessionInSession(p *Process, a childArgs) error {
	if !a.Second {
		a.Second = true
		if err := p.start(a); err != nil {
			return err
		}
	}
	return sleepOut(p, a)
}

func forkLoop(_ *Process, a childArgs) error {
	every, err := duration(a.Every, 10*time.Millisecond)
	if err != nil {
		return err
	}
	short, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	for time.Now().Before(a.Until) {
		_ = exec.Command(short).Run() // one that was killed meanwhile is no reason to stop
		time.Sleep(every)
	}
	return nil
}

// execAnew replaces the program by itself. Only its first life keeps a journal: the others last a moment each.
func execAnew(_ *Process, a childArgs) error {
	every, err := duration(a.Every, 10*time.Millisecond)
	if err != nil {
		return err
	}
	time.Sleep(every)
	if time.Now().After(a.Until) {
		os.Exit(0)
	}
	a.Again = true
	args, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", []string{os.Args[0], childWord, string(args)}, os.Environ())
}

// duration parses text, the default if it is empty.
func duration(text string, otherwise time.Duration) (time.Duration, error) {
	if text == "" {
		return otherwise, nil
	}
	return time.ParseDuration(text)
}

// Await waits until a file is there or until ctx ends.
func Await(ctx context.Context, path string) error {
	for {
		if _, err := os.Lstat(path); err == nil {
			return nil
		}
		if err := sleep(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
