package polymarket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

// mostPoints bounds one history; the venue gives about 4,300 at most.
const mostPoints = 6000

// stretch is how an interval is asked for: the venue's own word while the
// market trades, and a window before the end of trading once it does not.
type stretch struct {
	interval string
	fidelity int // minutes between points
	seconds  int64
}

var stretches = map[venue.Interval]stretch{
	venue.Hour: {"1h", 1, 3600},
	venue.Day:  {"1d", 5, 86_400},
	venue.Week: {"1w", 30, 7 * 86_400},
	venue.All:  {"max", 720, 0},
}

// History implements venue.Venue.
func (a *Adapter) History(ctx context.Context, m venue.Market, interval venue.Interval) ([]venue.Point, error) {
	s, known := stretches[interval]
	if !known || !digits(m.ClobTokenID, maxToken) {
		return nil, nil
	}
	query := url.Values{"market": {m.ClobTokenID}, "fidelity": {strconv.Itoa(s.fidelity)}}
	from, to := int64(0), a.now().Add(time.Minute).Unix()
	if m.ClosedAt != nil && m.ClosedAt.Before(a.now()) {
		to = m.ClosedAt.Unix()
	}
	if m.ClosedAt != nil && m.ClosedAt.Before(a.now()) && s.seconds > 0 {
		// Rolling intervals count back from now and would miss the market's life.
		from = to - s.seconds
		query.Set("startTs", strconv.FormatInt(from, 10))
		query.Set("endTs", strconv.FormatInt(to, 10))
	} else {
		query.Set("interval", s.interval)
	}
	raw, err := a.clob.Get(ctx, "history", "/prices-history", query)
	var refused *venue.RefusedError
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	var box struct {
		History *[]struct {
			T int64        `json:"t"`
			P wire.Decimal `json:"p"`
		} `json:"history"`
	}
	if err := json.Unmarshal(raw, &box); err != nil {
		return nil, unavailable(fmt.Errorf("decode history: %w", err))
	}
	if box.History == nil {
		return nil, unavailable(errors.New("decode history: no list in it"))
	}
	points := make([]venue.Point, 0, min(len(*box.History), mostPoints))
	for _, h := range *box.History {
		p, ok := h.P.Price()
		if !ok || p < 0 || p > wire.One || h.T < from || h.T > to {
			continue // the last point carries the time of the request, also for a past window
		}
		if m.YesIndex == 1 {
			p = wire.One - p
		}
		points = append(points, venue.Point{T: h.T, P: float64(p.Bps()) / 10_000})
	}
	return tidy(points), nil
}

// tidy sorts by time and keeps the last of equal times.
func tidy(points []venue.Point) []venue.Point {
	slices.SortStableFunc(points, func(a, b venue.Point) int { return int(a.T - b.T) })
	out := points[:0]
	for i, p := range points {
		if i+1 < len(points) && points[i+1].T == p.T {
			continue
		}
		out = append(out, p)
	}
	if len(out) > mostPoints {
		out = out[len(out)-mostPoints:]
	}
	return out
}
