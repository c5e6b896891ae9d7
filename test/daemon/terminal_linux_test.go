package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/standins"
)

func TestAPersonIsToldOfTheDaemonThatTheirCommandStarts(t *testing.T) {
	h, tty := newHome(t, options{}), standins.OpenTerminal(t)
	at := func(args ...string) {
		t.Helper()
		c := h.command(args...)
		tty.Lead(c)
		require.NoError(t, c.Start())
		require.NoError(t, c.Wait())
	}
	at("hover", "a.fake:1:1")
	told := fmt.Sprintf("hearth: started the shared daemon (process %d); `hearth stop` ends it\r\n", h.status().PID)
	require.True(t, standins.Until(bound, func() bool { return strings.Contains(tty.Text(), "word") }), "%q", tty.Text())
	assert.Contains(t, tty.Text(), told)
	at("hover", "a.fake:1:6")
	require.True(t, standins.Until(bound, func() bool { return strings.Contains(tty.Text(), "another") }), "%q", tty.Text())
	assert.Equal(t, 1, strings.Count(tty.Text(), "started the shared daemon"), "the second found it")

	require.Zero(t, h.hearth("stop").code)
	assert.Equal(t, outcome{0, "word\n", ""}, h.hearth("hover", "a.fake:1:1"), "nothing is said in a pipe")
}
