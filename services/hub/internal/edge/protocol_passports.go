package edge

import (
	"context"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// passportJSON is who somebody is in the network.
type passportJSON struct {
	DenpaID      string                        `json:"denpaId"`
	URI          string                        `json:"uri"`
	OperatorID   string                        `json:"operatorId"`
	Username     *string                       `json:"username"`
	DisplayName  *string                       `json:"displayName"`
	Avatar       *string                       `json:"avatar"`
	Bio          *string                       `json:"bio"`
	Wallets      []openapi.OwnPassport_Wallets `json:"wallets"`
	Identities   []openapi.IdentityClaim       `json:"identities"`
	OperatorType string                        `json:"operatorType"`
	IsAI         bool                          `json:"isAi"`
	CreatedAt    string                        `json:"createdAt"`
	Stats        openapi.OwnPassport_Stats     `json:"stats"`
	URLs         openapi.OwnPassport_Urls      `json:"urls"`
	Grant        *openapi.OwnPassport_Grant    `json:"grant,omitempty"` // of the app token that asks
}

// me is GET P/me.
func (s *server) me(c echo.Context) error {
	who, ctx := callerOf(c), c.Request().Context()
	if who.Kind != caller.Token {
		p, err := s.passportOf(ctx, *who.Operator)
		if err != nil {
			return err
		}
		return web.OK(c, p)
	}
	op, err := s.Directory.OperatorByID(ctx, who.Delegate.UserID)
	if err != nil {
		return err
	}
	p, err := s.passportOf(ctx, op)
	if err != nil {
		return err
	}
	p.Grant = &openapi.OwnPassport_Grant{GrantID: who.Delegate.GrantID, AppID: who.Delegate.AppID, Scopes: who.Delegate.Scopes}
	return web.OK(c, p)
}

// passport is GET P/passports/{denpaId or handle}.
func (s *server) passport(c echo.Context) error {
	op, err := s.find(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	p, err := s.passportOf(c.Request().Context(), op)
	if err != nil {
		return err
	}
	return tagged(c, p)
}

func (s *server) find(ctx context.Context, text string) (operator.Operator, error) {
	if id, ok := parseUUID(text); ok {
		return s.Directory.OperatorByID(ctx, operator.ID(id))
	}
	handle, err := syntax.ParseHandle(strings.ToLower(text))
	if err != nil {
		return operator.Operator{}, operator.ErrUnknown
	}
	return s.Directory.OperatorByHandle(ctx, handle)
}

// passportOf shows what the operator shows: identities and wallets are those that it
// has claimed for everybody to see.
func (s *server) passportOf(ctx context.Context, op operator.Operator) (passportJSON, error) {
	var record *boardv1.GetRecordResponse
	var follows follow.Totals
	var claims []claim.Claim
	var stations *stationv1.CountStationsResponse
	var broadcasts int64
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		record, err = s.Ledger.Boards.GetRecord(ctx, &boardv1.GetRecordRequest{OperatorId: string(op.ID)})
		return err
	})
	g.Go(func() (err error) { follows, err = s.Accounts.Follows.Totals(ctx, op.ID); return err })
	g.Go(func() (err error) { claims, err = s.Accounts.Claims.Claims(ctx, op.ID); return err })
	g.Go(func() (err error) {
		stations, err = s.Ledger.Stations.CountStations(ctx, &stationv1.CountStationsRequest{OperatorId: string(op.ID)})
		return err
	})
	g.Go(func() (err error) { broadcasts, err = s.OnAir.Broadcasts(ctx, op.Handle); return err })
	if err := g.Wait(); err != nil {
		return passportJSON{}, err
	}
	return passportJSON{
		DenpaID: string(op.ID), URI: "denpa:" + string(op.ID), OperatorID: string(op.PublicID), Username: orNull(string(op.Handle)),
		DisplayName: orNull(op.DisplayName), Avatar: orNull(op.AvatarURL), Bio: orNull(op.Bio),
		Wallets: walletsOf(claims), Identities: showIdentities(claims),
		OperatorType: string(op.Type), IsAI: op.IsAI(), CreatedAt: syntax.Stamp(op.CreatedAt),
		Stats: openapi.OwnPassport_Stats{
			Stations: stations.GetStations(), Broadcasts: broadcasts, Signals: record.GetTotal(), Predictions: record.GetTotal(),
			Won: record.GetWon(), Score: record.GetScore(),
			Followers: follows.Followers, Following: follows.Following,
		},
		URLs: openapi.OwnPassport_Urls{Profile: s.HubURL + "/u/" + string(op.Handle)},
	}, nil
}

// walletsOf are the wallets behind claims, each once.
func walletsOf(claims []claim.Claim) []openapi.OwnPassport_Wallets {
	out := []openapi.OwnPassport_Wallets{}
	for _, c := range claims {
		a, err := claim.ParseAddress(c.Identity)
		if err != nil {
			continue // an identity of another form is no wallet
		}
		w := openapi.OwnPassport_Wallets{Chain: string(a.Chain()), Address: a.String()}
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
