package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

type feedJSON struct {
	Type    string `json:"type"`
	Count   int    `json:"count"`
	Signals []any  `json:"signals"` // feedSignalJSON, or openSignalJSON in the open feed
}

type feedSignalJSON struct {
	ID                string  `json:"id"`
	ReceiptURL        string  `json:"receiptUrl"`
	OperatorPublicID  string  `json:"operatorPublicId"`
	MarketID          string  `json:"marketId"`
	MarketTitle       string  `json:"marketTitle"`
	Direction         string  `json:"direction"`
	PriceAtPrediction int     `json:"priceAtPrediction"`
	CrowdYesAtSignal  *int32  `json:"crowdYesAtSignal"`
	Score             *int32  `json:"score"`
	Status            string  `json:"status"`
	CreatedAt         string  `json:"createdAt"`
	ResolvedAt        *string `json:"resolvedAt"`
	TextTake          *string `json:"textTake"`
	Handle            *string `json:"handle"`
	factsJSON
}

// openSignalJSON carries the live mark, null where the market has no price.
type openSignalJSON struct {
	feedSignalJSON
	LiveYesBps *int32 `json:"liveYesBps"`
	MoveBps    *int32 `json:"moveBps"`
}

// feedQuery is the normal form of a feed request.
type feedQuery struct {
	kind  signal.FeedType
	limit int
}

var feedParams = params("type", "limit")

func readFeed(rawQuery string) feedQuery {
	v := page.Query(rawQuery, feedParams)
	return feedQuery{signal.ParseFeedType(v[0]), syntax.Limit(v[1], signal.FeedDefault, signal.FeedMax)}
}

func (q feedQuery) key() string { return joinKey(string(q.kind), keyOf(q.limit)) }

// feed is GET /api/signals/feed.
func (s *server) feed(c echo.Context) error {
	q := readFeed(c.Request().URL.RawQuery)
	return s.feeds.Serve(c.Response(), c.Request(), q.key(), s.buildFeed(q))
}

func (s *server) buildFeed(q feedQuery) page.Build {
	return func(ctx context.Context) ([]byte, error) {
		r, err := s.Ledger.Signals.ListFeed(ctx, &signalv1.ListFeedRequest{Type: string(q.kind), Limit: int32(q.limit)})
		if err != nil {
			return nil, err
		}
		return web.Marshal(s.showFeed(q.kind, r.GetSignals()))
	}
}

func (s *server) emptyFeed(c echo.Context) any {
	return s.showFeed(readFeed(c.Request().URL.RawQuery).kind, nil)
}

// fashionCategory is the programme category of the fashion feed.
const fashionCategory = "fashion"

var fashionParams = params("limit")

func readFashion(rawQuery string) int {
	return syntax.Limit(page.Query(rawQuery, fashionParams)[0], signal.FeedDefault, signal.FeedMax)
}

// fashionKey is no key of a feed by type.
func fashionKey(limit int) string { return joinKey(fashionCategory, keyOf(limit)) }

// fashion is GET /api/fashion/signals.
func (s *server) fashion(c echo.Context) error {
	limit := readFashion(c.Request().URL.RawQuery)
	return s.feeds.Serve(c.Response(), c.Request(), fashionKey(limit), func(ctx context.Context) ([]byte, error) {
		r, err := s.Ledger.Signals.ListFeed(ctx, &signalv1.ListFeedRequest{
			Type: string(signal.FeedRecent), Limit: int32(limit), Category: fashionCategory,
		})
		if err != nil {
			return nil, err
		}
		return web.Marshal(s.showFeed(fashionCategory, r.GetSignals()))
	})
}

func (s *server) emptyFashion(echo.Context) any { return s.showFeed(fashionCategory, nil) }

func (s *server) showFeed(kind signal.FeedType, list []*signalv1.Signal) feedJSON {
	out := feedJSON{Type: string(kind), Count: len(list), Signals: make([]any, 0, len(list))}
	for _, c := range list {
		row := feedSignalJSON{
			ID: c.GetId(), ReceiptURL: s.receiptURL(c.GetId()),
			OperatorPublicID: c.GetPublicId(), MarketID: c.GetMarketId(), MarketTitle: c.GetMarketTitle(),
			Direction: c.GetDirection(), PriceAtPrediction: int(c.GetPriceBps()), CrowdYesAtSignal: c.CrowdYesBps,
			Score: c.Score, Status: c.GetStatus(), CreatedAt: stamp(c.GetCreatedAt()),
			ResolvedAt: stampOrNull(c.GetResolvedAt()), TextTake: c.TextTake, Handle: orNull(c.GetHandle()), factsJSON: showFacts(c),
		}
		if kind == signal.FeedOpen {
			out.Signals = append(out.Signals, openSignalJSON{row, c.LiveYesBps, c.MoveBps})
			continue
		}
		out.Signals = append(out.Signals, row)
	}
	return out
}
