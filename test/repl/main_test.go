// Package repl_test holds REPL pools to their promises from outside: a whole runtime,
// real processes, and what they left in their journals and in /proc.
package repl_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
