package reads

import (
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// Default and maximum length of the list of native markets, which the service opens and resolves itself.
const (
	nativeDefault = 20
	nativeMax     = 100
)

var errMissingMarket = apperr.New(apperr.Invalid, "missing_market", "market is required").With("field", "market")

// Outcome handles GET /api/resolution/outcome?market=, the outcome of a market. Errors: missing_market if the parameter is
// missing, not_found if it is not a valid market id.
func (s *Server) Outcome(c echo.Context) error {
	raw := c.QueryParam("market")
	if raw == "" {
		return errMissingMarket
	}
	id, err := protocol.ParseMarketID(raw)
	if err != nil {
		return market.ErrUnknown
	}
	found, err := s.Ledger.Outcome(c.Request().Context(), id)
	if err != nil {
		return err
	}
	if found != nil && found.Outcome != nil && !found.GetDisputed() {
		c.Response().Header().Set("Cache-Control", view.CacheClaimed)
	}
	return httpx.Tagged(c, openapi.OutcomeAnswer{MarketID: string(id), Outcome: view.ShowOutcome(found)})
}

// Natives handles GET /api/resolution/markets, the native markets with the given status. An unknown status means "open".
func (s *Server) Natives(c echo.Context) error {
	status := c.QueryParam("status")
	switch status {
	case "closed", "resolved", "all":
	default:
		status = "open"
	}
	r, err := s.Ledger.Resolutions.ListNative(c.Request().Context(), &resolutionv1.ListNativeRequest{
		Status: status, Due: c.QueryParam("due") == "1",
		Limit: int32(protocol.Limit(c.QueryParam("limit"), nativeDefault, nativeMax)),
	})
	list := r.GetMarkets()
	return view.Tagged(c, openapi.NativeMarkets{Markets: view.List(list, showNative), Count: int64(len(list))}, err)
}

func showNative(n *resolutionv1.NativeMarket) openapi.NativeMarket {
	m := n.GetMarket()
	end := ledgerclient.Stamp(m.GetEndDate())
	out := openapi.NativeMarket{
		MarketID: m.GetId(), Question: m.GetTitle(), Description: httpx.OrNull(m.GetDescription()),
		CutoffAt: end, ResolvesBy: ledgerclient.StampOrNull(m.GetResolvesBy()), EndDate: end,
		Status: m.GetStatus(), Lane: m.GetLane(), ResolutionSource: m.ResolutionSource,
		CreatedAt: ledgerclient.Stamp(m.GetCreatedAt()),
		Signals:   openapi.NativeMarket_Signals{Yes: m.GetYes(), No: m.GetNo(), Total: m.GetYes() + m.GetNo()},
	}
	if n.ProposedVerdict != nil {
		out.Proposed = &openapi.NativeMarket_Proposed{
			Verdict: n.GetProposedVerdict(), ProofURL: n.ProposedProofUrl, At: ledgerclient.Stamp(n.GetProposedAt()),
		}
	}
	return out
}
