package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-f6977891/hearth/messages"
)

// errResponse is the predecessor's text, to the letter. The operation itself was
// done.
var errResponse = &RequestError{CodeInternal, "response exceeds the message limit"}

// The order of the fields is that of version 1's replies.
type (
	v1Result struct {
		V      int             `json:"v"`
		ID     json.RawMessage `json:"id"`
		OK     bool            `json:"ok"`
		Result any             `json:"result"`
	}
	v1Failure struct {
		V     int             `json:"v"`
		ID    json.RawMessage `json:"id"`
		OK    bool            `json:"ok"`
		Error v1Error         `json:"error"`
	}
	v1Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	rpcResult struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}
	rpcFailure struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   rpcError        `json:"error"`
	}
	rpcError struct {
		Code    int     `json:"code"`
		Message string  `json:"message"`
		Data    rpcData `json:"data"`
	}
	rpcData struct {
		Type      string `json:"type"`
		Retryable bool   `json:"retryable"`
		Detail    Detail `json:"detail"`
	}
)

const rpcVersion = "2.0"

// Reply is the line that answers the request with a result; nil for a notification,
// which gets none. A result that can't be sent is answered as an error.
func (r Request) Reply(result any) []byte {
	if r.ID == nil {
		return nil
	}
	if encoded, ok := result.(Encoded); ok {
		return r.wrap(encoded)
	}
	var reply any = v1Result{protocolVersion, r.ID, true, result}
	if r.Protocol == JSONRPC {
		reply = rpcResult{rpcVersion, r.ID, result}
	}
	line, err := encode(reply)
	switch {
	case errors.Is(err, ErrTooLarge):
		return r.Refuse(errResponse)
	case err != nil:
		return r.Refuse(messages.Errorf(messages.KindInternal, "the result has no JSON: %w", err))
	}
	return line
}

// Encoded is a result that is JSON already: one valid value, without a line break. What
// is asked for all the time is written by hand, at a tenth of what encoding/json takes.
type Encoded []byte

// wrap puts an encoded result into the line that v1Result or rpcResult would make.
func (r Request) wrap(result Encoded) []byte {
	line := make([]byte, 0, len(result)+len(r.ID)+64)
	if r.Protocol == JSONRPC {
		line = append(append(line, `{"jsonrpc":"2.0","id":`...), r.ID...)
		line = append(line, `,"result":`...)
	} else {
		line = append(append(line, `{"v":1,"id":`...), r.ID...)
		line = append(line, `,"ok":true,"result":`...)
	}
	if line = append(append(line, result...), "}\n"...); len(line) > MaxFrame {
		return r.Refuse(errResponse)
	}
	return line
}

// Refuse is the line that answers the request with an error; nil for a notification.
func (r Request) Refuse(err error) []byte {
	if r.ID == nil {
		return nil
	}
	line, encodingErr := encode(r.failure(err))
	if encodingErr != nil { // the error is too large, or the id is
		r.ID = null
		line, _ = encode(r.failure(errResponse)) // of constants: it can't fail
	}
	return line
}

func (r Request) failure(err error) any {
	if r.Protocol == JSONRPC {
		return rpcFailure{rpcVersion, r.ID, rpcError{Code(err), err.Error(), rpcData{
			Type: Type(err), Retryable: messages.Retryable(err), Detail: Describe(err),
		}}}
	}
	return v1Failure{protocolVersion, r.ID, false, v1Error{Type(err), err.Error()}}
}

// Notification is a line that tells a JSON-RPC peer something and asks nothing.
func Notification(method string, params any) ([]byte, error) {
	return encode(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{rpcVersion, method, params})
}

// Call is the line of a request, for clients.
func Call(protocol Protocol, id uint64, method string, params any) ([]byte, error) {
	if params == nil {
		params = struct{}{}
	}
	if protocol == Version1 {
		return encode(struct {
			V      int    `json:"v"`
			ID     uint64 `json:"id"`
			Method string `json:"method"`
			Params any    `json:"params"`
		}{protocolVersion, id, method, params})
	}
	return encode(struct {
		Version string `json:"jsonrpc"`
		ID      uint64 `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{rpcVersion, id, method, params})
}

// Reply is one message from a daemon, as a client reads it.
type Reply struct {
	ID     uint64          // of the call that it answers; 0: of none that could be read
	Method string          // set: a notification
	Params json.RawMessage // of a notification
	Result json.RawMessage
	Err    error // the daemon's own error, as typed as the protocol allows
}

// ParseReply reads a message of the given protocol from a daemon. An error means
// that the daemon broke the protocol; it is a *messages.ProtocolError.
func ParseReply(line []byte, protocol Protocol) (Reply, error) {
	members, err := parseObject(line)
	if err != nil {
		return Reply{}, broken("%v", err)
	}
	var reply Reply
	if method, ok := text(members["method"]); ok && protocol == JSONRPC {
		return Reply{Method: method, Params: members["params"]}, nil
	}
	if id := members["id"]; id != nil && string(id) != "null" {
		if err := json.Unmarshal(id, &reply.ID); err != nil {
			return Reply{}, broken("its id %.40s is not one of ours", id)
		}
	}
	if protocol == Version1 {
		return reply, reply.readVersion1(members)
	}
	return reply, reply.readRPC(members)
}

func (r *Reply) readVersion1(members Params) error {
	failure := members["error"]
	switch {
	case string(members["v"]) != "1":
		return broken("its version is %.40s, not 1", members["v"])
	case string(members["ok"]) == "true" && members["result"] != nil:
		r.Result = members["result"]
		return nil
	case string(members["ok"]) != "false" || failure == nil:
		return broken("it has neither a result nor an error")
	}
	var sent v1Error
	if err := json.Unmarshal(failure, &sent); err != nil || sent.Type == "" {
		return broken("its error is malformed")
	}
	r.Err = &messages.Error{Kind: kindOfType(sent.Type), Text: sent.Message}
	return nil
}

func (r *Reply) readRPC(members Params) error {
	result, failure := members["result"], members["error"]
	switch {
	case string(members["jsonrpc"]) != `"2.0"`:
		return broken("it is not JSON-RPC 2.0")
	case (result == nil) == (failure == nil):
		return broken("it has neither a result nor an error, or both")
	case failure == nil:
		r.Result = result
		return nil
	}
	var sent rpcError
	if err := json.Unmarshal(failure, &sent); err != nil || sent.Code == 0 {
		return broken("its error is malformed")
	}
	r.Err = sent.Data.Detail.restore(sent.Code, sent.Message)
	return nil
}

func broken(format string, args ...any) error {
	return &messages.ProtocolError{Message: "the daemon's reply can't be used: " + fmt.Sprintf(format, args...)}
}
