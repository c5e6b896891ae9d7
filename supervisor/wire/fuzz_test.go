package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// FuzzVersion1 gives any line to a connection that has spoken nothing yet.
func FuzzVersion1(f *testing.F) {
	for _, seed := range []string{
		`{"v":1,"id":1,"method":"daemon.ping","params":{}}`,
		`{"v":1,"id":"a","method":"repl.run","params":{"project_dir":"/p","code":"#eval 1","timeout":NaN}}`,
		`{"v":1,"id":[1,{"a":null}],"method":"lsp.hover","params":{"project_dir":"/p","file_path":"A.lean","line":1,"character":2}}`,
		`{"v":1,"id":-Infinity,"method":"build.watch","params":{"dir":"/p","command":["lake","build"],"per_file":0}}`,
		`{"id":"\ud800\"","v":1.0e0,"method":"\u0000"}`, `[]`, `"`, `{"v":1,"v":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) { checkRequest(t, line, 0) })
}

// FuzzJSONRPC gives any line to a connection that speaks JSON-RPC.
func FuzzJSONRPC(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"daemon.status","params":{"project_dir":"/p","format":"report"}}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"a"}}`,
		`{"jsonrpc":"2.0","id":null,"method":"daemon.shutdown","params":{"now":true}}`,
		`{"jsonrpc":"1.0","id":1e999}`, `{"jsonrpc":"2.0","id":{},"method":"m"}`, `[{"jsonrpc":"2.0"}]`,
		`{"jsonrpc":"2.0","id":1,"method":"repl.run","params":[1]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) { checkRequest(t, line, wire.JSONRPC) })
}

// requireParamsAsEncodingJSON compares our own way to take an object apart with that of
// encoding/json.
func requireParamsAsEncodingJSON(t *testing.T, line []byte, params wire.Params) {
	t.Helper()
	var members, want map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(line, &members))
	if members["params"] != nil {
		require.NoError(t, json.Unmarshal(members["params"], &want))
	}
	require.Len(t, params, len(want))
	for name, value := range want {
		require.Equal(t, string(value), string(params[name]), name)
	}
}

// checkRequest holds what is true of every line: it is read or refused with one
// line of JSON that names the id, and its parameters are read or refused by every
// method.
func checkRequest(t *testing.T, line []byte, spoken wire.Protocol) {
	request, err := wire.ParseRequest(line, spoken)
	if err != nil {
		refused(t, request, err)
		return
	}
	require.NotEmpty(t, request.Method)
	if json.Valid(line) {
		requireParamsAsEncodingJSON(t, line, request.Params)
	}
	for method, decode := range decoders {
		if _, err := decode(request.Params); err != nil {
			var typed *wire.RequestError
			require.ErrorAs(t, err, &typed, method)
		}
	}
	if request.ID == nil {
		require.Equal(t, wire.JSONRPC, request.Protocol)
		require.Nil(t, request.Reply(1))
		return
	}
	answered(t, request, request.Reply(1))
	answered(t, request, request.Refuse(messages.ErrClosing))
}

func refused(t *testing.T, request wire.Request, err error) {
	var typed *wire.RequestError
	require.True(t, errors.As(err, &typed), "%v", err)
	require.Equal(t, "ValueError", wire.Type(err))
	require.Equal(t, 2, wire.ExitCode(err))
	require.NotContains(t, err.Error(), "\n")
	answered(t, request, request.Refuse(err))
}

func answered(t *testing.T, request wire.Request, line []byte) {
	require.Equal(t, 1, bytes.Count(line, []byte("\n")))
	require.True(t, bytes.HasSuffix(line, []byte("\n")))
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(line, &members))
	var sent bytes.Buffer
	require.NoError(t, json.Compact(&sent, request.ID))
	require.Equal(t, sent.String(), string(members["id"]))
	_, rpc := members["jsonrpc"]
	require.Equal(t, request.Protocol == wire.JSONRPC, rpc)
}
