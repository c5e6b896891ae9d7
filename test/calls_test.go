package test_test

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"
)

const hollywood = "github.com/anthdm/hollywood/actor"

// goroutines may begin here. Elsewhere blocking work is actors.Go, whose answer is
// a message and whose panic is one too.
var goroutines = []string{
	"actors",              // the kit: its workers, timers and guard
	"procscan",            // the readers of a child's pipes
	"supervisor/client",   // a connection's reader
	"supervisor/guard.go", // runs where no actor is
	"cmd/runtime/...",     // the daemon's connections, commands that wait
}

// calls lists functions and methods that only some places may call or name.
var calls = []struct {
	functions []string // as types.Func.FullName gives them; a * at the end is any rest
	places    []string
	why       string
}{
	{[]string{"(*sync.WaitGroup).Go", "(*golang.org/x/sync/errgroup.Group).*", "time.AfterFunc"}, goroutines,
		"it is a goroutine by another name"},
	{[]string{"(*" + hollywood + ".Engine).SpawnProc"}, []string{"actors/spawn.go"},
		"Spawn alone enters actors into the Roster, with their parents"},
	{[]string{"(*" + hollywood + ".Engine).Spawn", "(*" + hollywood + ".Engine).SpawnFunc"}, nil,
		"hollywood's own process restarts actors by ways that end the program; Self.Spawn takes the kit's"},
	{[]string{"(*" + hollywood + ".Context).*"}, nil,
		"a context that is kept answers the wrong sender, SpawnChild's children outlive a restart, a second Respond blocks for ever"},
	{[]string{"(*" + hollywood + ".Engine).Request", hollywood + ".NewResponse", "(*" + hollywood + ".Engine).SendWithSender"}, nil,
		"request ids collide, and another actor's answer is delivered: answers go to a ReplyTo"},
	{[]string{"(*" + hollywood + ".Engine).Subscribe", "(*" + hollywood + ".Engine).Unsubscribe", "(*" + hollywood + ".Engine).BroadcastEvent"}, nil,
		"one stopped subscriber makes millions of dead letters a second"},
	{[]string{"(*" + hollywood + ".Engine).Poison*", "(*" + hollywood + ".Engine).Stop"}, nil,
		"a second pill may never end, and what stands behind one vanishes: Handle.Stop"},
	{[]string{"(*" + hollywood + ".Engine).SendRepeat"}, nil,
		"its goroutine outlives the actor: Self.After"},
	{[]string{"os.Chdir", "os.Setenv", "os.Unsetenv", "os.Clearenv", "log/slog.SetDefault", "log.SetOutput"}, []string{"cmd/runtime/..."},
		"nothing of an embedded engine is the whole process's"},
	{[]string{"os.Exit", "log.Fatal*", "runtime.Goexit"}, []string{"cmd/runtime/...", "supervisor/guard.go"},
		"a host outlives its engine; a guard process is none's host"},
}

func TestGoroutinesBeginOnlyWhereTheyMay(t *testing.T) {
	for _, s := range sources(t) {
		for _, b := range wrongGoroutines(s) {
			t.Error(b)
		}
	}
}

func wrongGoroutines(s source) (found []breach) {
	if s.isTest() || within(s.path, goroutines) {
		return nil
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if statement, ok := n.(*ast.GoStmt); ok {
			found = append(found, breach{s.path, s.line(statement.Pos()),
				"a go statement: blocking work of an actor is actors.Go, whose panic and whose answer are messages"})
		}
		return true
	})
	return found
}

func TestNobodyCallsWhatIsReservedOrForbidden(t *testing.T) {
	for _, p := range packages(t) {
		for _, b := range wrongCalls(p) {
			t.Error(b)
		}
	}
}

// wrongCalls looks at names, not at calls alone: a method value is one too.
func wrongCalls(p typed) (found []breach) {
	for _, s := range p.files {
		ast.Inspect(s.file, func(n ast.Node) bool {
			name, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if function, ok := p.info.Uses[name].(*types.Func); ok {
				for _, why := range forbidden(s.path, function.FullName()) {
					found = append(found, breach{s.path, s.line(name.Pos()), function.FullName() + ": " + why})
				}
			}
			return true
		})
	}
	return found
}

func forbidden(path, function string) (reasons []string) {
	for _, row := range calls {
		if !within(path, row.places) && slices.ContainsFunc(row.functions, func(pattern string) bool {
			prefix, open := strings.CutSuffix(pattern, "*")
			return function == pattern || open && strings.HasPrefix(function, prefix)
		}) {
			reasons = append(reasons, row.why)
		}
	}
	return reasons
}
