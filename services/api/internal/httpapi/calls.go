package httpapi

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Default and maximum number of calls in one page.
const (
	callsDefault = 20
	callsMax     = 100
)

// callsQuery is the parsed query of a list of calls. If the field none is true, the query contains an invalid handle or
// market id, so no call matches.
type callsQuery struct {
	signal.CallQuery
	none bool
}

var callsParams = httpcache.Params("lane", "status", "handle", "marketId", "limit", "cursor", "createdAfter", "resolvedAfter")

// readCalls parses the query of a list of calls. An unknown lane or status and an invalid time do not filter. An invalid handle
// or market id sets the member none.
func readCalls(rawQuery string) callsQuery {
	v := httpcache.Query(rawQuery, callsParams)
	q := callsQuery{CallQuery: signal.CallQuery{
		Lane: protocol.LaneFilter(v[0]).String(), Statuses: readStatus(v[1]), Limit: protocol.Limit(v[4], callsDefault, callsMax),
	}}
	if v[2] != "" {
		h, err := protocol.ParseHandle(v[2])
		q.Handle, q.none = h.String(), err != nil
	}
	if v[3] != "" {
		id, err := protocol.ParseMarketID(v[3])
		q.MarketID, q.none = string(id), q.none || err != nil
	}
	if c, ok := protocol.DecodeCursor(v[5], 1); ok {
		q.After = c
	}
	q.CreatedAfter, q.ResolvedAfter = readTime(v[6]), readTime(v[7])
	return q
}

// readTime parses a date-time of RFC 3339 in microseconds, the precision of the database. It returns nil for any other text.
func readTime(raw string) *time.Time {
	t, ok := protocol.ParseStamp(raw)
	if !ok {
		return nil
	}
	return new(t.Truncate(time.Microsecond))
}

func readStatus(raw string) []protocol.SignalStatus {
	switch s := protocol.SignalStatus(raw); s {
	case protocol.Pending, protocol.Won, protocol.Lost, protocol.Void:
		return []protocol.SignalStatus{s}
	}
	return nil
}

func (q callsQuery) key() string {
	timeKey := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return protocol.TimeKey(*t)
	}
	return httpcache.JoinKey("calls", q.Lane, fmt.Sprint(q.Statuses), q.Handle, q.MarketID, strconv.Itoa(q.Limit), q.After.Encode(),
		strconv.FormatBool(q.none), timeKey(q.CreatedAfter), timeKey(q.ResolvedAfter))
}

// calls handles GET /api/v1/signals: a page of public calls, newest first.
func (s *Server) calls(c echo.Context) error {
	q := readCalls(c.Request().URL.RawQuery)
	return serve(c, s.ranks, q.key(), func(ctx context.Context) (any, error) {
		if q.none {
			return emptyCalls(), nil
		}
		p, err := s.Signals.ListCalls(ctx, q.CallQuery)
		return showCalls(p), err
	})
}

func emptyCalls() any { return openapi.SignalList{Signals: []openapi.ListedSignal{}} }

func showCalls(p signal.CallPage) openapi.SignalList {
	n := len(p.Signals)
	out := openapi.SignalList{Signals: make([]openapi.ListedSignal, 0, n), Count: int64(n), NextCursor: httpx.OrNull(p.Next)}
	for i := range p.Signals {
		r := &p.Signals[i]
		call := openapi.ListedSignal{
			ID: r.ID, Lane: string(r.Lane), OperatorPublicID: r.PublicID, MarketID: r.MarketID, MarketTitle: r.MarketTitle,
			Direction: string(r.Side()), PriceAtPrediction: int64(r.PriceBps), Score: openapi.Int(r.Score), Status: string(r.Status),
			CreatedAt: protocol.Stamp(r.CreatedAt), TextTake: r.TextTake, Handle: httpx.OrNull(r.Handle),
			ScoreBasisBps: int64(r.ScoredBps), PriceVerified: r.PriceVerified, Rated: r.Rated, Counted: r.Counted,
			Reason:     r.Reason,
			ResolvedAt: stamp(r.ResolvedAt), ClosesAtSignal: stamp(r.ClosesAt), QuoteAt: stamp(r.QuoteAt),
			ConfirmedAt:      stamp(r.ConfirmedAt),
			CrowdYesAtSignal: openapi.Int(r.CrowdYesBps), MarketYesAtSignal: openapi.Int(r.MarketYesBps),
		}
		out.Signals = append(out.Signals, call)
	}
	return out
}
