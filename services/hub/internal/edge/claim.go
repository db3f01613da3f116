package edge

import (
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
)

// hubOrigin names this hub among the stations.
const hubOrigin = "hub"

// claimIdentity is POST /api/identity/claim.
func (s *server) claimIdentity(c echo.Context) error {
	token, err := identityToken(c)
	if err != nil {
		return err
	}
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	name := ""
	if given := optText(o, "station", web.BodyLimit); given != nil {
		name = *given
	}
	raw := o.String("address", web.BodyLimit, true)
	if err := o.Err(); err != nil {
		return err
	}
	station, err := s.Accounts.Claims.Station(name)
	if err != nil {
		return err
	}
	address, err := claim.ParseAddress(raw)
	if err != nil {
		return err
	}
	made, err := s.Accounts.Claims.Claim(c.Request().Context(), callerOf(c).Operator.ID, station, address, token)
	if err != nil {
		return err
	}
	return web.OK(c, openapi.IdentityClaimed{Ok: true, Claim: showIdentity(made)})
}

// listClaims is GET /api/identity/claim.
func (s *server) listClaims(c echo.Context) error {
	claims, err := s.Accounts.Claims.Claims(c.Request().Context(), callerOf(c).Operator.ID)
	if err != nil {
		return err
	}
	return web.OK(c, openapi.IdentityClaims{Claims: showIdentities(claims)})
}

// dropClaim is DELETE /api/identity/claim.
func (s *server) dropClaim(c echo.Context) error {
	station, err := s.Accounts.Claims.Station(c.QueryParam("station"))
	if err != nil {
		return err
	}
	removed, err := s.Accounts.Claims.Drop(c.Request().Context(), callerOf(c).Operator.ID, station)
	if err != nil {
		return err
	}
	return web.OK(c, openapi.Removed{Ok: true, Removed: removed})
}

// networkIdentity is GET /api/network/identity/{handle}.
func (s *server) networkIdentity(c echo.Context) error {
	handle, err := handleParam(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	account, err := s.Accounts.Payouts.Finder.AccountByHandle(ctx, handle)
	if err != nil {
		return err
	}
	claims, err := s.Accounts.Claims.Claims(ctx, account.ID)
	if err != nil {
		return err
	}
	return tagged(c, openapi.NetworkIdentity{Handle: string(account.Handle), Origin: hubOrigin, Identities: showIdentities(claims)})
}

// networkPayout is GET /api/network/payout/{handle}. What cannot be a handle is
// nobody's, and nobody may be paid.
func (s *server) networkPayout(c echo.Context) error {
	handle, err := handleParam(c)
	if err != nil {
		return tagged(c, openapi.Payout{})
	}
	p := s.Accounts.Payouts
	address, err := p.Address(c.Request().Context(), handle)
	if err != nil {
		return err
	}
	if address == "" {
		return tagged(c, openapi.Payout{})
	}
	return tagged(c, openapi.Payout{
		Eligible: true, PayoutAddress: orNull(address), ChainID: orNull(p.Money.ChainID), ChainLabel: orNull(p.Money.Label),
		UsdcAddress: orNull(p.Money.USDC), TipURL: orNull(s.HubURL + "/tip/" + string(handle)),
	})
}

func showIdentities(list []claim.Claim) []openapi.IdentityClaim {
	out := make([]openapi.IdentityClaim, 0, len(list))
	for _, c := range list {
		out = append(out, showIdentity(c))
	}
	return out
}

func showIdentity(c claim.Claim) openapi.IdentityClaim {
	return openapi.IdentityClaim{Station: c.Station, Identity: c.Identity, VerifiedAt: syntax.Stamp(c.VerifiedAt), ProfileURL: c.ProfileURL}
}
