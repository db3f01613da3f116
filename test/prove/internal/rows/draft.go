package rows

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/test/system/openapi"
)

// draftOf is a body that a schema takes, with every member that it names. What the
// schema does not tell is known by name.
func draftOf(s *openapi3.Schema, market, handle string, i int) map[string]any {
	if v, ok := sampleOf("", s, market, handle, i).(map[string]any); ok {
		return v
	}
	return map[string]any{}
}

func sampleOf(name string, s *openapi3.Schema, market, handle string, i int) any {
	future := time.Now().AddDate(0, 1, i%27).UTC().Format(time.RFC3339)
	switch name {
	case "marketId":
		return market
	case "handle":
		return handle
	case "label":
		return fmt.Sprintf("key %d", i)
	case "payload":
		return map[string]any{"text": "words"}
	case "type":
		if len(s.Enum) == 0 {
			return "note"
		}
	case "price", "priceAtPrediction", "initialYesBps", "crowdYesAtSignal", "crowdLeanBps":
		return 5000
	case "source":
		return "web"
	case "channels":
		return []any{quietChannel}
	case "types":
		return []any{"market.resolved"}
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AllOf) > 0:
		return sampleOf(name, s.AllOf[0].Value, market, handle, i)
	case len(s.OneOf) > 0:
		return sampleOf(name, s.OneOf[0].Value, market, handle, i)
	case len(s.AnyOf) > 0:
		return sampleOf(name, s.AnyOf[0].Value, market, handle, i)
	case s.Type.Includes("object"):
		out := map[string]any{}
		for _, member := range slices.Sorted(maps.Keys(s.Properties)) {
			out[member] = sampleOf(member, s.Properties[member].Value, market, handle, i)
		}
		return out
	case s.Type.Includes("array"):
		if s.Items == nil {
			return []any{}
		}
		return []any{sampleOf("", s.Items.Value, market, handle, i)}
	case s.Type.Includes("boolean"):
		return true
	case s.Type.Includes("integer"), s.Type.Includes("number"):
		if s.Min != nil {
			return *s.Min
		}
		return 50
	case s.Format == "date-time":
		return future
	case s.Format == "uri", strings.HasPrefix(s.Pattern, "^https"):
		return "https://example.com/"
	}
	return fmt.Sprintf("words %d", i)
}

// plantAt puts a text at a place of a body and makes what leads there.
func plantAt(body map[string]any, at openapi.Place, text string) {
	var here any = body
	for i, name := range at {
		last := i == len(at)-1
		switch v := here.(type) {
		case map[string]any:
			if last {
				v[name] = text
				return
			}
			if at[i+1] == "0" {
				list, _ := v[name].([]any)
				if len(list) == 0 {
					list = []any{map[string]any{}}
					v[name] = list
				}
				here = list
				continue
			}
			if _, ok := v[name].(map[string]any); !ok {
				v[name] = map[string]any{}
			}
			here = v[name]
		case []any:
			if last {
				v[0] = text
				return
			}
			here = v[0]
		}
	}
}
