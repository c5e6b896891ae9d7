package render

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

func daemonStatus() wire.Status {
	deep := "/home/me/" + strings.Repeat("deeply/", 15) + "nested"
	return wire.Status{
		Ping: wire.Ping{PID: 42, Uptime: 8000},
		LSPProjects: wire.Projects{Limit: 4,
			Resident: []wire.Project{
				{ProjectDir: "/home/me/hello", Language: "go", State: wire.StateWarm, Active: 1, Waiting: 2, Valid: true, PIDs: []int{5, 6}, Memory: 89 << 20},
				{ProjectDir: deep, Language: "typescript-react", State: wire.StateWarm, Idle: 95, PIDs: []int{7}},
			},
			Creating: []string{"/home/me/hello"},
			Retiring: []wire.Retiring{{ProjectDir: "/home/me/proofs", Language: "lean", Step: "sweep", Attempts: 2, Remaining: []int{9}, Reason: strings.Repeat("it won't die ", 20)}}},
		REPLProjects: wire.Projects{Limit: 12 << 30},
		Keeping: wire.Keeping{Guard: "watching (process 43)", Leftovers: "sweeping what dead runtimes left behind",
			Adopted: []wire.Orphan{{PID: 99, Command: "sleep"}}, Limits: []string{"no control groups"}},
	}
}

func TestADaemonIsShownByProject(t *testing.T) {
	assert.Equal(t, `hearth   pid 42, up 2h13m, running
socket   /run/s
servers  2 of 4
pools    0, of 12.0 GiB by their weights
guard    watching (process 43)
sweep    sweeping what dead runtimes left behind
adopted  99 (sleep), a process that carries no mark
limit    no control groups

…ly/deeply/deeply/deeply/deeply/deeply/deeply/deeply/deeply/deeply/deeply/nested
  lsp   typescrip…  warm      idle 1m35s, outdated     1 process

/home/me/hello
  lsp   go          warm      1 at work, 2 waiting     2 processes, 89 MiB
  lsp               warming

/home/me/proofs
  lsp   lean        retiring  sweep, 2 attempts failed, left: 9: it won't die i…
`, Daemon(daemonStatus(), "/run/s", false))
}

func TestNoLineIsWiderThanATerminalAndColoursChangeNoText(t *testing.T) {
	plain := Daemon(daemonStatus(), "/run/s", false)
	for line := range strings.Lines(plain) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
	}
	coloured := Daemon(daemonStatus(), "/run/s", true)
	assert.Contains(t, coloured, "\x1b[33mwarming\x1b[0m")
	for _, code := range []string{"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"} {
		coloured = strings.ReplaceAll(coloured, code, "")
	}
	assert.Equal(t, plain, coloured)
	stopping := daemonStatus()
	stopping.Stopping = true
	assert.Contains(t, Daemon(stopping, "/run/s", false), "stopping: it finishes what it has begun")
}

func TestATreeIsDrawnWithItsBranches(t *testing.T) {
	top := []wire.Actor{{Actor: "supervisor/main#1", State: "running", Since: 90, Children: []wire.Actor{
		{Actor: "cache-lsp/main#3", State: "open", Children: []wire.Actor{
			{Actor: "entry/a#5", State: "resident", ProjectDir: "/home/me/hello", Language: "go"}}},
		{Actor: "sweeper/1#9", State: "watching", Process: &wire.Process{Role: messages.RoleLSP, Leader: 5, PIDs: []int{5, 6}, Memory: 3 << 30, Age: 5}},
	}}}
	assert.Equal(t, `supervisor/main#1 running 1m30s
├─ cache-lsp/main#3 open 0s
│  └─ entry/a#5 resident 0s (go in hello)
└─ sweeper/1#9 watching 0s: lsp 5, up 5s, 2 processes, 3.0 GiB
`, Tree(top))
	assert.Empty(t, Tree(nil))
}

func TestAnAgeHasItsTwoLargestUnits(t *testing.T) {
	for seconds, want := range map[float64]string{0.9: "0s", 59: "59s", 61: "1m1s", 3600: "1h0m", 90061: "1d1h"} {
		assert.Equal(t, want, Age(seconds))
	}
}
