package manifold

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

const (
	mostPoints  = 6000 // of one history
	betPage     = 1000
	mostBetPage = 10 // pages of bets behind one history: the newest ten thousand
)

// lengths are the intervals in time; 0 is the whole life.
var lengths = map[venue.Interval]time.Duration{
	venue.Hour: time.Hour, venue.Day: 24 * time.Hour, venue.Week: 7 * 24 * time.Hour, venue.All: 0,
}

// bet is a trade, or an order that may not have traded yet.
type bet struct {
	ID         string            `json:"id"`
	Created    wire.Decimal      `json:"createdTime"`
	After      wire.Decimal      `json:"probAfter"`
	Redemption bool              `json:"isRedemption"`
	Limit      wire.Decimal      `json:"limitProb"`
	Fills      []json.RawMessage `json:"fills"`
}

// moves tells a bet that can have moved the price.
func (b *bet) moves() bool { return !b.Redemption && (b.Limit == "" || len(b.Fills) > 0) }

// History implements venue.Venue: the price after each bet. Of m it needs ID,
// and ClosedAt where it is known.
func (a *Adapter) History(ctx context.Context, m venue.Market, interval venue.Interval) ([]venue.Point, error) {
	length, known := lengths[interval]
	contract, ok := key(m.ID)
	if !known || !ok {
		return nil, nil
	}
	end := a.now()
	if m.ClosedAt != nil && m.ClosedAt.Before(end) {
		end = *m.ClosedAt
	}
	from := int64(0)
	if length > 0 {
		from = end.Add(-length).UnixMilli()
	}
	bets, err := a.bets(ctx, contract, from)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return points(bets, from, end.UnixMilli()), nil
}

// bets reads bets, newest first, back to one that is older than from.
func (a *Adapter) bets(ctx context.Context, contract string, from int64) ([]bet, error) {
	var out []bet
	seen := map[string]bool{}
	query := url.Values{"contractId": {contract}, "order": {"desc"}, "limit": {strconv.Itoa(betPage)}}
	for range mostBetPage {
		raw, err := a.client.Get(ctx, "bets", "/bets", query)
		if err != nil {
			return nil, err
		}
		var page []bet
		if err := json.Unmarshal(raw, &page); err != nil || page == nil {
			return nil, fmt.Errorf("decode bets: %w", errors.Join(err, errNone))
		}
		fresh, old := 0, false
		for i := range page {
			b := &page[i]
			if b.ID != "" && seen[b.ID] {
				continue // an id that the venue does not know gives the first page again
			}
			seen[b.ID] = true
			fresh++
			out = append(out, *b)
			at, sign, ok := moment(b.Created)
			old = old || ok && sign == 0 && b.moves() && at.UnixMilli() < from
		}
		if fresh == 0 || old || len(page) < betPage || page[len(page)-1].ID == "" {
			break
		}
		query.Set("before", page[len(page)-1].ID)
	}
	return out, nil
}

// points makes a rising line of bets that come newest first, from and to in
// milliseconds. It begins with the price that stood at its start.
func points(bets []bet, from, to int64) []venue.Point {
	type dot struct {
		ms    int64
		price wire.Price
	}
	dots := make([]dot, 0, len(bets))
	for i := len(bets) - 1; i >= 0; i-- {
		at, sign, ok := moment(bets[i].Created)
		p, priced := bets[i].After.Price()
		if ok && sign == 0 && priced && p >= 0 && p <= wire.One && bets[i].moves() && at.UnixMilli() <= to {
			dots = append(dots, dot{at.UnixMilli(), p})
		}
	}
	slices.SortStableFunc(dots, func(a, b dot) int { return cmp.Compare(a.ms, b.ms) })
	out := make([]venue.Point, 0, min(len(dots), mostPoints))
	for _, d := range dots {
		point := venue.Point{T: max(d.ms, from) / 1000, P: float64(d.price.Bps()) / 10_000}
		if n := len(out); n > 0 && out[n-1].T == point.T {
			out[n-1] = point
			continue
		}
		out = append(out, point)
	}
	return out[max(len(out)-mostPoints, 0):]
}
