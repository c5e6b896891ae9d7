package supervisor_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-f6977891/hearth/supervisor"
)

// initPrints has what a host's init functions may do: print, in a guard process too.
const initPrints = "HEARTH_TEST_INIT_PRINTS"

func init() { fmt.Print(os.Getenv(initPrints)) }

func TestMain(m *testing.M) {
	supervisor.GuardMain()
	goleak.VerifyTestMain(m)
}
