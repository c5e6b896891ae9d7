package test_test

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stateMachine is one actor's states with its two accounts of how one follows another:
// the table in its doc comment, which people read, and the data that Become checks.
type stateMachine struct {
	path   string
	states []string // as String names them, lower case, without blanks; in their order
	legal  map[string][]string
	spoken map[string]string // how String writes them
	rows   []tableRow
}

// tableRow is one row of a table: "in one of these states … one of those is next".
type tableRow struct {
	line     int
	from, to []string
}

func TestTablesSayWhatTheMachinesAllow(t *testing.T) {
	var found []string
	for _, s := range sources(t) {
		if s.isTest() || legalOf(s.file) == nil {
			continue
		}
		found = append(found, s.path)
		for _, b := range wrongTable(s) {
			t.Error(b)
		}
	}
	assert.GreaterOrEqual(t, len(found), 8, "the machines: %v", found)
}

// wrongTable compares a file's table with its data. A row leads from each of its
// states to each that it names as next, or leaves it where it is (same). A state may
// be reached through another that is named beside it: "Closing, Closed". Of a row
// with several states on both sides each must lead somewhere, and be led to.
func wrongTable(s source) (found []breach) {
	m, err := machineOf(s)
	if err != nil {
		return []breach{{s.path, 1, err.Error()}}
	}
	told := make(map[[2]string]bool)
	for _, row := range m.rows {
		led := make(map[string]bool)
		for _, from := range row.from {
			anywhere := false
			for _, to := range row.to {
				if m.leads(from, to, row.to) {
					anywhere, led[to], told[[2]string{from, to}] = true, true, true
				} else if len(row.from) == 1 || len(row.to) == 1 {
					found = append(found, breach{s.path, row.line, fmt.Sprintf("the table leads from %s to %s, the data don't", from, to)})
				}
			}
			if !anywhere && len(row.to) > 1 {
				found = append(found, breach{s.path, row.line, "no state of this row follows on " + from})
			}
		}
		for _, to := range row.to {
			if !led[to] && len(row.from) > 1 && len(row.to) > 1 {
				found = append(found, breach{s.path, row.line, to + " follows on no state of this row"})
			}
		}
	}
	for from, next := range m.legal {
		for _, to := range next {
			if !told[[2]string{from, to}] {
				found = append(found, breach{s.path, 1, fmt.Sprintf("the data lead from %s to %s, no row of the table does", from, to)})
			}
		}
	}
	return found
}

func (m stateMachine) leads(from, to string, beside []string) bool {
	if from == to || to == "same" || slices.Contains(m.legal[from], to) {
		return true
	}
	return slices.ContainsFunc(beside, func(via string) bool {
		return slices.Contains(m.legal[from], via) && slices.Contains(m.legal[via], to)
	})
}

// machineOf reads a file that has one machine.
func machineOf(s source) (stateMachine, error) {
	legal := legalOf(s.file)
	typeName := legal.Type.(*ast.IndexExpr).Index.(*ast.Ident).Name
	constants := constantsOf(s.file, typeName)
	names := namesOf(s.file, typeName, constants)
	m := stateMachine{path: s.path, legal: make(map[string][]string), spoken: make(map[string]string)}
	for _, constant := range constants {
		if names[constant] == "" {
			return m, fmt.Errorf("%s has no name", constant)
		}
		m.states = append(m.states, plain(names[constant]))
		m.spoken[plain(names[constant])] = names[constant]
	}
	for _, element := range legal.Elts {
		pair := element.(*ast.KeyValueExpr)
		from := plain(names[pair.Key.(*ast.Ident).Name])
		for _, to := range pair.Value.(*ast.CompositeLit).Elts {
			m.legal[from] = append(m.legal[from], plain(names[to.(*ast.Ident).Name]))
		}
	}
	var err error
	m.rows, err = m.table(s)
	return m, err
}

// legalOf finds the literal of an actors.Legal, nil if there is none.
func legalOf(file *ast.File) (legal *ast.CompositeLit) {
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.CompositeLit); ok {
			if index, ok := literal.Type.(*ast.IndexExpr); ok {
				if of, ok := index.X.(*ast.SelectorExpr); ok && of.Sel.Name == "Legal" {
					legal = literal
				}
			}
		}
		return true
	})
	return legal
}

// constantsOf gives the constants of a type, in their order.
func constantsOf(file *ast.File, typeName string) (constants []string) {
	for _, decl := range file.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		ours := false
		for _, spec := range block.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok {
				break
			}
			if value.Type != nil {
				ident, ok := value.Type.(*ast.Ident)
				ours = ok && ident.Name == typeName
			}
			if ours {
				constants = append(constants, value.Names[0].Name)
			}
		}
	}
	return constants
}

// namesOf reads the names of a type's constants from the literal in its String.
func namesOf(file *ast.File, typeName string, constants []string) map[string]string {
	names := make(map[string]string)
	for _, decl := range file.Decls {
		method, ok := decl.(*ast.FuncDecl)
		if !ok || method.Name.Name != "String" || method.Recv == nil || method.Recv.List[0].Type.(*ast.Ident).Name != typeName {
			continue
		}
		ast.Inspect(method, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			for i, element := range literal.Elts {
				constant := ""
				if pair, ok := element.(*ast.KeyValueExpr); ok {
					constant, element = pair.Key.(*ast.Ident).Name, pair.Value
				} else if i < len(constants) {
					constant = constants[i]
				}
				text, err := strconv.Unquote(element.(*ast.BasicLit).Value)
				if err == nil {
					names[constant] = text
				}
			}
			return false
		})
	}
	return names
}

// plain is a state's name as "ShuttingDown" and "shutting down" have it in common.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, " ", "")) }

// table reads the rows from the doc comment of the file's type that has them.
func (m stateMachine) table(s source) (rows []tableRow, err error) {
	for _, decl := range s.file.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || block.Doc == nil {
			continue
		}
		for _, comment := range block.Doc.List {
			text, ok := strings.CutPrefix(comment.Text, "//\t")
			cells := strings.Split(text, "|")
			if !ok || len(cells) < 4 {
				continue
			}
			row := tableRow{line: s.line(comment.Pos())}
			row.from, err = m.read(cells[0])
			if err == nil {
				row.to, err = m.read(cells[len(cells)-1])
			}
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", row.line, err)
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no doc comment has a table of %v", m.states)
	}
	return rows, nil
}

// read gives the states of a cell: a list, "any", "any but X", "any before X", or
// "otherwise", which is any that no row above speaks of and may be all.
func (m stateMachine) read(cell string) (states []string, err error) {
	cell = strings.TrimSpace(cell)
	if cell == "any" || strings.HasPrefix(cell, "otherwise") {
		return m.states, nil
	}
	name, isBefore := strings.CutPrefix(cell, "any before ")
	name, isBut := strings.CutPrefix(name, "any but ")
	if isBefore || isBut {
		at := slices.Index(m.states, plain(name))
		if at < 0 {
			return nil, fmt.Errorf("%q is no state of %v", name, m.states)
		}
		if isBefore {
			return m.states[:at], nil
		}
		return slices.Concat(m.states[:at], m.states[at+1:]), nil
	}
	cell, _, _ = strings.Cut(cell, "(") // what it depends on
	for _, name := range strings.Split(cell, ",") {
		name = plain(strings.TrimPrefix(strings.TrimSpace(name), "or "))
		if name != "same" && !slices.Contains(m.states, name) {
			return nil, fmt.Errorf("%q is no state of %v", name, m.states)
		}
		states = append(states, name)
	}
	return states, nil
}

func TestATableThatSaysOtherwiseIsFound(t *testing.T) {
	const before, after = `package p

// a does something.
//
//	Open, ShuttingDown | Close | say so | same
`, `type a struct{}

type state uint8

const (
	open state = iota
	shuttingDown
	closed
)

func (s state) String() string { return [...]string{"open", "shutting down", "closed"}[s] }

var legal = actors.Legal[state]{
	open:         {shuttingDown},
	shuttingDown: {closed},
}
`
	for table, want := range map[string]int{
		"Open | Close | | ShuttingDown\n//\tShuttingDown | gone | | Closed":                                              0,
		"Open | Close | | ShuttingDown, Closed\n//\tShuttingDown | gone | | Closed":                                      0,
		"any before Closed | Close | | ShuttingDown\n//\tany but Open | gone | | Closed":                                 0,
		"Open | Close | | ShuttingDown":                                                                                  1, // never closed
		"Open | Close | | ShuttingDown\n//\tShuttingDown | gone | | Closed\n//\tOpen | gone | | Closed":                  1, // not at once
		"Open | Close | | ShuttingDown\n//\tany | gone | | Closed":                                                       1,
		"Open, ShuttingDown | Close | | ShuttingDown, Closed":                                                            0,
		"Open | Close | | ShuttingDown\n//\tShuttingDown | gone | | Closed\n//\tShuttingDown, Closed | x | | same, Open": 1, // nothing leads back
		"Opened | Close | | ShuttingDown":                                                                                1, // no such state
		"":                                                                                                               2,
	} {
		row := ""
		if table != "" {
			row = "//\t" + table + "\n"
		}
		s := snippet(t, "p/a.go", before+row+after)
		require.NotNil(t, legalOf(s.file))
		assert.Len(t, wrongTable(s), want, "%s", table)
	}
}
