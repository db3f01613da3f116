package skill

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// vector is a record of calls in testdata/vectors.json with the report that every implementation must compute for it.
type vector struct {
	Name   string  `json:"name"`
	Calls  []tally `json:"calls"`
	Report any     `json:"report"`
}

type tally struct {
	PriceBps   protocol.Bps `json:"priceBps"`
	Confidence int          `json:"confidence,omitempty"`
	Calls      int64        `json:"calls"`
	Wins       int64        `json:"wins"`
}

// reportJSON returns a report as a decoded JSON value.
func reportJSON(t *testing.T, r Report) (answer any) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return camel(answer)
}

// camel returns a JSON value in which the names of members begin with a lower-case letter.
func camel(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[strings.ToLower(name[:1])+name[1:]] = camel(member)
		}
		return out
	case []any:
		for i := range v {
			v[i] = camel(v[i])
		}
	}
	return v
}
