package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// schema is that of a tool's parameters. Those that it doesn't know are ignored, as in
// the socket's protocols: a model that adds one still gets its answer. Each parameter
// has one type, by its name: of the list that a pointer gives, ["null", "number"],
// many clients make nothing, and send numbers as text.
func schema[In any]() *jsonschema.Schema {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // of a type in this package
	}
	s.AdditionalProperties = nil
	for _, property := range s.Properties {
		property.Types = slices.DeleteFunc(property.Types, func(name string) bool { return name == "null" })
		if len(property.Types) == 1 {
			property.Type, property.Types = property.Types[0], nil
		}
	}
	return s
}

// withoutNulls takes a tool's argument that is null for one that was left out.
func withoutNulls(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		if call, ok := request.(*sdk.CallToolRequest); ok {
			call.Params.Arguments = withoutNull(call.Params.Arguments)
		}
		return next(ctx, method, request)
	}
}

// withoutNull gives other texts than objects as they are: the tool says what is wrong.
func withoutNull(arguments json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(arguments, &members) != nil {
		return arguments
	}
	given := len(members)
	maps.DeleteFunc(members, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	if len(members) == given {
		return arguments
	}
	if text, err := json.Marshal(members); err == nil {
		return text
	}
	return arguments
}
