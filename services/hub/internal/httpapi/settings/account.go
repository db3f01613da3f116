package settings

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// identityTokenHeader is the header in which a client sends an identity token in addition to its credential.
const identityTokenHeader = "Privy-Id-Token"

// identityToken returns the identity token of a request, or "" without one. Error: unauthenticated for an empty token or more
// than one token.
func identityToken(c echo.Context) (string, error) {
	tokens := c.Request().Header[identityTokenHeader]
	if len(tokens) > 1 || len(tokens) == 1 && tokens[0] == "" {
		return "", caller.ErrUnauthenticated.WithText(
			"the header privy-id-token must have exactly one identity token; omit the header without one")
	}
	if len(tokens) == 0 {
		return "", nil
	}
	return tokens[0], nil
}

// withNames returns the identity of a login. Names that the identity lacks are taken from the identity token of the request.
// Errors: unauthenticated, identity_provider_unavailable.
func (s *Server) withNames(c echo.Context, who operator.Identity) (operator.Identity, error) {
	token, err := identityToken(c)
	if err != nil || token == "" {
		return who, err
	}
	details, err := s.IdentityDetails(c.Request().Context(), who, token)
	if err != nil {
		return operator.Identity{}, err
	}
	if who.Username == "" {
		who.Username = details.Username
	}
	if who.Name == "" {
		who.Name = details.Name
	}
	return who, nil
}

// ClaimIdentity handles POST /api/identity/claim, which links a wallet address to the caller on a station.
func (s *Server) ClaimIdentity(c echo.Context) error {
	token, err := identityToken(c)
	if err != nil {
		return err
	}
	o, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	name := o.Text("station", httpx.BodyLimit, false, false)
	raw := o.String("address", httpx.BodyLimit, true)
	if err := o.Err(); err != nil {
		return err
	}
	station, err := s.Claims.Station(name)
	if err != nil {
		return err
	}
	address, err := identityclaim.ParseAddress(raw)
	if err != nil {
		return err
	}
	made, err := s.Claims.Claim(c.Request().Context(), request.Caller(c).Operator.ID, station, address, token)
	return view.OK(c, openapi.IdentityClaimed{Ok: true, Claim: view.ShowIdentity(made)}, err)
}

// ListClaims handles GET /api/identity/claim, the identity claims of the caller.
func (s *Server) ListClaims(c echo.Context) error {
	claims, err := s.Claims.Claims(c.Request().Context(), request.Caller(c).Operator.ID)
	return view.OK(c, openapi.IdentityClaims{Claims: view.List(claims, view.ShowIdentity)}, err)
}

// DropClaim handles DELETE /api/identity/claim, which removes the caller's claim on a station.
func (s *Server) DropClaim(c echo.Context) error {
	station, err := s.Claims.Station(c.QueryParam("station"))
	if err != nil {
		return err
	}
	removed, err := s.Claims.Drop(c.Request().Context(), request.Caller(c).Operator.ID, station)
	return view.OK(c, openapi.Removed{Ok: true, Removed: removed}, err)
}

// FollowCounts handles GET /api/user/follow, the follower counts of an operator. With a session, the response also states whether
// the caller follows the operator.
func (s *Server) FollowCounts(c echo.Context, handle protocol.Handle) error {
	viewer := view.Viewer(c)
	counts, err := s.Follows.Counts(c.Request().Context(), viewer, handle)
	if viewer != "" {
		return view.OK(c, openapi.FollowCounts(counts), err)
	}
	return view.Tagged(c, openapi.FollowCounts(counts), err)
}

// Follow handles POST /api/user/follow, which makes the caller follow an operator.
func (s *Server) Follow(c echo.Context, o httpx.Object) error {
	return s.changeFollow(c, o, s.Follows.Follow)
}

// Unfollow handles DELETE /api/user/follow. The operator handle is in the body, or in the query parameter "handle", because some
// proxies drop the body of a DELETE. The body takes precedence.
func (s *Server) Unfollow(c echo.Context) error {
	o, given, err := httpx.DecodeOptional(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	if given {
		return s.changeFollow(c, o, s.Follows.Unfollow)
	}
	handle, err := request.HandleQuery(c)
	if err != nil {
		return err
	}
	return s.showFollow(c, handle, s.Follows.Unfollow)
}

type changeFollow func(context.Context, operator.Operator, protocol.Handle) (follow.Counts, error)

func (s *Server) changeFollow(c echo.Context, o httpx.Object, do changeFollow) error {
	raw := o.String("handle", httpx.BodyLimit, true)
	if err := o.Err(); err != nil {
		return err
	}
	handle, err := protocol.ParseHandle(raw)
	if err != nil {
		return err
	}
	return s.showFollow(c, handle, do)
}

func (s *Server) showFollow(c echo.Context, handle protocol.Handle, do changeFollow) error {
	counts, err := do(c.Request().Context(), *request.Caller(c).Operator, handle)
	return view.OK(c, openapi.Followed{
		Ok: true, Followers: counts.Followers, Following: counts.Following, IsFollowing: counts.IsFollowing,
	}, err)
}
