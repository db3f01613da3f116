package clients

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// script is the script of one client and its minimum number of passed checks.
type script struct {
	name  string
	least int
}

// scripts lists the clients in the order in which they run.
var scripts = []script{
	{"vectors", 2},
	{"oauth4webapi", 30},
	{"openid-client", 8},
	{"conformance", 4},
	{"privy", 11},
	{"messages", 27},
	{"attested", 5},
	{"feed", 3},
	{"mcp-conformance", 4},
	{"mcp-sdk", 20},
	{"mcp-oauth", 12},
	{"mcp-inspector", 6},
}

// runWithin is the longest time that one client may run.
const runWithin = time.Minute

// TestClients checks that the clients of other projects work with the product: each client must pass its checks.
func TestClients(t *testing.T) {
	n := install(t)
	w := newWorld(t)
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			out := n.run(t, s.name, w.person(t, s.name))
			if checks := strings.Count("\n"+out, "\nok "); checks < s.least {
				t.Errorf("%d checks passed; want at least %d\n%s", checks, s.least, out)
			}
		})
	}
}

// run runs the script of one client and returns its standard output.
func (n node) run(t *testing.T, name string, env []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, n.bin, name+".mjs")
	cmd.Dir = n.dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(n.bin)+string(filepath.ListSeparator)+os.Getenv("PATH"), "NO_COLOR=1")
	cmd.Env = append(cmd.Env, env...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its child processes are ended together with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Run(); err != nil {
		t.Fatalf("run %s.mjs: %v\n%s%s", name, err, out.String(), complaints.String())
	}
	return out.String()
}
