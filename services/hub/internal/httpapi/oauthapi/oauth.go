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
	"github.com/signalcast/signalcast/pkg/ratelimit"
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

// clientLimit is the maximum size of the body of a token request, in bytes.
const clientLimit = 16 << 10

// Oauth wraps the handler of a token endpoint. It parses the form, charges the rate limit of the client and formats errors as RFC
// 6749 requires.
func (s *Server) Oauth(answer func(echo.Context, grant.Form) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		for _, header := range c.Request().Header["Authorization"] {
			if scheme, _, _ := strings.Cut(header, " "); !strings.EqualFold(scheme, "Basic") {
				return withDescription(grant.ErrInvalidClient.With(apperr.MemberReason, apperr.ReasonWrongKind).WithText(
					"the token endpoints accept the credentials of an app: HTTP Basic, or client_id and client_secret in the body"))
			}
		}
		values, err := clientValues(c)
		if err != nil {
			return withDescription(err)
		}
		f := grant.Form{Values: values, Authorization: c.Request().Header["Authorization"], IP: ratelimit.AddressKey(c.RealIP())}
		id, secret := values.Get("client_id"), values.Get("client_secret")
		if user, password, ok := c.Request().BasicAuth(); ok {
			id, secret = cmp.Or(id, user), cmp.Or(secret, password)
		}
		standing, err := s.Callers.CountClient(c.Request().Context(), id, f.IP)
		if standing != nil {
			request.SetLimitHeaders(c.Response().Header(), *standing)
		}
		if err == nil {
			err = answer(c, f)
		}
		if err == nil && secret != "" { // a client id without a secret does not authenticate the client
			request.Refund(c)
		}
		return withDescription(err)
	}
}

// withDescription adds the member error_description (RFC 6749 5.2) to an error that the client caused. It converts invalid_body
// to invalid_request. All other errors are returned unchanged.
func withDescription(err error) error {
	if err == nil {
		return nil
	}
	f := apperr.Of(err)
	if f.Code == httpx.ErrBody.Code {
		f = grant.ErrInvalidRequest.WithText("%s", f.Message)
		err = f
	}
	if f.Code == httpx.ErrMediaType.Code && f.Message == httpx.ErrMediaType.Message {
		f = f.WithText("content type must be application/x-www-form-urlencoded or application/json")
	}
	switch f.Kind {
	case apperr.Invalid, apperr.Unauthenticated, apperr.NotAllowed, apperr.TooLarge, apperr.Unsupported:
		if f.Message != "" {
			return f.With("error_description", f.Message)
		}
	}
	return err // RFC 6749 defines no such error
}

// DescribedMethod is a middleware for the paths below /api/protocol/v1/oauth/. It adds error_description to the error for an
// unsupported HTTP method, which the router returns without a handler.
func DescribedMethod(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		if errors.Is(err, echo.ErrMethodNotAllowed) && strings.HasPrefix(c.Request().URL.Path, Base+"/oauth/") {
			return withDescription(httpx.ErrNotAllowed)
		}
		return err
	}
}

// clientValues returns the parameters of a token request under their names in RFC 6749. The body is a form, or JSON with names in
// snake_case or camelCase. Repeated parameters are all returned.
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
		return nil, httpx.ErrBody.WithText("body must be a valid URL-encoded form")
	}
	for name, values := range form {
		for _, v := range values {
			if !utf8.ValidString(name+v) || strings.ContainsRune(name+v, 0) {
				return nil, httpx.ErrBody.WithText("body must contain valid UTF-8 without NUL characters")
			}
		}
	}
	return form, nil
}

// camelCaseNames maps the accepted camelCase names to the names of RFC 6749.
var camelCaseNames = map[string]string{
	"grantType": "grant_type", "codeVerifier": "code_verifier", "redirectUri": "redirect_uri", "clientId": "client_id",
	"clientSecret": "client_secret", "refreshToken": "refresh_token", "tokenTypeHint": "token_type_hint",
}

// knownParams are the parameters that the token endpoints use. Other JSON members are ignored, even if their type is invalid.
var knownParams = map[string]bool{
	"grant_type": true, "code": true, "code_verifier": true, "redirect_uri": true, "client_id": true, "client_secret": true,
	"refresh_token": true, "scope": true, "resource": true, "token": true, "token_type_hint": true,
}

func jsonValues(c echo.Context) (url.Values, error) {
	o, err := httpx.Decode(c, clientLimit)
	if err != nil {
		return nil, err
	}
	out := url.Values{}
	for _, member := range o.Names() {
		name := cmp.Or(camelCaseNames[member], member)
		if !knownParams[name] {
			continue
		}
		if text := o.OptString(member, clientLimit); text != nil {
			out.Add(name, *text)
		}
	}
	return out, request.InvalidRequest(o.Err())
}

// Token handles POST /api/protocol/v1/oauth/token, which exchanges an authorization code or a refresh token for tokens.
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

// RevokeToken handles POST /api/protocol/v1/oauth/revoke, which revokes a token (RFC 7009).
func (s *Server) RevokeToken(c echo.Context, f grant.Form) error {
	if err := s.Grants.Revoke(c.Request().Context(), f); err != nil {
		return err
	}
	return c.NoContent(http.StatusOK)
}

// Introspect handles POST /api/protocol/v1/oauth/introspect, which returns the state of a token (RFC 7662). For an inactive
// token, the response only states that the token is inactive.
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
