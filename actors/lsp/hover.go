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
	var h *struct {
		Contents json.RawMessage `json:"contents"`
		Range    *wireRange      `json:"range"`
	}
	malformed := &MalformedError{Method: "result of " + method, Want: "contents and a range, or null"}
	if json.Unmarshal(result, &h) != nil {
		return Hover{}, malformed
	}
	if h == nil {
		return Hover{}, nil
	}
	hover, ok := parseContents(h.Contents)
	if !ok || h.Range != nil && !h.Range.valid() {
		return Hover{}, malformed
	}
	if h.Range != nil {
		r := rangeFromServer(doc.Text, h.Range.value(), c.caps.encoding)
		hover.Range = &r
	}
	return hover, nil
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
	var part struct {
		Kind     string  `json:"kind"`
		Language *string `json:"language"`
		Value    *string `json:"value"`
	}
	if json.Unmarshal(raw, &part) != nil || part.Value == nil {
		return Hover{}, false
	}
	if part.Language != nil && *part.Value != "" {
		return Hover{Text: "```" + *part.Language + "\n" + *part.Value + "\n```", Markdown: true}, true
	}
	return Hover{Text: *part.Value, Markdown: part.Kind != "plaintext"}, true
}
