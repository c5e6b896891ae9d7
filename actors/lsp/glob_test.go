package lsp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGlobsMatchAsLSPDefines(t *testing.T) {
	for _, c := range []struct {
		glob string
		yes  []string
		no   []string
	}{
		{`"**/*.lean"`, []string{"/r/A.lean", "/r/a/b/C.lean"}, []string{"/r/A.leanx", "/q/A.lean", "/r/A.lean/x"}},
		{`"*.lean"`, []string{"/r/A.lean"}, []string{"/r/a/B.lean"}},
		{`"**"`, []string{"/r/A", "/r/a/b"}, []string{"/q"}},
		{`"**/*.{go,mod,s}"`, []string{"/r/a.go", "/r/x/go.mod"}, []string{"/r/a.py", "/r/ago"}},
		{`"a?c/[0-9][!x].t"`, []string{"/r/abc/1y.t"}, []string{"/r/abc/1x.t", "/r/abc/ay.t", "/r/a/c/1y.t"}},
		{`"src/**/x.{a,{b,c}}"`, []string{"/r/src/x.a", "/r/src/1/2/x.c"}, []string{"/r/x.a"}},
		{`"/r/**/*.go"`, []string{"/r/a.go", "/r/b/c.go"}, []string{"/q/a.go"}},
		{`"a+b(c).[t"`, []string{"/r/a+b(c).[t"}, []string{"/r/aab(c).[t"}},
		{`{"baseUri":"file:///r/sub%20dir","pattern":"**/*.py"}`, []string{"/r/sub dir/a.py"}, []string{"/r/a.py"}},
		{`{"baseUri":{"uri":"file:///r/s","name":"s"},"pattern":"*"}`, []string{"/r/s/a"}, []string{"/r/s/a/b", "/r/a"}},
	} {
		p, ok := parsePattern(json.RawMessage(c.glob), 0)
		require.True(t, ok, c.glob)
		for _, path := range c.yes {
			assert.True(t, p.wants("/r", FileChange{path, FileChanged}), "%s should match %s", c.glob, path)
		}
		for _, path := range c.no {
			assert.False(t, p.wants("/r", FileChange{path, FileChanged}), "%s should not match %s", c.glob, path)
		}
	}
}

func TestAPatternIsToldOnlyTheKindsItAskedFor(t *testing.T) {
	p, ok := parsePattern(json.RawMessage(`"**"`), 1|4)
	require.True(t, ok)
	assert.True(t, p.wants("/r", FileChange{"/r/a", FileCreated}))
	assert.False(t, p.wants("/r", FileChange{"/r/a", FileChanged}))
	assert.True(t, p.wants("/r", FileChange{"/r/a", FileDeleted}))
}

func TestWhatIsNoPatternIsLeftOut(t *testing.T) {
	for _, bad := range []string{`1`, `null2`, `{"pattern":"x"}`, `{"baseUri":"http://x","pattern":"x"}`, `"[z-a]"`} {
		_, ok := parsePattern(json.RawMessage(bad), 0)
		assert.False(t, ok, bad)
	}
}
