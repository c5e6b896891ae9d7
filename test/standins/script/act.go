package script

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/test/standins/play"
)

// Act does an action that concerns the process alone and is the same in every program. An error means that the script
// makes no sense.
func Act(p *play.Process, a Action) error {
	switch a.Do {
	case "delay":
		d, err := time.ParseDuration(a.For)
		time.Sleep(d)
		return err
	case "await_file":
		return play.Await(context.Background(), a.Path)
	case "stderr":
		return play.Flood(a.N, a.Text)
	case "stderr_text":
		fmt.Fprintln(os.Stderr, a.Text)
	case "spawn":
		if a.Spawn == nil {
			return fmt.Errorf("no child is described")
		}
		return p.Spawn(*a.Spawn)
	case "sigstop":
		p.StopSelf()
	case "exit":
		p.Exit(a.Code)
	case "kill":
		p.Die(unix.SIGKILL)
	case "ignore_term":
		p.IgnoreTerm()
	case "grow":
		p.Grow(a.N)
	case "write_file":
		return os.WriteFile(a.Path, []byte(a.Text), 0o644)
	default:
		return fmt.Errorf("no action of that name")
	}
	return nil
}
