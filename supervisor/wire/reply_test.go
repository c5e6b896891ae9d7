package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

var protocols = map[string]wire.Protocol{"version 1": wire.Version1, "JSON-RPC": wire.JSONRPC}

// ask sends a call through both sides' code and answers it.
func ask(t *testing.T, protocol wire.Protocol, answer func(wire.Request) []byte) wire.Reply {
	t.Helper()
	line, err := wire.Call(protocol, 42, "m", nil)
	require.NoError(t, err)
	request, err := wire.ParseRequest(line[:len(line)-1], 0)
	require.NoError(t, err)
	require.Equal(t, protocol, request.Protocol)
	require.Equal(t, "m", request.Method)
	answered := answer(request)
	require.Equal(t, 1, strings.Count(string(answered), "\n"), "one line")
	reply, err := wire.ParseReply(answered[:len(answered)-1], protocol)
	require.NoError(t, err)
	assert.Equal(t, uint64(42), reply.ID)
	return reply
}

func TestCallGetsItsResult(t *testing.T) {
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			reply := ask(t, protocol, func(r wire.Request) []byte { return r.Reply(map[string]int{"a": 1}) })
			assert.NoError(t, reply.Err)
			assert.JSONEq(t, `{"a":1}`, string(reply.Result))
			reply = ask(t, protocol, func(r wire.Request) []byte { return r.Reply(nil) })
			assert.NoError(t, reply.Err)
			assert.Equal(t, "null", string(reply.Result))
		})
	}
}

func TestVersion1CallIsWrittenToTheByte(t *testing.T) {
	line, err := wire.Call(wire.Version1, 1, "daemon.ping", nil)
	require.NoError(t, err)
	assert.Equal(t, `{"v":1,"id":1,"method":"daemon.ping","params":{}}`+"\n", string(line))
}

func TestCallOverTheLimitIsRefusedBeforeItIsSent(t *testing.T) {
	_, err := wire.Call(wire.JSONRPC, 1, "m", strings.Repeat("x", wire.MaxFrame))
	assert.ErrorIs(t, err, wire.ErrTooLarge)
}

func TestNotificationIsNoAnswer(t *testing.T) {
	line, err := wire.Notification(wire.MethodBuildEvent, map[string]string{"file": "A.lean"})
	require.NoError(t, err)
	reply, err := wire.ParseReply(line, wire.JSONRPC)
	require.NoError(t, err)
	assert.Equal(t, wire.MethodBuildEvent, reply.Method)
	assert.JSONEq(t, `{"file":"A.lean"}`, string(reply.Params))
	assert.Zero(t, reply.ID)
}

func TestReplyThatBreaksTheProtocolIsAProtocolError(t *testing.T) {
	for line, protocol := range map[string]wire.Protocol{
		``:                                       wire.Version1,
		`?`:                                      wire.Version1,
		`[]`:                                     wire.Version1,
		`{"v":1,"id":1,"ok":true,"result":1} {}`: wire.Version1,
		`{"v":2,"id":1,"ok":true,"result":1}`:    wire.Version1,
		`{"v":1,"id":1,"ok":true}`:               wire.Version1,
		`{"v":1,"id":1,"ok":false}`:              wire.Version1,
		`{"v":1,"id":1,"ok":1,"result":1}`:       wire.Version1,
		`{"v":1,"id":1,"ok":false,"error":"no"}`: wire.Version1,
		`{"v":1,"id":1,"ok":false,"error":{"message":"x"}}`: wire.Version1,
		`{"v":1,"id":"x","ok":true,"result":1}`:             wire.Version1,
		`{"id":1,"result":1}`:                               wire.JSONRPC,
		`{"jsonrpc":"2.0","id":1}`:                          wire.JSONRPC,
		`{"jsonrpc":"2.0","id":1,"result":1,"error":{}}`:    wire.JSONRPC,
		`{"jsonrpc":"2.0","id":1,"error":{}}`:               wire.JSONRPC,
		`{"jsonrpc":"2.0","id":1,"error":[]}`:               wire.JSONRPC,
		`{"jsonrpc":"2.0","id":-1,"result":1}`:              wire.JSONRPC,
	} {
		_, err := wire.ParseReply([]byte(line), protocol)
		var broken *messages.ProtocolError
		assert.ErrorAs(t, err, &broken, line)
	}
}
