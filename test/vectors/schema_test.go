// Package vectors checks the golden payloads with a complete reader of JSON Schema,
// which shares nothing with the service. The golden messages are checked in another
// language by test/clients.
package vectors

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/proto/testvectors"
)

// calendar is the format date-time; the reader leaves it to the caller.
var calendar = openapi3.NewCallbackValidator(func(s string) error {
	_, err := time.Parse(time.RFC3339, s)
	return err
})

// TestPayloads: the schemas say of every payload what the vectors say.
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
			t.Errorf("%s, %s: %v\n%v", v.Schema, v.Name, v.Payload, err)
		}
		if v.Valid {
			valid++
		}
	}
	if valid < 60 || len(file.Payloads)-valid < 120 || len(file.Schemas) != 12 {
		t.Errorf("%d valid of %d, %d schemas: too few", valid, len(file.Payloads), len(file.Schemas))
	}
}
