package web

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// cookieJars returns, by name, sets of cookies that a browser would send automatically.
func cookieJars(s *stack.Stack, o *stack.Owner) map[string]stack.Set {
	both := func(sets ...stack.Set) stack.Set {
		return func(r *http.Request) {
			for _, set := range sets {
				set(r)
			}
		}
	}
	half := func(r *http.Request) {
		o.Browser(r)
		first, _, _ := strings.Cut(r.Header.Get("Cookie"), ";")
		r.Header.Set("Cookie", first)
	}
	nonsense := func(r *http.Request) {
		for _, name := range []string{"db_uid", "db_sig"} {
			r.AddCookie(&http.Cookie{Name: name, Value: "x.1.0"})
		}
	}
	foreign := both(o.Browser, stack.Header("Origin", "https://evil.example"), stack.Header("Sec-Fetch-Site", "cross-site"))
	return map[string]stack.Set{
		"session":                      o.Browser,
		"session and developer cookie": both(o.Browser, developerCookie(o.Login), stack.Header("Origin", s.Hub)),
		"session from another site":    foreign,
		"half a session":               half,
		"malformed session":            nonsense,
		"token in a cookie":            stack.Header("Cookie", "access_token="+o.Tokens.Access),
	}
}

// lastUse matches the member lastUsedAt. Requests with the same grant or key can change it once per minute.
var lastUse = regexp.MustCompile(`"lastUsedAt": *("[^"]*"|null)`)

// TestProtocolRoutesIgnoreCookies checks that the routes of the protocol neither read nor set cookies: the answer with
// cookies must equal the answer without cookies.
func TestProtocolRoutesIgnoreCookies(t *testing.T) {
	s := webStack(t)
	doc, crowd, owner, other := openapi.ForTest(t), stack.NewCrowd(100), s.NewOwner(t), s.NewOwner(t)
	t.Parallel() // tests that are running now would slow down the creation of owners
	values := map[string]string{
		"marketId": owner.Market, "handle": owner.Handle, "id": owner.Message, "publicKey": owner.Signer.PublicKey,
	}
	before := owner.Holdings(t)
	stack.Each(len(doc.Operations), 3, func(i int) {
		o := doc.Operations[i]
		if o.Host != "hub" || !inProtocol(o.Path) && !strings.HasPrefix(o.Path, "/.well-known/") {
			return
		}
		send := func(sets ...stack.Set) stack.Answer {
			if o.Body() != nil {
				sets = append(sets, stack.Body("{}"))
			}
			a := crowd.Retry(t, o.Method, s.HubAt(i)+o.Fill(values), append(sets, stack.Header("Accept", "application/json"))...)
			if len(a.Header.Values("Set-Cookie")) > 0 {
				t.Errorf("the answer of %s sets a cookie; want none", o.Name())
			}
			return a
		}
		requireSame := func(what string, want, got stack.Answer) {
			same := bytes.Equal(lastUse.ReplaceAll(got.Body, nil), lastUse.ReplaceAll(want.Body, nil))
			if got.Status != want.Status || want.Status < 400 && !same {
				t.Errorf("%s with %s was answered %d %.200s; want the answer without cookies, %d %.200s", o.Name(), what, got.Status, got.Body, want.Status, want.Body)
			}
		}
		anonymous := send()
		protected := !o.Public() && !o.Takes("appCredentials")
		if protected && anonymous.Status != http.StatusUnauthorized {
			t.Errorf("%s without a credential was answered %d; want 401", o.Name(), anonymous.Status)
		}
		for name, cookies := range cookieJars(s, owner) {
			requireSame(name, anonymous, send(cookies))
		}
		if protected {
			for name, bearer := range map[string]string{"a key": other.Key, "an application's token": other.Tokens.Access} {
				requireSame(name+" and another person's cookies", send(stack.Bearer(bearer)), send(owner.Browser, stack.Bearer(bearer)))
			}
		}
	})
	for name, cookies := range cookieJars(s, owner) {
		call := stack.JSON{"marketId": s.NewNativeMarket(t, 5000, nil), "position": "YES", "priceBps": 5000}
		for _, w := range []cookieWrite{
			{method: "POST", path: "/predictions", body: call},
			{method: "POST", path: "/signals", body: call},
			{method: "POST", path: "/signers/challenge", body: stack.JSON{"publicKey": openapi.NoKey}},
			{method: "DELETE", path: "/grants/" + owner.Tokens.Grant},
			{method: "DELETE", path: "/signers/" + owner.Signer.PublicKey},
			{method: "GET", path: "/me"},
			{method: "GET", path: "/grants"},
		} {
			w.cookies = cookies
			a := w.send(t, crowd, s.Hub+stack.ProtocolPath, func(*http.Request) {})
			if a.Status != http.StatusUnauthorized || len(a.Cookies()) > 0 {
				t.Errorf("%s %s with %s was answered %d; want 401 without cookies in the answer", w.method, w.path, name, a.Status)
			}
		}
	}
	if after := owner.Holdings(t); after != before {
		t.Errorf("requests with cookies changed the objects of the person, from\n%s\nto\n%s", before, after)
	}
}
