package reads

import (
	"context"
	"strconv"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// feedJSON is the response body of the call feed and of the fashion feed.
type feedJSON struct {
	Type    string `json:"type"`
	Count   int64  `json:"count"`
	Signals []any  `json:"signals"` // elements of type openapi.FeedSignal, or openSignalJSON in the feed of open calls
}

// openSignalJSON is a call in the feed of open calls. LiveYesBps is the current price of YES, and MoveBps is the price movement
// that the ledger reports. Each is null if the ledger has no value.
type openSignalJSON struct {
	openapi.FeedSignal
	LiveYesBps *int64 `json:"liveYesBps"`
	MoveBps    *int64 `json:"moveBps"`
}

// feedQuery is a normalized query for a feed of calls.
type feedQuery struct {
	kind  signal.FeedType
	limit int
}

var feedParams = httpcache.Params("type", "limit")

func readFeed(rawQuery string) feedQuery {
	v := httpcache.Query(rawQuery, feedParams)
	return feedQuery{signal.ParseFeedType(v[0]), protocol.Limit(v[1], signal.FeedDefault, signal.FeedMax)}
}

// Key implements view.Query.
func (q feedQuery) Key() string { return httpcache.JoinKey(string(q.kind), strconv.Itoa(q.limit)) }

// fashion is the category of the fashion feed. It is part of the cache key in place of the feed type, so it must differ from all
// values of signal.FeedType.
const fashion = "fashion"

func readFashion(rawQuery string) feedQuery {
	return feedQuery{fashion, readFeed(rawQuery).limit}
}

// Feed handles GET /api/signals/feed, the feed of calls of one type.
func (s *Server) Feed() view.Read[feedQuery] { return s.feedOf(readFeed) }

// Fashion handles GET /api/fashion/signals, the feed of recent calls in the category fashion.
func (s *Server) Fashion() view.Read[feedQuery] { return s.feedOf(readFashion) }

func (s *Server) feedOf(parse func(rawQuery string) feedQuery) view.Read[feedQuery] {
	return view.Read[feedQuery]{
		Pages: s.feedPages, Parse: parse,
		Build: func(ctx context.Context, q feedQuery) (view.Answer, error) {
			request := &signalv1.ListFeedRequest{Type: string(q.kind), Limit: int32(q.limit)}
			if q.kind == fashion {
				request.Type, request.Category = string(signal.FeedRecent), fashion
			}
			r, err := s.Ledger.Signals.ListFeed(ctx, request)
			return view.Answer{Value: s.showFeed(q.kind, r.GetSignals())}, err
		},
		Empty: func(q feedQuery) any { return s.showFeed(q.kind, nil) },
	}
}

func (s *Server) showFeed(kind signal.FeedType, list []*signalv1.Signal) feedJSON {
	out := feedJSON{Type: string(kind), Count: int64(len(list)), Signals: make([]any, 0, len(list))}
	for _, c := range list {
		call := view.ShowSignal(c)
		row := openapi.FeedSignal{
			ID: call.ID, ReceiptURL: view.ReceiptURL(s.HubURL, call.ID), OperatorPublicID: c.GetPublicId(),
			MarketID: call.MarketID, MarketTitle: call.MarketTitle, Direction: call.Direction,
			PriceAtPrediction: call.PriceAtPrediction, CrowdYesAtSignal: call.CrowdYesAtSignal, Score: call.Score,
			Status: call.Status, CreatedAt: call.CreatedAt, ResolvedAt: call.ResolvedAt, TextTake: call.TextTake,
			Handle: call.Callsign, MarketYesAtSignal: call.MarketYesAtSignal, ClosesAtSignal: call.ClosesAtSignal,
			ScoreBasisBps: call.ScoreBasisBps, PriceVerified: call.PriceVerified, Rated: call.Rated,
			Counted: call.Counted, Reason: call.Reason, QuoteAt: call.QuoteAt, ConfirmedAt: call.ConfirmedAt,
		}
		if kind == signal.FeedOpen {
			out.Signals = append(out.Signals, openSignalJSON{row, openapi.Int(c.LiveYesBps), openapi.Int(c.MoveBps)})
			continue
		}
		out.Signals = append(out.Signals, row)
	}
	return out
}
