package lspwire_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-f6977891/hearth/test/standins/lspwire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	var b bytes.Buffer
	w := lspwire.NewWriter(&b)
	require.NoError(t, w.Request("r-1", "m", map[string]string{"a": "<𝓤>"}))
	require.NoError(t, w.Reply(json.RawMessage("1"), nil))
	require.NoError(t, w.ReplyError(json.RawMessage(`"1"`), lspwire.MethodNotFound, "no"))
	require.NoError(t, w.Notify("n", []int{}))
	w.Mute()
	require.NoError(t, w.Notify("dropped", nil))

	r := lspwire.NewReader(&b)
	m, body, err := r.Read()
	require.NoError(t, err)
	require.Equal(t, `{"jsonrpc":"2.0","id":"r-1","method":"m","params":{"a":"<𝓤>"}}`, string(body))
	require.True(t, m.IsRequest())
	m, body, err = r.Read()
	require.NoError(t, err)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":null}`, string(body))
	require.False(t, m.IsRequest())
	m, _, err = r.Read()
	require.NoError(t, err)
	require.Equal(t, "no (-32601)", m.Error.Error())
	m, _, err = r.Read()
	require.NoError(t, err)
	require.Equal(t, "n", m.Method)
	_, _, err = r.Read()
	require.Equal(t, io.EOF, err)
}

func TestReadTakesContentTypeAndRefusesBrokenFrames(t *testing.T) {
	read := func(text string) error {
		_, _, err := lspwire.NewReader(strings.NewReader(text)).Read()
		return err
	}
	require.NoError(t, read("Content-Type: x\r\ncontent-length: 2\r\n\r\n{}"))
	require.ErrorContains(t, read("hello\n"), "no colon")
	require.ErrorContains(t, read("A: b\r\n\r\n"), "without Content-Length")
	require.ErrorContains(t, read("Content-Length: x\r\n\r\n"), "x")
	require.ErrorIs(t, read("Content-Length: 2\r\n\r\n{"), io.ErrUnexpectedEOF)
	require.ErrorIs(t, read("Content-Le"), io.ErrUnexpectedEOF)
	require.ErrorIs(t, read("Content-Length: 2\r\n"), io.ErrUnexpectedEOF)
}
