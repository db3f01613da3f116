package oauthapi

import (
	"context"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Me handles GET /api/protocol/v1/me, the passport of the caller. With an app token, the response also has the grant.
func (s *Server) Me(c echo.Context) error {
	who, ctx := request.Caller(c), c.Request().Context()
	if who.Kind != caller.Token {
		p, err := s.passportOf(ctx, *who.Operator)
		return view.OK(c, p, err)
	}
	op, err := operator.Directory{Ledger: s.Ledger.Operators}.ByID(ctx, who.Delegate.UserID)
	if err != nil {
		return err
	}
	p, err := s.passportOf(ctx, op)
	p.Grant = &openapi.OwnPassport_Grant{GrantID: who.Delegate.GrantID, AppID: who.Delegate.AppID, Scopes: who.Delegate.Scopes}
	return view.OK(c, p, err)
}

// Passport handles GET /api/protocol/v1/passports/{id}, the passport of an operator. id is a user id (denpaId) or a handle.
func (s *Server) Passport(c echo.Context) error {
	op, err := s.find(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	p, err := s.passportOf(c.Request().Context(), op)
	return view.Tagged(c, p, err)
}

func (s *Server) find(ctx context.Context, text string) (operator.Operator, error) {
	if id, ok := request.ParseUUID(text); ok {
		return operator.Directory{Ledger: s.Ledger.Operators}.ByID(ctx, operator.ID(id))
	}
	handle, err := protocol.ParseHandle(strings.ToLower(text))
	if err != nil {
		return operator.Operator{}, operator.ErrUnknown
	}
	return operator.Directory{Ledger: s.Ledger.Operators}.ByHandle(ctx, handle)
}

// passportOf returns the public passport of an operator, with its claimed identities and wallets.
func (s *Server) passportOf(ctx context.Context, op operator.Operator) (openapi.OwnPassport, error) {
	var record *boardv1.GetRecordResponse
	var follows follow.Totals
	var claims []identityclaim.Claim
	var stations *stationv1.CountStationsResponse
	var broadcasts int64
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		record, err = s.Ledger.Boards.GetRecord(ctx, &boardv1.GetRecordRequest{OperatorId: string(op.ID)})
		return err
	})
	g.Go(func() (err error) { follows, err = s.Follows.Totals(ctx, op.ID); return err })
	g.Go(func() (err error) { claims, err = s.Claims.Claims(ctx, op.ID); return err })
	g.Go(func() (err error) {
		stations, err = s.Ledger.Stations.CountStations(ctx, &stationv1.CountStationsRequest{OperatorId: string(op.ID)})
		return err
	})
	g.Go(func() (err error) { broadcasts, err = s.OnAir.Store.Count(ctx, op.Handle); return err })
	if err := g.Wait(); err != nil {
		return openapi.OwnPassport{}, err
	}
	return openapi.OwnPassport{
		DenpaID: string(op.ID), URI: "denpa:" + string(op.ID), OperatorID: string(op.PublicID),
		Username:    httpx.OrNull(string(op.Handle)),
		DisplayName: httpx.OrNull(op.DisplayName), Avatar: httpx.OrNull(op.AvatarURL), Bio: httpx.OrNull(op.Bio),
		Wallets: walletsOf(claims), Identities: view.List(claims, func(c identityclaim.Claim) openapi.OwnPassport_Identities {
			return openapi.OwnPassport_Identities(view.ShowIdentity(c))
		}),
		OperatorType: string(op.Type), IsAi: op.IsAI(), CreatedAt: protocol.Stamp(op.CreatedAt),
		Stats: openapi.OwnPassport_Stats{
			Stations: stations.GetStations(), Broadcasts: broadcasts, Signals: record.GetTotal(), Predictions: record.GetTotal(),
			Won: record.GetWon(), Score: record.GetScore(),
			Followers: follows.Followers, Following: follows.Following,
		},
		Urls: openapi.OwnPassport_Urls{Profile: s.HubURL + "/u/" + string(op.Handle)},
	}, nil
}

// walletsOf returns the wallets in identity claims, without duplicates.
func walletsOf(claims []identityclaim.Claim) []openapi.OwnPassport_Wallets {
	out := []openapi.OwnPassport_Wallets{}
	for _, c := range claims {
		a, err := identityclaim.ParseAddress(c.Identity)
		if err != nil {
			continue // not a wallet address
		}
		w := openapi.OwnPassport_Wallets{Chain: string(a.Chain()), Address: a.String()}
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
