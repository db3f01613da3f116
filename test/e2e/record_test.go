package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordHolds: what the command line fetches of a running stack is a record in
// which every number holds, and one digit that is changed is named with its line.
func TestRecordHolds(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	for i, verdict := range []string{"YES", "NO", "YES", "INVALID", "YES", "NO", "YES", "YES"} {
		for j, price := range []int{400, 900, 1700, 3100, 4700, 6600} {
			market := s.native(t, max(price, 100))
			side := "YES"
			if (i+j)%3 == 0 {
				side = "NO"
			}
			more := obj{"textTake": "=SUM(A1:A9)"}
			if j%2 == 0 {
				more["confidence"] = 20 + 10*j
			}
			id := p.call(t, market, side, price, more)
			if i%4 == 0 {
				post(t, s.Hub+"/api/signals/"+id+"/events", p.auth(t), payload(obj{"type": "note", "payload": obj{"text": "a note"}})).is(http.StatusCreated)
			}
			if i < 7 {
				s.finalize(t, market, verdict)
			}
		}
	}
	dir := t.TempDir()
	program, file := filepath.Join(dir, "signalcast"), filepath.Join(dir, "record.jsonl")
	run := func(wantCode int, args ...string) string {
		t.Helper()
		out, err := exec.Command(program, args...).CombinedOutput()
		code := 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if code != wantCode {
			t.Fatalf("signalcast %s: exit code %d, want %d\n%s", strings.Join(args, " "), code, wantCode, out)
		}
		return string(out)
	}
	build := exec.Command("go", "build", "-o", program, "./cmd/signalcast")
	build.Dir = repo
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run(0, "record", "get", "--hub", s.Hub, "-o", file, p.user)
	if out := run(0, "record", "verify", file); !strings.Contains(out, "every number holds (calls: 48, events: 54)") {
		t.Error(out)
	}
	run(0, "record", "verify", s.Hub+"/api/operator/"+p.user+"/record")
	if out := run(0, "record", "get", "--hub", s.Hub, "--format", "csv", p.user); !strings.Contains(out, ",'=SUM(A1:A9),") || strings.Contains(out, ",=SUM") {
		t.Error("a formula is not quoted")
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(raw), `"score":-96`, `"score":-95`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(1, "record", "verify", file); !strings.Contains(out, "line 2: score: says -95, should be -96") || !strings.Contains(out, "sha256") {
		t.Error(out)
	}
	run(2, "record", "verify", filepath.Join(dir, "nothing"))
	run(2, "record", "get", "--hub", s.Hub, "nobody_of_that_name")
	if keep := os.Getenv("KEEP_RECORD"); keep != "" {
		if err := os.WriteFile(keep, raw, 0o600); err != nil {
			t.Fatal(fmt.Errorf("keep the record: %w", err))
		}
	}
}
