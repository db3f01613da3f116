package venuetest

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Simulator is a running process of the venue simulator.
type Simulator struct {
	URL string
	t   *testing.T
}

// StartSimulator builds the venue simulator and runs it until the test ends. data is a list of directories with recorded
// responses that the simulator serves, or "".
func StartSimulator(t *testing.T, data string) *Simulator {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "venuesim")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/signalcast/signalcast/deploy/venuesim").CombinedOutput(); err != nil {
		t.Fatalf("build the simulator: %v\n%s", err, out)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), "HTTP_ADDR=127.0.0.1:0", "VENUE_SIM_SEED=3", "VENUE_SIM_DATA="+data)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("the simulator did not stop cleanly: %v", err)
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, addr, ok := strings.Cut(lines.Text(), "listening on http://"); ok {
			go func() {
				defer close(drained)
				_, _ = io.Copy(io.Discard, out)
			}()
			return &Simulator{URL: "http://" + addr, t: t}
		}
		t.Log(lines.Text()) // names a recorded file that the simulator omitted
	}
	close(drained)
	t.Fatalf("the simulator printed no address: %v", lines.Err())
	return nil
}

// Post sends a request to the control route /sim/{path} of the simulator and returns the JSON response. Any failure ends the
// test.
func (s *Simulator) Post(path, body string) map[string]any {
	s.t.Helper()
	resp, err := http.Post(s.URL+"/sim/"+path, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var v map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil || resp.StatusCode >= 300 {
		s.t.Fatalf("%s: %d %v %v", path, resp.StatusCode, v, err)
	}
	return v
}

// Create creates an open market of a provider in the simulator and returns its id. members are further JSON members of the
// request, such as `,"yesPrice":0.25`.
func (s *Simulator) Create(p protocol.Provider, question, members string) protocol.MarketID {
	s.t.Helper()
	return protocol.MarketID(s.Post(string(p)+"/markets", `{"question":"`+question+`"`+members+`}`)["id"].(string))
}
