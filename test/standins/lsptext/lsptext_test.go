package lsptext_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-f6977891/hearth/test/standins/lsptext"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type pos = lsptext.Position

func TestOffsetsCountUTF16Units(t *testing.T) {
	text := "a𝓤b\nℝ c\n"
	for offset, p := range map[int]pos{0: {0, 0}, 1: {0, 1}, 5: {0, 3}, 6: {0, 4}, 7: {1, 0}, 10: {1, 1}, len(text): {2, 0}} {
		require.Equal(t, p, lsptext.PositionOf(text, offset))
		require.Equal(t, offset, lsptext.Offset(text, p))
	}
	require.Equal(t, 6, lsptext.Offset(text, pos{0, 99}))
	require.Equal(t, len(text), lsptext.Offset(text, pos{9, 9}))
}

func TestApplyTakesChangesInTheirOrder(t *testing.T) {
	text := lsptext.Apply("old", []lsptext.Change{
		{Text: "one\ntwo\n"},
		{Range: &lsptext.Range{Start: pos{1, 0}, End: pos{1, 3}}, Text: "2"},
		{Range: &lsptext.Range{Start: pos{1, 1}, End: pos{1, 1}}, Text: "!"},
	})
	require.Equal(t, "one\n2!\n", text)
}

func TestWordsAreWhole(t *testing.T) {
	text := "Nat.add Nat xNat Nat"
	require.Equal(t, []int{8, 17}, lsptext.Words(text, "Nat"))
	require.Empty(t, lsptext.Words(text, ""))
	start, end := lsptext.WordAt(text, 3)
	require.Equal(t, "Nat.add", text[start:end])
}

func TestURIsNameTheirPath(t *testing.T) {
	path := "/my proj (1) #2 100%/größe 𝕏.lean"
	require.Equal(t, path, lsptext.Path(lsptext.URI(path)))
	require.Equal(t, "/a", lsptext.Path("file://localhost/a"))
	require.Empty(t, lsptext.Path("untitled:1"))
}
