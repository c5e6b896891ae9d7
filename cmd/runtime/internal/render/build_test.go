package render

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
)

func TestABuildsFilesReadSlowestFirst(t *testing.T) {
	assert.Equal(t, "compiling A.lean 12s, b.c 0s", Running([]messages.RunningFile{{File: "A.lean", Seconds: 12.9}, {File: "b.c", Seconds: 0.3}}))
	report := supervisor.BuildReport{Compiles: 3, Slowest: []messages.Compile{
		{File: "A.lean", Seconds: 12.34, Peak: 700 << 20}, {File: "b.c", Seconds: 0.3}, {File: "c.c"}}}
	assert.Equal(t, `The slowest files, of 3 compiles that took long enough to be seen:
SECONDS  MEMORY   FILE
12.3     700 MiB  A.lean
0.3      0 MiB    b.c
`, Slowest(report, 2))
	assert.Empty(t, Slowest(supervisor.BuildReport{}, 2))
	assert.Equal(t, "1 process tree: watch in proofs 7", Summary(supervisor.Status{Trees: []messages.TreeStatus{{TreeSnapshot: messages.TreeSnapshot{
		Role: messages.RoleWatch, Key: messages.Key{Root: "/home/me/proofs"}, Leader: procscan.Identity{PID: 7}}}}}))
}
