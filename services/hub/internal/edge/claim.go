package edge

import (
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
)

type claimedIdentityJSON struct {
	OK    bool         `json:"ok"`
	Claim identityJSON `json:"claim"`
}

type claimsJSON struct {
	Claims []identityJSON `json:"claims"`
}

type networkIdentityJSON struct {
	Handle     string         `json:"handle"`
	Origin     string         `json:"origin"`
	Identities []identityJSON `json:"identities"`
}

type payoutJSON struct {
	Eligible      bool   `json:"eligible"`
	PayoutAddress string `json:"payoutAddress,omitempty"`
	ChainID       int64  `json:"chainId,omitempty"`
	ChainLabel    string `json:"chainLabel,omitempty"`
	USDCAddress   string `json:"usdcAddress,omitempty"`
	TipURL        string `json:"tipUrl,omitempty"`
}

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
	station, err := s.accounts.Claims.Station(name)
	if err != nil {
		return err
	}
	address, err := claim.ParseAddress(raw)
	if err != nil {
		return err
	}
	made, err := s.accounts.Claims.Claim(c.Request().Context(), callerOf(c).Operator.ID, station, address, token)
	if err != nil {
		return err
	}
	return web.OK(c, claimedIdentityJSON{OK: true, Claim: showIdentity(made)})
}

// listClaims is GET /api/identity/claim.
func (s *server) listClaims(c echo.Context) error {
	claims, err := s.accounts.Claims.Claims(c.Request().Context(), callerOf(c).Operator.ID)
	if err != nil {
		return err
	}
	return web.OK(c, claimsJSON{Claims: showIdentities(claims)})
}

// dropClaim is DELETE /api/identity/claim.
func (s *server) dropClaim(c echo.Context) error {
	station, err := s.accounts.Claims.Station(c.QueryParam("station"))
	if err != nil {
		return err
	}
	removed, err := s.accounts.Claims.Drop(c.Request().Context(), callerOf(c).Operator.ID, station)
	if err != nil {
		return err
	}
	return web.OK(c, removedJSON{OK: true, Removed: removed})
}

// networkIdentity is GET /api/network/identity/{handle}.
func (s *server) networkIdentity(c echo.Context) error {
	handle, err := handleParam(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	account, err := s.accounts.Payouts.Finder.AccountByHandle(ctx, handle)
	if err != nil {
		return err
	}
	claims, err := s.accounts.Claims.Claims(ctx, account.ID)
	if err != nil {
		return err
	}
	return tagged(c, networkIdentityJSON{Handle: string(account.Handle), Origin: hubOrigin, Identities: showIdentities(claims)})
}

// networkPayout is GET /api/network/payout/{handle}. What cannot be a handle is
// nobody's, and nobody may be paid.
func (s *server) networkPayout(c echo.Context) error {
	handle, err := handleParam(c)
	if err != nil {
		return tagged(c, payoutJSON{})
	}
	p := s.accounts.Payouts
	address, err := p.Address(c.Request().Context(), handle)
	if err != nil {
		return err
	}
	if address == "" {
		return tagged(c, payoutJSON{})
	}
	return tagged(c, payoutJSON{
		Eligible: true, PayoutAddress: address, ChainID: p.Money.ChainID, ChainLabel: p.Money.Label,
		USDCAddress: p.Money.USDC, TipURL: s.hubURL + "/tip/" + string(handle),
	})
}

func showIdentities(list []claim.Claim) []identityJSON {
	out := make([]identityJSON, 0, len(list))
	for _, c := range list {
		out = append(out, showIdentity(c))
	}
	return out
}

func showIdentity(c claim.Claim) identityJSON {
	return identityJSON{Station: c.Station, Identity: c.Identity, VerifiedAt: syntax.Stamp(c.VerifiedAt), ProfileURL: c.ProfileURL}
}
