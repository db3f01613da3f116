package grant_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// TestRedirectURIIsExact (S1) checks that the redirect URI is required and must equal a registered URI byte for byte. For any
// other URI, the service must not redirect.
func TestRedirectURIIsExact(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	for name, uri := range map[string]string{
		"suffix":           callback + "back",
		"slash":            callback + "/",
		"path traversal":   callback + "/../evil",
		"dot segment":      "https://app.example.com/./cb",
		"extra query":      callback + "?next=1",
		"empty query":      callback + "?",
		"userinfo":         "https://app.example.com@evil.example/cb",
		"case of the path": "https://app.example.com/CB",
		"case of the host": "https://APP.example.com/cb",
		"port on https":    "https://app.example.com:443/cb",
		"fragment":         callback + "#x",
		"localhost":        "https://localhost/cb",
		"scheme":           "http://app.example.com/cb",
		"subdomain":        "https://x.app.example.com/cb",
		"suffixed domain":  "https://app.example.com.evil.example/cb",
		"escaped":          "https://app.example.com/%63b",
		"missing":          "",
	} {
		for _, prompt := range []string{"", "none"} {
			a, err := r.Authorize(t.Context(), c.query("redirect_uri", uri, "prompt", prompt), r.user)
			want(t, name, err, "invalid_request")
			if a != (grant.Answer{}) {
				t.Errorf("%s: %+v", name, a)
			}
		}
	}
	twice := c.query()
	twice.Add("redirect_uri", callback)
	if a, err := r.Authorize(t.Context(), twice, r.user); err == nil || a.Redirect != "" {
		t.Errorf("twice: %+v, %v", a, err)
	}
	if got := r.consent(c.query()); got.RedirectURI != callback {
		t.Errorf("the exact one: %+v", got)
	}
}

// TestUnknownClientIsNeverRedirected checks that an unknown or disabled app gets an error page and no redirect.
func TestUnknownClientIsNeverRedirected(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Public)
	off := r.app(grant.Public)
	want(t, "disable", r.DisableApp(t.Context(), r.owner, off.ID), "")
	for _, id := range []string{"", "unknown", newUser(), off.ID, strings.ToUpper(c.ID), "{" + c.ID + "}", c.ID + "\x00"} {
		a, err := r.Authorize(t.Context(), c.query("client_id", id), r.user)
		want(t, id, err, "invalid_request")
		if a != (grant.Answer{}) {
			t.Errorf("%q: %+v", id, a)
		}
	}
}

// TestLoopbackPort (S2) checks that a loopback redirect URI accepts any port and no other difference.
func TestLoopbackPort(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	four := r.appAt(grant.Public, "http://127.0.0.1/cb")
	six := r.appAt(grant.Public, "http://[::1]:7777/cb?x=1")
	for uri, c := range map[string]client{
		"http://127.0.0.1/cb":          four,
		"http://127.0.0.1:1/cb":        four,
		"http://127.0.0.1:65535/cb":    four,
		"http://[::1]/cb?x=1":          six,
		"http://[::1]:65535/cb?x=1":    six,
		"http://[::1]:7777/cb?x=1":     six,
		"http://127.0.0.1:8080/cb":     four,
		"http://127.0.0.1:49152/cb":    four,
		"http://[::1]:1/cb?x=1":        six,
		"http://127.0.0.1:00001/cb":    {},
		"http://127.0.0.1:0/cb":        {},
		"http://127.0.0.1:65536/cb":    {},
		"http://127.0.0.1:/cb":         {},
		"http://127.0.0.1:+1/cb":       {},
		"http://127.0.0.1:1/other":     {},
		"http://127.0.0.1:1/cb/":       {},
		"http://127.0.0.1:1/cb?x=1":    {},
		"http://127.0.0.1:1/CB":        {},
		"https://127.0.0.1:1/cb":       {},
		"http://localhost:1/cb":        {},
		"http://127.0.0.2:1/cb":        {},
		"http://127.1:1/cb":            {},
		"http://127.0.0.1.evil.io/cb":  {},
		"http://127.0.0.1@evil.io/cb":  {},
		"http://127.0.0.1:1@evil/cb":   {},
		"http://[::1]:1/cb":            {},
		"http://[::ffff:127.0.0.1]/cb": {},
	} {
		asks := c
		if c.ID == "" {
			asks = four
		}
		a, err := r.Authorize(t.Context(), asks.query("redirect_uri", uri), r.user)
		if ok := err == nil && a.Consent != nil && a.Consent.RedirectURI == uri; ok != (c.ID != "") {
			t.Errorf("%s: %+v, %v", uri, a, err)
		}
	}
}

func TestRedirectURIsThatCanBeRegistered(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	good := []string{
		"https://app.example.com/cb", "https://app.example.com", "https://app.example.com:8443/cb?tenant=1", "https://[2001:db8::1]/cb",
		"http://127.0.0.1/cb", "http://127.0.0.1:4000/cb", "http://[::1]/cb", "com.example.app:/cb", "com.example.app://cb",
	}
	bad := []string{
		"", "/cb", "app.example.com/cb", "//app.example.com/cb", "http://app.example.com/cb", "http://localhost/cb", "https://localhost/cb",
		"https://LOCALHOST./cb", "https://a.localhost/cb", "http://127.0.0.1:99999/cb", "http://127.0.0.2/cb", "http://0.0.0.0/cb",
		"https://0.0.0.0/cb", "https://app.example.com/cb#x", "https://app.example.com/cb#", "https://user@app.example.com/cb",
		"https://*.example.com/cb", "https://app.example.com/*", "https://app.example.com/a/../cb", "https://app.example.com/%2e%2e/cb",
		"https://app.example.com/c b", "https://app.example.com\\@evil.io/cb", "https://app.example.com/\x00", "https://äpp.example.com/cb",
		"javascript:alert(1)", "data:text/html,x", "myapp:/cb", "com.example.app:cb", "COM.example.app:/cb", "HTTPS://app.example.com/cb",
		"https:///cb", "https:app.example.com/cb", "https://app.example.com:/cb", "https://app.example.com:0/cb",
		"https://app.example.com/cb?code=1", "https://app.example.com/cb?a=1&state=2", "https://app.example.com/cb?iss=x",
		"https://app.example.com/" + strings.Repeat("a", 500), "file:///etc/passwd", "com.example.app://user@host/cb", "com.example.app://host:1/cb",
	}
	owner := newUser()
	for _, uri := range good {
		if _, _, err := r.Register(t.Context(), owner, draft(uri)); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
	}
	for _, uri := range bad {
		if _, _, err := r.Register(t.Context(), owner, draft(uri)); !errors.Is(err, grant.ErrRedirectURI) {
			t.Errorf("%q: %v", uri, err)
		}
	}
	for _, list := range [][]string{nil, {callback, callback}, make([]string, 11)} {
		if _, _, err := r.Register(t.Context(), owner, draft(list...)); !errors.Is(err, grant.ErrRedirectURI) {
			t.Errorf("%q: %v", list, err)
		}
	}
}

func draft(uris ...string) grant.AppDraft {
	return grant.AppDraft{Name: "App", Kind: grant.Public, RedirectURIs: uris, Scopes: []string{"profile:read"}}
}
