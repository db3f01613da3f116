package oauthapi

import (
	"cmp"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

// Server has the handlers of apps, tokens, grants and passports.
type Server struct {
	HubURL  string
	Ledger  *ledgerclient.Client
	Callers *caller.Service
	Grants  *grant.Service
	Follows *follow.Service
	Claims  *identityclaim.Service
	OnAir   *livestream.Service
	Audits  request.Audit
}

// clientLimit is the size of what an app sends for itself.
const clientLimit = 16 << 10

// Oauth reads what an app sends for itself, counts it, and gives its refusals the
// members of RFC 6749.
func (s *Server) Oauth(answer func(echo.Context, grant.Form) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		for _, line := range c.Request().Header["Authorization"] {
			if scheme, _, _ := strings.Cut(line, " "); !strings.EqualFold(scheme, "Basic") {
				return described(grant.ErrInvalidClient) // of no kind that is taken here, whatever the body says
			}
		}
		values, err := clientValues(c)
		if err != nil {
			return described(err)
		}
		f := grant.Form{Values: values, Authorization: c.Request().Header["Authorization"], IP: request.AddressKey(c.RealIP())}
		id, secret := values.Get("client_id"), values.Get("client_secret")
		if user, password, ok := c.Request().BasicAuth(); ok {
			id, secret = cmp.Or(id, user), cmp.Or(secret, password)
		}
		standing, err := s.Callers.CountClient(c.Request().Context(), id, f.IP)
		if standing != nil {
			request.ShowStanding(c.Response().Header(), *standing)
		}
		if err == nil {
			err = answer(c, f)
		}
		if err == nil && secret != "" { // a name alone is no proof
			request.Refund(c)
		}
		return described(err)
	}
}

func described(err error) error {
	if err == nil {
		return nil
	}
	f := apperr.Of(err)
	if f.Code == httpx.ErrBody.Code {
		f = grant.ErrInvalidRequest.Say("%s", f.Message)
		err = f
	}
	if f.Code == httpx.ErrMediaType.Code && f.Message == httpx.ErrMediaType.Message {
		f = f.Say("content type must be application/x-www-form-urlencoded or application/json")
	}
	switch f.Kind {
	case apperr.Invalid, apperr.Unauthenticated, apperr.NotAllowed, apperr.TooLarge, apperr.Unsupported:
		if f.Message != "" {
			return f.With("error_description", f.Message)
		}
	}
	return err // no refusal of RFC 6749
}

// DescribedMethod is what described is for a method that has no route under
// P/oauth/, where no handler of ours is reached.
func DescribedMethod(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		if errors.Is(err, echo.ErrMethodNotAllowed) && strings.HasPrefix(c.Request().URL.Path, Base+"/oauth/") {
			return described(httpx.ErrNotAllowed)
		}
		return err
	}
}

// clientValues reads a form, or JSON with either spelling, into the names of RFC
// 6749. A name that comes twice is there twice: who reads it decides.
func clientValues(c echo.Context) (url.Values, error) {
	kind, _, err := mime.ParseMediaType(c.Request().Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return jsonValues(c)
	}
	if len(c.Request().Header["Content-Type"]) > 1 {
		return nil, httpx.ErrMediaType
	}
	body, err := httpx.ReadBody(c, clientLimit)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, httpx.ErrBody.Say("body is not a valid form")
	}
	for name, values := range form {
		for _, v := range values {
			if !utf8.ValidString(name+v) || strings.ContainsRune(name+v, 0) {
				return nil, httpx.ErrBody.Say("body is not valid text")
			}
		}
	}
	return form, nil
}

// spelt are the names of RFC 6749 by ours.
var spelt = map[string]string{
	"grantType": "grant_type", "codeVerifier": "code_verifier", "redirectUri": "redirect_uri", "clientId": "client_id",
	"clientSecret": "client_secret", "refreshToken": "refresh_token", "tokenTypeHint": "token_type_hint",
}

// heard are the names that some of these routes read. Others are overlooked, whatever
// they hold, as they are in every body.
var heard = map[string]bool{
	"grant_type": true, "code": true, "code_verifier": true, "redirect_uri": true, "client_id": true, "client_secret": true,
	"refresh_token": true, "scope": true, "resource": true, "token": true, "token_type_hint": true,
}

func jsonValues(c echo.Context) (url.Values, error) {
	o, err := httpx.Decode(c, clientLimit)
	if err != nil {
		return nil, err
	}
	out := url.Values{}
	for _, said := range o.Names() {
		name := cmp.Or(spelt[said], said)
		if !heard[name] {
			continue
		}
		if text := o.OptString(said, clientLimit); text != nil {
			out.Add(name, *text)
		}
	}
	return out, request.InvalidRequest(o.Err())
}

// Token is POST P/oauth/token.
func (s *Server) Token(c echo.Context, f grant.Form) error {
	t, err := s.Grants.Token(c.Request().Context(), f)
	seconds := int64(t.ExpiresIn.Seconds())
	return view.OK(c, openapi.TokenAnswer{
		AccessTokenByRFC: t.AccessToken, TokenTypeByRFC: t.TokenType, ExpiresInByRFC: seconds,
		RefreshTokenByRFC: httpx.OrNull(t.RefreshToken), Scope: t.Scopes.String(),
		AccessToken: t.AccessToken, TokenType: t.TokenType, ExpiresIn: seconds, RefreshToken: httpx.OrNull(t.RefreshToken),
		DenpaID: t.DenpaID, GrantID: t.GrantID,
	}, err)
}

// RevokeToken is POST P/oauth/revoke.
func (s *Server) RevokeToken(c echo.Context, f grant.Form) error {
	if err := s.Grants.Revoke(c.Request().Context(), f); err != nil {
		return err
	}
	return c.NoContent(http.StatusOK)
}

// Introspect is POST P/oauth/introspect.
func (s *Server) Introspect(c echo.Context, f grant.Form) error {
	i, err := s.Grants.Introspect(c.Request().Context(), f)
	if err != nil {
		return err
	}
	if !i.Active {
		return httpx.OK(c, openapi.Introspection{})
	}
	return httpx.OK(c, openapi.Introspection{
		Active: true, Scope: new(i.Scopes.String()), ClientID: &i.ClientID, Sub: &i.DenpaID, GrantID: &i.GrantID,
		Exp: new(i.ExpiresAt.Unix()), Iat: new(i.IssuedAt.Unix()), Iss: &i.Issuer, Aud: &i.Audience,
		TokenType: httpx.OrNull(i.TokenType),
	})
}
