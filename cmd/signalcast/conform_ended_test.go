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

// TestConformEnded: who ends a run accuses nobody. The check that was cut is neither passed
// nor failed, and the report is not complete.
func TestConformEnded(t *testing.T) {
	for name, c := range map[string]struct {
		by      syscall.Signal
		code    int
		answers bool // it ends between an answer and the next question
	}{
		"Ctrl-C in a check":  {syscall.SIGINT, 130, false},
		"SIGTERM in a check": {syscall.SIGTERM, 143, false},
		"behind an answer":   {syscall.SIGINT, 130, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, args := range [][]string{{"--json"}, nil} {
				d := sit(t)
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
				out, bad := d.run(c.code, append([]string{"conform", s.URL, "--only", "reach", "--only", "markets.ids", "--only", "cors.open"}, args...)...)
				d.has(bad, "ended by", "after 1 of 3 checks, of which 0 failed")
				if strings.Contains(bad, "does not conform") || strings.Contains(out, "FAIL") || strings.Contains(out, `"fail"`) {
					t.Errorf("%s%s", out, bad)
				}
				if args == nil {
					lines := strings.Split(strings.TrimSpace(out), "\n")
					d.has(lines[len(lines)-1], "NOT COMPLETE: the run was ended after 1 of 3 checks")
					continue
				}
				d.has(out, `"complete": false`, `"failed": 0`, `"ended": true`)
			}
		})
	}
	d := sit(t)
	s := serve(t, says(200, `{}`))
	out, _ := d.run(done, "conform", s.URL, "--only", "reach", "--json")
	d.has(out, `"complete": true`)
}

// ledger is a server with markets of its own. It stops to answer at one of its routes and
// ends the run there.
type ledger struct {
	sync.Mutex
	sent []string // what was decided on the market
	end  func()
	at   string // part of the request in which the run ends
	down bool   // it takes nothing more then
}

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

// TestConformClears: what a run that is ended has made on the server is ended with it, and
// else named.
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
		"an unknown market":   {"/api/admin/markets", false, false, "left on the server: perhaps a market that asks Will the conformance kit's coin"},
		"a dispute half sent": {"/api/resolution/dispute", false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := sit(t)
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
			d.has(bad, c.left)
			if c.left == "" && strings.Contains(bad, "left on the server") {
				t.Error(bad)
			}
			l.Lock()
			defer l.Unlock()
			want := []string{
				`/api/resolution/dispute {"disputed":false,"marketId":"` + market + `"}`,
				`/api/resolution/finalize {"marketId":"` + market + `","reason":"conformance kit","verdict":"INVALID"}`,
			}
			if got := l.sent[max(0, len(l.sent)-2):]; slices.Equal(got, want) != c.clears {
				t.Errorf("it sent %q", l.sent)
			}
		})
	}
}

// TestConformAway: who cannot be reached is not accused either.
func TestConformAway(t *testing.T) {
	d := sit(t)
	none := serve(t, says(200, `{}`))
	none.Close()
	for _, only := range [][]string{nil, {"--only", "reach"}, {"--only", "errors.form"}} {
		out, bad := d.run(away, append([]string{"conform", none.URL, "--json"}, only...)...)
		d.has(bad, "cannot be reached")
		d.has(out, `"failed": 0`, `"passed": 0`, `"complete": false`, `"away": true`, "connection refused")
	}
	good := serve(t, says(200, `{}`))
	r := d.conform(away, good.URL, "--api", none.URL, "--only", "reach", "--only", "feed.sequence", "--only", "feed.socket")
	d.conform(away, good.URL, "--api", none.URL, "--only", "feed.socket")
	if r.of("reach") != "pass" || r.of("feed.sequence") != "skip" || r.of("feed.socket") != "skip" || r.Failed != 0 {
		t.Errorf("%+v", r.Checks)
	}
}

// TestConformNothingTried: what was asked for alone and could not be tried is no success.
func TestConformNothingTried(t *testing.T) {
	d := sit(t)
	d.in = key
	s := serve(t, says(200, `{}`))
	_, bad := d.run(usage, "conform", s.URL, "--key", "-", "--only", "call.filed")
	d.has(bad, "nothing was tried of what --only names: needs a market to file a call on: --market")
	d.run(done, "conform", s.URL, "--key", "-", "--only", "call.filed", "--only", "reach")
}

// TestInterrupted: a program that is sent a signal ends with its number.
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
