package clients

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// runNode runs a script in sdk/ts with additional environment variables and returns its output.
func runNode(t testing.TB, env []string, args ...string) string {
	t.Helper()
	bin, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is not installed; run: sudo apt-get install -y nodejs npm")
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir = filepath.Join(repo, "sdk/ts")
	cmd.Env = append(os.Environ(), env...)
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		t.Fatalf("run node %q: %v\n%s%s", args, err, &out, &bad)
	}
	return out.String()
}

// TestTypeScriptLibrary checks the TypeScript library behind proxies that drop answers, remove idempotency keys, repeat cursors
// and send unknown values.
func TestTypeScriptLibrary(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	keys := make([]string, 8)
	for i := range keys {
		keys[i], _ = s.NewOperator(t).Mint(t, stack.JSON{"label": "library"})
	}
	reader := post(t, s.Hub+"/api/dev/keys", stack.Bearer(p.Login), stack.Body(stack.JSON{
		"label":       "reads",
		"permissions": []string{"read"},
	})).Require(http.StatusCreated).Text("key")
	ledger := s.NewNativeMarket(t, 5000, nil)
	for range 9 {
		s.NewOperator(t).NewCall(t, ledger, "NO", 5000, nil)
	}
	lossy := &changingProxy{to: s.Hub, lose: (&droppedAnswers{seen: map[string]bool{}}).first}
	stripped := &changingProxy{
		to: s.Hub, lose: (&droppedAnswers{seen: map[string]bool{}}).first,
		ask: func(r *http.Request) { r.Header.Del("Idempotency-Key") },
	}
	stuck := &changingProxy{to: s.Hub, ask: func(r *http.Request) {
		q := r.URL.Query()
		q.Set("cursor", "unreadable")
		r.URL.RawQuery = q.Encode()
	}}
	known := s.NewOperator(t)
	known.NewCall(t, s.NewNativeMarket(t, 5000, nil), "NO", 5000, nil)
	out := runNode(t, []string{
		"HUB=" + s.Hub, "API=" + s.API, "CLOCK=" + s.Clock, "KEYS=" + strings.Join(keys, ","), "READER=" + reader,
		"TOKEN=" + p.Login, "HANDLE=" + known.Handle,
		"MARKETS=" + strings.Join([]string{
			s.NewNativeMarket(t, 5000, nil), s.NewNativeMarket(t, 5000, nil),
			s.NewNativeMarket(t, 5000, nil), closed(t, s), ledger,
		}, ","),
		"OTHER=" + s.NewNativeMarket(t, 5000, nil), "SIGNED=" + s.NewNativeMarket(t, 5000, nil),
		"LOSSY=" + lossy.open(t), "STRIPPED=" + stripped.open(t), "STUCK=" + stuck.open(t), "NEWER=" + (&changingProxy{
			to:     s.Hub,
			answer: addUnknownValues,
		}).open(t),
	}, "test/stack/library.mjs")
	if n := strings.Count(out, "ok "); n != 11 {
		t.Errorf("the script reports %d checks; its output:\n%s", n, out)
	}
	if lossy.lost.Load() != 9 || stripped.lost.Load() != 8 {
		t.Errorf("the proxies dropped %d and %d answers; want some of each", lossy.lost.Load(), stripped.lost.Load())
	}
}
