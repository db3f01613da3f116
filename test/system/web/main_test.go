// Package web tests what a browser or a shared cache between it and the services relies on.
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

// withoutFetchMetadata removes the header by which a browser states the site of a request.
func withoutFetchMetadata(r *http.Request) { r.Header.Del("Sec-Fetch-Site") }
