package input

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// badBody is a body that must be refused with 400.
type badBody struct {
	what  string
	body  []byte
	field string // member that the refusal must name; empty if the whole body is wrong
}

// TestMalformedBodiesAreRefused checks, on every route that changes data, that a malformed body is refused with 400 and that
// the error names the wrong member.
func TestMalformedBodiesAreRefused(t *testing.T) {
	t.Parallel()
	s, doc := inputStack(t), openapi.ForTest(t)
	operators := s.SeedOperators(t, 20) // each key has a rate limit per minute
	for _, route := range s.WriteRoutes(s.NewAuthor(t)) {
		if route.Body == nil {
			continue
		}
		t.Run(route.Name, func(t *testing.T) {
			t.Parallel()
			operation := doc.Find(t, route.Service, route.Method, route.Path)
			person := s.NewOperator(t)
			schema := operation.Body()
			if route.Name == "call by session" { // this route parses the body as the route "call by key" does
				schema = nil
			}
			for i, bad := range badBodies(t, route.Body, schema) {
				credential := route.Sets(nil)[0]
				switch {
				case operation.Takes("identityToken"):
					credential = stack.Bearer(person.Login)
				case operation.Takes("operatorKey") && route.Name != "call by session":
					credential = stack.Bearer(operators[i%len(operators)].Key)
				}
				client := operators[i%len(operators)].Client
				a := client.Do(t, route.Method, s.Base(route.Service, i)+route.Path, credential, stack.Body(string(bad.body)))
				field, code := a.Member("field"), a.Code()
				if a.Status != http.StatusBadRequest || field != bad.field || field == "" && code != "invalid_body" {
					t.Errorf("a body with %s was answered %d %s for field %q; want 400 for field %q\n%.300s", bad.what, a.Status, code, field, bad.field, bad.body)
				}
			}
		})
	}
	t.Cleanup(func() {
		for _, path := range s.Logs(t) {
			if raw, err := os.ReadFile(path); err != nil || bytes.Contains(raw, []byte("panic:")) {
				t.Errorf("the log %s contains a panic or cannot be read: %v", path, err)
			}
		}
	})
}

// badBodies returns variants of a good body. Each has one error, either in the text as a whole or in one member of the schema.
func badBodies(t *testing.T, good stack.JSON, schema *openapi3.Schema) []badBody {
	t.Helper()
	text := encode(t, good)
	var out []badBody
	for what, change := range malformations {
		out = append(out, badBody{what: what, body: change(text)})
	}
	if schema != nil && len(schema.OneOf) > 0 {
		schema = schema.OneOf[0].Value
	}
	if schema == nil {
		return out
	}
	for name, property := range schema.Properties {
		for _, value := range wrongValues(property.Value) {
			out = append(out, badBody{name + " is " + value, replaceMember(t, good, name, value), name})
		}
		if !slices.Contains(schema.Required, name) {
			continue
		}
		less := maps.Clone(good)
		delete(less, name)
		out = append(out,
			badBody{name + " is missing", encode(t, less), name},
			badBody{name + " is null", replaceMember(t, good, name, "null"), name},
			badBody{name + " in upper case", replaceMember(t, less, strings.ToUpper(name), `"x"`), name})
	}
	return out
}

func encode(t *testing.T, body stack.JSON) []byte {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// replaceMember returns the body with another JSON text as the value of a member.
func replaceMember(t *testing.T, body stack.JSON, name, value string) []byte {
	t.Helper()
	return bytes.Replace(encode(t, body.With(name, "\x01")), []byte(`"\u0001"`), []byte(value), 1)
}

// wrongValues returns JSON texts whose type differs from the type of the schema.
func wrongValues(s *openapi3.Schema) []string {
	switch {
	case len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) > 0:
		return nil
	case s.Type.Includes("string"):
		return []string{"7", "true", "[]", "{}", "1e400"}
	case s.Type.Includes("integer"):
		return []string{`"7"`, "true", "[]", "{}", "1.5", "-0", "1e-2", "1e400", "9223372036854775808", "-9223372036854775809"}
	case s.Type.Includes("boolean"):
		return []string{`"true"`, "1", "[]", "{}"}
	case s.Type.Includes("array"):
		return []string{`"read"`, "7", "{}", "[7]", "[[]]", "[null]"}
	case s.Type.Includes("object"):
		return []string{`"x"`, "7", "[]", "true"}
	}
	return nil
}

// malformations are functions that change a good body to a body that every parser must refuse.
var malformations = map[string]func(good []byte) []byte{
	"null":                     func([]byte) []byte { return []byte("null") },
	"boolean":                  func([]byte) []byte { return []byte("true") },
	"string":                   func([]byte) []byte { return []byte(`"x"`) },
	"number":                   func([]byte) []byte { return []byte("1") },
	"array":                    func(good []byte) []byte { return surround("[", good, "]") },
	"white space":              func([]byte) []byte { return []byte(" \n\t ") },
	"two documents":            func(good []byte) []byte { return surround("", good, string(good)) },
	"trailing text":            func(good []byte) []byte { return surround("", good, "x") },
	"truncated":                func(good []byte) []byte { return good[:len(good)-1] },
	"byte order mark":          func(good []byte) []byte { return surround("\xef\xbb\xbf", good, "") },
	"UTF-16":                   func(good []byte) []byte { return bytes.Join([][]byte{{'{'}, good, nil}, []byte{0}) },
	"NUL":                      member(`"x":"` + "\x00" + `"`),
	"escaped NUL":              member(`"x":"\u0000"`),
	"escaped NUL in name":      member(`"x\u0000":1`),
	"invalid UTF-8":            member(`"x":"` + "\xff\xfe" + `"`),
	"overlong UTF-8":           member(`"x":"` + "\xc0\xaf" + `"`),
	"raw surrogate":            member(`"x":"` + "\xed\xa0\x80" + `"`),
	"high surrogate alone":     member(`"x":"\ud800"`),
	"low surrogate alone":      member(`"x":"\udc00 "`),
	"swapped surrogates":       member(`"x":"\udc00\ud800"`),
	"repeated member":          member(`"x":1,"x":2`),
	"repeated by escape":       member(`"x":1,"\u0078":2`),
	"40 levels":                member(`"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40)),
	"10,000 levels":            member(`"x":` + strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)),
	"extra comma":              member(`"x":1,`),
	"comma alone":              member(`,`),
	"single quotes":            member(`'x':1`),
	"unquoted name":            member(`x:1`),
	"comment":                  member(`"x":1/* c */`),
	"NaN":                      member(`"x":NaN`),
	"infinity":                 member(`"x":Infinity`),
	"leading zero":             member(`"x":01`),
	"plus sign":                member(`"x":+1`),
	"hexadecimal":              member(`"x":0x1F`),
	"fraction without integer": member(`"x":.5`),
	"integer without fraction": member(`"x":1.`),
	"exponent without digits":  member(`"x":1e`),
	"minus alone":              member(`"x":-`),
	"raw line break":           member(`"x":"` + "\n" + `"`),
	"unknown escape":           member(`"x":"\x41"`),
	"incomplete escape":        member(`"x":"\u00"`),
	"incomplete literal":       member(`"x":tru`),
}

func surround(before string, good []byte, after string) []byte {
	return append(append([]byte(before), good...), after...)
}

// member returns a function that inserts the text of members at the beginning of a good body.
func member(text string) func(good []byte) []byte {
	return func(good []byte) []byte {
		if string(good) == "{}" {
			return []byte("{" + text + "}")
		}
		return surround("{"+text+",", good[1:], "")
	}
}
