package wire

import (
	"encoding/json"
	"fmt"
)

// Protocol is one of the two that the socket speaks.
type Protocol uint8

// The protocols.
const (
	Version1 Protocol = 1 // the predecessor's: one request and one reply on a connection
	JSONRPC  Protocol = 2 // JSON-RPC 2.0, many requests on a connection
)

// protocolVersion is the number in every message of version 1.
const protocolVersion = 1

var null = json.RawMessage("null")

// Params are a request's parameters, by name. Those that a method doesn't know are
// ignored.
type Params map[string]json.RawMessage

// Request is one message from a client.
type Request struct {
	Protocol Protocol
	ID       json.RawMessage // as it was sent, null where there was none to read; nil: a notification
	Method   string
	Params   Params
}

// ParseRequest reads a message. spoken is what the connection has spoken before,
// 0 if nothing: it decides how a line is answered that can't be read.
//
// With an error the Request holds as much as its answer needs. The error is a
// *RequestError.
func ParseRequest(line []byte, spoken Protocol) (Request, error) {
	request := Request{Protocol: max(spoken, Version1), ID: null}
	members, err := parseObject(line)
	if err != nil {
		return request, err
	}
	if _, rpc := members["jsonrpc"]; rpc {
		request.Protocol = JSONRPC
		return request, request.readRPC(members)
	}
	request.Protocol = Version1
	return request, request.readVersion1(members)
}

func (r *Request) readVersion1(members Params) error {
	if id, ok := members["id"]; ok {
		r.ID = id
	}
	if version, err := number(members["v"]); err != nil || version != protocolVersion {
		return &RequestError{CodeInvalidRequest, `unknown protocol, want "v":1 or "jsonrpc":"2.0"`}
	}
	return r.readCall(members)
}

func (r *Request) readRPC(members Params) error {
	id, sent := members["id"]
	if sent && !isID(id) {
		return &RequestError{CodeInvalidRequest, "id must be a string, a number or null"}
	}
	if sent {
		r.ID = id
	}
	if string(members["jsonrpc"]) != `"2.0"` {
		return &RequestError{CodeInvalidRequest, `unknown protocol, want "jsonrpc":"2.0"`}
	}
	if err := r.readCall(members); err != nil {
		return err
	}
	if !sent {
		r.ID = nil
	}
	return nil
}

// isID tells whether the standard allows a value as an id.
func isID(raw json.RawMessage) bool {
	switch raw[0] {
	case '{', '[', 't', 'f':
		return false
	}
	return true
}

func (r *Request) readCall(members Params) error {
	method, ok := text(members["method"])
	if !ok || method == "" {
		return &RequestError{CodeInvalidRequest, "method must be a non-empty string"}
	}
	r.Method = method
	params, sent := members["params"]
	if !sent {
		return nil
	}
	if params[0] != '{' {
		return &RequestError{CodeInvalidParams, "params must be an object"}
	}
	r.Params = split(params)
	return nil
}

// UnknownMethod is the answer to a method that nobody has.
func UnknownMethod(method string) error {
	return &RequestError{CodeUnknownMethod, fmt.Sprintf("unknown method: %s", method)}
}
