// Package documents compares the pages of the documentation with the code and runs what they show.
package documents

import (
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { openapi.Main(m, nil) }

// repo is the root of the repository.
const repo = "../../.."

var described = sync.OnceValues(func() (*openapi.Document, error) { return openapi.Load(repo) })

func system(t testing.TB) *stack.Stack {
	t.Helper()
	return stack.Shared(t, stack.Env("RATE_LIMIT_ANON", "0"))
}

func get(t testing.TB, url string, sets ...stack.Set) stack.Answer {
	t.Helper()
	return stack.Send(t, http.MethodGet, url, sets...)
}

func contentOf(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
