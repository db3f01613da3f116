package edge

import (
	"cmp"
	"errors"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// scopesOf is what a caller may do on the protocol's routes.
func scopesOf(who caller.Caller) grant.Scopes {
	switch who.Kind {
	case caller.Token:
		scopes, _ := grant.NewScopes(who.Delegate.Scopes) // made from scopes
		return scopes
	case caller.Key:
		return grant.ScopesOfPermissions(who.Permissions)
	}
	return nil
}

// permit faults with insufficient_scope when the caller was not given the scope.
func permit(who caller.Caller, scope grant.Scope) error {
	if scopesOf(who).Has(scope) {
		return nil
	}
	return grant.ErrInsufficientScope.With("required", string(scope))
}

// userOf is for whom a caller of the protocol's routes acts: never somebody whom
// the request names.
func userOf(who caller.Caller) string {
	if who.Kind == caller.Token {
		return string(who.Delegate.UserID)
	}
	return string(who.Operator.ID)
}

// principalOf is an app token in the words of package grant.
func principalOf(who caller.Caller) grant.Principal {
	d := who.Delegate
	return grant.Principal{UserID: string(d.UserID), AppID: d.AppID, GrantID: d.GrantID, Scopes: scopesOf(who)}
}

// challenge says behind a refusal which credential would do and where one is had
// (RFC 6750, RFC 9728).
func (s *server) challenge(c echo.Context, r route, err error) {
	f := fault.Of(err)
	var words []string
	var bare *toolRefusal
	switch {
	case errors.As(err, &bare):
		words = append(words, `scope="`+bare.needs+`"`)
	case f.Kind == fault.Unauthenticated && r.who.Has(caller.TakeClient):
		c.Response().Header()["Www-Authenticate"] = []string{`Basic realm="signalcast"`}
		return
	case f.Kind == fault.Unauthenticated && len(c.Request().Header["Authorization"]) > 0:
		words = append(words, `error="invalid_token"`)
	case f.Kind == fault.Unauthenticated:
	case f.Code == grant.ErrInsufficientScope.Code:
		words = append(words, `error="insufficient_scope"`)
		if scope, ok := f.Extra["required"].(string); ok {
			words = append(words, `scope="`+scope+`"`)
		}
	default:
		return
	}
	if path, ok := strings.CutPrefix(cmp.Or(r.resource, s.HubURL+protocolBase), s.HubURL); ok && r.cors == web.Protocol {
		words = append(words, `resource_metadata="`+s.HubURL+"/.well-known/oauth-protected-resource"+path+`"`)
	}
	c.Response().Header()["Www-Authenticate"] = []string{"Bearer " + strings.Join(words, ", ")}
}

// asRequest names every mistake in the members of a body invalid_request, as the
// protocol's routes do; a body that cannot be read stays invalid_body.
func asRequest(err error) error {
	if err == nil {
		return nil
	}
	f := fault.Of(err)
	if field := f.Extra["field"]; field != nil && f.Kind == fault.Invalid {
		return grant.ErrInvalidRequest.Say("%s", f.Message).With("field", field)
	}
	return err
}

// optional reads a text that may be left out.
func optional(o web.Object, name string) string {
	if s := o.OptString(name, web.BodyLimit); s != nil {
		return *s
	}
	return ""
}
