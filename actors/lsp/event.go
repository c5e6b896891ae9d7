package lsp

import "encoding/json"

// Event is something that the server told without being asked: one of Publication,
// Progress, Registered, Unregistered, Noise, Frame and Down. Events come one at a
// time, in the order of the stream; whoever takes them must not block.
type Event interface{ event() }

// Publication is textDocument/publishDiagnostics. Version is nil where the server
// named none.
type Publication struct {
	URI         string
	Version     *int32
	Diagnostics json.RawMessage
}

// Progress is $/progress, or Lean's $/lean/fileProgress (then URI is set and Token is
// empty). A report without a title belongs to the one that began its token.
type Progress struct {
	Token string
	URI   string
	Title string
	Text  string
	Done  bool

	GaveUp bool // of a file: nothing more will come for it
}

// Registered is one registration of client/registerCapability.
type Registered struct {
	ID      string
	Method  string
	Options json.RawMessage

	patterns []Pattern // what the Collector made of a registration for watchedFiles
}

// Unregistered takes a registration back.
type Unregistered struct {
	ID     string
	Method string
}

// Noise is output between frames that belongs to no frame; Text is the beginning of
// one line of it.
type Noise struct{ Text string }

// Frame says that a whole frame of any kind came in: the server is alive.
type Frame struct{}

// Down is the last event: the connection has ended. Err is a *StreamError (io.EOF
// below it where the server closed its output between frames) or a *MalformedError.
type Down struct{ Err error }

func (Publication) event()  {}
func (Progress) event()     {}
func (Registered) event()   {}
func (Unregistered) event() {}
func (Noise) event()        {}
func (Frame) event()        {}
func (Down) event()         {}
