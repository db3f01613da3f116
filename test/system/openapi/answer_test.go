package openapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	text := func(format string) *openapi3.SchemaRef {
		return openapi3.NewStringSchema().WithFormat(format).NewRef()
	}
	s := openapi3.NewObjectSchema().WithPropertyRef("id", text("uuid")).WithPropertyRef("at", text("date-time")).NewRef()
	s.Value.WithPropertyRef("list", openapi3.NewArraySchema().WithItems(text("uri").Value).NewRef())
	good := map[string]any{
		"id": "0199f0a4-2222-7000-8000-000000000002", "at": "2026-09-18T00:00:00.000Z",
		"list": []any{"https://a.example/x"},
	}
	bad := map[string]any{"id": "0199F0A4", "at": "18.9.2026", "list": []any{"/x", "https://a.example"}}
	either := &openapi3.SchemaRef{Value: &openapi3.Schema{OneOf: openapi3.SchemaRefs{text("uuid"), text("date")}}}
	for name, test := range map[string]struct {
		schema *openapi3.SchemaRef
		value  any
		want   int
	}{
		"all right":        {s, good, 0},
		"three wrong":      {s, bad, 3},
		"one of two forms": {either, "2026-09-18", 0},
		"none of two":      {either, "x", 1},
	} {
		t.Run(name, func(t *testing.T) {
			if wrong := formatMistakes(test.schema, test.value, ""); len(wrong) != test.want {
				t.Errorf("%v; want %d", wrong, test.want)
			}
		})
	}
}

// Each change of an answer that the document and the rules allow is found.
func TestMistakesOfAnswers(t *testing.T) {
	t.Parallel()
	doc := ForTest(t)
	good := func() answer {
		return answer{
			host: "hub", request: httptest.NewRequest(http.MethodGet, "http://hub.example/api/signals/absent", nil),
			status: http.StatusNotFound,
			header: http.Header{
				"Content-Type": {"application/json; charset=utf-8"}, "Cache-Control": {"no-store"}, "X-Content-Type-Options": {"nosniff"},
			},
			body: []byte(`{"error":"not_found","message":"there is no such call"}`),
		}
	}
	if wrong := doc.mistakes(good()); len(wrong) > 0 {
		t.Fatalf("an answer as documented has mistakes: %v", wrong)
	}
	for name, change := range map[string]func(*answer){
		"status":           func(a *answer) { a.status = http.StatusTeapot },
		"undocumented":     func(a *answer) { a.request.URL.Path = "/x"; a.status = http.StatusOK },
		"method":           func(a *answer) { a.request.Method = http.MethodPut },
		"member":           func(a *answer) { a.body = []byte(`{"error":"not_found","message":"x","more":1}`) },
		"time":             func(a *answer) { a.body = []byte(`{"error":"not_found","message":"2026-09-18T00:00:00Z"}`) },
		"caching":          func(a *answer) { a.header.Set("Cache-Control", "public, s-maxage=5") },
		"sniffing":         func(a *answer) { a.header.Del("X-Content-Type-Options") },
		"foreign pages":    func(a *answer) { a.header.Set("Access-Control-Allow-Origin", "*") },
		"id of a provider": func(a *answer) { a.body = []byte(`{"error":"not_found","message":"did:idp:x"}`) },
		"operator key": func(a *answer) {
			a.body = []byte(`{"error":"not_found","message":"dk_0123456789012345678901234567890123456789012"}`)
		},
		"retry": func(a *answer) {
			a.status = http.StatusServiceUnavailable
			a.body = []byte(`{"error":"db_unavailable","message":"x"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := good()
			if change(&a); len(doc.mistakes(a)) == 0 {
				t.Error("the mistake is not found")
			}
		})
	}
}
