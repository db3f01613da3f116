package edge

import (
	"context"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
)

// Accounts is what the routes about people ask.
type Accounts struct {
	Follows *follow.Service
	Claims  *claim.Service
	Payouts claim.Payouts
	// People and Profiles are the accounts behind sessions and keys, and the one write
	// of what they say of themselves.
	People   claim.Accounts
	Profiles *profile.Service
	Digests  *digest.Service
	// Beside reads an identity token that came with a credential of (issuer,
	// subject): what it adds to the identity. Faults: unauthenticated for a token
	// of anybody else, identity_provider_unavailable.
	Beside func(ctx context.Context, who operator.Identity, token string) (operator.Identity, error)
}

const session = caller.TakeSession

// accountRoutes are those of follows, identity claims, payouts and profiles, and of
// the letter about the day.
func (s *server) accountRoutes() []route {
	const get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
	return []route{
		{method: get, path: "/api/user/follow", who: reader, cache: cacheBoard, handler: s.followCounts},
		{method: post, path: "/api/user/follow", who: session, handler: s.follow},
		{method: del, path: "/api/user/follow", who: session, handler: s.unfollow},

		{method: get, path: "/api/identity/claim", who: session, cache: cacheNever, handler: s.listClaims},
		{method: post, path: "/api/identity/claim", who: session, handler: s.claimIdentity},
		{method: del, path: "/api/identity/claim", who: session, handler: s.dropClaim},

		{method: get, path: "/api/network/identity/:handle", who: public, cors: web.Open, cache: cacheBoard, handler: s.networkIdentity},
		{method: get, path: "/api/network/payout/:handle", who: public, cors: web.Open, cache: cacheBoard, handler: s.networkPayout},

		{method: get, path: "/api/streamer/profile", who: public, cache: cacheShort, handler: s.profile},
		{method: post, path: "/api/streamer/profile", who: author, handler: s.changeProfile, permission: grant.Broadcast},

		{method: post, path: "/api/admin/daily-digest", who: scheduler, handler: s.dailyDigest, timeout: longAct},
	}
}

// identityTokenHeader is where an identity token travels, beside the credential of
// its owner.
const identityTokenHeader = "Privy-Id-Token"

// identityToken reads the one identity token of a request; empty: there is none.
// Two are as wrong as two bearers.
func identityToken(c echo.Context) (string, error) {
	tokens := c.Request().Header[identityTokenHeader]
	if len(tokens) > 1 || len(tokens) == 1 && tokens[0] == "" {
		return "", caller.ErrUnauthenticated
	}
	if len(tokens) == 0 {
		return "", nil
	}
	return tokens[0], nil
}

// named is the identity of a login, with the names of the identity token that came
// beside it where the login itself has none.
func (s *server) named(c echo.Context, who operator.Identity) (operator.Identity, error) {
	token, err := identityToken(c)
	if err != nil || token == "" {
		return who, err
	}
	said, err := s.Accounts.Beside(c.Request().Context(), who, token)
	if err != nil {
		return operator.Identity{}, err
	}
	if who.Username == "" {
		who.Username = said.Username
	}
	if who.Name == "" {
		who.Name = said.Name
	}
	return who, nil
}

var (
	errMissingHandle = fault.New(fault.Invalid, "missing_handle", "handle is required").With("field", "handle")
	errInvalidHandle = fault.New(fault.Invalid, "invalid_handle", "must be 2 to 32 of a-z, 0-9 and _").With("field", "handle")
)

// handleParam reads the handle in a path: what cannot be one is not found.
func handleParam(c echo.Context) (syntax.Handle, error) {
	h, err := syntax.ParseHandle(c.Param("handle"))
	if err != nil {
		return "", operator.ErrUnknown
	}
	return h, nil
}

// handleQuery reads ?handle=.
func handleQuery(c echo.Context) (syntax.Handle, error) {
	raw := c.QueryParam("handle")
	if raw == "" {
		return "", errMissingHandle
	}
	h, err := syntax.ParseHandle(raw)
	if err != nil {
		return "", errInvalidHandle
	}
	return h, nil
}

// readHandle reads ?handle= of a read: what cannot be a handle is not found.
func readHandle(c echo.Context) (syntax.Handle, error) {
	h, err := handleQuery(c)
	if errors.Is(err, errInvalidHandle) {
		err = operator.ErrUnknown
	}
	return h, err
}
