package lsp

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const oddPath = "/p/my proj (1) #2 100%/größe 𝕏?+&.lean"

func TestAPathSurvivesItsURI(t *testing.T) {
	for _, path := range []string{oddPath, "/", "/a", "/a/b%20c", "/a:b/@c;d=e,f", "/é/𝕏"} {
		uri := PathToURI(path)
		for _, c := range uri {
			assert.Less(t, c, rune(0x80), "%s holds what isn't ASCII", uri)
			assert.NotContains(t, " #?", string(c), uri)
		}
		back, ok := URIToPath(uri)
		assert.True(t, ok, uri)
		assert.Equal(t, path, back)
	}
}

func TestEverySpellingOfAURINamesTheSameFile(t *testing.T) {
	ours := PathToURI(oddPath)
	for name, uri := range map[string]string{
		"all reserved escaped": "file:///p/my%20proj%20%281%29%20%232%20100%25/gr%C3%B6%C3%9Fe%20%F0%9D%95%8F%3F%2B%26.lean",
		"lower-case hex":       "file:///p/my%20proj%20(1)%20%232%20100%25/gr%c3%b6%c3%9fe%20%f0%9d%95%8f%3f+&.lean",
		"as little as allowed": "file:///p/my proj (1) %232 100%25/größe 𝕏%3F+&.lean",
		"not escaped at all":   "file://" + oddPath,
		"a host of localhost":  "file://localhost" + ours[len("file://"):],
		"no host":              "file:" + ours[len("file://"):],
		"upper-case scheme":    "FILE" + ours[len("file"):],
		"a dot segment":        "file:///p/./x/.." + ours[len("file:///p"):],
	} {
		assert.Equal(t, fileKey(ours), fileKey(uri), "%s: %s", name, uri)
	}
}

func TestAnotherFileIsNotTheSameFile(t *testing.T) {
	ours := PathToURI("/p/A.lean")
	for _, uri := range []string{
		"file:///p/B.lean", "file:///p/a.lean", "file:///p/A.lean/B", "file://host/p/A.lean",
		"untitled:/p/A.lean", "", "file:", "file:p/A.lean",
	} {
		assert.NotEqual(t, fileKey(ours), fileKey(uri), uri)
	}
}
