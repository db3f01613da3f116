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

const (
	protocolPath = "/api/protocol/v1"
	// appProof and its hash are the example of RFC 7636.
	appProof     = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	appChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// thirdApp is an app that somebody registered; without a secret it is a public one.
type thirdApp struct{ ID, Secret string }

// grantedTo is what an app was let do for a person.
type grantedTo struct {
	app                    thirdApp
	access, refresh, grant string
}

// registerApp registers an app, of the kind public or confidential.
func registerApp(ctx context.Context, env *frame.Env, owner client.Login, kind string, scopes ...string) (thirdApp, error) {
	a := env.Client.Do(ctx, client.Request{URL: env.Hub(0) + "/api/dev/apps", As: owner, Body: map[string]any{
		"name": "Matrix " + kind, "type": kind, "redirectUris": []string{appReturns}, "scopes": scopes,
	}})
	if err := a.Into(http.StatusCreated, nil); err != nil {
		return thirdApp{}, fmt.Errorf("register an app: %w", err)
	}
	return thirdApp{ID: a.Text("clientId"), Secret: a.Text("clientSecret")}, nil
}

// sendForm posts a form; with a session as one of our own pages does.
func sendForm(ctx context.Context, env *frame.Env, at string, as client.Credential, form url.Values) client.Answer {
	return env.Client.Do(ctx, client.Request{
		Method: http.MethodPost, URL: at, As: as, Body: []byte(form.Encode()),
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
	})
}

// askConsent opens the page that asks for a grant and gives the request that its
// form sends back.
func askConsent(ctx context.Context, env *frame.Env, hub string, as client.Session, app thirdApp, scopes string) (string, error) {
	page := env.Client.Do(ctx, client.Request{As: as, URL: hub + "/protocol/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {app.ID}, "redirect_uri": {appReturns}, "scope": {scopes}, "state": {"s"},
		"code_challenge": {appChallenge}, "code_challenge_method": {"S256"},
	}.Encode()})
	_, rest, found := strings.Cut(string(page.Body), `name="request" value="`)
	request, _, _ := strings.Cut(rest, `"`)
	if page.Status != http.StatusOK || !found {
		return "", fmt.Errorf("the page that asks was answered %s", page)
	}
	return request, nil
}

// connect lets an app act for the holder of a session, as a browser would.
func connect(ctx context.Context, env *frame.Env, as client.Session, app thirdApp, scopes string) (g grantedTo, err error) {
	request, err := askConsent(ctx, env, env.Hub(0), as, app, scopes)
	if err != nil {
		return g, err
	}
	done := sendForm(ctx, env, env.Hub(0)+"/protocol/authorize", as, url.Values{"request": {request}, "decision": {"approve"}})
	to, err := url.Parse(done.Header.Get("Location"))
	if err != nil || to.Query().Get("code") == "" {
		return g, fmt.Errorf("the decision was answered %s", done)
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {to.Query().Get("code")}, "code_verifier": {appProof},
		"redirect_uri": {appReturns}, "client_id": {app.ID},
	}
	a := app.token(ctx, env, env.Hub(0), form)
	if err := a.Into(http.StatusOK, nil); err != nil {
		return g, fmt.Errorf("redeem the code: %w", err)
	}
	return grantedTo{app: app, access: a.Text("access_token"), refresh: a.Text("refresh_token"), grant: a.Text("grantId")}, nil
}

// token asks the token endpoint of a hub.
func (a thirdApp) token(ctx context.Context, env *frame.Env, hub string, form url.Values) client.Answer {
	if a.Secret != "" {
		form.Set("client_secret", a.Secret)
	}
	return sendForm(ctx, env, hub+protocolPath+"/oauth/token", nil, form)
}

// basic is the app's own credential.
func (a thirdApp) basic() client.Credential {
	return client.By(func(r *http.Request) { r.SetBasicAuth(a.ID, a.Secret) })
}

// byBearer is any text as a bearer.
func byBearer(text string) client.Credential { return client.Key(text) }

// byHeader sets one header.
func byHeader(name, value string) client.Credential {
	return client.By(func(r *http.Request) { r.Header.Set(name, value) })
}

// byQuery adds one parameter to the address.
func byQuery(name, value string) client.Credential {
	return client.By(func(r *http.Request) {
		q := r.URL.Query()
		q.Set(name, value)
		r.URL.RawQuery = q.Encode()
	})
}

// mintWith mints a key with some permissions; nil: all of them.
func mintWith(ctx context.Context, env *frame.Env, at string, as client.Login, permissions []string) (client.MintedKey, error) {
	body := map[string]any{"label": "of " + strings.Join(permissions, " and ")}
	if permissions != nil {
		body["permissions"] = permissions
	}
	var k client.MintedKey
	err := env.Client.Do(ctx, client.Request{URL: at, As: as, Body: body}).Into(http.StatusCreated, &k)
	return k, err
}
