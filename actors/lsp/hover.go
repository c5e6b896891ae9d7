package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
)

// Hover is what a server says about a place. Text is empty where it said nothing.
type Hover struct {
	Text     string
	Markdown bool
	Range    *Range
}

// Source is a document as a request about it needs it: Text is the version that was
// sent, for servers that don't count in UTF-16.
type Source struct {
	Path string
	Text []byte
}

// Hover asks what stands at p.
func (c *Client) Hover(ctx context.Context, doc Source, p Position) (Hover, error) {
	const method = "textDocument/hover"
	result, err := c.Request(ctx, method, c.at(doc, p))
	if err != nil {
		return Hover{}, err
	}
	h, ok := parseHover(result)
	if !ok || h.Range != nil && !h.Range.valid() {
		return Hover{}, &MalformedError{Method: "result of " + method, Want: "contents and a range, or null"}
	}
	if h.Range != nil {
		r := rangeFromServer(doc.Text, h.Range.value(), c.caps.encoding)
		h.said.Range = &r
	}
	return h.said, nil
}

// wireHover is a hover as a server wrote it.
type wireHover struct {
	said  Hover // without its range
	Range *wireRange
}

// parseHover reads a result. Nearly always its contents are MarkupContent, which is
// read at a stretch: on a warm server each pass over the text counts.
func parseHover(result json.RawMessage) (h wireHover, ok bool) {
	var markup *struct {
		Contents hoverPart  `json:"contents"`
		Range    *wireRange `json:"range"`
	}
	if json.Unmarshal(result, &markup) == nil {
		if markup == nil {
			return wireHover{}, true
		}
		if said, ok := markup.Contents.hover(); ok {
			return wireHover{said, markup.Range}, true
		}
	}
	var other struct {
		Contents json.RawMessage `json:"contents"`
		Range    *wireRange      `json:"range"`
	}
	if json.Unmarshal(result, &other) != nil {
		return wireHover{}, false
	}
	said, ok := parseContents(other.Contents)
	return wireHover{said, other.Range}, ok
}

// placeParams are LSP's TextDocumentPositionParams.
type placeParams struct {
	Position     Position `json:"position"`
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
}

// at gives the params of a request about a place, in the server's encoding.
func (c *Client) at(doc Source, p Position) placeParams {
	params := placeParams{Position: toServer(doc.Text, p, c.caps.encoding)}
	params.TextDocument.URI = PathToURI(doc.Path)
	return params
}

// parseContents reads hover contents in all their forms: MarkupContent, a string, a
// MarkedString {language, value}, or an array of the latter two. Older forms are
// Markdown by definition.
func parseContents(raw json.RawMessage) (Hover, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return Hover{}, true
	}
	if raw[0] != '[' {
		return parsePart(raw)
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return Hover{}, false
	}
	var texts []string
	for _, part := range parts {
		h, ok := parsePart(part)
		if !ok {
			return Hover{}, false
		}
		if h.Text != "" {
			texts = append(texts, h.Text)
		}
	}
	return Hover{Text: strings.Join(texts, "\n\n"), Markdown: true}, true
}

func parsePart(raw json.RawMessage) (Hover, bool) {
	if raw[0] == '"' {
		var text string
		err := json.Unmarshal(raw, &text)
		return Hover{Text: text, Markdown: true}, err == nil
	}
	var part hoverPart
	if json.Unmarshal(raw, &part) != nil {
		return Hover{}, false
	}
	return part.hover()
}

// hoverPart is a MarkupContent or, with a language, a MarkedString.
type hoverPart struct {
	Kind     string  `json:"kind"`
	Language *string `json:"language"`
	Value    *string `json:"value"`
}

func (p hoverPart) hover() (Hover, bool) {
	switch {
	case p.Value == nil:
		return Hover{}, false
	case p.Language != nil && *p.Value != "":
		return Hover{Text: "```" + *p.Language + "\n" + *p.Value + "\n```", Markdown: true}, true
	}
	return Hover{Text: *p.Value, Markdown: p.Kind != "plaintext"}, true
}
