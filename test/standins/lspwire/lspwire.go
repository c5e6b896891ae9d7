package lspwire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// Error codes of JSON-RPC and LSP that the stand-ins answer with.
const (
	InvalidRequest   = -32600
	MethodNotFound   = -32601
	InvalidParams    = -32602
	ContentModified  = -32801
	RequestCancelled = -32800
)

// Message is any JSON-RPC message. ID is kept raw because a number and a string of the same digits are different ids.
type Message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Error is the error member of a response.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// IsRequest says that m awaits an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// Reader reads framed messages.
type Reader struct{ in *bufio.Reader }

// NewReader reads messages from in.
func NewReader(in io.Reader) *Reader { return &Reader{bufio.NewReaderSize(in, 64<<10)} }

// Read returns the next message and its body as it came. io.EOF means that the stream ended between two messages.
func (r *Reader) Read() (*Message, []byte, error) {
	length := -1
	for first := true; ; first = false {
		header, err := r.in.ReadString('\n')
		if err == io.EOF && (header != "" || !first) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, nil, err
		}
		header = strings.TrimRight(header, "\r\n")
		if header == "" {
			break
		}
		name, value, found := strings.Cut(header, ":")
		if !found {
			return nil, nil, fmt.Errorf("header line %q has no colon", header)
		}
		if strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return nil, nil, err
			}
		}
	}
	if length < 0 {
		return nil, nil, fmt.Errorf("message without Content-Length")
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r.in, body); err != nil {
		return nil, nil, err
	}
	m := new(Message)
	return m, body, json.Unmarshal(body, m)
}

// Writer writes framed messages; it is safe for concurrent use. Once it is muted it drops everything.
type Writer struct {
	mu    sync.Mutex
	out   io.Writer
	muted bool
}

// NewWriter writes messages to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Write sends m with one call of the underlying Write.
func (w *Writer) Write(m *Message) error {
	m.JSONRPC = "2.0"
	body, err := Marshal(m)
	if err != nil {
		return err
	}
	return w.Raw(Frame(body))
}

// Raw sends bytes that need be no message.
func (w *Writer) Raw(p []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.muted {
		return nil
	}
	_, err := w.out.Write(p)
	return err
}

// Mute drops all that is written from now on: the stream stays open and silent.
func (w *Writer) Mute() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.muted = true
}

// Notify sends a notification.
func (w *Writer) Notify(method string, params any) error {
	raw, err := Marshal(params)
	if err != nil {
		return err
	}
	return w.Write(&Message{Method: method, Params: raw})
}

// Request sends a request under id.
func (w *Writer) Request(id any, method string, params any) error {
	rawID, err := Marshal(id)
	if err != nil {
		return err
	}
	m := &Message{ID: rawID, Method: method}
	if params != nil {
		if m.Params, err = Marshal(params); err != nil {
			return err
		}
	}
	return w.Write(m)
}

// Reply answers the request with that id.
func (w *Writer) Reply(id json.RawMessage, result any) error {
	raw, err := Marshal(result)
	if err != nil {
		return err
	}
	return w.Write(&Message{ID: id, Result: raw})
}

// ReplyError answers the request with that id by an error.
func (w *Writer) ReplyError(id json.RawMessage, code int, text string) error {
	return w.Write(&Message{ID: id, Error: &Error{Code: code, Message: text}})
}

// Frame puts the header in front of body.
func Frame(body []byte) []byte {
	return append([]byte("Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"), body...)
}

// Marshal is json.Marshal with <, > and & left as they are, as language servers write them.
func Marshal(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
