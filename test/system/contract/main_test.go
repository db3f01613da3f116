// Package contract sends valid requests to every operation of the OpenAPI document. Every answer must match the document. Tests
// must receive a successful answer and a refusal from every operation.
package contract

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) {
	openapi.Main(m, func(o *openapi.Operation) bool {
		// A clip requires a video stream: the tests of the pages push one.
		return o.Name() != "POST hub/api/live/{handle}/clip" && o.Name() != "POST hub/api/network/tapes/{id}/view"
	})
}

// system returns the system of these tests. It has no rate limits per IP address.
func system(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Shared(t, stack.ScoredAtOnce(), stack.Env("RATE_LIMIT_ANON", "0"),
		stack.Env("SECURITY_CONTACT", "mailto:security@hub.example"),
		stack.Env("MAIL_SMTP_URL", "smtp://127.0.0.1:1"), stack.Env("MAIL_FROM", "news@hub.example")) // no server: letters wait
}

func get(t testing.TB, url string, sets ...stack.Set) stack.Answer {
	t.Helper()
	return stack.Send(t, http.MethodGet, url, sets...)
}

func post(t testing.TB, url string, sets ...stack.Set) stack.Answer {
	t.Helper()
	return stack.Send(t, http.MethodPost, url, sets...)
}

// form returns a Set that submits the form of a page of the hub. pairs contains field names and values.
func form(pairs ...string) stack.Set {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		stack.Form(values)(r)
	}
}
