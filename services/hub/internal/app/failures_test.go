package app

import (
	"encoding/base64"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// refused is what a request at a hub came to.
type refused struct {
	status      int
	head        http.Header
	code, limit string
}

// prove asks a hub as an app with this secret.
func (h *hub) prove(clientID, secret string) refused {
	status, head, body := h.do("POST", protocol+"/oauth/introspect", "token=x", "Content-Type", "application/x-www-form-urlencoded",
		"Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(clientID+":"+secret)))
	return refused{status, head, member(body, "error"), member(body, "limit")}
}

// member reads a member of a flat answer as it is written.
func member(body, name string) string {
	_, rest, _ := strings.Cut(body, `"`+name+`":`)
	return strings.Trim(rest[:max(0, strings.IndexAny(rest, ",}"))], `"`)
}

// mustWait checks a refusal that says how long.
func (r refused) mustWait(t *testing.T, what string) {
	t.Helper()
	seconds, err := strconv.Atoi(r.head.Get("Retry-After"))
	if r.status != http.StatusTooManyRequests || r.code != "rate_limited" || r.limit != "10" || err != nil || seconds < 1 || seconds > 60 {
		t.Errorf("%s: %d %s, limit %s, Retry-After %q", what, r.status, r.code, r.limit, r.head.Get("Retry-After"))
	}
}

// from is the same town seen from another address of this machine.
func (h *hub) from(address string) *hub {
	w := *h.w
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	h.w.t.Cleanup(transport.CloseIdleConnections)
	w.client = &http.Client{Transport: transport, Timeout: 30 * time.Second}
	other := *h
	other.w = &w
	return &other
}

func (h *hub) confidential() (id, secret string) {
	h.w.t.Helper()
	app := h.json(201, "POST", "/api/dev/apps", `{"name":"Desk","type":"confidential","redirectUris":["https://app.example.com/cb"],"scopes":["profile:read"]}`,
		"Authorization", "Bearer "+h.w.issuer.token(h.w.t, "did:privy:maker"))
	return app["clientId"].(string), app["clientSecret"].(string)
}

// TestFailedClientsOverTwoHubs (S21): ten failures in a minute of a client from an
// address, wherever they fall, and no hub looks at that client from there.
func TestFailedClientsOverTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.environ["REDIS_TIMEOUT"] = "5s"
	hubs := []*hub{w.hub(), w.hub()}
	id, secret := hubs[0].confidential()
	other, otherSecret := hubs[0].confidential()
	for i := range caller.MaxFailures {
		if r := hubs[i%2].prove(id, "wrong"); r.status != 401 || r.code != "invalid_client" {
			t.Fatalf("failure %d: %+v", i, r)
		}
		if r := hubs[(i+1)%2].prove(id, secret); i == 4 && r.status != 200 {
			t.Errorf("the right secret after five failures: %+v", r)
		}
	}
	for i, h := range hubs {
		h.prove(id, secret).mustWait(t, "the right secret at hub "+strconv.Itoa(i))
		if r := h.prove(other, otherSecret); r.status != 200 {
			t.Errorf("another client: %+v", r)
		}
		if r := h.from("127.0.0.2").prove(id, secret); r.status != 200 {
			t.Errorf("another address: %+v", r)
		}
	}
}

// TestFailuresAtOnceOverTwoHubs (S21): ten of those that race are told that the secret
// is wrong, the others that they have to wait.
func TestFailuresAtOnceOverTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.environ["REDIS_TIMEOUT"] = "5s"
	hubs := []*hub{w.hub(), w.hub()}
	id, _ := hubs[0].confidential()
	answers := map[string]func(h *hub) int{
		"a client":         func(h *hub) int { return h.prove(id, "wrong").status },
		"the admin secret": func(h *hub) int { return h.admin("wrong").status },
		"the cron secret":  func(h *hub) int { return h.from("127.0.0.3").cron("wrong").status },
	}
	for name, ask := range answers {
		var mu sync.Mutex
		var all sync.WaitGroup
		got := map[int]int{}
		for i := range 28 { // a client may ask thirty times a minute
			all.Go(func() {
				status := ask(hubs[i%2])
				mu.Lock()
				defer mu.Unlock()
				got[status]++
			})
		}
		all.Wait()
		if got[401]+got[403] != caller.MaxFailures || got[429] != 28-caller.MaxFailures {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func (h *hub) admin(secret string) refused {
	status, head, body := h.do("POST", "/api/admin/markets", "{}", "x-admin-secret", secret)
	return refused{status, head, member(body, "error"), member(body, "limit")}
}

func (h *hub) cron(secret string) refused {
	status, head, body := h.do("GET", "/api/admin/resolve-signals?secret="+secret, "")
	return refused{status, head, member(body, "error"), member(body, "limit")}
}

// TestWrongSecretsOverTwoHubs: the same for the admin and the cron secret, which count
// together.
func TestWrongSecretsOverTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.environ["REDIS_TIMEOUT"] = "5s"
	hubs := []*hub{w.hub(), w.hub()}
	for i := range caller.MaxFailures {
		ask := hubs[i%2].admin
		if i >= 5 {
			ask = hubs[i%2].cron
		}
		if r := ask("wrong"); r.status != 403 {
			t.Fatalf("failure %d: %+v", i, r)
		}
	}
	for _, h := range hubs {
		h.admin(good()["ADMIN_SECRET"]).mustWait(t, "the right admin secret")
		h.cron(good()["CRON_SECRET"]).mustWait(t, "the right cron secret")
		if r := h.from("127.0.0.2").admin(good()["ADMIN_SECRET"]); r.status != 400 { // let in, and the market is missing
			t.Errorf("another address: %+v", r)
		}
	}
}
