package clients

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/test/system/stack"
)

// receiver is an endpoint of webhooks that stores the deliveries whose signature is valid.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	events []struct{ Op, Type, Channel string }
}

// newReceiver starts a receiver for deliveries that are signed with the secret in a file.
func newReceiver(t *testing.T, secretFile string) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		secret, err := os.ReadFile(secretFile)
		if err != nil {
			t.Errorf("read the secret: %v", err)
		}
		stamp, given, _ := strings.Cut(strings.TrimPrefix(q.Header.Get("Signalcast-Signature"), "t="), ",v1=")
		mac := hmac.New(sha256.New, []byte(strings.TrimSpace(string(secret))))
		_, _ = fmt.Fprintf(mac, "%s.%s", stamp, body)
		var d struct {
			Events []struct{ Op, Type, Channel string }
		}
		if json.Unmarshal(body, &d) != nil || given != hex.EncodeToString(mac.Sum(nil)) {
			t.Errorf("the delivery %s has the signature %q, which is not valid", body, q.Header.Get("Signalcast-Signature"))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, d.Events...)
	}))
	t.Cleanup(r.Close)
	return r
}

// has reports whether an event of this kind was delivered.
func (r *receiver) has(op, kind string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Op == op && e.Type == kind {
			return true
		}
	}
	return false
}

// TestCommandLineWebhooks checks that webhook create, test and listen deliver events whose signature is valid, and that list,
// deliveries and delete show the webhook.
func TestCommandLineWebhooks(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, who := signedIn(t, s)
	market := s.NewNativeMarket(t, 5000, nil)
	file := filepath.Join(t.TempDir(), "secret")
	hook := newReceiver(t, file)

	var made struct{ ID, Secret string }
	p.read(&made, 0, "webhook", "create", hook.URL+"/x", "--channel", "market:"+market, "--out", file)
	if made.Secret != "" {
		t.Error("webhook create prints the secret")
	}
	p.run(0, "", "webhook", "test", made.ID)
	who.NewCall(t, market, "YES", 5000, nil)
	testkit.Eventually(t, 30*time.Second, func() bool { return hook.has("test", "") && hook.has("event", "signal.created") })
	if table, _ := p.run(0, "", "webhook", "list", "--table"); !strings.Contains(table, made.ID+"  active") {
		t.Error(table)
	}
	testkit.Eventually(t, 30*time.Second, func() bool { // the log is written after the answer of the endpoint
		table, _ := p.run(0, "", "webhook", "deliveries", made.ID, "--csv", "--columns", "RESULT", "--no-header")
		return strings.Count(table, "delivered\n") >= 2
	})
	p.run(0, "", "webhook", "delete", made.ID)
	p.run(1, "", "webhook", "test", made.ID)

	var calls struct{ Signals []struct{ MarketID string } }
	if p.read(&calls, 0, "calls", "list", "--all"); len(calls.Signals) != 1 || calls.Signals[0].MarketID != market {
		t.Errorf("calls list shows %+v; want the call on %s", calls.Signals, market)
	}
	p.read(&calls, 0, "api", "GET", "/api/v1/users/"+who.Handle+"/signals")
	if len(calls.Signals) != 1 {
		t.Errorf("api shows %+v; want one call", calls.Signals)
	}
}

// TestCommandLineListen checks that webhook listen forwards an event of the feed to an address of this machine, with a secret that
// it creates.
func TestCommandLineListen(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := buildCommandLine(t, s)
	market := s.NewNativeMarket(t, 5000, nil)
	file := filepath.Join(t.TempDir(), "secret")
	hook := newReceiver(t, file)
	ended := make(chan string, 1)
	go func() {
		out, bad, code := p.try("", "webhook", "listen", "market:"+market, "--forward-to", hook.URL, "--secret", file,
			"--type", "signal.created", "--count", "1")
		ended <- fmt.Sprintf("exit code %d\n%s%s", code, out, bad)
	}()
	deadline := time.After(time.Minute)
	for {
		s.NewOperator(t).NewCall(t, market, "NO", 5000, stack.JSON{}) // until the command has subscribed
		select {
		case said := <-ended:
			if !strings.HasPrefix(said, "exit code 0\n") || !hook.has("event", "signal.created") {
				t.Errorf("webhook listen ended with %s; want exit code 0 and a delivered call", said)
			}
			return
		case <-deadline:
			t.Fatal("webhook listen delivered nothing within a minute")
		case <-time.After(time.Second):
		}
	}
}
