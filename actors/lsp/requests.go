package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.lsp.dev/jsonrpc2"
)

// maxAsked bounds the answers that wait for the server to read. Each holds a goroutine
// of jsonrpc2's.
const maxAsked = 256

// fixedAnswers are the results of requests that need no thought. An error in answer to
// one of these makes real servers exit, no answer makes others hang.
var fixedAnswers = map[string]json.RawMessage{
	"client/registerCapability":             nil,
	"client/unregisterCapability":           nil,
	"window/showMessageRequest":             nil,
	"window/workDoneProgress/create":        nil,
	"workspace/codeLens/refresh":            nil,
	"workspace/diagnostic/refresh":          nil,
	"workspace/foldingRange/refresh":        nil,
	"workspace/inlayHint/refresh":           nil,
	"workspace/inlineValue/refresh":         nil,
	"workspace/semanticTokens/refresh":      nil,
	"workspace/textDocumentContent/refresh": nil,

	"window/showDocument": json.RawMessage(`{"success":false}`),
	"workspace/applyEdit": json.RawMessage(`{"applied":false,"failureReason":"edits are returned to the caller, not applied"}`),
}

// handle takes what the server sends by itself, on the read goroutine. Params and
// method are borrowed until it returns. It returns no error for a notification, which
// would end the connection, and recovers by itself for the same reason.
func (w *wire) handle(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			w.fail(&StreamError{Reason: fmt.Sprintf("handling %s panicked: %v", strings.Clone(req.Method()), p)})
			result, err = nil, nil
		}
	}()
	if !req.IsCall() {
		w.notified(req.Method(), req.Params())
		return nil, nil
	}
	result, err = w.answer(req.Method(), req.Params())
	if w.stream.waiting.Load() > maxAsked {
		w.fail(&StreamError{Reason: "the language server asks but reads no answers"})
	}
	// The answer is written after this returns. A server that isn't reading just now,
	// because it is itself writing, must still be read from, or both wait for ever.
	jsonrpc2.Async(ctx)
	return result, err
}

func (w *wire) answer(method string, params []byte) (any, error) {
	switch method {
	case "client/registerCapability":
		return nil, w.registered(params)
	case "client/unregisterCapability":
		return nil, w.unregistered(params)
	case "workspace/configuration":
		return w.configuration(params), nil
	case "workspace/workspaceFolders":
		return w.answers.Folders, nil
	}
	if fixed, known := fixedAnswers[method]; known {
		if fixed == nil {
			return nil, nil
		}
		return fixed, nil
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "method %q is not known to this client", method)
}

// configuration gives one item for each that was asked for: its section of the
// settings, or {}. A null item would keep some servers from publishing at all.
func (w *wire) configuration(params []byte) []any {
	var asked struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	_ = json.Unmarshal(params, &asked) // an item that isn't understood gets {} as well
	answer := make([]any, len(asked.Items))
	for i, item := range asked.Items {
		answer[i] = section(w.answers.Settings, item.Section)
	}
	return answer
}

func section(settings map[string]any, name string) any {
	var value any = settings
	for part := range strings.SplitSeq(name, ".") {
		if part == "" {
			continue
		}
		table, _ := value.(map[string]any)
		value = table[part]
	}
	if table, ok := value.(map[string]any); value == nil || ok && table == nil {
		return struct{}{}
	}
	return value
}
