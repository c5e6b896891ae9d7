package leanjson_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-f6977891/hearth/test/standins/leanjson"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLayoutIsThatOfEveryRecordedReply(t *testing.T) {
	files, err := filepath.Glob("../../testdata/lean-repl/*.expected.out")
	require.NoError(t, err)
	require.Len(t, files, 36)
	replies := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, recorded := range strings.Split(strings.TrimRight(string(text), "\n"), "\n\n") {
			laidOut, err := leanjson.Layout([]byte(recorded))
			require.NoError(t, err, file)
			assert.Equal(t, recorded, laidOut, file)
			replies++
		}
	}
	require.Equal(t, 90, replies)
}

func TestMarshalEscapesOnlyWhatJSONRequires(t *testing.T) {
	text, err := leanjson.Marshal(map[string]any{"a": "𝓤 ℝ <&> \"\\ \n\t\u007f\u2028", "b": []any{nil, true, 1.5}})
	require.NoError(t, err)
	require.Equal(t, "{\"b\": [null, true, 1.5], \"a\": \"𝓤 ℝ <&> \\\"\\\\ \\n\\u0009\u007f\u2028\"}", text)
}

func TestLayoutRefusesWhatIsNoJSON(t *testing.T) {
	_, err := leanjson.Layout([]byte("hello"))
	require.Error(t, err)
}
