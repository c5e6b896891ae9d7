package main

import (
	"bufio"
	"context"
	"encoding/json"
	"strings"

	"github.com/seed-f6977891/hearth/test/standins/lsptext"
)

// setupResult is what setup-file came to: a fault takes the place of all elaboration.
type setupResult struct{ fault *message }

// runSetup runs lake setup-file in this worker's group. What it writes to its stderr is shown as an information at the
// beginning of the file while it runs.
func (w *worker) runSetup(text string) setupResult {
	h := parseHeader(text)
	if h.fault != "" {
		return faulty("unexpected token; expected identifier")
	}
	h.withSlowImports(text)
	input, err := json.Marshal(map[string]any{"imports": append([]imported{}, h.imports...), "isModule": h.module})
	if err != nil {
		w.process.Misused(err)
	}
	args := []string{"setup-file", lsptext.Path(w.uri), "-"}
	if w.mode == "never" {
		args = append(args, "--no-build", "--no-cache")
	}
	cmd := tool("lake", args...)
	cmd.Stdin = strings.NewReader(string(input))
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	if err != nil {
		w.process.Misused(err)
	}
	if err := start(w.process, "setup", cmd); err != nil {
		w.process.Misused(err)
	}
	said := ""
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		if said += line; line != "" {
			w.current(context.Background(), func() {
				w.publishNow(w.version, []message{{Severity: "info", Pos: place{1, 0}, End: &place{1, 0}, Data: said}})
			})
		}
		if err != nil {
			break
		}
	}
	switch code(cmd.Wait()) {
	case 0, setupNoLakefile:
		return setupResult{}
	case setupStale:
		return faulty(strings.Replace(staleAdvice, "%s", "must", 1))
	default:
		return faulty("`" + strings.Join(cmd.Args, " ") + "` failed:\n\nstderr:\n" + said)
	}
}

func faulty(text string) setupResult {
	return setupResult{&message{Severity: "error", Pos: place{1, 0}, End: &place{1, 0}, Data: text}}
}
