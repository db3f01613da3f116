package edge_test

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// knownKey is a key that this front door has seen to be good.
func (b *bench) knownKey() string {
	b.t.Helper()
	key := b.ledger.AddKey(b.mara.GetId())
	want(b.t, b.send("POST", "/api/predictions", `{}`, with("Authorization", "Bearer "+key)), 400, "missing_market_id")
	return key
}

func (b *bench) revoke(key string) {
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Keys[sha256.Sum256([]byte(key))].Row.Active = false
}

// brokenBodies are mistakes that a route sees before it asks the ledger.
func brokenBodies() map[string][2]string { // name → body, content type
	return map[string][2]string{
		"no json":       {`{"a":`, "application/json"},
		"nothing":       {`{}`, "application/json"},
		"another type":  {`{}`, "text/plain"},
		"too large":     {`{"a":"` + strings.Repeat("x", 64<<10) + `"}`, "application/json"},
		"a member less": {`{"marketId":"701122","direction":"YES"}`, "application/json"},
	}
}

// TestCredentialBeforeBody: on no route that changes something does a bad body
// speak before a bad credential, a key that was good a moment ago included.
func TestCredentialBeforeBody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cells := 0
	for _, route := range b.server.Table() {
		if route.Method == http.MethodGet || contains(route.Who, "client") || strings.HasPrefix(route.Path, "/api/channel") {
			continue
		}
		target := strings.ReplaceAll(route.Path, ":id", "not-a-uuid")
		for name, broken := range brokenBodies() {
			typed := func(r *http.Request) { r.Header.Set("Content-Type", broken[1]) }
			key := b.knownKey()
			b.revoke(key)
			bad := map[string]header{
				"a revoked key":   with("Authorization", "Bearer "+key),
				"a key of nobody": with("Authorization", "Bearer dk_"+strings.Repeat("A", 43)),
				"a forged token":  with("Authorization", "Bearer jwt.mara_k.forged"),
				"an app's token":  with("Authorization", "Bearer dat_abc"),
				"another scheme":  with("Authorization", "Basic YTpi"),
				"a void session":  with("Cookie", "db_uid=x; db_sig=y"),
				"no credential":   with("X-Nothing", "x"),
			}
			for who, credential := range bad {
				public := contains(route.Who, "public") && (who == "a void session" || who == "no credential")
				if public {
					continue
				}
				b.clock.Advance(2e9)
				if w := b.send(route.Method, target, broken[0], credential, typed); w.Code != 401 || field(w, "error") != "unauthenticated" {
					t.Errorf("%s %s, %s, %s: %d %.80s", route.Method, target, who, name, w.Code, w.Body)
				}
				cells++
			}
		}
	}
	if cells < 200 {
		t.Errorf("only %d cells", cells)
	}
}

// TestUncheckedKeyHearsNothing: while the ledger cannot say whether a key is good,
// its holder is not told what is wrong with the request.
func TestUncheckedKeyHearsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key := with("Authorization", "Bearer "+b.knownKey())
	b.setBefore(func(_ context.Context, method string) error {
		if method == "VerifyKey" {
			return fault.New(fault.Unavailable, "db_unavailable", "")
		}
		return nil
	})
	want(t, b.send("POST", "/api/predictions", `{}`, key), 503, "db_unavailable")
	want(t, b.send("POST", "/api/predictions", `{}`, b.bySession()), 400, "missing_market_id")
}

// TestNoRouteForEverybodyTakesABearer is the hub's part of one rule of all hosts.
func TestNoRouteForEverybodyTakesABearer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mountPages()
	for _, route := range b.server.Table() {
		if route.Method != http.MethodGet || contains(route.Who, "jwt") || contains(route.Who, "token") || contains(route.Who, "key") || contains(route.Who, "admin") || strings.HasPrefix(route.Path, "/api/channel") {
			continue
		}
		target := strings.NewReplacer(":id", "x", ":marketId", "701122", ":eventKey", "ostrava-flood", ":file", "app.css").Replace(route.Path)
		for range 2 { // built, then ready
			if w := b.send("GET", target, "", b.byKey(), with("Accept", "application/json")); w.Code != 401 || field(w, "error") != caller.ErrUnauthenticated.Code {
				t.Errorf("%s: %d %.80s", target, w.Code, w.Body)
			}
		}
	}
}
