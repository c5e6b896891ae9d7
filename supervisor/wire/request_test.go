package wire_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

func TestVersion1RequestIsAnsweredToTheByte(t *testing.T) {
	for name, c := range map[string]struct {
		request, want string
		result        any
	}{
		"number id":      {`{"v":1,"id":7,"method":"m","params":{}}`, `{"v":1,"id":7,"ok":true,"result":"<a & b>"}`, "<a & b>"},
		"text id":        {`{"method":"m","id":"ä","v":1}`, `{"v":1,"id":"ä","ok":true,"result":null}`, nil},
		"object id":      {`{"v":1,"id":{"b": [1, 2], "a":1},"method":"m"}`, `{"v":1,"id":{"b":[1,2],"a":1},"ok":true,"result":1.0}`, wire.Decimal(1)},
		"no id":          {`{"v":1,"method":"m"}`, `{"v":1,"id":null,"ok":true,"result":[]}`, []int{}},
		"large id":       {`{"v":1,"id":123456789012345678901234567890,"method":"m"}`, `{"v":1,"id":123456789012345678901234567890,"ok":true,"result":true}`, true},
		"version as 1.0": {`{"v":1.0,"id":1,"method":"m"}`, `{"v":1,"id":1,"ok":true,"result":true}`, true},
		"last one wins":  {`{"v":2,"v":1,"id":1,"id":2,"method":"m"}`, `{"v":1,"id":2,"ok":true,"result":true}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := wire.ParseRequest([]byte(c.request), 0)
			require.NoError(t, err)
			assert.Equal(t, "m", request.Method)
			assert.Equal(t, wire.Version1, request.Protocol)
			assert.Equal(t, c.want+"\n", string(request.Reply(c.result)))
		})
	}
}

func TestVersion1RefusesBadRequestsWithTheirIdOnceItIsRead(t *testing.T) {
	const head = `{"v":1,"id":`
	refused := func(id, text string) string {
		return head + id + `,"ok":false,"error":{"type":"ValueError","message":` + text + "}}\n"
	}
	unknown := `"unknown protocol, want \"v\":1 or \"jsonrpc\":\"2.0\""`
	for request, want := range map[string]string{
		`{"v":1,`:                              refused("null", `"invalid JSON: unexpected end of JSON input"`),
		`{"v":1} {}`:                           refused("null", `"invalid JSON: invalid character '{' after top-level value"`),
		"{\"v\":1,\"id\":\"\xff\"}":            refused("null", `"invalid JSON: not UTF-8"`),
		`[1]`:                                  refused("null", `"the message must be a JSON object"`),
		`NaN`:                                  refused("null", `"the message must be a JSON object"`),
		`{"id":3,"method":"m"}`:                refused("3", unknown),
		`{"v":2,"id":3,"method":"m"}`:          refused("3", unknown),
		`{"v":true,"id":3,"method":"m"}`:       refused("3", unknown),
		`{"v":"1","id":3,"method":"m"}`:        refused("3", unknown),
		`{"V":1,"id":3,"method":"m"}`:          refused("3", unknown),
		head + `3}`:                            refused("3", `"method must be a non-empty string"`),
		head + `3,"method":""}`:                refused("3", `"method must be a non-empty string"`),
		head + `3,"method":null}`:              refused("3", `"method must be a non-empty string"`),
		head + `3,"method":"m","params":[]}`:   refused("3", `"params must be an object"`),
		head + `3,"method":"m","params":null}`: refused("3", `"params must be an object"`),
	} {
		parsed, err := wire.ParseRequest([]byte(request), 0)
		require.Error(t, err, request)
		assert.Equal(t, want, string(parsed.Refuse(err)), request)
	}
}

func TestNumbersThatPythonWritesReachTheRuleThatRefusesThem(t *testing.T) {
	for _, value := range []string{"NaN", "Infinity", "-Infinity", "1e999"} {
		request, err := wire.ParseRequest([]byte(`{"v":1,"id":"NaN \" Infinity","method":"repl.run","params":{"project_dir":"/p","code":"NaN","timeout":`+value+`}}`), 0)
		require.NoError(t, err, value)
		assert.Equal(t, `"NaN \" Infinity"`, string(request.ID), "what is in a string stays")
		_, err = wire.DecodeRun(request.Params, 240e9)
		assert.EqualError(t, err, "timeout must be a finite positive number or null", value)
	}
}

func TestJSONRPCRequests(t *testing.T) {
	const head = `{"jsonrpc":"2.0","id":`
	for request, want := range map[string]string{
		head + `7,"method":"m","params":{"a":1}}`: head + "7,\"result\":\"ok\"}\n",
		head + `"x","method":"m"}`:                head + "\"x\",\"result\":\"ok\"}\n",
		head + `null,"method":"m"}`:               head + "null,\"result\":\"ok\"}\n",
		`{"jsonrpc":"2.0","method":"m"}`:          "",
	} {
		parsed, err := wire.ParseRequest([]byte(request), 0)
		require.NoError(t, err, request)
		assert.Equal(t, wire.JSONRPC, parsed.Protocol)
		assert.Equal(t, want, string(parsed.Reply("ok")), request)
		assert.Equal(t, want == "", parsed.Refuse(messages.ErrClosed) == nil, "a notification is not answered")
	}
}

func TestJSONRPCRefusesWithTheStandardsCodes(t *testing.T) {
	const head = `{"jsonrpc":"2.0","id":`
	for request, want := range map[string]struct {
		id   string
		code int
	}{
		`{"jsonrpc":"2.0",`:                        {"null", wire.CodeParse},
		`[]`:                                       {"null", wire.CodeInvalidRequest},
		`{"jsonrpc":"1.0","id":3,"method":"m"}`:    {"3", wire.CodeInvalidRequest},
		`{"jsonrpc":"1.0","method":"m"}`:           {"null", wire.CodeInvalidRequest},
		head + `{},"method":"m"}`:                  {"null", wire.CodeInvalidRequest},
		head + `true,"method":"m"}`:                {"null", wire.CodeInvalidRequest},
		head + `3}`:                                {"3", wire.CodeInvalidRequest},
		head + `3,"method":"m","params":[]}`:       {"3", wire.CodeInvalidParams},
		head + `3,"method":"m","params":"x"}`:      {"3", wire.CodeInvalidParams},
		`{"jsonrpc":"2.0","method":7,"params":{}}`: {"null", wire.CodeInvalidRequest},
	} {
		parsed, err := wire.ParseRequest([]byte(request), wire.JSONRPC)
		require.Error(t, err, request)
		var got struct {
			ID    json.RawMessage
			Error struct {
				Code int
				Data struct {
					Type      string
					Retryable bool
				}
			}
		}
		require.NoError(t, json.Unmarshal(parsed.Refuse(err), &got), request)
		assert.Equal(t, want.id, string(got.ID), request)
		assert.Equal(t, want.code, got.Error.Code, request)
		assert.Equal(t, "ValueError", got.Error.Data.Type)
		assert.False(t, got.Error.Data.Retryable)
	}
	assert.Equal(t, wire.CodeUnknownMethod, wire.Code(wire.UnknownMethod("m")))
	assert.EqualError(t, wire.UnknownMethod("m"), "unknown method: m")
}

func TestLineThatCannotBeReadIsAnsweredInWhatTheConnectionSpoke(t *testing.T) {
	for spoken, want := range map[wire.Protocol]wire.Protocol{
		0: wire.Version1, wire.Version1: wire.Version1, wire.JSONRPC: wire.JSONRPC,
	} {
		request, err := wire.ParseRequest([]byte("?"), spoken)
		assert.Error(t, err)
		assert.Equal(t, want, request.Protocol)
	}
}

func TestResultThatCannotBeSentIsAnsweredAsAnError(t *testing.T) {
	for _, protocol := range []string{`{"v":1,"id":7,"method":"m"}`, `{"jsonrpc":"2.0","id":7,"method":"m"}`} {
		request, err := wire.ParseRequest([]byte(protocol), 0)
		require.NoError(t, err)
		tooLarge := string(request.Reply(strings.Repeat("x", wire.MaxFrame)))
		assert.Contains(t, tooLarge, `"response exceeds the message limit"`)
		assert.Contains(t, tooLarge, `"ValueError"`)
		assert.Contains(t, tooLarge, `"id":7,`)
		assert.Contains(t, string(request.Reply(math.NaN())), "the result has no JSON")
		large := messages.Errorf(messages.KindInternal, "%s", strings.Repeat("x", wire.MaxFrame))
		assert.Contains(t, string(request.Refuse(large)), `"response exceeds the message limit"`)
		request.ID = json.RawMessage(`"` + strings.Repeat("x", wire.MaxFrame) + `"`)
		assert.Contains(t, string(request.Reply(1)), `"id":null,`)
	}
}

func TestLongestResultIsSent(t *testing.T) {
	request := wire.Request{Protocol: wire.Version1, ID: json.RawMessage("1")}
	frame := len(`{"v":1,"id":1,"ok":true,"result":""}` + "\n")
	line := request.Reply(strings.Repeat("<", wire.MaxFrame-frame))
	assert.Len(t, line, wire.MaxFrame)
	line = request.Reply(strings.Repeat("<", wire.MaxFrame-frame+1))
	assert.Less(t, len(line), 200)
}
