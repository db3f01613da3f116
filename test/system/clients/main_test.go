// Package clients tests the command line, the conformance checks, the SDKs and the example application against a running
// system.
package clients

import (
	"net/http"
	"os"
	"os/exec"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { openapi.Main(m, nil) }

// repo is the path of the repository's root directory.
const repo = "../../.."

// system returns the system of these tests. It has no rate limits per IP address.
func system(t testing.TB) *stack.Stack {
	t.Helper()
	return stack.Shared(t, stack.ScoredAtOnce(), stack.Env("RATE_LIMIT_ANON", "0"))
}

func get(t testing.TB, url string, sets ...stack.Set) stack.Answer {
	t.Helper()
	return stack.Send(t, http.MethodGet, url, sets...)
}

func post(t testing.TB, url string, sets ...stack.Set) stack.Answer {
	t.Helper()
	return stack.Send(t, http.MethodPost, url, sets...)
}

// closed returns the id of a market that has an outcome.
func closed(t testing.TB, s *stack.Stack) string {
	t.Helper()
	market := s.NewNativeMarket(t, 5000, nil)
	s.Finalize(t, market, "YES")
	return market
}

// run runs a program in a directory and returns its output. The test fails if the program ends with an error.
func run(t testing.TB, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run %s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}
