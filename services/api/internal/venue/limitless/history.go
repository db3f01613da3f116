package limitless

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

// mostPoints bounds one history.
const mostPoints = 6000

// stretch is how an interval is asked for: the venue's own word while the
// market trades, and a window before the end of trading once it does not.
type stretch struct {
	interval string
	length   time.Duration
}

var stretches = map[venue.Interval]stretch{
	venue.Hour: {"1h", time.Hour},
	venue.Day:  {"1d", 24 * time.Hour},
	venue.Week: {"1w", 7 * 24 * time.Hour},
	venue.All:  {"all", 0},
}

// line is one price line of an answer.
type line struct {
	Title  wire.Text `json:"title"`
	Prices *[]struct {
		At    wire.Instant `json:"timestamp"`
		Price wire.Decimal `json:"price"`
	} `json:"prices"`
}

// History implements venue.Venue. Of m it needs ID and ClobTokenID, and ClosedAt
// where it is known; Question tells the market among others of its group.
func (a *Adapter) History(ctx context.Context, m venue.Market, interval venue.Interval) ([]venue.Point, error) {
	s, known := stretches[interval]
	slug, ok := key(m.ID)
	if !known || !ok {
		return nil, nil
	}
	query, from, to := url.Values{}, int64(0), a.now().Add(time.Minute).Unix()
	if finished := m.ClosedAt != nil && m.ClosedAt.Before(a.now()); finished && s.length > 0 {
		// Rolling intervals count back from now and would miss the market's life.
		start := m.ClosedAt.Add(-s.length)
		from, to = start.Unix(), m.ClosedAt.Unix()
		query.Set("from", start.UTC().Format(time.RFC3339))
		query.Set("to", m.ClosedAt.UTC().Format(time.RFC3339))
	} else {
		query.Set("interval", s.interval)
	}
	raw, err := a.client.Get(ctx, "history", "/markets/"+slug+"/historical-price", query)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	lines, err := readLines(raw)
	if err != nil {
		return nil, unavailable(fmt.Errorf("decode history: %w", err))
	}
	return points(pick(lines, m.Question), from, to, m.ClobTokenID == ""), nil
}

// readLines reads both forms of an answer: one line, or a list of them.
func readLines(raw []byte) ([]line, error) {
	var lines []line
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '{' {
		lines = make([]line, 1)
		if err := json.Unmarshal(raw, &lines[0]); err != nil {
			return nil, err
		}
	} else if err := json.Unmarshal(raw, &lines); err != nil {
		return nil, err
	}
	if lines == nil {
		return nil, errors.New("no line in it")
	}
	for i := range lines {
		if lines[i].Prices == nil {
			return nil, errors.New("a line without prices")
		}
	}
	return lines, nil
}

// pick finds the YES line of a market: the one that says so, the only one, or
// the one with the market's name; nil when it cannot be told.
func pick(lines []line, question string) *line {
	named := func(fits func(title string) bool) *line {
		i := slices.IndexFunc(lines, func(l line) bool { return fits(strings.TrimSpace(string(l.Title))) })
		if i < 0 {
			return nil
		}
		return &lines[i]
	}
	if yes := named(func(title string) bool { return strings.EqualFold(title, "yes") }); yes != nil {
		return yes
	}
	if len(lines) == 1 && !strings.EqualFold(strings.TrimSpace(string(lines[0].Title)), "no") {
		return &lines[0]
	}
	return named(func(title string) bool {
		title = wire.Plain(title, maxQuestion)
		return title != "" && (title == question || strings.HasSuffix(question, ": "+title))
	})
}

// points makes a rising line of prices, one per moment, the last of equal
// times. The line of a pool is in percent when a price in it is above 1.
func points(l *line, from, to int64, pool bool) []venue.Point {
	if l == nil {
		return nil
	}
	type dot struct {
		at    int64
		price wire.Price
	}
	dots, highest := make([]dot, 0, len(*l.Prices)), wire.Price(0)
	for _, h := range *l.Prices {
		p, ok := h.Price.Price()
		if at := h.At.Unix(); ok && !h.At.IsZero() && p >= 0 && at >= from && at <= to {
			dots, highest = append(dots, dot{at, p}), max(highest, p)
		}
	}
	scale := wire.Price(1)
	if pool && highest > wire.One {
		scale = percent
	}
	slices.SortStableFunc(dots, func(a, b dot) int { return cmp.Compare(a.at, b.at) })
	out := make([]venue.Point, 0, min(len(dots), mostPoints))
	for _, d := range dots {
		if d.price/scale > wire.One {
			continue
		}
		point := venue.Point{T: d.at, P: float64((d.price / scale).Bps()) / 10_000}
		if n := len(out); n > 0 && out[n-1].T == d.at {
			out[n-1] = point
			continue
		}
		out = append(out, point)
	}
	return out[max(len(out)-mostPoints, 0):]
}
