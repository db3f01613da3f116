package e2e

import (
	"bytes"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// node runs a script of sdk/ts with the machine's Node and gives what it writes. Extra names
// are of the environment.
func runNode(t testing.TB, env []string, args ...string) string {
	t.Helper()
	bin, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is missing; type: sudo apt-get install -y nodejs npm")
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir = filepath.Join(repo, "sdk/ts")
	cmd.Env = append(plainEnv(), env...)
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		t.Fatalf("node %q: %v\n%s%s", args, err, &out, &bad)
	}
	return out.String()
}

// TestLibraryTS runs the TypeScript library against the stack, through proxies that lose
// answers, take keys away, lead cursors back and speak like a service of next year.
func TestLibraryTS(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	keys := make([]string, 8)
	for i := range keys {
		keys[i], _ = s.person(t).mint(t, "library")
	}
	reader := post(t, s.Hub+"/api/dev/keys", p.login(), payload(obj{"label": "reads", "permissions": []string{"read"}})).is(http.StatusCreated).str("key")
	ledger := s.native(t, 5000)
	for range 9 {
		s.person(t).call(t, ledger, "NO", 5000)
	}
	lossy := &between{to: s.Hub, lose: (&losing{seen: map[string]bool{}}).first}
	stripped := &between{to: s.Hub, lose: (&losing{seen: map[string]bool{}}).first, ask: func(r *http.Request) { r.Header.Del("Idempotency-Key") }}
	stuck := &between{to: s.Hub, ask: func(r *http.Request) {
		q := r.URL.Query()
		q.Set("cursor", "unreadable")
		r.URL.RawQuery = q.Encode()
	}}
	known := s.person(t)
	known.call(t, s.native(t, 5000), "NO", 5000)
	out := runNode(t, []string{
		"HUB=" + s.Hub, "API=" + s.API, "CLOCK=" + s.Clock, "KEYS=" + strings.Join(keys, ","), "READER=" + reader, "TOKEN=" + p.token, "HANDLE=" + known.user,
		"MARKETS=" + strings.Join([]string{s.native(t, 5000), s.native(t, 5000), s.native(t, 5000), s.closed(t), ledger}, ","),
		"OTHER=" + s.native(t, 5000), "SIGNED=" + s.native(t, 5000),
		"LOSSY=" + lossy.open(t), "STRIPPED=" + stripped.open(t), "STUCK=" + stuck.open(t), "NEWER=" + (&between{to: s.Hub, answer: ofNextYear}).open(t),
	}, "test/stack/library.mjs")
	if n := strings.Count(out, "ok "); n != 11 {
		t.Errorf("%d checks\n%s", n, out)
	}
	if lossy.lost.Load() != 9 || stripped.lost.Load() != 8 {
		t.Errorf("%d and %d answers were lost", lossy.lost.Load(), stripped.lost.Load())
	}
}
