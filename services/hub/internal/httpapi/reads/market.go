package reads

import (
	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// Default and maximum number of calls on one page of MarketLedger.
const (
	ledgerDefault = 100
	ledgerMax     = 500
)

// Market handles GET /api/m/{marketId}, one market with its price and status.
func (s *Server) Market(c echo.Context, id protocol.MarketID) error {
	m, err := s.Ledger.Market(c.Request().Context(), id)
	if err != nil {
		return market.ReadError(err)
	}
	return httpx.Tagged(c, openapi.Market{
		MarketID: m.GetId(), Provider: m.GetProvider(), Status: m.GetStatus(), Question: m.GetTitle(),
		Description: httpx.OrNull(m.GetDescription()), EndDate: ledgerclient.StampOrNull(m.GetEndDate()),
		Resolved: m.GetStatus() == string(protocol.MarketResolved), ResolutionValue: m.ResolutionValue,
		ClobTokenID: httpx.OrNull(m.GetClobTokenId()), Volume: m.Volume, VolumeUnit: m.GetVolumeUnit(), Liquidity: m.Liquidity,
		YesBps: openapi.Int(m.YesBps), Lane: m.GetLane(), UpdatedAt: ledgerclient.Stamp(m.GetUpdatedAt()),
		Outcomes: market.Labels(m), Rated: m.GetRated(), Sides: view.ShowSides(m),
	})
}

// MarketLedger handles GET /api/m/{marketId}/signals: one page of the calls on a market, and the total numbers of YES and NO
// calls.
func (s *Server) MarketLedger(c echo.Context, id protocol.MarketID) error {
	limit := protocol.Limit(c.QueryParam("limit"), ledgerDefault, ledgerMax)
	page, err := s.Ledger.Signals.ListLedger(c.Request().Context(), &signalv1.ListLedgerRequest{
		MarketId: string(id), Limit: int32(limit), Cursor: cursorParam(c),
	})
	return view.Tagged(c, showLedger(id, page), err)
}

// EmptyLedger returns the response of MarketLedger while the ledger is unavailable. The response has no calls.
func (s *Server) EmptyLedger(c echo.Context) any {
	return showLedger(protocol.MarketID(c.Param("marketId")), nil)
}

func showLedger(id protocol.MarketID, page *signalv1.ListLedgerResponse) openapi.MarketLedger {
	yes, no := page.GetYes(), page.GetNo()
	out := openapi.MarketLedger{
		MarketID: string(id), Count: yes + no,
		Signals: make([]openapi.LedgerSignal, 0, len(page.GetSignals())), NextCursor: httpx.OrNull(page.GetNextCursor()),
	}
	if out.Count > 0 {
		out.Yes, out.No = &yes, &no
	}
	for _, c := range page.GetSignals() {
		s := view.ShowSignal(c)
		out.Signals = append(out.Signals, openapi.LedgerSignal{
			ID: s.ID, PrivyID: c.GetProviderId(), Direction: s.Direction, PriceAtPrediction: s.PriceAtPrediction,
			CrowdYesAtSignal: s.CrowdYesAtSignal, Confidence: s.Confidence, TextTake: s.TextTake, Status: s.Status,
			Score: s.Score, CreatedAt: s.CreatedAt, ResolvedAt: s.ResolvedAt, Callsign: s.Callsign,
			MarketYesAtSignal: s.MarketYesAtSignal, ClosesAtSignal: s.ClosesAtSignal, ScoreBasisBps: s.ScoreBasisBps,
			PriceVerified: s.PriceVerified, Rated: s.Rated, Counted: s.Counted, Reason: s.Reason,
			QuoteAt: s.QuoteAt, ConfirmedAt: s.ConfirmedAt,
		})
	}
	return out
}

// Crowd handles GET /api/m/{marketId}/crowd, the shares of YES and NO calls on a market. With a session, the response also has
// the visitor's own call, and shared caches must not store it.
func (s *Server) Crowd(c echo.Context, id protocol.MarketID) error {
	viewer := view.Viewer(c)
	crowd, err := s.Ledger.Signals.GetCrowd(c.Request().Context(), &signalv1.GetCrowdRequest{
		MarketId: string(id), OperatorId: string(viewer),
	})
	if err != nil {
		return err
	}
	if viewer != "" {
		return httpx.OK(c, showCrowd(id, crowd))
	}
	shown := showCrowd(id, crowd)
	undated := shown
	undated.UpdatedAt = ""
	return httpx.TaggedBy(c, shown, undated)
}

// EmptyCrowd returns the response of Crowd while the ledger is unavailable. The response counts no calls.
func (s *Server) EmptyCrowd(c echo.Context) any {
	return showCrowd(protocol.MarketID(c.Param("marketId")), &signalv1.GetCrowdResponse{UpdatedAt: timestamppb.New(s.Now())})
}

func showCrowd(id protocol.MarketID, crowd *signalv1.GetCrowdResponse) openapi.Crowd {
	total := crowd.GetYes() + crowd.GetNo()
	out := openapi.Crowd{
		MarketID: string(id), YesCount: crowd.GetYes(), NoCount: crowd.GetNo(), TotalSignals: total,
		UpdatedAt: ledgerclient.Stamp(crowd.GetUpdatedAt()),
	}
	if total > 0 {
		yes := view.SharePercent(crowd.GetYes(), total)
		no := 100 - yes
		out.YesPercent, out.NoPercent = &yes, &no
	}
	if crowd.TopYesPercent != nil {
		out.TopForecasters = &openapi.Crowd_TopForecasters{
			YesPercent: int64(crowd.GetTopYesPercent()), SampleSize: int64(crowd.GetTopSample()),
		}
	}
	if crowd.GetOwn() != nil {
		own := view.ShowSignal(crowd.GetOwn())
		out.CurrentUserSignal = &openapi.Crowd_CurrentUserSignal{
			ID: own.ID, Direction: own.Direction, PriceAtPrediction: own.PriceAtPrediction, CreatedAt: own.CreatedAt,
			Status: own.Status, MarketYesAtSignal: own.MarketYesAtSignal, ClosesAtSignal: own.ClosesAtSignal,
			ScoreBasisBps: own.ScoreBasisBps, PriceVerified: own.PriceVerified, Rated: own.Rated,
			Counted: own.Counted, Reason: own.Reason, QuoteAt: own.QuoteAt, ConfirmedAt: own.ConfirmedAt,
		}
	}
	return out
}
