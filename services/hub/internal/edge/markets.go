package edge

import (
	"context"
	"strings"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Limits of a market's ledger.
const (
	ledgerDefault = 100
	ledgerMax     = 500
)

type ledgerJSON struct {
	MarketID   string             `json:"marketId"`
	Count      int64              `json:"count"`
	Yes        *int64             `json:"yes,omitempty"`
	No         *int64             `json:"no,omitempty"`
	Signals    []ledgerSignalJSON `json:"signals"`
	NextCursor *string            `json:"next_cursor"`
}

type ledgerSignalJSON struct {
	ID                string  `json:"id"`
	PrivyID           string  `json:"privyId"` // the raw provider id, here alone
	Direction         string  `json:"direction"`
	PriceAtPrediction int     `json:"priceAtPrediction"`
	CrowdYesAtSignal  *int32  `json:"crowdYesAtSignal"`
	Confidence        *int32  `json:"confidence"`
	TextTake          *string `json:"textTake"`
	Status            string  `json:"status"`
	Score             *int32  `json:"score"`
	CreatedAt         string  `json:"createdAt"`
	ResolvedAt        *string `json:"resolvedAt"`
	Callsign          *string `json:"callsign"`
	factsJSON
}

type crowdJSON struct {
	MarketID          string                        `json:"marketId"`
	YesCount          int64                         `json:"yesCount"`
	NoCount           int64                         `json:"noCount"`
	TotalSignals      int64                         `json:"totalSignals"`
	YesPercent        *int64                        `json:"yesPercent"`
	NoPercent         *int64                        `json:"noPercent"`
	TopForecasters    *openapi.Crowd_TopForecasters `json:"topForecasters"`
	CurrentUserSignal *ownSignalJSON                `json:"currentUserSignal"`
	UpdatedAt         string                        `json:"updatedAt"`
}

type ownSignalJSON struct {
	ID                string `json:"id"`
	Direction         string `json:"direction"`
	PriceAtPrediction int    `json:"priceAtPrediction"`
	CreatedAt         string `json:"createdAt"`
	Status            string `json:"status"`
	factsJSON
}

// marketParam reads the id in the path; an id of no known form names nothing.
func marketParam(c echo.Context) (syntax.MarketID, error) {
	id, err := syntax.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return "", market.ErrUnknown
	}
	return id, nil
}

// market is GET /api/m/{marketId}.
func (s *server) market(c echo.Context) error {
	id, err := marketParam(c)
	if err != nil {
		return err
	}
	m, err := s.readMarket(c.Request().Context(), id)
	if err != nil {
		return oneThing(err)
	}
	return tagged(c, openapi.Market{
		MarketID: m.GetId(), Provider: m.GetProvider(), Status: m.GetStatus(), Question: m.GetTitle(),
		Description: orNull(m.GetDescription()), EndDate: ledgerclient.StampOrNull(m.GetEndDate()),
		Resolved: m.GetStatus() == string(syntax.MarketResolved), ResolutionValue: m.ResolutionValue,
		ClobTokenID: orNull(m.GetClobTokenId()), Volume: m.Volume, VolumeUnit: m.GetVolumeUnit(), Liquidity: m.Liquidity,
		YesBps: openapi.Int(m.YesBps), Lane: m.GetLane(), UpdatedAt: ledgerclient.Stamp(m.GetUpdatedAt()),
		Outcomes: market.Labels(m), Rated: m.GetRated(),
	})
}

// readMarket returns the market with an id. Fault: market_not_found.
func (s *server) readMarket(ctx context.Context, id syntax.MarketID) (*marketv1.Market, error) {
	r, err := s.Ledger.Markets.GetMarket(ctx, &marketv1.GetMarketRequest{Id: string(id)})
	return r.GetMarket(), err
}

// marketLedger is GET /api/m/{marketId}/signals.
func (s *server) marketLedger(c echo.Context) error {
	id, err := marketParam(c)
	if err != nil {
		return err
	}
	limit := syntax.Limit(c.QueryParam("limit"), ledgerDefault, ledgerMax)
	page, err := s.Ledger.Signals.ListLedger(c.Request().Context(), &signalv1.ListLedgerRequest{
		MarketId: string(id), Limit: int32(limit), Cursor: cursorParam(c),
	})
	if err != nil {
		return err
	}
	return tagged(c, showLedger(id, page))
}

// maxCursor is longer than any cursor that the ledger makes.
const maxCursor = 1024

// cursorParam is the cursor in the query. What cannot be one, broken UTF-8 that
// no other service would take, starts from the beginning.
func cursorParam(c echo.Context) string { return readCursor(c.QueryParam("cursor")) }

func readCursor(raw string) string {
	odd := func(r rune) bool {
		return r != '-' && r != '_' && r != '=' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if len(raw) > maxCursor || strings.ContainsFunc(raw, odd) {
		return ""
	}
	return raw
}

func (s *server) emptyLedger(c echo.Context) any {
	return showLedger(syntax.MarketID(c.Param("marketId")), nil)
}

func showLedger(id syntax.MarketID, page *signalv1.ListLedgerResponse) ledgerJSON {
	yes, no := page.GetYes(), page.GetNo()
	out := ledgerJSON{
		MarketID: string(id), Count: yes + no,
		Signals: make([]ledgerSignalJSON, 0, len(page.GetSignals())), NextCursor: orNull(page.GetNextCursor()),
	}
	if out.Count > 0 {
		out.Yes, out.No = &yes, &no
	}
	for _, s := range page.GetSignals() {
		out.Signals = append(out.Signals, ledgerSignalJSON{
			ID: s.GetId(), PrivyID: s.GetProviderId(), Direction: s.GetDirection(), PriceAtPrediction: int(s.GetPriceBps()),
			CrowdYesAtSignal: s.CrowdYesBps, Confidence: s.Confidence, TextTake: s.TextTake, Status: s.GetStatus(),
			Score: s.Score, CreatedAt: stamp(s.GetCreatedAt()), ResolvedAt: stampOrNull(s.GetResolvedAt()),
			Callsign: orNull(s.GetHandle()), factsJSON: showFacts(s),
		})
	}
	return out
}

// crowd is GET /api/m/{marketId}/crowd. With a session it also shows the
// caller's own call, and then belongs to the caller alone.
func (s *server) crowd(c echo.Context) error {
	id, err := marketParam(c)
	if err != nil {
		return err
	}
	var own operator.ID
	who := callerOf(c)
	c.Response().Header().Set("Vary", "Cookie") // no cache hands one's answer to the other
	if who.Kind == caller.Session {
		own = who.Operator.ID
		c.Response().Header().Set("Cache-Control", cachePrivate)
	}
	if who.Doubt != nil { // whose call is missing, nobody can tell
		s.markDegraded(c, web.Source(who.Doubt))
	}
	crowd, err := s.Ledger.Signals.GetCrowd(c.Request().Context(), &signalv1.GetCrowdRequest{
		MarketId: string(id), OperatorId: string(own),
	})
	if err != nil {
		return err
	}
	if who.Kind == caller.Session {
		return web.OK(c, showCrowd(id, crowd))
	}
	shown := showCrowd(id, crowd)
	undated := shown
	undated.UpdatedAt = ""
	return taggedBy(c, shown, undated)
}

func (s *server) emptyCrowd(c echo.Context) any {
	return showCrowd(syntax.MarketID(c.Param("marketId")), &signalv1.GetCrowdResponse{UpdatedAt: timestamppb.New(s.Now())})
}

func showCrowd(id syntax.MarketID, crowd *signalv1.GetCrowdResponse) crowdJSON {
	total := crowd.GetYes() + crowd.GetNo()
	out := crowdJSON{
		MarketID: string(id), YesCount: crowd.GetYes(), NoCount: crowd.GetNo(), TotalSignals: total,
		UpdatedAt: stamp(crowd.GetUpdatedAt()),
	}
	if total > 0 {
		yes := sharePercent(crowd.GetYes(), total)
		no := 100 - yes
		out.YesPercent, out.NoPercent = &yes, &no
	}
	if crowd.TopYesPercent != nil {
		out.TopForecasters = &openapi.Crowd_TopForecasters{
			YesPercent: int64(crowd.GetTopYesPercent()), SampleSize: int64(crowd.GetTopSample()),
		}
	}
	if own := crowd.GetOwn(); own != nil {
		out.CurrentUserSignal = &ownSignalJSON{
			ID: own.GetId(), Direction: own.GetDirection(), PriceAtPrediction: int(own.GetPriceBps()),
			CreatedAt: stamp(own.GetCreatedAt()), Status: own.GetStatus(), factsJSON: showFacts(own),
		}
	}
	return out
}

// sharePercent is a part of a total above zero in percent, half up.
func sharePercent(part, total int64) int64 { return (200*part + total) / (2 * total) }
