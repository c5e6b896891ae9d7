package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// demoSample is how long the demo waits for a sample of memory.
const demoSample = 5 * time.Second

func (a *app) demo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show the whole main job on a small project of its own, a line for each step",
		Args:  arguments(cobra.NoArgs, "demo"),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.runDemo(cmd.Context()) },
	}
}

// demo is one demonstration.
type demo struct {
	app     *app
	project demoProject
	eng     engine
	mark    procscan.Mark // of the runtime, as the kernel shows it
	python  bool          // its REPL is there
	steps   []demoStep
}

// demoStep is one line of it.
type demoStep struct {
	Step string `json:"step"`
	Text string `json:"text"`
}

func (a *app) runDemo(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "hearth-demo-")
	if err != nil {
		return messages.Errorf(messages.KindInternal, "no place for the demo's project: %w", err)
	}
	defer os.RemoveAll(dir)
	d := &demo{app: a}
	if d.project, err = writeDemoProject(dir); err != nil {
		return messages.Errorf(messages.KindInternal, "cannot write the demo's project: %w", err)
	}
	if err := d.show(ctx); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(d.steps)
	}
	return nil
}

// show is the demonstration from end to end. The engine is a runtime in this process:
// the demo ends it, and a shared one has other users.
func (d *demo) show(ctx context.Context) error {
	cfg, err := d.app.load()
	if err != nil {
		return err
	}
	d.say("project", "%s: a Go module of one file, with a mistake in it", d.project.root)
	program, origin, err := d.app.gopls(ctx)
	if err != nil {
		return err
	}
	d.say("server", "%s (%s)", program, origin)
	d.project.configure(&cfg, program)
	python := cfg.Languages["python"]
	_, err = python.Find([]config.Command{python.REPL.Command}, d.app.environ("PATH"), d.project.code)
	d.python = err == nil
	var stopping time.Time
	err = d.app.withEngine(ctx, cfg, func(eng engine) error {
		d.eng = eng
		for _, step := range []func(context.Context) error{d.check, d.hover, d.run, d.findMark, d.orphan, d.status} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		stopping = time.Now()
		return nil
	})
	if err != nil {
		return err
	}
	d.say("stop", "done in %s", since(stopping))
	return d.prove(ctx)
}

func (d *demo) check(ctx context.Context) error {
	began := time.Now()
	report, err := d.eng.Diagnostics(ctx, d.project.document("go"))
	if err != nil {
		return err
	}
	if len(report.Diagnostics) == 0 {
		return messages.Errorf(messages.KindInternal, "the server did not find the mistake in %s", report.File)
	}
	finding := render.Diagnostics(demoFile, []byte(demoText), report.Diagnostics[:1])
	d.say("check", "%s (%s, from a cold start)", strings.TrimSpace(finding), since(began))
	return nil
}

func (d *demo) hover(ctx context.Context) error {
	began := time.Now()
	at, err := supervisor.CharacterPosition([]byte(demoText), demoHoverLine, demoHoverColumn)
	if err != nil {
		return messages.Errorf(messages.KindInternal, "%w", err)
	}
	report, err := d.eng.Hover(ctx, d.project.document("go"), at)
	if err != nil {
		return err
	}
	signature := ""
	for line := range strings.Lines(report.Text) {
		if strings.HasPrefix(line, "func ") {
			signature = strings.TrimSpace(line)
		}
	}
	if signature == "" {
		return messages.Errorf(messages.KindInternal, "the server's hover shows no function: %q", report.Text)
	}
	d.say("hover", "%s:%d:%d: %s (%s, warm)", demoFile, demoHoverLine, demoHoverColumn, signature, since(began))
	return nil
}

// run runs code, where there is a REPL for it. One that doesn't start says nothing
// of hearth, so the demo goes on.
func (d *demo) run(ctx context.Context) error {
	if !d.python {
		return nil
	}
	began := time.Now()
	report, err := d.eng.RunCode(ctx, supervisor.Snippet{Project: d.project.code, Language: "python", Code: demoCode})
	switch {
	case messages.KindOf(err) == messages.KindProcess:
		d.say("run", "python's REPL can't be used here: %v", err)
		return nil
	case err != nil:
		return err
	}
	d.say("run", "python: %s gives %s (%s, from a cold start)", demoCode, report.Result, since(began))
	return nil
}

// status waits for the next sample of the trees' memory: the last one may be from
// when they were starting.
func (d *demo) status(ctx context.Context) error {
	began := time.Now()
	var status supervisor.Status
	err := poll(ctx, func() (bool, error) {
		var err error
		status, err = d.eng.Status(ctx)
		sampled := !slices.ContainsFunc(status.Trees, func(t messages.TreeStatus) bool { return t.Sampled.Before(began) })
		return sampled || time.Since(began) > demoSample, err
	})
	if err != nil {
		return err
	}
	d.say("status", "%s", render.Summary(status))
	return nil
}

// say prints one step's line when it is done. A line that can't be written is no
// reason to leave the rest undone.
func (d *demo) say(step, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	d.steps = append(d.steps, demoStep{step, text})
	if !d.app.json {
		fmt.Fprintf(d.app.stdout, "%-8s %s\n", step, text)
	}
}

func since(began time.Time) time.Duration {
	passed := time.Since(began)
	if passed < 10*time.Millisecond {
		return passed.Round(10 * time.Microsecond)
	}
	return passed.Round(time.Millisecond)
}
