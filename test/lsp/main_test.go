// Package lsp_test holds language servers to what the runtime promises of them, from
// outside: whole runtimes with real servers, with a scripted one that does what users
// reported of others, and with Lean's stand-in.
package lsp_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
