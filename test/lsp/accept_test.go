package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/test/standins"
)

func TestRealServersServeManyAgentsTruthfully(t *testing.T) {
	for name, s := range reals {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they mostly wait for a second of quiet
			r := s.start(t)
			r.finds(s)
			r.noticesOthers(s)
			r.answers(s)
			r.servesManyAtOnce(s)
			r.survivesACancel(s)
			r.replacesAKilled(s)
		})
	}
}

// TestRealServersSeeAFileThatIsOpenedAsSoonAsItIsMade: it is open when its making can be
// told, and other files' answers depend on that.
func TestRealServersSeeAFileThatIsOpenedAsSoonAsItIsMade(t *testing.T) {
	for name, s := range reals {
		if s.gone == "" {
			continue // it checks each file alone
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := s.start(t)
			require.NoError(t, os.Remove(filepath.Join(r.root, s.def))) // the server has not begun
			assert.NotEmpty(t, r.found(s.use), "what it needs is not there")
			r.write(s.def, s.defText)
			_, err := r.Hover(r.bounded(), r.doc(s.def), supervisor.Position{})
			assert.NoError(t, err)
			assert.Empty(t, r.found(s.def))
			assert.Empty(t, r.found(s.use), "it is there")
		})
	}
}

// finds: an error, gone with the text on disk, in both orders.
func (r *rig) finds(s real) {
	r.write(s.use, s.bad)
	assert.NotEmpty(r.t, r.found(s.use), "an error")
	r.write(s.use, s.good)
	assert.Empty(r.t, r.found(s.use), "it is gone with the text")
	assert.Empty(r.t, r.found(s.use), "and stays so")
	r.write(s.use, s.bad)
	assert.NotEmpty(r.t, r.found(s.use), "another one")
	r.write(s.use, s.good)
	assert.Empty(r.t, r.found(s.use))
}

// noticesOthers: a change in the file that use needs, while that is open and while it
// isn't.
func (r *rig) noticesOthers(s real) {
	if s.gone == "" {
		return
	}
	for _, open := range []bool{false, true} {
		if open {
			assert.Empty(r.t, r.found(s.def))
		}
		r.write(s.def, s.gone)
		assert.NotEmpty(r.t, r.found(s.use), "another file changed, open: %v", open)
		r.write(s.def, s.defText)
		assert.Empty(r.t, r.found(s.use), "and back, open: %v", open)
	}
}

func (r *rig) answers(s real) {
	hover, err := r.Hover(r.bounded(), r.doc(s.use), *r.at(s.use, s.word))
	if assert.NoError(r.t, err) {
		assert.Contains(r.t, hover.Text, s.hover)
	}
	if s.astral != "" {
		r.write(s.use, s.astral)
		hover, err := r.Hover(r.bounded(), r.doc(s.use), *r.at(s.use, s.word))
		assert.NoError(r.t, err)
		assert.Contains(r.t, hover.Text, s.hover, "whatever the server counts in")
		r.write(s.use, s.good)
	}
	for _, ask := range s.asks {
		result, err := r.ask(s, ask)
		if ask.want == notOffered {
			assertNotOffered(r.t, ask.name, err)
			continue
		}
		if assert.NoError(r.t, err, ask.name) {
			assert.Contains(r.t, string(result), ask.want, ask.name)
		}
	}
}

func (r *rig) ask(s real, ask asked) (json.RawMessage, error) {
	doc, at := r.doc(s.use), (*supervisor.Position)(nil)
	switch ask.at {
	case "-":
	case "/":
		doc.File = ""
	default:
		at = r.at(s.use, ask.at)
	}
	report, err := r.Query(r.bounded(), doc, ask.name, at, json.RawMessage(ask.params))
	return report.Result, err
}

func assertNotOffered(t testing.TB, name string, err error) {
	t.Helper()
	assert.Equal(t, messages.KindProtocol, messages.KindOf(err), "%s: %v", name, err)
	assert.ErrorContains(t, err, "not offered by ", name)
}

// servesManyAtOnce: 16 calls on 4 files, side by side, each about its own text.
func (r *rig) servesManyAtOnce(s real) {
	var names []string
	for n := range 4 {
		name, text := fmt.Sprintf("many%d%s", n, filepath.Ext(s.use)), s.good
		if n%2 == 1 {
			text = s.bad
		}
		if s.language == "go" { // one package: each file its own names
			text = fmt.Sprintf("package m\n\nvar many%d = Def()\n", n)
			if n%2 == 1 {
				text = fmt.Sprintf("package m\n\nvar many%d string = Def()\n", n)
			}
		}
		r.write(name, text)
		names = append(names, name)
	}
	before := r.session().Actor
	var calls sync.WaitGroup
	for n := range 16 {
		name, bad := names[n%4], n%4%2 == 1
		calls.Go(func() {
			if n >= 8 {
				_, err := r.Hover(r.bounded(), r.doc(name), supervisor.Position{})
				assert.NoError(r.t, err)
				return
			}
			report, err := r.Diagnostics(r.bounded(), r.doc(name))
			if assert.NoError(r.t, err) {
				assert.Equal(r.t, bad, len(grave(report)) > 0, "%s: %v", name, report.Diagnostics)
			}
		})
	}
	calls.Wait()
	assert.Equal(r.t, before, r.session().Actor, "one server did it all")
}

// survivesACancel: who leaves is told so at once, and nobody else pays for it.
func (r *rig) survivesACancel(s real) {
	before := r.session().Actor
	ctx, cancel := context.WithCancel(r.bounded())
	r.write(s.use, s.bad)
	answer := make(chan error, 1)
	go func() {
		_, err := r.Diagnostics(ctx, r.doc(s.use))
		answer <- err
	}()
	require.True(r.t, standins.Until(standins.Bound, func() bool { return r.session().Active > 0 || len(answer) > 0 }))
	cancel()
	if err := <-answer; err != nil { // a fast server had answered, and a slow machine may not say the reason in time
		assert.Contains(r.t, []messages.Kind{messages.KindCancelled, messages.KindOutcomeUnknown}, messages.KindOf(err), "%v", err)
	}
	r.write(s.use, s.good)
	assert.Empty(r.t, r.found(s.use))
	assert.Equal(r.t, before, r.session().Actor, "the same server")
}

// replacesAKilled: the next call gets a new server, and nothing of the old one stays.
func (r *rig) replacesAKilled(s real) {
	old := r.leader()
	require.NoError(r.t, unix.Kill(old.Leader.PID, unix.SIGKILL))
	require.True(r.t, standins.Until(standins.Bound, func() bool {
		status, err := r.Status(r.bounded())
		return err == nil && len(status.Trees) == 0
	}), "its tree ends unasked")
	r.write(s.use, s.bad)
	began := time.Now()
	assert.NotEmpty(r.t, r.found(s.use))
	r.t.Logf("a new server answered after %v", time.Since(began).Round(time.Millisecond))
	assert.NotEqual(r.t, old.Leader, r.leader().Leader)
}
