package video

import (
	"context"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) {
	openapi.Main(m, func(o *openapi.Operation) bool { return false }) // other packages cover the operations
}

// system returns the system that the tests of this package share.
func system(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Shared(t, stack.ScoredAtOnce(), stack.Env("RATE_LIMIT_ANON", "0"))
}

// read requires that an address answers 200.
func read(t testing.TB, url string) stack.Answer {
	t.Helper()
	return stack.Send(t, http.MethodGet, url).Require(http.StatusOK)
}

// admin sends a POST as administrator.
func admin(t *testing.T, s *stack.Stack, path string, body stack.JSON) {
	t.Helper()
	stack.Send(t, http.MethodPost, s.Hub+path, s.Admin(), stack.Body(body)).Require(http.StatusOK)
}

// setOverlay shows a market over the stream of an operator.
func setOverlay(t *testing.T, o *stack.Operator, body stack.JSON) {
	t.Helper()
	o.Send(t, "/api/streamer/signal", http.StatusOK, stack.Bearer(o.Key), body)
}

// beat extends a broadcast.
func beat(t *testing.T, o *stack.Operator, market string) {
	t.Helper()
	o.Send(t, "/api/streamer/heartbeat", http.StatusOK, stack.Bearer(o.Key), stack.JSON{"state": "live", "marketId": market})
}

// broadcast approves an operator and starts a broadcast of a stream of another host.
func broadcast(t *testing.T, o *stack.Operator, market, stream string) {
	t.Helper()
	o.SetStreamer(t, "approved")
	o.Send(t, "/api/m/"+market+"/streams", http.StatusOK, stack.Bearer(o.Key), stack.JSON{"url": stream, "label": "night desk"})
	beat(t, o, market)
}

// output is what a program writes.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// run starts a program until the test ends. A test that fails shows its errors.
func run(t *testing.T, name string, args ...string) *localdb.Child {
	t.Helper()
	var errors output
	cmd := exec.Command(name, args...)
	cmd.Stderr = &errors
	child, err := localdb.StartChild(cmd, syscall.SIGTERM)
	if err != nil {
		t.Fatalf("%s is missing (tools/setup.sh video installs it): %v", name, err)
	}
	t.Cleanup(func() {
		child.Stop(context.Background(), syscall.SIGTERM, 5*time.Second)
		errors.mu.Lock()
		defer errors.mu.Unlock()
		if t.Failed() && errors.text.Len() > 0 {
			t.Logf("%s: %s", name, errors.text.String())
		}
	})
	return child
}
