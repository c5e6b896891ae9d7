package supervisor_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-f6977891/hearth/supervisor"
)

func TestMain(m *testing.M) {
	supervisor.GuardMain()
	goleak.VerifyTestMain(m)
}
