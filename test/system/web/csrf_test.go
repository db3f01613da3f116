package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// cookieWrite is a write request for which cookies are a sufficient credential.
type cookieWrite struct {
	name, method, path string
	body               stack.JSON
	form               url.Values
	cookies            stack.Set
}

// send sends the write to a hub. forge then replaces the headers that pages of the hub would send.
func (w cookieWrite) send(t *testing.T, c *stack.Crowd, hub string, forge stack.Set) stack.Answer {
	sets := []stack.Set{w.cookies, withoutFetchMetadata}
	switch {
	case w.form != nil:
		sets = append(sets, stack.Form(w.form))
	case w.body != nil:
		sets = append(sets, stack.Body(w.body))
	}
	return c.Do(t, w.method, hub+w.path, append(sets, forge)...)
}

// developerCookie returns a Set that sends the cookie of the developer page.
func developerCookie(token string) stack.Set {
	return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "db_dev", Value: token}) }
}

// cookieWrites returns one write for each route that accepts cookies. The last writes sign the person out.
func cookieWrites(t *testing.T, s *stack.Stack, o *stack.Owner) []cookieWrite {
	t.Helper()
	fresh, stranger := s.NewNativeMarket(t, 5000, nil), s.NewOperator(t)
	consent := o.App.ConsentPage(t, o.App.AuthorizeRequest("profile:read"), o.Browser).Require(http.StatusOK).ConsentRequest()
	grant := o.App.Grant(t, o.Browser, "profile:read signal:create").Grant
	session, developer := o.Browser, developerCookie(o.Login)
	withIdentity := func(r *http.Request) {
		session(r)
		r.Header.Set("Privy-Id-Token", o.IdentityToken)
	}
	call, video := stack.Call(fresh, "YES", 5000), stack.JSON{"url": "https://video.example/not-mine.m3u8"}
	approval := url.Values{"request": {consent}, "decision": {"approve"}}
	signer := o.NewSigner(t)
	signer.Register(t, stack.Bearer(o.Key), "signal:create")
	app := url.Values{"app": {o.App.ID}, "sure": {"yes"}}
	form := url.Values{
		"app": {o.App.ID}, "name": {"Not mine"}, "type": {"public"}, "redirectUris": {stack.AppRedirect}, "scope": {"profile:read"},
	}
	newKey, secondKey := url.Values{"label": {"x"}, "permission": {"read"}}, url.Values{"id": {o.SecondKeyID}}
	revoked := url.Values{"key": {signer.PublicKey}}
	callForm := url.Values{"direction": {"YES"}, "price": {"5000,5000"}, "idempotencyKey": {"forged"}}
	eventForm := url.Values{"type": {"reaffirm"}, "idempotencyKey": {"forged"}}
	reaffirm := stack.JSON{"type": "reaffirm"}
	overlay, lanes := stack.JSON{"marketId": o.Market, "name": "not mine"}, stack.JSON{"lanes": []string{"science"}}
	return []cookieWrite{
		{name: "call", method: "POST", path: "/api/predictions", cookies: session, body: call},
		{name: "event", method: "POST", path: "/api/signals/" + o.Call + "/events", cookies: session, body: reaffirm},
		{name: "stream", method: "POST", path: "/api/m/" + fresh + "/streams", cookies: session, body: video},
		{name: "end of a stream", method: "DELETE", path: "/api/m/" + o.Market + "/streams", cookies: session},
		{name: "overlay", method: "POST", path: "/api/streamer/signal", cookies: session, body: overlay},
		{name: "end of an overlay", method: "DELETE", path: "/api/streamer/signal", cookies: session},
		{name: "registration", method: "POST", path: "/api/streamer/register", cookies: session, body: lanes},
		{name: "heartbeat", method: "POST", path: "/api/streamer/heartbeat", cookies: session, body: stack.JSON{"state": "offline"}},
		{name: "follow", method: "POST", path: "/api/user/follow", cookies: session, body: stack.JSON{"handle": stranger.Handle}},
		{name: "end of a follow", method: "DELETE", path: "/api/user/follow?handle=" + o.Friend.Handle, cookies: session},
		{name: "end of a claim", method: "DELETE", path: "/api/identity/claim", cookies: session},
		{name: "claim", method: "POST", path: "/api/identity/claim", cookies: withIdentity, body: stack.JSON{"address": o.Wallet}},
		{name: "end of a grant", method: "DELETE", path: "/api/user/grants/" + o.Tokens.Grant, cookies: session},
		{name: "end of a signer", method: "DELETE", path: "/api/user/signers/" + o.Signer.PublicKey, cookies: session},
		{name: "page of applications", method: "POST", path: "/apps/revoke", cookies: session, form: url.Values{"grant": {grant}}},
		{name: "consent page", method: "POST", path: "/protocol/authorize", cookies: session, form: approval},
		{name: "developer page, key", method: "POST", path: "/dev/keys", cookies: developer, form: newKey},
		{name: "developer page, end of a key", method: "POST", path: "/dev/keys/revoke", cookies: developer, form: secondKey},
		{name: "developer page, signer", method: "POST", path: "/dev/signers/revoke", cookies: developer, form: revoked},
		{name: "developer page, application", method: "POST", path: "/dev/apps", cookies: developer, form: form},
		{name: "developer page, change", method: "POST", path: "/dev/apps/change", cookies: developer, form: form},
		{name: "developer page, secret", method: "POST", path: "/dev/apps/secret", cookies: developer, form: app},
		{name: "developer page, end of an application", method: "POST", path: "/dev/apps/disable", cookies: developer, form: app},
		{name: "profile page", method: "POST", path: "/profile", cookies: session, form: url.Values{"displayName": {"Not mine"}}},
		{name: "follow button", method: "POST", path: "/u/" + stranger.Handle + "/follow", cookies: session, form: url.Values{}},
		{name: "call form", method: "POST", path: "/m/" + s.NewNativeMarket(t, 5000, nil) + "/call", cookies: session, form: callForm},
		{name: "event form", method: "POST", path: "/receipts/" + o.Call + "/events", cookies: session, form: eventForm},
		{name: "watch button", method: "POST", path: "/m/" + o.Market + "/watch", cookies: session, form: url.Values{"watch": {"yes"}}},
		{name: "e-mail form", method: "POST", path: "/settings/email", cookies: session, form: url.Values{"digest": {"daily"}}},
		{name: "page of sign-out", method: "POST", path: "/sign-out", cookies: developer, form: url.Values{}},
		{name: "sign-out", method: "DELETE", path: "/api/auth/privy", cookies: session},
	}
}

// forgery is a way in which a page of another site sends a request.
type forgery struct {
	name     string
	set      stack.Set
	jsonOnly bool // refused because of the content type of its body
	mayRead  bool // a read that claims to be a write; it may be answered as a read
}

func forgeries(hub string) []forgery {
	from := func(origin, site string) stack.Set {
		return func(r *http.Request) {
			if origin != "" {
				r.Header["Origin"] = strings.Split(origin, " ")
			}
			if site != "" {
				r.Header.Set("Sec-Fetch-Site", site)
			}
		}
	}
	typed := func(contentType, site string) stack.Set {
		return func(r *http.Request) {
			r.Header.Set("Content-Type", contentType)
			r.Header.Set("Sec-Fetch-Site", site)
			if site == "same-origin" {
				r.Header.Set("Origin", hub)
			}
		}
	}
	override := func(method string) stack.Set {
		return func(r *http.Request) {
			for _, name := range []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"} {
				r.Header.Set(name, r.Method)
			}
			q := r.URL.Query()
			q.Set("_method", r.Method)
			r.URL.RawQuery, r.Method = q.Encode(), method
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}
	}
	host := strings.TrimPrefix(hub, "http://")
	rebound := func(r *http.Request) {
		r.Host = "evil.example"
		r.Header.Set("Origin", "http://evil.example")
		r.Header.Set("X-Forwarded-Host", host)
	}
	return []forgery{
		{name: "another site", set: from("https://evil.example", "cross-site")},
		{name: "another site, older browser", set: from("https://evil.example", "")},
		{name: "opaque origin", set: from("null", "cross-site")},
		{name: "opaque origin, older browser", set: from("null", "")},
		{name: "subdomain", set: from("https://www."+host, "same-site")},
		{name: "no origin", set: from("", "")},
		{name: "another site without origin", set: from("", "cross-site")},
		{name: "address bar", set: from("", "none")},
		{name: "origin with the hub as prefix", set: from(hub+".evil.example", "cross-site")},
		{name: "origin with the hub as suffix", set: from("https://evil.example#"+hub, "cross-site")},
		{name: "hub with another scheme", set: from("https://"+host, "cross-site")},
		{name: "hub with another port", set: from("http://127.0.0.1:1", "same-site")},
		{name: "hub without port", set: from("http://127.0.0.1", "same-site")},
		{name: "two origins", set: from(hub+" https://evil.example", "")},
		{name: "another site that claims to be the same", set: from("https://evil.example", "same-origin")},
		{name: "referrer only", set: stack.Header("Referer", hub+"/apps")},
		{name: "rebound host name", set: rebound},
		{name: "plain text", set: typed("text/plain", "cross-site")},
		{name: "form", set: typed("application/x-www-form-urlencoded", "cross-site")},
		{name: "multipart form", set: typed("multipart/form-data; boundary=x", "cross-site")},
		{name: "method override of POST", set: override(http.MethodPost), mayRead: true},
		{name: "method override of GET", set: override(http.MethodGet), mayRead: true},
		{name: "own page, plain text", set: typed("text/plain", "same-origin"), jsonOnly: true},
		{name: "own page, form", set: typed("application/x-www-form-urlencoded", "same-origin"), jsonOnly: true},
	}
}

// TestCrossSiteWritesAreRefused checks that a page of another site cannot write with the cookies of a visitor.
func TestCrossSiteWritesAreRefused(t *testing.T) {
	s := webStack(t)
	owner, crowd := s.NewOwner(t), stack.NewCrowd(50)
	writes := cookieWrites(t, s, owner)
	t.Parallel()
	before := owner.Holdings(t)
	for i, w := range writes {
		for k, f := range forgeries(s.Hub) {
			if f.jsonOnly && w.body == nil {
				continue
			}
			a := w.send(t, crowd, s.HubAt(i+k), f.set)
			refused := a.Status >= 400 && a.Status < 500 && a.Status != http.StatusTooManyRequests
			refused = refused || f.mayRead && (a.Status == http.StatusOK || a.Status == http.StatusMovedPermanently)
			if n := len(a.Cookies()); !refused || n > 0 {
				t.Errorf("%s, %s: answered %d with %d cookies; want a refusal without cookies\n%.200s", w.name, f.name, a.Status, n, a.Body)
			}
		}
	}
	if after := owner.Holdings(t); after != before {
		t.Errorf("the refused requests changed objects of the visitor, from\n%s\nto\n%s", before, after)
	}
	for i, w := range writes {
		if a := w.send(t, crowd, s.HubAt(i), stack.Header("Origin", s.Hub)); a.Status >= 400 {
			t.Errorf("%s from a page of the hub was answered %d; want a success\n%.200s", w.name, a.Status, a.Body)
		}
	}
}
