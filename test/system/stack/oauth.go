package stack

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const (
	// ProtocolPath is the path prefix of the routes for applications and signed messages.
	ProtocolPath = "/api/protocol/v1"
	// AppRedirect is the redirect URI of all applications in the tests.
	AppRedirect = "https://app.example/cb"
	// AppState is the state parameter of all authorization requests in the tests.
	AppState = "a state"
	// CodeVerifier is the PKCE verifier of all authorization requests in the tests.
	CodeVerifier = "system-verifier-0123456789-abcdefghijklmnopqrstuvwxyz"
)

// CodeChallenge returns the S256 challenge of a PKCE verifier (RFC 7636, 4.2).
func CodeChallenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Form returns a Set that sends form values as the body.
func Form(values url.Values) Set {
	return func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		Body(values.Encode())(r)
	}
}

// formTokens has the form tokens of pages, by the Cookie header of their requests. A token remains valid, although each page has another one.
var formTokens sync.Map

// addFormToken adds the field csrf to a form that is sent with the cookies of a page, as the pages of the hub do. It reads the
// value from a page that it requests with the same cookies.
func (c *Client) addFormToken(r *http.Request) error {
	if r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || r.Body == nil || !hasPageCookie(r) {
		return nil
	}
	cookies := strings.Join(r.Header["Cookie"], "; ")
	token, known := formTokens.Load(cookies)
	if !known {
		read, err := c.formToken(r)
		if err != nil {
			return err
		}
		if token = read; read != "" {
			formTokens.Store(cookies, read)
		}
	}
	form, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	Body(strings.TrimPrefix(fmt.Sprintf("%s&csrf=%s", form, token), "&"))(r)
	return nil
}

// formToken opens a page with the cookies of r and returns the value of the hidden field csrf of its forms; empty if the page has
// no such field.
func (c *Client) formToken(r *http.Request) (string, error) {
	page, err := http.NewRequestWithContext(r.Context(), http.MethodGet, r.URL.Scheme+"://"+r.URL.Host+"/dev", nil)
	if err != nil {
		return "", err
	}
	page.Header["Cookie"] = r.Header["Cookie"]
	resp, err := c.http.Do(page)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	html, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	_, rest, _ := strings.Cut(string(html), `name="csrf" value="`)
	token, _, _ := strings.Cut(rest, `"`)
	return token, err
}

// hasPageCookie reports whether a request has the cookie of a session or of the developer page.
func hasPageCookie(r *http.Request) bool {
	_, session := r.Cookie("db_sig")
	_, login := r.Cookie("db_dev")
	return session == nil || login == nil
}

// App is an OAuth application. It sends its requests from one IP address to the hubs of the system in rotation.
type App struct {
	*Client
	ID, Secret string // Secret is empty for public applications

	s    *Stack
	turn atomic.Int64
}

// NewApp registers an application of the kind "public" or "confidential" for the operator. It then uses the admin secret to
// mark the application as trusted.
func (o *Operator) NewApp(t testing.TB, kind string, scopes ...string) *App {
	t.Helper()
	made := o.Retry(t, http.MethodPost, o.s.Hub+"/api/dev/apps", Bearer(o.Login), Body(JSON{
		"name": "Tide table", "type": kind, "redirectUris": []string{AppRedirect}, "scopes": scopes,
	})).Require(http.StatusCreated)
	a := &App{Client: NewClient(), ID: made.Text("clientId"), s: o.s}
	if kind == "confidential" {
		a.Secret = made.Text("clientSecret")
	}
	plain.Retry(t, http.MethodPost, o.s.Hub+"/api/admin/apps/"+a.ID, o.s.Admin(), Body(JSON{"trusted": true})).Require(http.StatusOK)
	return a
}

// Hub returns the base URL of the hub for the next request, in rotation.
func (a *App) Hub() string { return a.s.HubAt(int(a.turn.Add(1))) }

// AuthorizeRequest returns the parameters of an authorization request. The parameter change contains alternating names and
// values that replace parameters. An empty value deletes the parameter.
func (a *App) AuthorizeRequest(scope string, change ...string) url.Values {
	return changed(url.Values{
		"response_type": {"code"}, "client_id": {a.ID}, "redirect_uri": {AppRedirect}, "scope": {scope}, "state": {AppState},
		"code_challenge": {CodeChallenge(CodeVerifier)}, "code_challenge_method": {"S256"},
	}, change)
}

// CodeRequest returns the form values that exchange an authorization code for tokens. The parameter change replaces values as
// in AuthorizeRequest.
func (a *App) CodeRequest(code string, change ...string) url.Values {
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "client_id": {a.ID}, "redirect_uri": {AppRedirect},
		"code_verifier": {CodeVerifier},
	}
	if a.Secret != "" {
		form.Set("client_secret", a.Secret)
	}
	return changed(form, change)
}

// RefreshRequest returns the form values that exchange a refresh token for new tokens.
func (a *App) RefreshRequest(token string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "client_id": {a.ID}}
}

func changed(values url.Values, change []string) url.Values {
	for i := 0; i+1 < len(change); i += 2 {
		if values.Set(change[i], change[i+1]); change[i+1] == "" {
			values.Del(change[i])
		}
	}
	return values
}

// OAuth sends a form to an OAuth endpoint: "token", "revoke" or "introspect".
func (a *App) OAuth(t testing.TB, endpoint string, form url.Values) Answer {
	t.Helper()
	return a.Do(t, http.MethodPost, a.Hub()+ProtocolPath+"/oauth/"+endpoint, Form(form))
}

// ConsentPage requests the page on which a signed-in user approves or denies an authorization request. It returns the response.
func (a *App) ConsentPage(t testing.TB, request url.Values, sets ...Set) Answer {
	t.Helper()
	return a.Retry(t, http.MethodGet, a.Hub()+"/protocol/authorize?"+request.Encode(), sets...)
}

// ConsentRequest returns the value of the form field "request" of a consent page, or an empty string if the page has no form.
func (a Answer) ConsentRequest() string {
	_, rest, _ := strings.Cut(string(a.Body), `name="request" value="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// Decide submits the form of a consent page and returns the response. decision is "approve" or "deny".
func (a *App) Decide(t testing.TB, request, decision string, sets ...Set) Answer {
	t.Helper()
	form := Form(url.Values{"request": {request}, "decision": {decision}})
	return a.Do(t, http.MethodPost, a.Hub()+"/protocol/authorize", append(sets, form)...)
}

// Redirected returns the query parameters of a redirect to AppRedirect, or nil for any other response.
func (a Answer) Redirected() url.Values {
	query, ok := strings.CutPrefix(a.Header.Get("Location"), AppRedirect+"?")
	values, err := url.ParseQuery(query)
	if !ok || err != nil || a.Status != http.StatusSeeOther {
		return nil
	}
	return values
}

// Code approves an authorization request in the session of a user and returns the authorization code.
func (a *App) Code(t testing.TB, session Set, request url.Values) string {
	t.Helper()
	page := a.ConsentPage(t, request, session).Require(http.StatusOK)
	answer := a.Decide(t, page.ConsentRequest(), "approve", session).Require(http.StatusSeeOther)
	code := answer.Redirected().Get("code")
	if code == "" {
		t.Fatalf("consent to %s: no code in %s", request.Encode(), answer.Header.Get("Location"))
	}
	return code
}

// Tokens contains the tokens that an application receives. Refresh is empty without the scope offline_access.
type Tokens struct{ Access, Refresh, Grant, Scope string }

// Grant approves scopes in the session of a user and returns the tokens. scopes contains names separated by spaces. The
// parameter change replaces parameters of the authorization request as in AuthorizeRequest.
func (a *App) Grant(t testing.TB, session Set, scopes string, change ...string) Tokens {
	t.Helper()
	code := a.Code(t, session, a.AuthorizeRequest(scopes, change...))
	return a.OAuth(t, "token", a.CodeRequest(code)).Require(http.StatusOK).Tokens()
}

// Tokens returns the tokens in a response of the token endpoint.
func (a Answer) Tokens() Tokens {
	a.t.Helper()
	out := Tokens{Access: a.Text("access_token"), Grant: a.Text("grantId"), Scope: a.Text("scope")}
	if v, err := a.find("refresh_token"); err == nil {
		out.Refresh, _ = v.(string)
	}
	return out
}
