package openapi

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
)

// Validity is the kind of a generated value: valid, invalid or hostile.
type Validity int

// Values of Validity.
const (
	Valid   Validity = iota // valid by the schema
	Invalid                 // changed in one place, usually to an invalid value
	Hostile                 // one of HostileTexts is inserted in one place
)

// HostileTexts are strings that programs often handle incorrectly, for example injected SQL, markup and paths.
var HostileTexts = []string{
	"' OR 1=1 --", "<script>canary(1)</script>", "\x00", "\r\nX-Injected: 1", "../../../etc/passwd", "%00%0d%0a", "\u202eevil",
	"\U0001F4A9\u200d\U0001F4A9",
	"${jndi:ldap://127.0.0.1/x}", "{{7*7}}", "http://169.254.169.254/latest", "-1", "1e400", "NaN", "null", "", " ",
	strings.Repeat("A", 9000), "\ufeff", "é\u0301\u0301",
}

// Generate returns a random value for a schema. With Invalid or Hostile, it then changes the value in one place. The same state
// of r produces the same value.
func Generate(s *openapi3.Schema, r *rand.Rand, validity Validity) any {
	v := valueOf(s, r, 0)
	if validity == Valid {
		return v
	}
	at := r.IntN(max(1, countValues(v)))
	return replaceAt(v, &at, r, validity)
}

func valueOf(s *openapi3.Schema, r *rand.Rand, depth int) any {
	switch {
	case s == nil || depth > deepest:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[r.IntN(len(s.Enum))]
	case s.Const != nil:
		return s.Const
	case len(s.Examples) > 0 && r.IntN(2) == 0:
		return s.Examples[r.IntN(len(s.Examples))]
	}
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf, s.AllOf} {
		if len(list) > 0 {
			return valueOf(list[r.IntN(len(list))].Value, r, depth+1)
		}
	}
	switch {
	case s.Type.Includes("object"):
		return objectOf(s, r, depth)
	case s.Type.Includes("array"):
		least, most := int(s.MinItems), int(s.MinItems)+3
		if s.MaxItems != nil {
			most = min(most, int(*s.MaxItems))
		}
		out := []any{}
		for range least + r.IntN(most-least+1) {
			if s.Items != nil {
				out = append(out, valueOf(s.Items.Value, r, depth+1))
			}
		}
		return out
	case s.Type.Includes("integer"), s.Type.Includes("number"):
		low, high := -5.0, 20_000.0
		if s.Min != nil {
			low = *s.Min
		}
		if s.Max != nil {
			high = *s.Max
		}
		return math.Floor(low + r.Float64()*(high-low))
	case s.Type.Includes("boolean"):
		return r.IntN(2) == 0
	}
	return textOf(s, r)
}

// objectOf returns a random object with all required members and some of the optional ones. depth is the depth of the object in
// the generated value.
func objectOf(s *openapi3.Schema, r *rand.Rand, depth int) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) || r.IntN(2) == 0 {
			out[name] = valueOf(s.Properties[name].Value, r, depth+1)
		}
	}
	return out
}

func textOf(s *openapi3.Schema, r *rand.Rand) string {
	switch s.Format {
	case "uuid":
		var raw [16]byte
		for i := range raw {
			raw[i] = byte(r.IntN(256))
		}
		return uuid.UUID(raw).String()
	case "date-time":
		return time.Date(2027, 1, 1+r.IntN(300), 0, 0, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
	case "uri":
		return "https://records.example/" + letters(r, 8)
	}
	if strings.HasPrefix(s.Pattern, "^[0-9a-f]{") {
		return strings.Repeat("0a", 64)[:64]
	}
	least, most := int(s.MinLength), int(s.MinLength)+12
	if s.MaxLength != nil {
		most = min(most, int(*s.MaxLength))
	}
	return letters(r, max(1, least+r.IntN(max(1, most-least+1))))
}

func letters(r *rand.Rand, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte('a' + r.IntN(26))
	}
	return string(out)
}

// countValues returns the number of values in v at any depth, including v itself.
func countValues(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			n += countValues(member)
		}
	case []any:
		for _, item := range v {
			n += countValues(item)
		}
	}
	return n
}

// replaceAt replaces the value with index *at in v by an invalid or hostile one, and returns the changed v. The index counts v
// first, and then its members in the order of their names. *at is -1 after the replacement.
func replaceAt(v any, at *int, r *rand.Rand, validity Validity) any {
	if *at == 0 {
		*at = -1
		return invalid(v, r, validity)
	}
	*at--
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if *at >= 0 {
				v[name] = replaceAt(v[name], at, r, validity)
			}
		}
	case []any:
		for i := range v {
			if *at >= 0 {
				v[i] = replaceAt(v[i], at, r, validity)
			}
		}
	}
	return v
}

// invalid returns a value that replaces v. With Hostile, the value is one of HostileTexts; if v is an object, the value is v
// with such a text as an additional member. Otherwise, the value is usually invalid. invalid may change v if v is an object.
func invalid(v any, r *rand.Rand, validity Validity) any {
	if validity == Hostile {
		if m, ok := v.(map[string]any); ok {
			m[HostileTexts[r.IntN(len(HostileTexts))]] = HostileTexts[r.IntN(len(HostileTexts))]
			return m
		}
		return HostileTexts[r.IntN(len(HostileTexts))]
	}
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if len(names) > 0 && r.IntN(2) == 0 {
			delete(v, names[r.IntN(len(names))])
			return v
		}
		v["unknown"] = 1
		return v
	case string:
		return []any{v + "x", strings.ToUpper(v), "", 7, nil, true, v + strings.Repeat("y", 600)}[r.IntN(7)]
	case float64:
		return []any{v + 1, v - 1, v + 0.5, -v, 1e18, "7", nil, []any{}}[r.IntN(8)]
	}
	return []any{nil, "x", 7, []any{}, map[string]any{}, false}[r.IntN(6)]
}
