//go:build linux

package chaos_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/seed-f6977891/hearth/test/standins"
)

// Whom a round lets die. The roles are fakelean's.
const (
	nobody         = "nobody"
	wrapper        = "lake"
	server         = "server"
	worker         = "worker"
	build          = "build"
	replWrapper    = "exe"
	repl           = "repl"
	theGuard       = "guard"
	theRuntime     = "runtime"
	guardThenIt    = "guard, then the runtime"
	runtimeAndIt   = "runtime and guard"
	runtimeNoGuard = "runtime without a guard"
)

// When it dies.
const (
	atLaunch     = "launch"
	atInitialize = "initialize"
	inCall       = "call"
	inClose      = "close"
	inSweep      = "sweep"
	inRetry      = "retry"
)

// How what is left is closed.
const (
	byShutdown = "shutdown"
	byClose    = "close"
	byIdle     = "idle"
)

// deeds are what processes of a tree may do beside Lean's own topology, which has a
// worker in a session of its own and a build in the worker's group.
var deeds = map[string]string{
	"double fork":         "fork-daemon",
	"deaf double fork":    "fork-daemon ignore-term",
	"sessions":            "re-session",
	"deaf in a session":   "spawn setsid ignore-term",
	"deaf":                "ignore-term",
	"stopped":             "stop",
	"forks without pause": "fork-loop setsid every=0s",
	"forks fast":          "fork-loop setsid every=1ms",
	"forks":               "fork-loop every=10ms",
	"cleared environment": "clear-env",
	"huge environment":    "spawn setsid huge-env",
	"exec loop":           "exec-loop setsid every=1ms",
	"zombie":              "zombie",
	"stdout held open":    "spawn setsid ignore-term hold-stdout",
}

const cleared = "cleared environment"

// drawn is what one round is about.
type drawn struct {
	does   map[string][]string // by role, names of deeds
	victim string
	moment string
	way    string
	repl   bool // the tree is a REPL's, not a language server's
	direct bool // the leader is the server itself, without lake
	busy   bool // a call is in work that takes ten minutes
	delay  time.Duration
	setup
}

func (d drawn) String() string {
	var does []string
	for role, names := range d.does {
		does = append(does, role+": "+strings.Join(names, ", "))
	}
	slices.Sort(does)
	return fmt.Sprintf("%s dies in %s+%v, end by %s; repl %v; %s; contained %v, subreaper %v, flaky %d", d.victim, d.moment, d.delay,
		d.way, d.repl, strings.Join(does, "; "), d.Contained, d.Subreaper, d.Flaky)
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// draw draws a round. canContain says whether the machine has control groups for us.
func draw(rng *rand.Rand, canContain bool) drawn {
	d := drawn{
		victim: pick(rng, nobody, wrapper, server, worker, build, theGuard, theRuntime, guardThenIt, runtimeAndIt, runtimeNoGuard),
		moment: pick(rng, atLaunch, atInitialize, inCall, inClose, inSweep, inRetry),
		way:    pick(rng, byShutdown, byClose, byIdle),
		repl:   rng.IntN(4) == 0,
		direct: rng.IntN(4) == 0,
		delay:  time.Duration(rng.IntN(30)) * time.Millisecond,
		does:   map[string][]string{},
	}
	d.busy = d.way != byIdle
	names := slices.Sorted(maps.Keys(deeds))
	roles := []string{server, worker, worker, "setup", build}
	if d.repl {
		roles = []string{replWrapper, repl}
		if role, one := map[string]string{wrapper: replWrapper, server: repl, worker: repl, build: replWrapper}[d.victim]; one {
			d.victim = role
		}
	}
	for range 1 + rng.IntN(3) {
		role := pick(rng, roles...)
		d.does[role] = append(d.does[role], pick(rng, names...))
	}
	d.Guard = d.victim != runtimeNoGuard
	if d.moment == inRetry {
		d.Flaky = 1 + rng.IntN(3)
	} else {
		d.Contained, d.Subreaper = canContain && rng.IntN(2) == 0, rng.IntN(2) == 0
	}
	d.keepInReach(canContain)
	return d
}

// keepInReach leaves out what nothing here can end: a process with a cleared environment
// takes a control group or, as long as the runtime lives, the subreaper at the shutdown.
func (d *drawn) keepInReach(canContain bool) {
	reached := d.Contained || d.Subreaper && d.way != byIdle && !d.runtimeDies()
	if !reached && d.Flaky == 0 && canContain {
		d.Contained, reached = true, true
	}
	for role, names := range d.does {
		d.does[role] = slices.DeleteFunc(names, func(name string) bool {
			// With one that is stopped, or whose output never ends, the call goes on, and so
			// there is no idle end.
			endless := name == "stopped" || name == "stdout held open" && role == "setup"
			return name == cleared && !reached || endless && d.way == byIdle
		})
	}
}

func (d *drawn) runtimeDies() bool {
	return slices.Contains([]string{theRuntime, guardThenIt, runtimeAndIt, runtimeNoGuard}, d.victim)
}

// knobs are what makes fakelean do it.
func (d *drawn) knobs() (entries []string) {
	at := map[string][]string{}
	for role, names := range d.does {
		for _, name := range names {
			at[role] = append(at[role], deeds[name])
		}
	}
	if d.moment == atInitialize {
		at[server] = append(at[server], "sleep 300ms")
		at[repl] = append(at[repl], "sleep 300ms")
	}
	at[server] = append([]string{"no-group-kill"}, at[server]...)
	at[build] = append([]string{"ignore-term"}, at[build]...)
	for role, list := range at {
		entries = append(entries, standins.At(role, list...))
	}
	return entries
}
