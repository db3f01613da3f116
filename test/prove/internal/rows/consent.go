package rows

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// app is a program of somebody else that people let act for them.
type app struct{ id, secret string }

// A verifier of an app, and what it shows beforehand.
const verifier = "prove-verifier-0123456789-abcdefghijklmnopqrstuvwxyz"

var challengeOf = func(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// pairs makes values of pairs and changes them; a change to nothing takes one away.
func pairs(base map[string]string, change ...string) url.Values {
	out := url.Values{}
	for name, value := range base {
		out.Set(name, value)
	}
	for i := 0; i+1 < len(change); i += 2 {
		if change[i+1] == "" {
			out.Del(change[i])
			continue
		}
		out.Set(change[i], change[i+1])
	}
	return out
}

// asks is what an app sends people with to the page that asks them.
func (a app) asks(scope string, change ...string) url.Values {
	return pairs(map[string]string{
		"response_type": "code", "client_id": a.id, "redirect_uri": appReturns, "scope": scope, "state": "a state",
		"code_challenge": challengeOf(verifier), "code_challenge_method": "S256",
	}, change...)
}

// redeems is what an app sends for a code.
func (a app) redeems(code string, change ...string) url.Values {
	form := map[string]string{
		"grant_type": "authorization_code", "code": code, "client_id": a.id, "redirect_uri": appReturns, "code_verifier": verifier,
	}
	if a.secret != "" {
		form["client_secret"] = a.secret
	}
	return pairs(form, change...)
}

// sendForm posts a form; with a session as one of our own pages does.
func sendForm(ctx context.Context, env *frame.Env, at string, as client.Credential, form url.Values) client.Answer {
	return env.Client.Do(ctx, client.Request{Method: http.MethodPost, URL: at, As: as, Body: []byte(form.Encode()), Header: formed})
}

// visit opens the page that asks, at the i-th hub.
func visit(ctx context.Context, env *frame.Env, i int, as client.Credential, query url.Values) client.Answer {
	return env.Client.Do(ctx, client.Request{URL: env.Hub(i) + "/protocol/authorize?" + query.Encode(), As: as})
}

// request is what the form of that page carries.
func requestOf(page client.Answer) string {
	_, rest, _ := strings.Cut(string(page.Body), `name="request" value="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

var formed = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}

// decide sends that form.
func decide(ctx context.Context, env *frame.Env, i int, as client.Credential, request, decision string) client.Answer {
	return sendForm(ctx, env, env.Hub(i)+"/protocol/authorize", as, url.Values{"request": {request}, "decision": {decision}})
}

// askConsent opens the page that asks at one hub and gives the request that its form
// sends back.
func askConsent(ctx context.Context, env *frame.Env, hub string, as client.Session, a app, scope string) (string, error) {
	page := env.Client.Do(ctx, client.Request{URL: hub + "/protocol/authorize?" + a.asks(scope).Encode(), As: as})
	request := requestOf(page)
	if page.Status != http.StatusOK || request == "" {
		return "", fmt.Errorf("the page that asks was answered %s", page)
	}
	return request, nil
}

// told is what the app is told by a redirect to its own address; nil for anything else.
func told(a client.Answer) url.Values {
	to, ok := strings.CutPrefix(a.Header.Get("Location"), appReturns+"?")
	if !ok || a.Status != http.StatusSeeOther {
		return nil
	}
	answer, err := url.ParseQuery(to)
	if err != nil {
		return nil
	}
	return answer
}

// authorize lets the app have what it asks for and gives the code.
func authorize(ctx context.Context, env *frame.Env, i int, as client.Credential, query url.Values) (code string, err error) {
	page := visit(ctx, env, i, as, query)
	a := decide(ctx, env, i+1, as, requestOf(page), "approve")
	if code = told(a).Get("code"); code == "" {
		return "", fmt.Errorf("the page was answered %.40s, the decision %s", page, a)
	}
	return code, nil
}

// oauth sends a form to an endpoint of apps: token, revoke or introspect.
func oauth(ctx context.Context, env *frame.Env, i int, endpoint string, form url.Values) client.Answer {
	return sendForm(ctx, env, protocol(env, i)+"/oauth/"+endpoint, nil, form)
}

// tokens are what an app has of a grant.
type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Grant   string `json:"grantId"`
	Scope   string `json:"scope"`
}

// grantTo lets the app have scopes and gives its tokens.
func grantTo(ctx context.Context, env *frame.Env, a app, as client.Credential, scope string) (t tokens, err error) {
	return grantFor(ctx, env, a, as, scope, "")
}

// grantFor is grantTo with tokens that are for one address; empty: the protocol's own.
func grantFor(ctx context.Context, env *frame.Env, a app, as client.Credential, scope, resource string) (t tokens, err error) {
	query := a.asks(scope)
	if resource != "" {
		query.Set("resource", resource)
	}
	code, err := authorize(ctx, env, 0, as, query)
	if err != nil {
		return t, err
	}
	err = oauth(ctx, env, 1, "token", a.redeems(code)).Into(http.StatusOK, &t)
	return t, err
}
