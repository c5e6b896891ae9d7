// Package test_test holds the laws that the source itself must keep: who imports
// whom, what nobody calls, where goroutines begin, and how the tree is laid out.
//
// source_test.go reads the repository. imports_test.go, calls_test.go and
// layout_test.go are a table of laws each, with the reason beside each law, and
// snippets_test.go proves that every law can be broken. tables_test.go compares the
// table of each actor's states with the data that it goes by.
package test_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
