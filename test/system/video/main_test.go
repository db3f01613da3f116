package video

import (
	"context"
	"net/http"
	"os/exec"
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

// read sends a GET request and requires the status 200.
func read(t testing.TB, url string) stack.Answer {
	t.Helper()
	return stack.Send(t, http.MethodGet, url).Require(http.StatusOK)
}

// admin sends a POST request to the hub with the admin secret, and requires the status 200.
func admin(t *testing.T, s *stack.Stack, path string, body stack.JSON) {
	t.Helper()
	stack.Send(t, http.MethodPost, s.Hub+path, s.Admin(), stack.Body(body)).Require(http.StatusOK)
}

// setOverlay sets the market that the overlay of an operator shows.
func setOverlay(t *testing.T, o *stack.Operator, body stack.JSON) {
	t.Helper()
	o.Send(t, "/api/streamer/signal", http.StatusOK, stack.Bearer(o.Key), body)
}

// sendHeartbeat sends a heartbeat, which starts or extends the broadcast of an operator.
func sendHeartbeat(t *testing.T, o *stack.Operator, market string) {
	t.Helper()
	o.Send(t, "/api/streamer/heartbeat", http.StatusOK, stack.Bearer(o.Key), stack.JSON{"state": "live", "marketId": market})
}

// broadcast approves an operator, binds a stream of an external video host to the market, and starts a broadcast.
func broadcast(t *testing.T, o *stack.Operator, market, stream string) {
	t.Helper()
	o.SetStreamer(t, "approved")
	o.Send(t, "/api/m/"+market+"/streams", http.StatusOK, stack.Bearer(o.Key), stack.JSON{"url": stream, "label": "night desk"})
	sendHeartbeat(t, o, market)
}

// run starts a program that is ended when the test ends. If the test fails, run logs the standard error output of the program.
func run(t *testing.T, name string, args ...string) *localdb.Child {
	t.Helper()
	var errors stack.Output
	cmd := exec.Command(name, args...)
	cmd.Stderr = &errors
	child, err := localdb.StartChild(cmd, syscall.SIGTERM)
	if err != nil {
		t.Fatalf("%s is not installed; run tools/setup.sh video: %v", name, err)
	}
	t.Cleanup(func() {
		child.Stop(context.Background(), syscall.SIGTERM, 5*time.Second)
		if t.Failed() && errors.String() != "" {
			t.Logf("%s: %s", name, errors.String())
		}
	})
	return child
}
