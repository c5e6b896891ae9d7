package lsp

import (
	"bytes"
	"encoding/json"
	"errors"
)

// encode makes params ready for the Conn, which would take a message that can't be
// encoded or framed for a broken connection. nil stays nil: no params member.
func encode(method string, params any) (any, error) {
	if params == nil {
		return nil, nil
	}
	raw, err := codec{}.Marshal(params)
	if err != nil {
		return nil, &StreamError{Reason: "encoding " + method, Err: err}
	}
	if len(raw) > maxParams {
		return nil, &TooLargeError{Method: method, Size: len(raw), Limit: maxParams}
	}
	return json.RawMessage(raw), nil
}

// codec leaves results undecoded: jsonrpc2 decodes on its read goroutine without a
// recover, where a panic would end the process. encoding/json is lenient where its
// successor isn't (invalid UTF-8, duplicate names), and real servers need that.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func (codec) Unmarshal(data []byte, v any) error {
	raw, ok := v.(*json.RawMessage)
	if !ok {
		return errors.New("results are taken undecoded")
	}
	*raw = bytes.Clone(data)
	return nil
}
