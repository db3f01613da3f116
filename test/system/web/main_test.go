// Package web tests the headers and contents on which browsers and shared caches rely.
package web

import (
	"net/http"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// webStack returns the system that the tests of this package share.
func webStack(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Shared(t, stack.Hubs(2))
}

// withoutFetchMetadata removes the header in which a browser states the site that sends a request.
func withoutFetchMetadata(r *http.Request) { r.Header.Del("Sec-Fetch-Site") }
