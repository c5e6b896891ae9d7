package main

import "encoding/json"

// initializeResult is Lean's answer to initialize.
var initializeResult = json.RawMessage(`{"capabilities":{"textDocumentSync":{"openClose":true,"change":2,"willSave":false,` +
	`"willSaveWaitUntil":false,"save":{"includeText":true}},"completionProvider":{"triggerCharacters":["."],"resolveProvider":true},` +
	`"hoverProvider":true,"declarationProvider":true,"definitionProvider":true,"typeDefinitionProvider":true,"referencesProvider":true,` +
	`"callHierarchyProvider":true,"renameProvider":{"prepareProvider":true},"workspaceSymbolProvider":true,` +
	`"documentHighlightProvider":true,"documentSymbolProvider":true,"foldingRangeProvider":true,"semanticTokensProvider":{"legend":` +
	`{"tokenTypes":["keyword","variable","property","function","leanSorryLike"],"tokenModifiers":["declaration","definition"]},` +
	`"full":true,"range":true},"codeActionProvider":{"resolveProvider":true,"codeActionKinds":["quickfix","refactor"]},` +
	`"inlayHintProvider":{"resolveProvider":false}},"serverInfo":{"name":"Lean 4 Server","version":"0.3.0"}}`)

// watcherRegistration is what Lean asks for under the id "register_lean_watcher" after initialized.
var watcherRegistration = json.RawMessage(`{"registrations":[{"id":"lean_watcher","method":"workspace/didChangeWatchedFiles",` +
	`"registerOptions":{"watchers":[{"globPattern":"**/*.lean"},{"globPattern":"**/*.ilean"}]}}]}`)

// rawMethod is a notification between worker and watchdog that Lean doesn't know: bytes for the client's stream that are no
// message. Only the watchdog can write them, since the worker's own stream ends there.
const rawMethod = "$/fake/raw"

type rawParams struct {
	Bytes []byte `json:"bytes"`
	Last  bool   `json:"last"` // nothing more follows, ever
}
