package main

import (
	"fmt"
	"strings"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
)

// slowEnough is after how many seconds a file is worth a line at the terminal.
const slowEnough = 2

// watchLine shows what a build does. At a terminal that is one line over and over,
// below what the build prints: the cursor is left at its beginning, so that the build
// writes over it.
type watchLine struct {
	app    *app
	quiet  bool // say nothing before the end
	shown  string
	unsaid []messages.Breach
}

// hear is called with what becomes of the build.
func (w *watchLine) hear(event supervisor.BuildEvent) {
	switch {
	case len(event.Breaches) > 0 && w.quiet:
		w.unsaid = event.Breaches
	case len(event.Breaches) > 0:
		w.show("")
		w.say(event.Breaches)
	case w.app.width > 0 && !w.quiet && len(event.Running) > 0 && event.Running[0].Seconds >= slowEnough:
		w.show(render.Running(event.Running))
	default:
		w.show("")
	}
}

// end clears the line and says what had to wait.
func (w *watchLine) end() {
	w.show("")
	w.say(w.unsaid)
}

func (w *watchLine) say(breaches []messages.Breach) {
	for _, breach := range breaches {
		err := breach.Err()
		w.app.complain(fmt.Errorf("%w; the build is ended", err))
		w.app.annotate(breach.File, err.Error())
	}
}

func (w *watchLine) show(text string) {
	line := []rune(text)
	if len(line) >= w.app.width && text != "" { // a line that wraps could not be painted over
		line = line[:w.app.width-1]
	}
	if text = string(line); text != w.shown {
		fmt.Fprintf(w.app.stderr, clearLine+"%s\r", text)
		w.shown = text
	}
}

// annotate shows an error where GitHub shows a workflow's: see its documentation of
// workflow commands, which are read from both standard streams.
func (a *app) annotate(file, text string) {
	if a.environ("GITHUB_ACTIONS") != "true" {
		return
	}
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	if file == "" {
		fmt.Fprintf(a.stderr, "::error::%s\n", data.Replace(text))
		return
	}
	first, _, _ := strings.Cut(file, ", ") // of a whole package's
	fmt.Fprintf(a.stderr, "::error file=%s::%s\n", property.Replace(first), data.Replace(text))
}
