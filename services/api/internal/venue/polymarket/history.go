package polymarket

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/history"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

// maxPoints is the largest number of points in one history. The venue returns at most about 4,300.
const maxPoints = 6000

// period has the parameters of a request for a price history. The request of an open market names the interval. The request of a
// market that no longer trades has a time window instead, which ends with the trading.
type period struct {
	interval string // name of the interval at the venue
	fidelity int    // minutes between points
	seconds  int64  // length of the time window; 0: requests always name the interval
}

var periods = map[protocol.Interval]period{
	protocol.IntervalHour: {"1h", 1, 3600},
	protocol.IntervalDay:  {"1d", 5, 86_400},
	protocol.IntervalWeek: {"1w", 30, 7 * 86_400},
	protocol.IntervalAll:  {"max", 720, 0},
}

// History implements history.Venue. It returns the YES prices of a market in ascending time, at most one for each second. It
// returns nil for an unknown token or interval.
func (a *Adapter) History(ctx context.Context, b history.Book, interval protocol.Interval) ([]history.Point, error) {
	s, known := periods[interval]
	if !known || !digits(b.TokenID, maxToken) {
		return nil, nil
	}
	query := url.Values{"market": {b.TokenID}, "fidelity": {strconv.Itoa(s.fidelity)}}
	from, to := int64(0), a.gamma.Now().Add(time.Minute).Unix()
	if b.ClosedAt != nil && b.ClosedAt.Before(a.gamma.Now()) {
		to = b.ClosedAt.Unix()
	}
	if b.ClosedAt != nil && b.ClosedAt.Before(a.gamma.Now()) && s.seconds > 0 {
		// A named interval of the venue ends now. It would not contain the time in which the market traded.
		from = to - s.seconds
		query.Set("startTs", strconv.FormatInt(from, 10))
		query.Set("endTs", strconv.FormatInt(to, 10))
	} else {
		query.Set("interval", s.interval)
	}
	var box struct {
		History *[]struct {
			T int64             `json:"t"`
			P loosejson.Decimal `json:"p"`
		} `json:"history"`
	}
	_, err := venue.ReadList(ctx, a.clob, "history", "/prices-history", query, &box, &box.History)
	switch {
	case venue.Missing(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	points := make([]history.Point, 0, min(len(*box.History), maxPoints))
	for _, h := range *box.History {
		p, ok := h.P.Price()
		if !ok || p < 0 || p > loosejson.One || h.T < from || h.T > to {
			continue // the venue appends a point with the time of the request, even to a past window
		}
		if b.YesIndex == 1 {
			p = loosejson.One - p
		}
		points = append(points, history.Point{T: h.T, P: float64(p.Bps()) / 10_000})
	}
	return sortedByTime(points), nil
}

// sortedByTime sorts the points by ascending time. Of points with equal times it returns the last, and of all points the
// last maxPoints.
func sortedByTime(points []history.Point) []history.Point {
	slices.SortStableFunc(points, func(a, b history.Point) int { return int(a.T - b.T) })
	out := points[:0]
	for i, p := range points {
		if i+1 < len(points) && points[i+1].T == p.T {
			continue
		}
		out = append(out, p)
	}
	if len(out) > maxPoints {
		out = out[len(out)-maxPoints:]
	}
	return out
}
