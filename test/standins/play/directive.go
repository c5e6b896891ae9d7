package play

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Directive is one deed by name with the rest of its line.
type Directive struct {
	Name string
	Args string
}

var comment = regexp.MustCompile(`(?:--|//|#)\s*fake:\s*(.+)`)

// InLine returns the directive in the comment "-- fake: NAME ARGS" (also behind # or //) of a line.
func InLine(line string) (Directive, bool) {
	m := comment.FindStringSubmatch(line)
	if m == nil {
		return Directive{}, false
	}
	return parse(m[1]), true
}

func parse(text string) Directive {
	name, args, _ := strings.Cut(strings.TrimSpace(text), " ")
	return Directive{Name: name, Args: strings.TrimSpace(args)}
}

// DoAll does the directives of a list that is separated by semicolons. Those that the program named in Begin become
// flags; any other unknown one ends the process with Misuse.
func (p *Process) DoAll(list string) {
	for _, text := range strings.Split(list, ";") {
		if strings.TrimSpace(text) != "" {
			_ = p.Do(context.Background(), parse(text))
		}
	}
}

// Flag says whether the program's own directive was given, and its arguments.
func (p *Process) Flag(name string) (args string, given bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	args, given = p.flags[name]
	return args, given
}

// Do does one directive. It returns an error only if ctx ended meanwhile; what makes no sense ends the process.
func (p *Process) Do(ctx context.Context, d Directive) error {
	deed, known := generic[d.Name]
	switch {
	case known:
		p.Journal.Note("directive", d.Name, nil)
		err := deed(ctx, p, d.Args)
		if err != nil && ctx.Err() == nil {
			p.Misused(fmt.Errorf("%s %s: %w", d.Name, d.Args, err))
		}
		return err
	case p.known[d.Name]:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.flags[d.Name] = d.Args
		return nil
	}
	p.Misused(fmt.Errorf("no directive is named %q here", d.Name))
	return nil
}

var generic = map[string]func(context.Context, *Process, string) error{
	"sleep": func(ctx context.Context, _ *Process, args string) error {
		d, err := time.ParseDuration(args)
		if err != nil {
			return err
		}
		return sleep(ctx, d)
	},
	"await": func(ctx context.Context, _ *Process, args string) error { return Await(ctx, args) },
	"crash": func(_ context.Context, p *Process, args string) error { return p.crash(args) },
	"exit": func(_ context.Context, p *Process, args string) error {
		code, err := strconv.Atoi(args)
		if err == nil {
			p.Exit(code)
		}
		return err
	},
	"ignore-term": func(_ context.Context, p *Process, _ string) error { p.IgnoreTerm(); return nil },
	"slow-term": func(_ context.Context, p *Process, args string) error {
		d, err := time.ParseDuration(args)
		p.SlowTerm(d)
		return err
	},
	"rss": func(_ context.Context, p *Process, args string) error {
		n, err := Size(args)
		p.Grow(n)
		return err
	},
	"stderr": func(_ context.Context, _ *Process, args string) error {
		size, form, _ := strings.Cut(args, " ")
		n, err := Size(size)
		if err != nil {
			return err
		}
		return Flood(n, form)
	},
	"stderr-text": func(_ context.Context, _ *Process, args string) error {
		_, err := fmt.Fprintln(os.Stderr, args)
		return err
	},
	"stop":        func(_ context.Context, p *Process, _ string) error { p.StopSelf(); return nil },
	"spawn":       func(_ context.Context, p *Process, args string) error { return p.spawn(Spawn{}, args) },
	"fork-daemon": func(_ context.Context, p *Process, args string) error { return p.spawn(Spawn{Kind: Daemon}, args) },
	"re-session": func(_ context.Context, p *Process, args string) error {
		return p.spawn(Spawn{Kind: ReSession}, args)
	},
	"clear-env": func(_ context.Context, p *Process, args string) error {
		return p.spawn(Spawn{Setsid: true, ClearEnv: true}, args)
	},
	"zombie":    func(_ context.Context, p *Process, args string) error { return p.spawn(Spawn{Kind: Zombie}, args) },
	"fork-loop": func(_ context.Context, p *Process, args string) error { return p.spawn(Spawn{Kind: ForkLoop}, args) },
	"exec-loop": func(_ context.Context, p *Process, args string) error { return p.spawn(Spawn{Kind: ExecLoop}, args) },
}

// crash ends the process: without an argument with 134, which is what a parent that folds signals into codes makes of
// SIGABRT (Go's runtime catches that signal itself), with "kill" by SIGKILL, else with the code given.
func (p *Process) crash(args string) error {
	switch args {
	case "":
		p.Exit(134)
	case "kill":
		p.Die(unix.SIGKILL)
	}
	code, err := strconv.Atoi(args)
	if err == nil {
		p.Exit(code)
	}
	return err
}

// spawn adds the words of args to s: the options by name, every=D, for=D.
func (p *Process) spawn(s Spawn, args string) error {
	for _, word := range strings.Fields(args) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "setsid":
			s.Setsid = true
		case "clear-env":
			s.ClearEnv = true
		case "huge-env":
			s.HugeEnv = true
		case "ignore-term":
			s.IgnoreTerm = true
		case "hold-stdout":
			s.HoldStdout = true
		case "every":
			s.Every = value
		case "for":
			s.For = value
		default:
			return fmt.Errorf("a child has no option %q", word)
		}
	}
	return p.Spawn(s)
}

var units = map[string]int{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// Size parses a number of bytes such as 200MiB.
func Size(text string) (int, error) {
	digits := strings.TrimRight(text, "BKMGi")
	unit, known := units[text[len(digits):]]
	n, err := strconv.Atoi(digits)
	if err != nil || !known || n < 0 {
		return 0, fmt.Errorf("%q is no size", text)
	}
	return n * unit, nil
}
