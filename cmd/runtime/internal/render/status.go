package render

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
)

// Awaited says in a few words what a caller may be waiting for: what is being
// started, else what is at work. It is empty where nothing is.
func Awaited(s supervisor.Status) string {
	var starting, working []string
	for _, session := range s.Sessions {
		switch name := serverName(session); {
		case session.State == "launching", session.State == "initializing":
			starting = append(starting, name)
		case session.Active+session.Waiting > 0 && session.Progress != "":
			working = append(working, name+": "+session.Progress)
		case session.Active+session.Waiting > 0:
			working = append(working, name)
		}
	}
	for _, pool := range s.Pools {
		switch name := keyName(pool.Key) + " REPL"; {
		case pool.Warm+pool.Active == 0:
			starting = append(starting, name)
		case pool.Active+pool.Waiting > 0:
			working = append(working, name)
		}
	}
	switch {
	case len(starting) > 0:
		return "starting " + strings.Join(starting, ", ")
	case len(working) > 0:
		return "waiting for " + strings.Join(working, ", ")
	}
	return ""
}

// Summary gives a status in one line: each process tree with its state and size.
func Summary(s supervisor.Status) string {
	if len(s.Trees) == 0 {
		return "nothing runs"
	}
	trees := make([]string, len(s.Trees))
	for i, tree := range s.Trees {
		trees[i] = fmt.Sprintf("%s %s %d", tree.Role, keyName(tree.Key), tree.Leader.PID)
		if !tree.Sampled.IsZero() {
			trees[i] += fmt.Sprintf(" (%s, %d MiB)", count(len(tree.Members), "process", "processes"), tree.RSS>>20)
		}
	}
	return count(len(trees), "process tree: ", "process trees: ") + strings.Join(trees, "; ")
}

func serverName(s messages.SessionSnapshot) string {
	if s.Server == "" {
		return keyName(s.Key) + " server"
	}
	return s.Server + " for " + filepath.Base(s.Key.Root)
}

// keyName names a resource; a watched build has no language.
func keyName(key messages.Key) string {
	return strings.TrimPrefix(key.Language+" in "+filepath.Base(key.Root), " ")
}

func count(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}
