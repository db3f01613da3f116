package kalshi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

const (
	// mostPoints bounds one history.
	mostPoints = 6000
	// cutoffFor is how long the archive's cutoff is remembered; it moves by days.
	cutoffFor = time.Hour
)

// founded is before the venue's first market.
var founded = time.Date(2021, 6, 1, 0, 0, 0, 0, time.UTC).Unix()

// stretch is how an interval is asked for.
type stretch struct{ minutes, seconds int64 }

var stretches = map[venue.Interval]stretch{
	venue.Hour: {1, 3600},
	venue.Day:  {1, 86_400},
	venue.Week: {60, 7 * 86_400},
	venue.All:  {1440, 0},
}

// candle is one period of trading, in the form of the live paths or that of
// the archive, which leaves out the endings of the names.
type candle struct {
	End   int64   `json:"end_period_ts"`
	Price figures `json:"price"`
	Bid   figures `json:"yes_bid"`
	Ask   figures `json:"yes_ask"`
}

type figures struct {
	Close       wire.Decimal `json:"close_dollars"`
	Previous    wire.Decimal `json:"previous_dollars"`
	OldClose    wire.Decimal `json:"close"`
	OldPrevious wire.Decimal `json:"previous"`
}

func (f figures) last() (wire.Price, bool)   { return either(f.Close, f.OldClose) }
func (f figures) before() (wire.Price, bool) { return either(f.Previous, f.OldPrevious) }

func either(a, b wire.Decimal) (wire.Price, bool) {
	if a == "" {
		a = b
	}
	p, ok := a.Price()
	return p, ok && p >= 0 && p <= wire.One
}

// price is the last trade of the period, else the middle of a narrow book at
// its end, else the last trade before it.
func (c *candle) price() (wire.Price, bool) {
	if p, ok := c.Price.last(); ok {
		return p, true
	}
	bid, haveBid := c.Bid.last()
	ask, haveAsk := c.Ask.last()
	if haveBid && haveAsk {
		if mid, ok := middle(bid, ask); ok {
			return mid, true
		}
	}
	return c.Price.before()
}

// History implements venue.Venue. Of m it needs ID, and EventKey and ClosedAt
// where they are known.
func (a *Adapter) History(ctx context.Context, m venue.Market, interval venue.Interval) ([]venue.Point, error) {
	s, known := stretches[interval]
	ticker, ok := key(m.ID)
	if !known || !ok {
		return nil, nil
	}
	to := a.now().Unix()
	finished := m.ClosedAt != nil && m.ClosedAt.Before(a.now())
	if finished {
		to = m.ClosedAt.Unix()
	}
	from := founded
	if s.seconds > 0 {
		from = to - s.seconds
	}
	query := url.Values{
		"start_ts": {strconv.FormatInt(from, 10)}, "end_ts": {strconv.FormatInt(to, 10)},
		"period_interval": {strconv.FormatInt(s.minutes, 10)},
	}
	sources := []func() ([]candle, error){
		func() ([]candle, error) { return a.live(ctx, ticker, m.EventKey, query) },
		func() ([]candle, error) {
			return a.candles(ctx, "archived_history", "/historical/markets/"+ticker+"/candlesticks", query, ticker)
		},
	}
	if finished && a.archived(ctx, *m.ClosedAt) {
		slices.Reverse(sources)
	}
	for _, read := range sources {
		list, err := read()
		if isMissing(err) {
			continue
		}
		if err != nil {
			return nil, unavailable(err)
		}
		return points(list, from, to, s.minutes*60), nil
	}
	return nil, nil
}

// live reads candles from the path of the market's series, or, while that is
// not known, from the one that takes any market.
func (a *Adapter) live(ctx context.Context, ticker, eventTicker string, query url.Values) ([]candle, error) {
	if e := a.event(ctx, eventTicker); e.series != "" {
		return a.candles(ctx, "history", "/series/"+e.series+"/markets/"+ticker+"/candlesticks", query, ticker)
	}
	batch := maps.Clone(query)
	batch.Set("market_tickers", ticker)
	return a.candles(ctx, "history", "/markets/candlesticks", batch, ticker)
}

func (a *Adapter) candles(ctx context.Context, op, path string, query url.Values, ticker string) ([]candle, error) {
	raw, err := a.client.Get(ctx, op, path, query)
	if err != nil {
		return nil, err
	}
	type list struct {
		Ticker  string    `json:"market_ticker"`
		Candles *[]candle `json:"candlesticks"`
	}
	var box struct {
		list
		Markets []list `json:"markets"`
	}
	if err := json.Unmarshal(raw, &box); err != nil {
		return nil, fmt.Errorf("decode history: %w", err)
	}
	for _, m := range box.Markets {
		if m.Ticker == ticker {
			box.Candles = m.Candles
		}
	}
	if box.Candles == nil {
		return nil, errors.New("decode history: no candles in it")
	}
	return *box.Candles, nil
}

// archived tells whether a market that closed then is to be looked for in the
// archive first. It settled later than it closed, so both places may have it.
func (a *Adapter) archived(ctx context.Context, closed time.Time) bool {
	a.mu.Lock()
	cutoff, at := a.cutoff, a.cutoffAt
	a.mu.Unlock()
	if at.IsZero() || a.now().Sub(at) > cutoffFor {
		raw, err := a.client.Get(ctx, "cutoff", "/historical/cutoff", nil)
		var box struct {
			Settled wire.Instant `json:"market_settled_ts"`
		}
		if err != nil || json.Unmarshal(raw, &box) != nil {
			return !cutoff.IsZero() && closed.Before(cutoff)
		}
		cutoff = box.Settled.Time
		a.mu.Lock()
		a.cutoff, a.cutoffAt = cutoff, a.now()
		a.mu.Unlock()
	}
	return closed.Before(cutoff)
}

// points makes a rising line of candles, one price per moment. A period without
// any price carries the one before it; the period in which the stretch ends is
// drawn at that end.
func points(list []candle, from, to, period int64) []venue.Point {
	slices.SortStableFunc(list, func(a, b candle) int { return cmp.Compare(a.End, b.End) })
	out := make([]venue.Point, 0, min(len(list), mostPoints))
	carried, have := wire.Price(0), false
	for i := range list {
		c := &list[i]
		if p, ok := c.price(); ok {
			carried, have = p, true
		}
		at := c.End
		if at > to && at < to+period {
			at = to
		}
		if !have || at < from || at > to {
			continue
		}
		point := venue.Point{T: at, P: float64(carried.Bps()) / 10_000}
		if n := len(out); n > 0 && out[n-1].T == at {
			out[n-1] = point
			continue
		}
		out = append(out, point)
	}
	return out[max(len(out)-mostPoints, 0):]
}
