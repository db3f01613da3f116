package rows

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// h2 is every page of somebody else that makes a browser write with the cookies of
// its owner: at each door that takes a cookie, in each form in which such a request
// can come.
var h2 = frame.Row{
	ID: "H2", Title: "no cross-site write with a cookie",
	Fault: frame.Fault{What: "a form of any site counts as one of ours"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		e, err := settle(ctx, env, "h2-owner")
		if err != nil {
			return nil, err
		}
		acts, err := actsOf(ctx, env, e)
		if err != nil {
			return nil, err
		}
		before, err := e.holds(ctx, env)
		if err != nil {
			return nil, err
		}
		accepted, tried := 0, 0
		for i, act := range acts {
			for k, trick := range tricksOn(env.Stack.Hub) {
				if trick.jsonOnly && act.body == nil {
					continue
				}
				tried++
				a := env.Client.Do(ctx, act.by(env, i+k, trick.do))
				refused := a.Err == nil && (a.Status >= 400 && a.Status < 500 || trick.overrides && a.Status == http.StatusOK)
				if !refused || a.Status == http.StatusTooManyRequests || len(a.Header.Values("Set-Cookie")) > 0 {
					accepted++
					seen.Wrong("%s %s: %.160s", act.name, trick.name, a)
				}
			}
		}
		after, err := e.holds(ctx, env)
		if err != nil {
			return nil, err
		}
		seen.Check(before == after, "what the owner holds has changed")
		if err := swappedSignIn(ctx, env, seen); err != nil {
			return nil, err
		}
		for i, act := range acts { // and yet each is a door: our own page is let in
			a := env.Client.Do(ctx, act.by(env, i, func(r *http.Request) { r.Header.Set("Origin", env.Stack.Hub) }))
			seen.Check(a.Err == nil && a.Status < 400, "%s from our own page: %.160s", act.name, a)
		}
		seen.Promise(fmt.Sprintf("accepted 0 of %d", tried), fmt.Sprintf("accepted %d of %d", accepted, tried))
		seen.Figure("tried", tried)
		seen.Volume("%d doors that take a cookie, %d requests", len(acts), tried)
		return seen, nil
	},
}

// cookieAct is one write that a cookie is enough for.
type cookieAct struct {
	name, method, path string
	body               map[string]any
	form               url.Values
	as                 client.Credential // cookies and no more
}

// by is the act as some page sends it.
func (c cookieAct) by(env *frame.Env, i int, trick func(r *http.Request)) client.Request {
	q := client.Request{Method: c.method, URL: env.Hub(i) + c.path, Header: http.Header{}}
	switch {
	case c.form != nil:
		asForm(&q, c.form)
	case c.body != nil:
		q.Body = c.body
	}
	q.As = client.All(c.as, client.By(func(r *http.Request) {
		r.Header.Del("Sec-Fetch-Site")
		trick(r)
	}))
	return q
}

// actsOf lists the acts, the one that signs out last.
func actsOf(ctx context.Context, env *frame.Env, e *estate) ([]cookieAct, error) {
	fresh, err := markets(ctx, env, "H2", 1)
	if err != nil {
		return nil, err
	}
	stranger, err := signUp(ctx, env, "h2-stranger", 0)
	if err != nil {
		return nil, err
	}
	request, err := askConsent(ctx, env, env.Hub(0), e.session, e.app, "profile:read")
	if err != nil {
		return nil, err
	}
	second, err := grantTo(ctx, env, e.app, e.session, "profile:read signal:create")
	if err != nil {
		return nil, err
	}
	session, dev := client.Credential(e.session), developer(string(e.token))
	withIdentity := client.All(e.session, byHeader("Privy-Id-Token", e.identity))
	return []cookieAct{
		{name: "a call", method: "POST", path: "/api/predictions", as: session, body: map[string]any{"marketId": fresh[0], "direction": "YES", "priceAtPrediction": 5000}},
		{name: "an event", method: "POST", path: "/api/signals/" + e.signal + "/events", as: session, body: map[string]any{"type": "reaffirm"}},
		{name: "a stream", method: "POST", path: "/api/m/" + fresh[0] + "/streams", as: session, body: map[string]any{"url": "https://video.example/not-mine.m3u8"}},
		{name: "the end of a stream", method: "DELETE", path: "/api/m/" + e.market + "/streams", as: session},
		{name: "a signal over a picture", method: "POST", path: "/api/streamer/signal", as: session, body: map[string]any{"marketId": e.market, "name": "not mine"}},
		{name: "the end of a signal", method: "DELETE", path: "/api/streamer/signal", as: session},
		{name: "a registration", method: "POST", path: "/api/streamer/register", as: session, body: map[string]any{"lanes": []string{"science"}}},
		{name: "a heartbeat", method: "POST", path: "/api/streamer/heartbeat", as: session, body: map[string]any{"state": "offline"}},
		{name: "a follow", method: "POST", path: "/api/user/follow", as: session, body: map[string]any{"handle": stranger.Handle}},
		{name: "the end of a follow", method: "DELETE", path: "/api/user/follow?handle=" + e.friend.Handle, as: session},
		{name: "the end of a claim", method: "DELETE", path: "/api/identity/claim", as: session},
		{name: "a claim", method: "POST", path: "/api/identity/claim", as: withIdentity, body: map[string]any{"address": e.wallet}},
		{name: "the end of a grant", method: "DELETE", path: "/api/user/grants/" + e.granted.Grant, as: session},
		{name: "the end of a signer", method: "DELETE", path: "/api/user/signers/" + e.signer, as: session},
		{name: "the page of apps", method: "POST", path: "/apps/revoke", as: session, form: url.Values{"grant": {second.Grant}}},
		{name: "the page that asks", method: "POST", path: "/protocol/authorize", as: session, form: url.Values{"request": {request}, "decision": {"approve"}}},
		{name: "the developer's page, a key", method: "POST", path: "/dev/keys", as: dev, form: url.Values{"label": {"x"}, "permission": {"read"}}},
		{name: "the developer's page, the end of a key", method: "POST", path: "/dev/keys/revoke", as: dev, form: url.Values{"id": {e.keys[1].ID}}},
		{name: "the profile", method: "POST", path: "/profile", as: session, form: url.Values{"displayName": {"Not mine"}}},
		{name: "a follow by its button", method: "POST", path: "/u/" + stranger.Handle + "/follow", as: session, form: url.Values{}},
		{name: "the page of sign-out", method: "POST", path: "/sign-out", as: dev, form: url.Values{}},
		{name: "a sign-out", method: "DELETE", path: "/api/auth/privy", as: session},
	}, nil
}

// trick is how a page of somebody else sends a request.
type trick struct {
	name      string
	do        func(r *http.Request)
	jsonOnly  bool // it is wrong for the content type of its body alone
	overrides bool // it is a read that says it were a write; a read may be answered
}

// tricksOn lists the ways in which a request of another site can look.
func tricksOn(hub string) []trick {
	from := func(origin, site string) func(r *http.Request) {
		return func(r *http.Request) {
			if origin != "" {
				r.Header["Origin"] = strings.Split(origin, " ")
			}
			if site != "" {
				r.Header.Set("Sec-Fetch-Site", site)
			}
		}
	}
	kind := func(contentType, site string) func(r *http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Content-Type", contentType)
			if site == "same-origin" {
				r.Header.Set("Origin", hub)
			}
			r.Header.Set("Sec-Fetch-Site", site)
		}
	}
	override := func(method string) func(r *http.Request) {
		return func(r *http.Request) {
			was := r.Method
			r.Method = method
			for _, name := range []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"} {
				r.Header.Set(name, was)
			}
			q := r.URL.Query()
			q.Set("_method", was)
			r.URL.RawQuery = q.Encode()
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}
	}
	host := strings.TrimPrefix(hub, "http://")
	return []trick{
		{name: "of another site", do: from("https://evil.example", "cross-site")},
		{name: "of another site and an older browser", do: from("https://evil.example", "")},
		{name: "of a frame without an origin", do: from("null", "cross-site")},
		{name: "without an origin in an older browser", do: from("null", "")},
		{name: "of a sister site", do: from("https://www."+host, "same-site")},
		{name: "without a word of where it is from", do: from("", "")},
		{name: "from another site without an origin", do: from("", "cross-site")},
		{name: "from the address bar", do: from("", "none")},
		{name: "of an origin that begins as ours", do: from(hub+".evil.example", "cross-site")},
		{name: "of an origin that ends as ours", do: from("https://evil.example#"+hub, "cross-site")},
		{name: "of our host under another scheme", do: from("https://"+host, "cross-site")},
		{name: "of our host and another port", do: from("http://127.0.0.1:1", "same-site")},
		{name: "of our host and no port", do: from("http://127.0.0.1", "same-site")},
		{name: "of two origins, one of them ours", do: from(hub+" https://evil.example", "")},
		{name: "of a foreign origin that calls itself ours", do: from("https://evil.example", "same-origin")},
		{name: "with our address as its referrer alone", do: func(r *http.Request) { r.Header.Set("Referer", hub+"/apps") }},
		{name: "through a name that leads here", do: func(r *http.Request) {
			r.Host = "evil.example"
			r.Header.Set("Origin", "http://evil.example")
			r.Header.Set("X-Forwarded-Host", host)
		}},
		{name: "as plain text", do: kind("text/plain", "cross-site")},
		{name: "as a form", do: kind("application/x-www-form-urlencoded", "cross-site")},
		{name: "as parts", do: kind("multipart/form-data; boundary=x", "cross-site")},
		{name: "of another method that says the right one", do: override(http.MethodPost), overrides: true},
		{name: "by a link that says the right method", do: override(http.MethodGet), overrides: true},
		{name: "of our own page as plain text", do: kind("text/plain", "same-origin"), jsonOnly: true},
		{name: "of our own page as a form", do: kind("application/x-www-form-urlencoded", "same-origin"), jsonOnly: true},
	}
}

// swappedSignIn is the other way round: a page slips its own token into somebody's
// browser, to have him act as its owner. It knows no state that this browser began.
func swappedSignIn(ctx context.Context, env *frame.Env, seen *frame.Seen) error {
	evil, err := env.Client.Login(ctx, env.Stack.IDP, "h2-evil")
	if err != nil {
		return err
	}
	for _, state := range []string{"", "theirs"} {
		a := env.Client.Do(ctx, client.Request{
			URL: env.Hub(0) + "/dev/session?state=" + state, As: besideCookies(nil, "db_dev_state=ours", "db_dev_next="+string(evil)),
		})
		seen.Check(a.Status == http.StatusForbidden && len(a.Header.Values("Set-Cookie")) == 0, "a sign-in that another page began: %.120s", a)
	}
	a := sendForm(ctx, env, env.Hub(0)+"/dev/session", nil, url.Values{"token": {string(evil)}})
	seen.Check(a.Status == http.StatusForbidden, "a token without a state: %.120s", a)
	return nil
}
