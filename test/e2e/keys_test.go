package e2e

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestKeyLife: minted once, listed without its plaintext, refused everywhere from
// the answer to its revocation on.
func TestKeyLife(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	who := get(t, s.Hub+"/api/dev/whoami", p.login()).is(http.StatusOK)
	who.has(obj{"handle": p.user, "operatorPublicId": s.masked("did:idp:" + p.user), "operatorType": "human", "isAi": false, "tier": "independent"})
	a := post(t, s.Hub+"/api/dev/keys", p.login(), payload(obj{"label": "overlay bot", "permissions": []string{"read", "signal"}})).is(http.StatusCreated)
	a.has(obj{"label": "overlay bot", "tier": "free", "permissions.0": "read", "permissions.1": "signal"})
	key, id := a.str("key"), a.str("id")
	if !strings.HasPrefix(key, "dk_") || len(key) != 46 {
		t.Errorf("a key of %d characters", len(key))
	}
	get(t, s.Hub+"/api/dev/keys", p.login()).is(http.StatusOK).has(obj{"keys.0.id": id, "keys.0.active": true, "keys.0.lastUsedAt": nil})
	market := s.native(t, 5000)
	signal := post(t, s.Hub+"/api/predictions", bearer(key), payload(obj{"marketId": market, "direction": "YES", "priceAtPrediction": 5000})).is(http.StatusOK).str("id")
	if get(t, s.Hub+"/api/dev/keys", p.login()).at("keys.0.lastUsedAt") == nil {
		t.Error("the use of the key was not noted")
	}
	send(t, http.MethodDelete, s.Hub+"/api/dev/keys?id="+id, s.person(t).login()).fails(http.StatusNotFound, "not_found")
	for range 2 { // twice is the same
		send(t, http.MethodDelete, s.Hub+"/api/dev/keys?id="+id, p.login()).is(http.StatusOK).has(obj{"ok": true, "id": id, "active": false})
	}
	post(t, s.Hub+"/api/predictions", bearer(key), payload(obj{"marketId": market, "direction": "YES", "priceAtPrediction": 5000})).fails(http.StatusUnauthorized, "unauthenticated")
	post(t, s.Hub+"/api/signals/"+signal+"/events", bearer(key), payload(obj{"type": "reaffirm"})).fails(http.StatusUnauthorized, "unauthenticated")
	get(t, s.API+"/ws", bearer(key), with("Connection", "Upgrade"), with("Upgrade", "websocket"), with("Sec-WebSocket-Version", "13"), with("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")).fails(http.StatusUnauthorized, "unauthenticated")
	get(t, s.Hub+"/api/dev/keys", p.login()).is(http.StatusOK).has(obj{"keys.0.active": false})
}

// TestRevocationUnderLoad: no request that begins after the answer to the
// revocation is taken, while the key is in full use.
func TestRevocationUnderLoad(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	key, id := p.mint(t, "busy")
	signal := p.call(t, s.native(t, 5000), "YES", 5000)
	var revoked atomic.Bool
	var taken, after atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 12 {
				late := revoked.Load()
				a, err := try(t, http.MethodPost, s.Hub+"/api/signals/"+signal+"/events", bearer(key), payload(obj{"type": "reaffirm"}))
				if err != nil {
					t.Error(err)
					return
				}
				if a.status == http.StatusCreated {
					taken.Add(1)
					if late {
						after.Add(1)
					}
				}
			}
		})
	}
	wg.Go(func() {
		send(t, http.MethodDelete, s.Hub+"/api/dev/keys?id="+id, p.login())
		revoked.Store(true)
	})
	wg.Wait()
	if after.Load() != 0 {
		t.Errorf("%d of %d requests were taken after the revocation", after.Load(), taken.Load())
	}
	post(t, s.Hub+"/api/signals/"+signal+"/events", bearer(key), payload(obj{"type": "reaffirm"})).fails(http.StatusUnauthorized, "unauthenticated")
}

// TestOlderPrefix: a key of the api host opens the same doors on the hub.
func TestOlderPrefix(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	a := post(t, s.API+"/api/v1/agent/keys", p.login(), payload(obj{"label": "older"})).is(http.StatusCreated)
	key := a.str("key")
	if !strings.HasPrefix(key, "db_live_") || a.header.Get("Deprecation") != "true" {
		t.Errorf("prefix %.8s, Deprecation %q", key, a.header.Get("Deprecation"))
	}
	id := post(t, s.Hub+"/api/predictions", bearer(key), payload(obj{"marketId": s.native(t, 5000), "direction": "NO", "priceAtPrediction": 5000})).is(http.StatusOK).str("id")
	s.signal(t, id).has(obj{"callsign": p.user})
	post(t, s.Hub+"/api/signals/"+id+"/events", bearer(key), payload(obj{"type": "reaffirm"})).is(http.StatusCreated)
	get(t, s.Hub+"/api/dev/keys", p.login()).is(http.StatusOK).has(obj{"keys.0.label": "older"})
	for range 9 {
		p.mint(t, "more")
	}
	post(t, s.API+"/api/v1/agent/keys", p.login(), payload(obj{"label": "one more"})).is(http.StatusConflict).has(obj{"error": "key_limit_reached", "limit": 10})
	post(t, s.Hub+"/api/dev/keys", p.login(), payload(obj{"label": "one more"})).is(http.StatusConflict).has(obj{"error": "key_limit_reached", "limit": 10})
}

// TestWrongCredentials: every kind of credential on routes of every other kind.
func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	key, _ := p.mint(t, "wrong doors")
	unknown := make([]byte, 32)
	_, _ = rand.Read(unknown)
	bad := map[string]option{
		"none":        func(*http.Request) {},
		"unknown key": bearer("dk_" + base64.RawURLEncoding.EncodeToString(unknown)),
		"short key":   bearer("dk_short"),
		"app token":   bearer("dat_" + base64.RawURLEncoding.EncodeToString(unknown)),
		"basic":       with("Authorization", "Basic YTpi"),
		"broken JWT":  bearer(p.token[:len(p.token)-4] + "AAAA"),
		"two bearers": func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer " + key, "Bearer " + key} },
		"expired":     bearer(post(t, s.IDP+"/mint", payload(obj{"user": p.user, "ttl": -120})).str("token")),
	}
	body := payload(obj{"marketId": "native-0123456789", "direction": "YES", "priceAtPrediction": 1, "label": "x", "type": "reaffirm"})
	for _, target := range []struct {
		url    string
		method string
		key    bool // a key opens it
	}{
		{s.Hub + "/api/predictions", http.MethodPost, true},
		{s.Hub + "/api/signals/0199f0a4-0000-7000-8000-00000000ffff/events", http.MethodPost, true},
		{s.Hub + "/api/dev/keys", http.MethodPost, false},
		{s.Hub + "/api/dev/keys", http.MethodGet, false},
		{s.Hub + "/api/dev/whoami", http.MethodGet, false},
		{s.Hub + "/api/auth/privy", http.MethodPost, false},
		{s.API + "/api/v1/agent/keys", http.MethodPost, false},
	} {
		for name, credential := range bad {
			if a := send(t, target.method, target.url, credential, body); a.status != http.StatusUnauthorized {
				t.Errorf("%s %s with %s: %d", target.method, target.url, name, a.status)
			}
		}
		other := bearer(key) // a key cannot mint a key
		if target.key {
			other = p.login()
		}
		send(t, target.method, target.url, other, body).fails(http.StatusUnauthorized, "unauthenticated")
	}
	for _, path := range []string{"/api/signals/feed", "/api/network/program", "/api/m/1"} {
		get(t, s.Hub+path, bearer("dk_short")).fails(http.StatusUnauthorized, "unauthenticated")
	}
	for _, path := range []string{"/api/resolution/finalize", "/api/resolution/dispute", "/api/admin/markets", "/api/admin/operators"} {
		post(t, s.Hub+path, body).fails(http.StatusUnauthorized, "unauthenticated")
		post(t, s.Hub+path, bearer(key), body).fails(http.StatusUnauthorized, "unauthenticated")
	}
	post(t, s.Hub+"/api/admin/markets", with("x-admin-secret", s.CronSecret), body).fails(http.StatusForbidden, "forbidden")
	get(t, s.Hub+"/api/admin/resolve-signals?secret="+s.AdminSecret).fails(http.StatusForbidden, "forbidden")
	get(t, s.Hub+"/api/admin/resolve-signals").fails(http.StatusUnauthorized, "unauthenticated")
	post(t, s.Hub+"/api/admin/resolve-signals?secret="+s.CronSecret, payload(obj{"marketId": "1", "outcome": "YES"})).fails(http.StatusUnauthorized, "unauthenticated")
	get(t, s.API+"/ws?token="+key).fails(http.StatusUnauthorized, "unauthenticated")
	get(t, s.API+"/ws").is(http.StatusUpgradeRequired)
}

// TestIdempotencyKey: the first result for the same body, a refusal for another.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market, key := s.native(t, 5000), with("Idempotency-Key", "e2e-"+rand.Text())
	body := payload(obj{"marketId": market, "direction": "YES", "priceAtPrediction": 5000})
	url := s.Hub + "/api/predictions"
	id := post(t, url, p.auth(t), key, body).is(http.StatusOK).str("id")
	for range 3 {
		post(t, url, p.auth(t), key, body).is(http.StatusOK).has(obj{"id": id})
	}
	post(t, url, p.auth(t), key, payload(obj{"marketId": market, "direction": "NO", "priceAtPrediction": 5000})).fails(http.StatusConflict, "idempotency_key_reused")
	post(t, url, p.auth(t), body).fails(http.StatusConflict, "already_predicted")
	post(t, url, s.person(t).auth(t), key, body).is(http.StatusOK) // somebody else's key is another one
	for _, bad := range []string{"", strings.Repeat("k", 129), "with space"} {
		post(t, url, p.auth(t), with("Idempotency-Key", bad), body).fails(http.StatusBadRequest, "invalid_idempotency_key")
	}
	var ids sync.Map
	var wg sync.WaitGroup
	twice, again := s.native(t, 5000), with("Idempotency-Key", "e2e-"+rand.Text())
	auth := p.auth(t)
	for range 8 {
		wg.Go(func() {
			ids.Store(post(t, url, auth, again, payload(obj{"marketId": twice, "direction": "YES", "priceAtPrediction": 5000})).str("id"), true)
		})
	}
	wg.Wait()
	n := 0
	ids.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d ids for one call", n)
	}
}

// TestKeyLimit: sixty requests in a minute, and a refusal that says how long.
func TestKeyLimit(t *testing.T) {
	t.Parallel()
	s := up(t)
	key, _ := s.person(t).mint(t, "fast")
	url := s.Hub + "/api/signals/0199f0a4-0000-7000-8000-00000000ffff/events"
	var limited *answer
	taken := 0
	for range 61 {
		a := post(t, url, bearer(key), payload(obj{"type": "reaffirm"}))
		if a.status == http.StatusTooManyRequests {
			limited = a
			continue
		}
		a.fails(http.StatusNotFound, "not_found")
		taken++
	}
	if taken != 60 || limited == nil {
		t.Fatalf("%d requests were taken", taken)
	}
	limited.has(obj{"error": "rate_limited", "limit": 60})
}

// TestLogsHoldNoSecrets looks through what the services wrote.
func TestLogsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	p.call(t, s.native(t, 5000), "YES", 5000)
	for _, part := range []string{"hub", "api", "clock"} {
		raw, err := os.ReadFile(filepath.Join(s.dir, "logs", part+".log"))
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		for name, secret := range map[string]string{"the admin secret": s.AdminSecret, "the cron secret": s.CronSecret, "a token": "eyJhbGciOi", "a raw id": "did:idp:"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s.log holds %s", part, name)
			}
		}
		if key := keyForm.FindString(text); key != "" {
			t.Errorf("%s.log holds a key", part)
		}
		if strings.Contains(text, `"level":"ERROR"`) {
			t.Errorf("%s.log has an error: %.400s", part, text[strings.Index(text, `"level":"ERROR"`):])
		}
	}
}
