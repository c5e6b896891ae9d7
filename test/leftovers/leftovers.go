// Package leftovers ends the processes that failed tests leave.
package leftovers

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/procscan"
)

// Patient is [procscan.DefaultGrace] with a minute, not one second, to see what the
// machine's newest processes are: one with much to do lets them wait in their execve(2).
var Patient = procscan.Grace{Term: procscan.DefaultGrace.Term, Kill: time.Minute, Pause: procscan.DefaultGrace.Pause}

// End ends what carries the mark, whatever the test's own context says.
func End(t testing.TB, mark procscan.Mark) {
	t.Helper()
	err := procscan.Sweep(context.Background(), procscan.SystemTable(), procscan.Target{Mark: mark}, Patient)
	assert.NoError(t, err)
}
