package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// sideHub starts one more hub of the stack with some settings changed, and gives its
// address. Its public name stays that of the first.
func (s *stack) sideHub(t testing.TB, changed ...string) string {
	t.Helper()
	var environ []byte
	testkit.Eventually(t, 30*time.Second, func() (there bool) { // another test may just have ended the hub
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", up(t).PIDs["hub"]))
		environ, there = raw, err == nil && len(raw) > 0
		return there
	})
	port, err := localdb.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	addr := "127.0.0.1:" + strconv.Itoa(port)
	cmd := exec.Command(filepath.Join(shared.run.dir, "bin", "hub"))
	cmd.Env = append(strings.Split(strings.TrimRight(string(environ), "\x00"), "\x00"), append([]string{
		"HTTP_ADDR=" + addr, "METRICS_ADDR=", "ORIGIN_LISTEN=", "ORIGIN_DIR=", "REDIS_TIMEOUT=5s", // a busy machine is no outage
	}, changed...)...)
	var out lines
	cmd.Stdout, cmd.Stderr = &out, &out
	child, err := localdb.StartChild(cmd, syscall.SIGTERM)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		child.Stop(context.Background(), syscall.SIGTERM, stopWithin)
		if t.Failed() {
			t.Logf("the hub at %s wrote:\n%s", addr, out.String())
		}
	})
	testkit.Eventually(t, time.Minute, func() bool {
		a, err := try(t, http.MethodGet, "http://"+addr+"/readyz")
		return err == nil && a.status == http.StatusOK
	})
	return "http://" + addr
}
