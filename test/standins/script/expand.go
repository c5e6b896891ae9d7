package script

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Expand fills the placeholders in all strings of a JSON value. A string that is nothing but a placeholder becomes its
// value with its type.
func Expand(value json.RawMessage, placeholders map[string]any) (any, error) {
	if value == nil {
		return nil, nil
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return nil, err
	}
	return fill(v, placeholders), nil
}

func fill(v any, values map[string]any) any {
	switch v := v.(type) {
	case string:
		if whole, ok := values[v]; ok {
			return whole
		}
		for name, value := range values {
			if strings.Contains(v, name) {
				v = strings.ReplaceAll(v, name, text(value))
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = fill(v[i], values)
		}
	case map[string]any:
		for k := range v {
			v[k] = fill(v[k], values)
		}
	}
	return v
}

func text(value any) string {
	if raw, ok := value.(json.RawMessage); ok {
		return string(raw)
	}
	return fmt.Sprint(value)
}
