package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestConformEnded checks that the check during which a run is interrupted neither passes nor fails, and that the report is not
// complete.
func TestConformEnded(t *testing.T) {
	for name, c := range map[string]struct {
		by      syscall.Signal
		code    int
		answers bool // the signal arrives after an answer and before the next request
	}{
		"Ctrl-C during a request":  {syscall.SIGINT, 130, false},
		"SIGTERM during a request": {syscall.SIGTERM, 143, false},
		"Ctrl-C after an answer":   {syscall.SIGINT, 130, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, args := range [][]string{{"--json"}, nil} {
				d := newShell(t)
				ctx, end := context.WithCancelCause(t.Context())
				d.ctx = ctx
				n := 0
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if n++; n == 2 {
						end(&interrupted{c.by})
						if !c.answers {
							<-r.Context().Done()
						}
					}
					_, _ = io.WriteString(w, `{}`)
				})
				only := []string{"--only", "reach", "--only", "markets.ids", "--only", "cors.open"}
				out, bad := d.run(c.code, slices.Concat([]string{"conform", s.URL}, only, args)...)
				d.requireContains(bad, "ended by", "after 1 of 3 checks, of which 0 failed")
				if strings.Contains(bad, "does not conform") || strings.Contains(out, "FAIL") || strings.Contains(out, `"fail"`) {
					t.Errorf("an interrupted run reports a failed check:\n%s%s", out, bad)
				}
				if args == nil {
					lines := strings.Split(strings.TrimSpace(out), "\n")
					d.requireContains(lines[len(lines)-1], "NOT COMPLETE: the run was interrupted after 1 of 3 checks")
					continue
				}
				d.requireContains(out, `"complete": false`, `"failed": 0`, `"ended": true`)
			}
		})
	}
	d := newShell(t)
	s := serve(t, respond(200, `{}`))
	out, _ := d.run(done, "conform", s.URL, "--only", "reach", "--json")
	d.requireContains(out, `"complete": true`)
}

// ledger is a fake hub with one native market. It interrupts the run when a request arrives whose path or body contains at.
type ledger struct {
	sync.Mutex
	sent []string // path and body of the administrative requests
	end  func()   // interrupts the run
	at   string   // part of the path and body of the request that is not answered
	down bool     // answer 500 after the interruption
}

// ServeHTTP implements http.Handler.
func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	said := r.URL.Path + " " + string(body)
	l.Lock()
	defer l.Unlock()
	if l.at != "" && strings.Contains(said, l.at) {
		l.at = ""
		l.end()
		<-r.Context().Done()
		return
	}
	switch {
	case l.at == "" && l.down:
		w.WriteHeader(http.StatusInternalServerError)
	case r.URL.Path == "/api/admin/markets":
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"marketId":"native-abcdefghijklmnop"}`)
	case strings.HasPrefix(r.URL.Path, "/api/resolution/outcome"):
		_, _ = io.WriteString(w, `{"outcome":{"disputed":true,"outcome":null}}`)
	case r.Method == http.MethodPost:
		l.sent = append(l.sent, said)
		_, _ = io.WriteString(w, `{"ok":true}`)
	default:
		_, _ = io.WriteString(w, `{}`)
	}
}

// TestConformClears checks that an interrupted run closes its markets, and that its error lists the markets that it could not
// close.
func TestConformClears(t *testing.T) {
	const market = "native-abcdefghijklmnop"
	for name, c := range map[string]struct {
		at     string
		down   bool
		clears bool
		left   string
	}{
		"a dispute":           {"/api/predictions", false, true, ""},
		"a dispute, down":     {"/api/predictions", true, false, "left on the server: the market " + market + " (500)"},
		"an unknown market":   {"/api/admin/markets", false, false, "left on the server: possibly a market with the question Will the conformance kit's coin"},
		"a dispute half sent": {"/api/resolution/dispute", false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newShell(t)
			d.in = key
			ctx, end := context.WithCancelCause(t.Context())
			d.ctx = ctx
			l := &ledger{at: c.at, down: c.down, end: func() { end(&interrupted{syscall.SIGINT}) }}
			s := httptest.NewServer(l)
			t.Cleanup(s.Close)
			secret := d.home + "/admin"
			if err := os.WriteFile(secret, []byte("the secret of admins\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, bad := d.run(130, "conform", s.URL, "--key", "-", "--admin-secret", secret, "--only", "resolve.dispute")
			d.requireContains(bad, c.left)
			if c.left == "" && strings.Contains(bad, "left on the server") {
				t.Errorf("the run left something on the server: %s", bad)
			}
			l.Lock()
			defer l.Unlock()
			want := []string{
				`/api/resolution/dispute {"disputed":false,"marketId":"` + market + `"}`,
				`/api/resolution/finalize {"marketId":"` + market + `","reason":"conformance kit","verdict":"INVALID"}`,
			}
			if got := l.sent[max(0, len(l.sent)-2):]; slices.Equal(got, want) != c.clears {
				t.Errorf("the last requests are %q; equal to %q: want %v", got, want, c.clears)
			}
		})
	}
}

// TestConformUnreachable checks that no check fails because a service cannot be reached.
func TestConformUnreachable(t *testing.T) {
	d := newShell(t)
	none := serve(t, respond(200, `{}`))
	none.Close()
	for _, only := range [][]string{nil, {"--only", "reach"}, {"--only", "errors.form"}} {
		out, bad := d.run(unavailable, append([]string{"conform", none.URL, "--json"}, only...)...)
		d.requireContains(bad, "cannot be reached")
		d.requireContains(out, `"failed": 0`, `"passed": 0`, `"complete": false`, `"away": true`, "connection refused")
	}
	good := serve(t, respond(200, `{}`))
	r := d.conform(unavailable, good.URL, "--api", none.URL, "--only", "reach", "--only", "feed.sequence", "--only", "feed.socket")
	d.conform(unavailable, good.URL, "--api", none.URL, "--only", "feed.socket")
	if r.outcome("reach") != "pass" || r.outcome("feed.sequence") != "skip" || r.outcome("feed.socket") != "skip" || r.Failed != 0 {
		t.Errorf("checks %+v, want reach passed, the others skipped and none failed", r.Checks)
	}
}

// TestConformNothingTried checks that the exit code is 2 if no check of --only could run.
func TestConformNothingTried(t *testing.T) {
	d := newShell(t)
	d.in = key
	s := serve(t, respond(200, `{}`))
	_, bad := d.run(usage, "conform", s.URL, "--key", "-", "--only", "call.filed")
	d.requireContains(bad, "every check of --only was skipped: needs a market for the call: --market")
	d.run(done, "conform", s.URL, "--key", "-", "--only", "call.filed", "--only", "reach")
}

// TestInterrupted checks the exit code of a process that a process signal ends: 128 plus the number of the signal.
func TestInterrupted(t *testing.T) {
	if at := os.Getenv("SIGNALCAST_TEST_CONFORM"); at != "" {
		os.Args = []string{"signalcast", "conform", at}
		main()
	}
	for by, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		asked := make(chan struct{}, 1)
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case asked <- struct{}{}:
			default:
			}
			<-r.Context().Done()
		}))
		t.Cleanup(s.Close)
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestInterrupted$")
		c.Env = append(os.Environ(), "SIGNALCAST_TEST_CONFORM="+s.URL, "HTTP_PROXY=", "http_proxy=")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		<-asked
		if err := c.Process.Signal(by); err != nil {
			t.Fatal(err)
		}
		if _ = c.Wait(); c.ProcessState.ExitCode() != want {
			t.Errorf("%v: exit code %d, want %d", by, c.ProcessState.ExitCode(), want)
		}
	}
}
