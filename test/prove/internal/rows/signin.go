package rows

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// grantedApp is a confidential app that a person has let in, with every secret of the
// way there.
type grantedApp struct {
	id, secret                       string
	state, verifier, challenge, code string
	access, refresh                  string
}

// form is a body of the kind that pages and the token endpoint take.
func form(env *frame.Env, to string, as client.Credential, values url.Values) client.Request {
	return client.Request{
		Method: http.MethodPost, URL: to, As: as, Body: []byte(values.Encode()),
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {env.Stack.Hub}},
	}
}

// letIn registers an app, has the person consent, and redeems the code at a hub.
func letIn(ctx context.Context, env *frame.Env, hub string, p person) (g grantedApp, err error) {
	var app struct {
		AppID        string `json:"appId"`
		ClientSecret string `json:"clientSecret"`
	}
	err = env.Client.Do(ctx, client.Request{URL: hub + "/api/dev/apps", As: p.login, Body: map[string]any{
		"name": "Tide table", "type": "confidential", "redirectUris": []string{appReturns}, "scopes": []string{"profile:read", "offline_access"},
	}}).Into(http.StatusCreated, &app)
	if err != nil {
		return g, fmt.Errorf("register an app: %w", err)
	}
	g = grantedApp{id: app.AppID, secret: app.ClientSecret, state: "state-" + rand.Text(), verifier: rand.Text() + rand.Text()}
	sum := sha256.Sum256([]byte(g.verifier))
	g.challenge = base64.RawURLEncoding.EncodeToString(sum[:])
	page := env.Client.Do(ctx, client.Request{As: p.session, URL: hub + "/protocol/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {g.id}, "redirect_uri": {appReturns}, "scope": {"profile:read offline_access"},
		"state": {g.state}, "code_challenge": {g.challenge}, "code_challenge_method": {"S256"},
	}.Encode()})
	_, rest, _ := strings.Cut(string(page.Body), `name="request" value="`)
	request, _, _ := strings.Cut(rest, `"`)
	done := env.Client.Do(ctx, form(env, hub+"/protocol/authorize", p.session, url.Values{"request": {request}, "decision": {"approve"}}))
	back, err := url.Parse(done.Header.Get("Location"))
	if err != nil || done.Status != http.StatusSeeOther {
		return g, fmt.Errorf("consent was answered %s after %s: %w", done, page, err)
	}
	g.code = back.Query().Get("code")
	tokens := env.Client.Do(ctx, form(env, hub+"/api/protocol/v1/oauth/token", nil, url.Values{
		"grant_type": {"authorization_code"}, "code": {g.code}, "redirect_uri": {appReturns}, "code_verifier": {g.verifier},
		"client_id": {g.id}, "client_secret": {g.secret},
	}))
	if err := tokens.Into(http.StatusOK, nil); err != nil {
		return g, fmt.Errorf("redeem a code: %w", err)
	}
	g.access, g.refresh = tokens.Text("access_token"), tokens.Text("refresh_token")
	return g, nil
}
