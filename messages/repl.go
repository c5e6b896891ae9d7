package messages

import "errors"

// Protocols of a RunReport: which REPL protocol gave it, and so how it reads as text.
const (
	ReportLean  = "lean"
	ReportJSONL = "jsonl"
)

// NoColumn is the column of a Place of which only the line is known.
const NoColumn = -1

// Place is a position in the code of a call, headers included: lines count from 1,
// columns from 0 in characters, as Lean counts them.
type Place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Message is what a compiler said about the code.
type Message struct {
	Severity string `json:"severity"` // trace, info, warning or error
	Pos      *Place `json:"pos,omitempty"`
	EndPos   *Place `json:"end_pos,omitempty"`
	Data     string `json:"data"`
}

// Sorry is a hole that a proof left open, with its goal.
type Sorry struct {
	Pos    *Place `json:"pos,omitempty"`
	EndPos *Place `json:"end_pos,omitempty"`
	Goal   string `json:"goal"`
}

// Header is what was known of the imports at the head of the code. It is zero for
// languages that have none.
type Header struct {
	Imports []string `json:"imports,omitempty"` // module names, in the order of the code
	Warm    bool     `json:"warm"`              // the body ran in the environment that the worker had loaded
}

// RunReport is the outcome of one piece of code. Durations are seconds in a
// float64, as everywhere on the wire, since JSON libraries disagree on
// time.Duration.
type RunReport struct {
	Protocol string    `json:"protocol"` // ReportLean or ReportJSONL
	Messages []Message `json:"messages,omitempty"`
	Sorries  []Sorry   `json:"sorries,omitempty"`
	Output   string    `json:"stdout,omitempty"` // what the code printed
	Stderr   string    `json:"stderr,omitempty"` // what it wrote to its standard error
	Result   string    `json:"result,omitempty"` // the value of its last expression, printed

	// Error says why the code didn't run to its end: imports that are refused, what
	// the REPL said of the request as a whole, or the traceback of an exception.
	// Errors in the code that a compiler reports are in Messages.
	Error          string `json:"error,omitempty"`
	OutcomeUnknown bool   `json:"outcome_unknown,omitempty"` // it was sent, and no valid reply came; never sent again

	Duration   float64 `json:"duration_seconds"`            // from the first byte of the request to the last of the reply
	MemoryPeak int64   `json:"memory_peak_bytes,omitempty"` // highest sample of the worker's whole tree; 0: none was taken
	Generation uint64  `json:"generation"`                  // of the worker that ran it; a restart has the next
	Header     Header  `json:"header"`
}

// RunError says that code was refused for its header, before any process saw it, or,
// where Sent is true, that it was sent and no whole, valid reply came: then it may
// have run, wholly or in part, and is never sent again. Err says why.
type RunError struct {
	Sent bool
	Err  error
}

func (e *RunError) Error() string {
	if e.Sent {
		return "execution outcome unknown; request not retried: " + e.Err.Error()
	}
	return e.Err.Error()
}
func (e *RunError) Unwrap() error { return e.Err }

// ErrorKind is the kind of the reason where that alone says that the code may have
// run (its time was over, its caller left, it took too much memory, or it was
// aborted), and else KindOutcomeUnknown. Of code that was not sent it is the reason's.
func (e *RunError) ErrorKind() Kind {
	kind := KindOf(e.Err)
	switch kind {
	case KindTimeout, KindCancelled, KindMemory, KindClosed:
		return kind
	}
	if e.Sent {
		return KindOutcomeUnknown
	}
	return kind
}

// Report is the report that stands for the error in protocols which have a result
// for whatever became of the code.
func (e *RunError) Report() RunReport {
	report, known := e.SoFar()
	text := e.Err.Error()
	if known && report.Error != "" {
		text += "\n" + report.Error
	}
	report.Error, report.OutcomeUnknown = text, e.Sent
	return report
}

// SoFar is what code whose time ended had printed until then, and where it was as the
// Error, if its REPL has told.
func (e *RunError) SoFar() (report RunReport, known bool) {
	if timeout := (*TimeoutError)(nil); errors.As(e.Err, &timeout) {
		report, known = timeout.Partial.(RunReport)
	}
	return report, known
}
