package pages

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

const (
	authorizePath = "/protocol/authorize"
	appsPath      = "/apps"
	maxReturn     = 6 << 10 // of an address that a sign-in leads back to
)

type consentPage struct {
	frame
	Handle, AppName, AppHost, AppURL string
	Wants                            []want
	Lasting                          bool // the app may come back without asking
	Resource                         string
	Destination                      string
	Token                            string
}

// want is one scope in words.
type want struct {
	Word, Text string
	Acts       bool // something is done in the user's name
}

// scopeWords says of each scope what an app may do with it. Nobody who reads the page
// knows our words.
var scopeWords = map[grant.Scope]want{
	grant.ProfileRead:      {Word: "See who you are", Text: "Your name, your picture and your public record."},
	grant.SignerCreate:     {Word: "Add a signing key", Text: "A key that signs messages for you, as far as you allow here. It ends when you disconnect the app.", Acts: true},
	grant.OfflineAccess:    {Word: "Stay connected", Text: "The app works while you are away, until you disconnect it or the time runs out."},
	grant.ProfileUpdate:    {Word: "Change your profile", Text: "Your name, your picture and what you say about yourself.", Acts: true},
	grant.StationCreate:    {Word: "Open stations", Text: "New stations in your name.", Acts: true},
	grant.StationUpdate:    {Word: "Change your stations", Text: "Their names, pictures and programmes.", Acts: true},
	grant.BroadcastCreate:  {Word: "Create broadcasts", Text: "New broadcasts in your name.", Acts: true},
	grant.BroadcastGoLive:  {Word: "Go live as you", Text: "Start and end broadcasts in your name.", Acts: true},
	grant.SignalCreate:     {Word: "File calls as you", Text: "A call is locked and scored on your record for ever. It cannot be taken back.", Acts: true},
	grant.PredictionCreate: {Word: "File predictions as you", Text: "They are calls: locked, and scored on your record for ever.", Acts: true},
	grant.MarketCreate:     {Word: "Open markets", Text: "New markets in your name.", Acts: true},
	grant.ResolutionCreate: {Word: "Propose outcomes", Text: "What your markets came to, in your name.", Acts: true},
}

func wantsOf(scopes grant.Scopes) []want {
	var out []want
	for _, scope := range scopes {
		out = append(out, scopeWords[scope])
	}
	return out
}

// authorize is GET /protocol/authorize.
func (s *site) authorize(c echo.Context) error {
	private(c)
	query, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return grant.ErrInvalidRequest.Say("The address that the app sent you to cannot be read.")
	}
	who, handle, err := s.Visitor(c)
	if err != nil {
		return err
	}
	if who.UserID != "" {
		if err := s.CountConsent(c, who); err != nil {
			return err
		}
	}
	a, err := s.Grants.Authorize(c.Request().Context(), query, who)
	switch {
	case err != nil:
		return err
	case a.Redirect != "":
		return c.Redirect(http.StatusSeeOther, a.Redirect)
	case a.SignIn:
		return s.signInFirst(c, authorizePath+"?"+c.Request().URL.RawQuery)
	}
	c.Response().Header().Set("Content-Security-Policy", policyTowards(a.Consent.RedirectURI))
	return s.render(c, http.StatusOK, "consent", s.consentPage(*a.Consent, handle))
}

// private keeps a page that belongs to one moment out of caches, and its address, which
// holds what an app has asked for, out of the next request.
func private(c echo.Context) {
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
}

// policyTowards lets the form of the consent page end where the app wants its answer.
// Browsers hold every redirect behind a form to form-action, and the app's own page
// may lead on, so it names schemes and no hosts.
func policyTowards(redirectURI string) string {
	scheme, _, _ := strings.Cut(redirectURI, ":")
	allowed := "form-action 'self' https:"
	if scheme = strings.ToLower(scheme); scheme != "https" {
		allowed += " " + scheme + ":"
	}
	return strings.Replace(policy, "form-action 'self'", allowed, 1)
}

func (s *site) consentPage(a grant.Consent, handle string) consentPage {
	p := consentPage{
		frame: s.frame("Connect "+a.App.Name, "", ""), Handle: handle, AppName: a.App.Name, AppURL: a.App.Homepage, Wants: wantsOf(a.Scopes),
		Lasting: a.Scopes.Has(grant.OfflineAccess), Resource: a.Resource, Token: a.Token, Destination: destinationOf(a.RedirectURI),
	}
	p.Unlisted = true
	if u, err := url.Parse(a.App.Homepage); err == nil {
		p.AppHost = u.Host
	}
	return p
}

// destinationOf says where the answer goes in what people know of an address.
func destinationOf(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	switch {
	case err != nil:
		return redirectURI
	case u.Scheme == "https":
		return u.Host
	case u.Scheme == "http":
		return "a program on this device"
	}
	return "the app " + u.Scheme + " on this device"
}

var errSignedOut = fault.New(fault.Unauthenticated, "unauthenticated", "")

// decide is POST /protocol/authorize.
func (s *site) decide(c echo.Context) error {
	private(c)
	who, _, err := s.Visitor(c)
	if err != nil {
		return err
	}
	if who.UserID == "" {
		return errSignedOut
	}
	if err := s.CountConsent(c, who); err != nil {
		return err
	}
	form, err := s.form(c)
	if err != nil {
		return err
	}
	decision := form["decision"]
	if len(form["request"]) != 1 || len(decision) != 1 || decision[0] != "approve" && decision[0] != "deny" {
		return errForeign
	}
	to, err := s.Grants.Decide(c.Request().Context(), who, form.Get("request"), decision[0] == "approve")
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// signInFirst leads to the provider and from there back to an address of ours.
func (s *site) signInFirst(c echo.Context, back string) error {
	if s.LoginURL == "" {
		return errNoLogin
	}
	if s.otherName(c.Request()) {
		return c.Redirect(http.StatusFound, s.HubURL+back)
	}
	if len(back) > maxReturn {
		back = appsPath
	}
	state := rand.Text()
	s.setCookie(c, devPath, cookieState, state, stateLife)
	return c.Redirect(http.StatusSeeOther, s.LoginURL+"?"+url.Values{"return_to": {s.HubURL + back}, "state": {state}}.Encode())
}

var errNoLogin = fault.New(fault.Unauthenticated, "unauthenticated", "Sign-in is not configured here.")

// leadsBack tells whether a sign-in may lead to an address of ours, for which it
// starts a session.
func leadsBack(address string) bool {
	odd := strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' })
	return !odd && (address == appsPath || strings.HasPrefix(address, authorizePath+"?"))
}
