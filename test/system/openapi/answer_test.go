package openapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestFormats checks the validation of strings with a format.
func TestFormats(t *testing.T) {
	t.Parallel()
	for format, texts := range map[string]struct{ good, bad string }{
		"uuid": {"0199f0a4-2222-7000-8000-000000000002", "0199F0A4"}, "uri": {"https://a.example/x", "/x"},
		"date-time": {"2026-09-18T00:00:00.000Z", "18.9.2026"}, "date": {"2026-09-18", "2026-02-30"},
	} {
		list := openapi3.NewArraySchema().WithItems(openapi3.NewStringSchema().WithFormat(format))
		for text, want := range map[string]bool{texts.good: true, texts.bad: false} {
			if err := list.VisitJSON([]any{text}, openapi3.EnableJSONSchema2020()); (err == nil) != want {
				t.Errorf("validation of the format %s for %q: error %v", format, text, err)
			}
		}
	}
}

// TestMistakesOfAnswers checks that each forbidden change of a correct answer is found.
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
		t.Fatalf("a correct answer has mistakes: %v", wrong)
	}
	for name, change := range map[string]func(*answer){
		"status":       func(a *answer) { a.status = http.StatusTeapot },
		"undocumented": func(a *answer) { a.request.URL.Path = "/x"; a.status = http.StatusOK },
		"method":       func(a *answer) { a.request.Method = http.MethodPut },
		"member":       func(a *answer) { a.body = []byte(`{"error":"not_found","message":"x","more":1}`) },
		"time":         func(a *answer) { a.body = []byte(`{"error":"not_found","message":"2026-09-18T00:00:00Z"}`) },
		"caching":      func(a *answer) { a.header.Set("Cache-Control", "public, s-maxage=5") },
		"private": func(a *answer) { // the operation is neither a page nor depends on a session
			a.request.AddCookie(&http.Cookie{Name: "db_uid", Value: "x"})
			a.header.Set("Cache-Control", "private, no-store")
		},
		"sniffing":               func(a *answer) { a.header.Del("X-Content-Type-Options") },
		"pages of other origins": func(a *answer) { a.header.Set("Access-Control-Allow-Origin", "*") },
		"id of a provider":       func(a *answer) { a.body = []byte(`{"error":"not_found","message":"did:idp:x"}`) },
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
				t.Error("no mistake was found")
			}
		})
	}
}
