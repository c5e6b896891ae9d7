package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// lspFlags are those of one `hearth lsp`.
type lspFlags struct {
	language string
	params   string
	timeout  time.Duration
}

func (a *app) lsp() *cobra.Command {
	const usage = "lsp METHOD [FILE[:LINE:COLUMN]]"
	var flags lspFlags
	cmd := &cobra.Command{
		Use:   usage,
		Short: "Ask a language server for a definition, references, symbols, a rename, or by any method of LSP",
		Long: `Ask a language server by a method of LSP, or by one of these names:

  ` + strings.Join(supervisor.QueryNames(), ", ") + `

LINE and COLUMN count from 1, in characters, as compilers print them. Without FILE the
request is about the whole project (workspace-symbols). Edits are printed, not made.
With --json the server's own result is printed, in which places count from 0.`,
		Example: `  hearth lsp definition main.go:12:5
  hearth lsp rename main.go:12:5 --params '{"newName":"total"}'
  hearth lsp workspace-symbols --params '{"query":"Total"}'
  hearth lsp textDocument/foldingRange main.go`,
		Args: arguments(cobra.RangeArgs(1, 2), usage),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runLSP(cmd.Context(), flags, args[0], append(args[1:], "")[0])
		},
	}
	cmd.Flags().StringVar(&flags.language, "language", "", "the language whose server is asked (default: by the file's extension, else by the project's markers)")
	cmd.Flags().StringVar(&flags.params, "params", "", "further members of the request's parameters, a JSON object")
	cmd.Flags().Func("timeout", "for the answer, once the server takes the request, such as 90s (default: lsp.timeout)", func(text string) error {
		var err error
		flags.timeout, err = config.ParseDuration(text)
		return err
	})
	return cmd
}

func (a *app) runLSP(ctx context.Context, flags lspFlags, method, target string) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	if method, err = supervisor.QueryMethod(method); err != nil {
		return err
	}
	params := json.RawMessage(flags.params)
	var object map[string]json.RawMessage
	if flags.params != "" && json.Unmarshal(params, &object) != nil {
		return messages.Invalidf("--params must be a JSON object, such as '{\"newName\":\"x\"}'")
	}
	doc, at, err := a.queried(cfg, flags, target)
	if err != nil {
		return err
	}
	return a.withShared(ctx, cfg, func(eng engine) error {
		done := a.progress(ctx, eng)
		report, err := eng.Query(ctx, doc, method, at, params)
		done()
		switch {
		case err != nil:
			return err
		case a.json:
			return a.printJSON(report.Result)
		}
		return a.print(render.Query(doc, report))
	})
}

// queried finds what a request is about: a place, a file, or a project.
func (a *app) queried(cfg config.Config, flags lspFlags, target string) (doc supervisor.Document, at *supervisor.Position, err error) {
	if target == "" {
		doc = supervisor.Document{Language: flags.language, Timeout: flags.timeout}
		if doc.Project, err = a.projectAt(cfg, flags.language, ".", false); err != nil {
			return doc, nil, err
		}
		_, err = config.Resolve(cfg, config.Request{Project: doc.Project, Language: doc.Language})
		return doc, nil, err
	}
	file, line, column, placed := target, 0, 0, false
	if f, l, c, err := splitPlace(target); err == nil {
		file, line, column, placed = f, l, c, true
	}
	if doc, err = a.locate(cfg, file); err != nil {
		return doc, nil, err
	}
	doc.Timeout = flags.timeout
	if flags.language != "" {
		doc.Language = flags.language
	}
	if !placed {
		return doc, nil, nil
	}
	source, err := os.ReadFile(doc.File)
	if err != nil {
		return doc, nil, messages.Invalidf("%w", err)
	}
	position, err := supervisor.CharacterPosition(source, line, column)
	if err != nil {
		return doc, nil, messages.Invalidf("%s: %w", target, err)
	}
	return doc, &position, nil
}
