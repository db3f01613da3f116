package edge

import (
	"context"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Page sizes of lists of calls: those of contract 6.
const (
	callsDefault = 20
	callsMax     = 100
)

// callsQuery is the normal form of a question for calls. None: no call can fit.
type callsQuery struct {
	signal.CallQuery
	none bool
}

var callsParams = params("lane", "status", "handle", "marketId", "limit", "cursor")

// readCalls never fails: what is not known does not filter. A handle or a market that
// cannot exist has no calls.
func readCalls(rawQuery string) callsQuery {
	v := page.Query(rawQuery, callsParams)
	q := callsQuery{CallQuery: signal.CallQuery{
		Lane: syntax.LaneFilter(v[0]).String(), Status: readStatus(v[1]), Limit: syntax.Limit(v[4], callsDefault, callsMax),
	}}
	if v[2] != "" {
		h, err := syntax.ParseHandle(v[2])
		q.Handle, q.none = h.String(), err != nil
	}
	if v[3] != "" {
		id, err := syntax.ParseMarketID(v[3])
		q.MarketID, q.none = string(id), q.none || err != nil
	}
	if c, ok := syntax.DecodeCursor(v[5], 1); ok {
		q.After = c
	}
	return q
}

func readStatus(raw string) syntax.SignalStatus {
	switch s := syntax.SignalStatus(raw); s {
	case syntax.Pending, syntax.Won, syntax.Lost, syntax.Void:
		return s
	}
	return ""
}

func (q callsQuery) key() string {
	return joinKey("calls", q.Lane, string(q.Status), q.Handle, q.MarketID, strconv.Itoa(q.Limit), q.After.Encode(), strconv.FormatBool(q.none))
}

// calls is GET /api/v1/signals.
func (s *server) calls(c echo.Context) error {
	q := readCalls(c.Request().URL.RawQuery)
	return s.ranks.Serve(c.Response(), c.Request(), q.key(), func(ctx context.Context) ([]byte, error) {
		if q.none {
			return web.Marshal(emptyCalls())
		}
		p, err := s.Calls.ListCalls(ctx, q.CallQuery)
		if err != nil {
			return nil, err
		}
		return web.Marshal(showCalls(p))
	})
}

func emptyCalls() any { return openapi.SignalList{Signals: []openapi.ListedSignal{}} }

func showCalls(p signal.CallPage) openapi.SignalList {
	out := openapi.SignalList{Signals: make([]openapi.ListedSignal, 0, len(p.Signals)), Count: int64(len(p.Signals)), NextCursor: orNull(p.Next)}
	for i := range p.Signals {
		r := &p.Signals[i]
		call := openapi.ListedSignal{
			ID: r.ID, Lane: string(r.Lane), OperatorPublicID: r.PublicID, MarketID: r.MarketID, MarketTitle: r.MarketTitle,
			Direction: string(r.Side), PriceAtPrediction: int64(r.Price), Score: openapi.Int(r.Score), Status: string(r.Status),
			CreatedAt: syntax.Stamp(r.CreatedAt), TextTake: r.TextTake, Handle: orNull(r.Handle),
			ScoreBasisBps: int64(int(r.Basis)), PriceVerified: r.Verified, Rated: r.Rated, Counted: r.Counted,
			Reason:     orNull(r.Reason),
			ResolvedAt: stampOf(r.ResolvedAt), ClosesAtSignal: stampOf(r.ClosesAt), QuoteAt: stampOf(r.QuoteAt),
			ConfirmedAt:      stampOf(r.ConfirmedAt),
			CrowdYesAtSignal: openapi.Int(r.CrowdYes), MarketYesAtSignal: openapi.Int(r.MarketYes),
		}
		out.Signals = append(out.Signals, call)
	}
	return out
}

func stampOf(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return syntax.StampOrNull(*t)
}
