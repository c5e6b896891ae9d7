package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// HeaderLimit is how many bytes a header command may print on its two outputs together.
const HeaderLimit = 10 << 20

// HeaderOutput is what the header command gave for a piece of code: lean
// --deps-json, of any version.
type HeaderOutput struct {
	Stdout []byte
	Stderr string // its last lines
	Beyond int64  // how many bytes came before those lines
	Status int    // its exit status, 0 for success
	Signal string // what ended it if it didn't exit, or nothing
}

// HeaderStdin is our end of the header command's standard input; closing it is the
// code's end.
type HeaderStdin interface {
	Stdin
	io.Closer
}

// AskHeader gives code to a header command and reads what it prints, until ctx
// ends. A command that stops reading early isn't in error here: its exit status
// tells what is to be thought of it.
func AskHeader(ctx context.Context, in HeaderStdin, out Stdout, code string) ([]byte, error) {
	c := NewClient(in, out)
	release, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	_, err = io.WriteString(in, code)
	_ = in.Close() // a command that doesn't see the code's end runs into ctx
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fmt.Errorf("lean --deps-json took no code: %w", context.Cause(ctx))
	}
	stdout, err := io.ReadAll(io.LimitReader(out, HeaderLimit+1))
	if err != nil {
		return nil, fmt.Errorf("lean --deps-json gave no answer: %w", readFailure(ctx, err))
	}
	return stdout, nil
}

const unrecognized = "unrecognized output from lean --deps-json"

// verdict reads the output, and tells whether it would be the same another time.
// What isn't understood is refused.
func (o HeaderOutput) verdict() (v verdict, lasting bool) {
	switch {
	case int64(len(o.Stdout)+len(o.Stderr))+o.Beyond > HeaderLimit:
		return verdict{rejected: fmt.Sprintf("lean --deps-json printed more than %d bytes", HeaderLimit)}, false
	case o.Signal != "":
		return verdict{rejected: "lean --deps-json was ended by a signal: " + o.Signal}, false
	case o.Status != 0:
		reason := firstLine(o.Stderr)
		if reason == "" {
			reason = fmt.Sprintf("exit status %d", o.Status)
		}
		return verdict{rejected: reason}, false
	}
	var file depsFile
	if err := json.Unmarshal(o.Stdout, &file, json.RejectUnknownMembers(true)); err != nil || len(file.Imports) != 1 {
		return verdict{rejected: unrecognized}, false
	}
	return file.Imports[0].verdict(), true
}

// depsFile is the output for one file: newer versions have result, older ones
// imports in its place, and a header that can't be read has errors alone.
type depsFile struct {
	Imports []depsEntry `json:"imports"`
}

type depsEntry struct {
	Result *struct {
		Imports  []depsImport `json:"imports"`
		IsModule bool         `json:"isModule"`
	} `json:"result"`
	Imports []depsImport `json:"imports"`
	Errors  []string     `json:"errors"`
}

// depsImport names all fields that versions have had, so that one with another
// meaning is not passed over.
type depsImport struct {
	Module      string `json:"module"`
	ImportAll   bool   `json:"importAll"`
	IsExported  bool   `json:"isExported"`
	IsMeta      bool   `json:"isMeta"`
	RuntimeOnly bool   `json:"runtimeOnly"`
}

func (e depsEntry) verdict() verdict {
	imports := e.Imports
	switch {
	case len(e.Errors) > 0:
		return verdict{rejected: cmp.Or(firstLine(e.Errors[0]), unrecognized)} // an error without a text is one
	case (e.Result != nil) == (e.Imports != nil):
		return verdict{rejected: unrecognized}
	case e.Result != nil:
		imports = e.Result.Imports
	}
	var v verdict
	for _, i := range imports {
		switch {
		case i.Module == "":
			return verdict{rejected: unrecognized}
		case strings.ContainsAny(i.Module, `/\`):
			return verdict{rejected: fmt.Sprintf("the module name %q has a path separator", firstLine(i.Module))}
		case i.Module != implicitModule && !slices.Contains(v.imports, i.Module):
			v.imports = append(v.imports, i.Module)
		}
	}
	return v
}
