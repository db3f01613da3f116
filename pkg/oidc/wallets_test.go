package oidc_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/oidc"
	"github.com/signalcast/signalcast/pkg/testkit"
)

const (
	alice  = "did:x:alice"
	wallet = "0x52908400098527886E0F7030069857D2E4169EE7"
)

// users is a users API whose responses a test can change.
type users struct {
	url string

	mu          sync.Mutex
	requests    int
	lastRequest *http.Request
	status      int
	body        string
	hang        chan struct{}
}

func newUsers(t *testing.T) *users {
	t.Helper()
	u := &users{}
	srv := httptest.NewServer(u)
	t.Cleanup(srv.Close)
	u.url = srv.URL
	return u
}

func (u *users) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.requests, u.lastRequest = u.requests+1, r
	if u.hang != nil {
		select {
		case <-u.hang:
		case <-r.Context().Done():
		}
		return
	}
	if u.status == http.StatusFound {
		http.Redirect(w, r, u.url+"/v1/users/elsewhere", u.status)
		return
	}
	if u.status != 0 {
		w.WriteHeader(u.status)
	}
	_, _ = w.Write([]byte(u.body))
}

func (u *users) respond(status int, body string) {
	u.mu.Lock()
	u.status, u.body = status, body
	u.mu.Unlock()
}

func (u *users) count() int { u.mu.Lock(); defer u.mu.Unlock(); return u.requests }

// userBody returns a response of the users API with the given accounts.
func userBody(id string, accounts ...set) string {
	raw, _ := json.Marshal(set{"id": id, "created_at": 1, "linked_accounts": accounts})
	return string(raw)
}

func linkedWallet(address string, change ...set) set {
	w := set{"type": "wallet", "address": address, "chain_type": "ethereum", "lv": 1790000000}
	for _, c := range change {
		for k, v := range c {
			w[k] = v
		}
	}
	return w
}

// identityClaims returns the claims of an identity token of alice with the given accounts.
func identityClaims(accounts []set, change ...set) set {
	raw, _ := json.Marshal(accounts)
	return validClaims(append([]set{{"sid": nil, "name": nil, "preferred_username": nil, "cr": "1790000000", "linked_accounts": string(raw)}}, change...)...)
}

type linking struct {
	*bundle
	users *users
}

func linkSetup(t *testing.T, change func(*oidc.Provider)) *linking {
	t.Helper()
	b := &bundle{issuer: newIssuer(t), other: newIssuer(t), clock: testkit.NewClock(noon)}
	u := newUsers(t)
	main := b.provider("main")
	main.WalletsFrom, main.UsersAPI, main.UsersSecret = oidc.WalletsIdentityToken, u.url+"/", config.NewSecret("pw")
	if change != nil {
		change(&main)
	}
	b.verifier = oidc.NewVerifier(oidc.Config{Providers: []oidc.Provider{main, b.other.provider("second")}}, b.clock.Now)
	return &linking{b, u}
}

func (l *linking) linked(t *testing.T, token string) (bool, error) {
	t.Helper()
	return l.verifier.Linked(t.Context(), "issuer-main", alice, token, func(w oidc.Wallet) bool { return w.Address == wallet })
}

func TestWalletsOfARecentIdentityToken(t *testing.T) {
	t.Parallel()
	l := linkSetup(t, nil)
	l.users.respond(200, userBody(alice))
	other := linkedWallet("0x0000000000000000000000000000000000000001")
	for name, c := range map[string]struct {
		accounts []set
		age      int64
		want     bool
		requests int
	}{
		"listed, just issued":   {[]set{other, linkedWallet(wallet)}, 0, true, 0},
		"listed, 299 s old":     {[]set{linkedWallet(wallet)}, 299, true, 0},
		"listed, 300 s old":     {[]set{linkedWallet(wallet)}, 300, false, 1},
		"a smart wallet":        {[]set{linkedWallet(wallet, set{"type": "smart_wallet"})}, 0, true, 0},
		"not listed":            {[]set{other}, 0, false, 1},
		"never verified":        {[]set{linkedWallet(wallet, set{"lv": 0})}, 0, false, 1},
		"another kind":          {[]set{linkedWallet(wallet, set{"type": "email"})}, 0, false, 1},
		"no accounts":           {[]set{}, 0, false, 1},
		"issued a minute ahead": {[]set{linkedWallet(wallet)}, -60, true, 0},
	} {
		before := l.users.count()
		got, err := l.linked(t, l.sign(t, "key-1", identityClaims(c.accounts, set{"iat": noon.Unix() - c.age})))
		if err != nil || got != c.want || l.users.count()-before != c.requests {
			t.Errorf("%s: linked %v, error %v, %d requests to the users API", name, got, err, l.users.count()-before)
		}
	}
}

// TestForgedIdentityTokens checks that an invalid identity token is rejected, and that the users API is not queried
// instead.
func TestForgedIdentityTokens(t *testing.T) {
	t.Parallel()
	l := linkSetup(t, nil)
	l.users.respond(200, userBody(alice, linkedWallet(wallet)))
	accounts := []set{linkedWallet(wallet)}
	honest := l.sign(t, "key-1", identityClaims(accounts))
	parts := strings.Split(honest, ".")
	for name, token := range map[string]string{
		"of another subject":       l.sign(t, "key-1", identityClaims(accounts, set{"sub": "did:x:bob"})),
		"no subject":               l.sign(t, "key-1", identityClaims(accounts, set{"sub": nil})),
		"of another provider":      l.other.sign(t, "key-1", identityClaims(accounts, set{"iss": "issuer-second"})),
		"signed by the other one":  l.other.sign(t, "key-1", identityClaims(accounts)),
		"for another app":          l.sign(t, "key-1", identityClaims(accounts, set{"aud": "another"})),
		"of an unknown issuer":     l.sign(t, "key-1", identityClaims(accounts, set{"iss": "issuer-x"})),
		"an access token":          l.sign(t, "key-1", validClaims()),
		"expired":                  l.sign(t, "key-1", identityClaims(accounts, set{"exp": noon.Unix() - 61})),
		"issued in 61 s":           l.sign(t, "key-1", identityClaims(accounts, set{"iat": noon.Unix() + 61})),
		"no issue time":            l.sign(t, "key-1", identityClaims(accounts, set{"iat": nil})),
		"accounts that are a list": l.sign(t, "key-1", identityClaims(nil, set{"linked_accounts": []set{linkedWallet(wallet)}})),
		"accounts that are null":   l.sign(t, "key-1", identityClaims(nil, set{"linked_accounts": jsonNull{}})),
		"accounts that are none":   l.sign(t, "key-1", identityClaims(nil, set{"linked_accounts": "{"})),
		"tampered":                 parts[0] + "." + b64(identityClaims(accounts, set{"pad": 1})) + "." + parts[2],
		"no token":                 "x",
	} {
		linked, err := l.linked(t, token)
		if linked || !errors.Is(err, oidc.ErrUnauthenticated) || apperr.Of(err).Message == "" {
			t.Errorf("%s: linked %v, error %v; want ErrUnauthenticated", name, linked, err)
		}
	}
	if n := l.users.count(); n != 0 {
		t.Errorf("%d requests to the users API, want 0", n)
	}
}

func TestUsersInterfaceDecides(t *testing.T) {
	t.Parallel()
	l := linkSetup(t, func(p *oidc.Provider) { p.WalletsFrom = oidc.WalletsUsersAPI })
	verified := set{"lv": nil, "verified_at": 1, "first_verified_at": 1, "latest_verified_at": 1790000000}
	for name, c := range map[string]struct {
		status int
		body   string
		want   bool
		fault  bool
	}{
		"linked":           {200, userBody(alice, set{"type": "email", "address": "a@b.example"}, linkedWallet(wallet, verified)), true, false},
		"not linked":       {200, userBody(alice), false, false},
		"never verified":   {200, userBody(alice, linkedWallet(wallet, set{"lv": nil, "verified_at": nil})), false, false},
		"unknown user":     {404, `{}`, false, false},
		"another user":     {200, userBody("did:x:bob", linkedWallet(wallet, verified)), false, true},
		"no user":          {200, `{}`, false, true},
		"wrong password":   {401, `{}`, false, true},
		"too many":         {429, `{}`, false, true},
		"broken":           {500, ``, false, true},
		"no JSON":          {200, `<html>`, false, true},
		"another redirect": {302, ``, false, true},
		"too large":        {200, userBody(alice, linkedWallet(wallet, verified)) + strings.Repeat(" ", 64<<10), false, true},
	} {
		l.users.respond(c.status, c.body)
		before := l.users.count()
		got, err := l.linked(t, "")
		if got != c.want || c.fault != errors.Is(err, oidc.ErrUnavailable) || !c.fault && err != nil {
			t.Errorf("%s: linked %v, error %v", name, got, err)
		}
		if n := l.users.count() - before; n != 1 {
			t.Errorf("%s: %d requests to the users API, want 1", name, n)
		}
	}
	app, password, _ := l.users.lastRequest.BasicAuth()
	if app != "app" || password != "pw" || l.users.lastRequest.Header.Get("privy-app-id") != "app" || l.users.lastRequest.URL.Path != "/v1/users/"+alice {
		t.Errorf("request with header %v to %s", l.users.lastRequest.Header, l.users.lastRequest.URL)
	}
	_, err := l.verifier.Linked(t.Context(), "issuer-main", "..", "", func(oidc.Wallet) bool { return true })
	if err != nil || l.users.lastRequest.URL.Path != "/v1/users/"+alice {
		t.Errorf("a subject of dots: error %v, request to %s", err, l.users.lastRequest.URL)
	}
}

func TestHungUsersAPI(t *testing.T) {
	t.Parallel()
	l := linkSetup(t, nil)
	l.users.hang = make(chan struct{})
	defer close(l.users.hang)
	start := time.Now()
	linked, err := l.linked(t, "")
	if took := time.Since(start); linked || !errors.Is(err, oidc.ErrUnavailable) || took > 5*time.Second {
		t.Errorf("linked %v, error %v after %v; want ErrUnavailable within 5 s", linked, err, took)
	}
}

func TestProvidersWithoutWallets(t *testing.T) {
	t.Parallel()
	l := linkSetup(t, func(p *oidc.Provider) { p.WalletsFrom = oidc.WalletsNone })
	l.users.respond(200, userBody(alice, linkedWallet(wallet)))
	linked, err := l.linked(t, l.sign(t, "key-1", identityClaims([]set{linkedWallet(wallet)})))
	if linked || err != nil || l.users.count() != 0 {
		t.Errorf("linked %v, error %v; want false without a request", linked, err)
	}
	linked, err = l.verifier.Linked(t.Context(), "issuer-removed", alice, "", func(oidc.Wallet) bool { return true })
	if linked || err != nil {
		t.Errorf("a removed provider: linked %v, error %v", linked, err)
	}
}

func TestWalletsInAClaim(t *testing.T) {
	t.Parallel()
	l := linkSetup(t, func(p *oidc.Provider) { p.WalletsFrom = "claim:account.wallets" })
	plain := func(v any) set { return validClaims(set{"account": v}) }
	for name, c := range map[string]struct {
		claims           set
		linked, rejected bool
	}{
		"a text":           {plain(set{"wallets": wallet}), true, false},
		"texts":            {plain(set{"wallets": []string{"x", wallet}}), true, false},
		"objects":          {plain(set{"wallets": []set{{"address": wallet, "chain_type": "ethereum"}}}), true, false},
		"others":           {plain(set{"wallets": []string{"x"}}), false, false},
		"an empty list":    {plain(set{"wallets": []string{}}), false, false},
		"old":              {validClaims(set{"account": set{"wallets": wallet}, "iat": noon.Unix() - 300}), false, false},
		"numbers":          {plain(set{"wallets": []int{7}}), false, true},
		"in another case":  {plain(set{"Wallets": wallet}), false, true},
		"not an object":    {plain("x"), false, true},
		"no claim":         {validClaims(), false, true},
		"the other's name": {validClaims(set{"account.wallets": wallet}), false, true},
	} {
		linked, err := l.linked(t, l.sign(t, "key-1", c.claims))
		if linked != c.linked || c.rejected != errors.Is(err, oidc.ErrUnauthenticated) || !c.rejected && err != nil {
			t.Errorf("%s: linked %v, error %v", name, linked, err)
		}
	}
	if linked, err := l.linked(t, ""); linked || err != nil || l.users.count() != 0 {
		t.Errorf("no token: linked %v, error %v", linked, err)
	}
}

func TestVerifyIdentity(t *testing.T) {
	t.Parallel()
	l := linkSetup(t, nil)
	who, err := l.verifier.VerifyIdentity(t.Context(), "issuer-main", alice, l.sign(t, "key-1", identityClaims([]set{
		{"type": "email", "address": "a@b.example", "lv": 1}, {"type": "farcaster", "fid": 7, "username": "tidewatch", "lv": 1},
	})))
	if err != nil || who.Subject != alice || who.Username != "tidewatch" || len(who.Wallets) != 0 {
		t.Errorf("identity %+v, error %v", who, err)
	}
	_, err = l.verifier.VerifyIdentity(t.Context(), "issuer-second", alice, l.sign(t, "key-1", identityClaims(nil)))
	wantFault(t, "identity token of another provider than the credential", err, oidc.ErrUnauthenticated)
}
