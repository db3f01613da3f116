// Package vectors checks the payloads of the test vectors with a complete library for JSON Schema. The library shares no code
// with the service. Package test/clients checks the messages of the test vectors in JavaScript.
package vectors

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/proto/testvectors"
)

// calendar checks the format date-time, which the schema library does not check.
var calendar = openapi3.NewCallbackValidator(func(s string) error {
	_, err := time.Parse(time.RFC3339, s)
	return err
})

// TestPayloads checks that the schemas accept the valid payloads of the test vectors and refuse the invalid ones.
func TestPayloads(t *testing.T) {
	t.Parallel()
	var file struct {
		Schemas  map[string]*openapi3.Schema `json:"schemas"`
		Payloads []struct {
			Schema  string `json:"schema"`
			Valid   bool   `json:"valid"`
			Name    string `json:"name"`
			Payload any    `json:"payload"`
		} `json:"payloads"`
	}
	if err := json.Unmarshal(testvectors.Payloads, &file); err != nil {
		t.Fatal(err)
	}
	valid := 0
	for _, v := range file.Payloads {
		err := file.Schemas[v.Schema].VisitJSON(v.Payload, openapi3.EnableJSONSchema2020(), openapi3.WithStringFormatValidator("date-time", calendar))
		if (err == nil) != v.Valid {
			t.Errorf("schema %s, payload %s: validation error %v; want the opposite result\n%v", v.Schema, v.Name, v.Payload, err)
		}
		if v.Valid {
			valid++
		}
	}
	if valid < 60 || len(file.Payloads)-valid < 120 || len(file.Schemas) != 12 {
		t.Errorf("%d of %d payloads are valid and there are %d schemas; want at least 60 valid and 120 invalid payloads and 12 schemas", valid, len(file.Payloads), len(file.Schemas))
	}
}
