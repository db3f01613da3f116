package venue

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

// WidestSpread is the greatest difference between ask and bid at which an order book gives a quote.
const WidestSpread = loosejson.One / 10

// NewQuote returns the quote of an order book with the given best bid and best ask of YES. The price of YES is the ask, and
// the price of NO is 1 minus the bid, both in bps and rounded up. The result is nil if a side of the order book is empty
// (bid 0 or ask 1), the order book is crossed, the spread exceeds WidestSpread, a price is outside 1 to 9999 bps, or at is
// zero.
func NewQuote(rule string, bid, ask loosejson.Price, at time.Time) *market.Quote {
	if at.IsZero() || bid <= 0 || ask >= loosejson.One || bid > ask || ask-bid > WidestSpread {
		return nil
	}
	yes, no := ask.BpsUp(), (loosejson.One - bid).BpsUp()
	if yes < 1 || yes > 9999 || no < 1 || no > 9999 {
		return nil
	}
	return &market.Quote{Yes: protocol.Bps(yes), No: protocol.Bps(no), At: at.UTC().Truncate(time.Millisecond), Rule: rule}
}

// Quote returns the quote of an order book that the response contains. The time of the quote is a.At. Quote returns nil in
// the same cases as NewQuote.
func (a *Answer) Quote(rule string, bid, ask loosejson.Price) *market.Quote {
	return a.QuoteAt(rule, bid, ask, a.At)
}

// QuoteAt is like Quote, for a response that contains the time of the order book.
func (a *Answer) QuoteAt(rule string, bid, ask loosejson.Price, at time.Time) *market.Quote {
	q := NewQuote(rule, bid, ask, at)
	if q != nil {
		q.SHA256 = a.SHA256
	}
	return q
}

// Ended returns the earliest of the given times that is not after now, truncated to milliseconds. It ignores zero times, and
// returns nil if no time is left.
func Ended(now time.Time, times ...time.Time) *time.Time {
	var first *time.Time
	for _, t := range times {
		if t.IsZero() || t.After(now) {
			continue
		}
		if t = t.UTC().Truncate(time.Millisecond); first == nil || t.Before(*first) {
			first = &t
		}
	}
	return first
}

// readers is the largest number of concurrent reads in QuoteOneByOne.
const readers = 4

// QuoteOneByOne implements Quote of market.Venue for a venue that cannot return several ids in one request. It requests the
// markets one by one if their number is not greater than the parameter few. For more markets it reads the list of open
// markets instead. With the purpose market.ForConfirm, it always requests markets one by one, because reading the list takes
// too long. It omits ids for which the function own returns false, because they belong to other venues.
func QuoteOneByOne(
	ctx context.Context, v market.Venue, ids []protocol.MarketID, own func(protocol.MarketID) (string, bool), few int,
) ([]market.Record, error) {
	wanted := make(map[protocol.MarketID]bool, len(ids))
	list := make([]protocol.MarketID, 0, len(ids))
	for _, id := range ids {
		if _, ok := own(id); ok && !wanted[id] {
			wanted[id] = true
			list = append(list, id)
		}
	}
	if len(list) <= few || market.PurposeOf(ctx) == market.ForConfirm {
		return getEach(ctx, v, list)
	}
	var out []market.Record
	for cursor := ""; ; {
		page, next, err := v.ListOpen(ctx, cursor)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if wanted[page[i].ID] {
				delete(wanted, page[i].ID)
				out = append(out, page[i])
			}
		}
		if cursor = next; next == "" || len(wanted) == 0 {
			return out, nil
		}
	}
}

// getEach reads markets one by one, with at most readers concurrent reads. It omits markets whose read fails. It returns an
// error only if every read failed for a reason other than market.ErrNotFound.
func getEach(ctx context.Context, v market.Venue, ids []protocol.MarketID) ([]market.Record, error) {
	found, errs := make([]market.Record, len(ids)), make([]error, len(ids))
	var reads errgroup.Group
	reads.SetLimit(readers)
	for i, id := range ids {
		reads.Go(func() error {
			found[i], errs[i] = v.Get(ctx, id)
			return nil
		})
	}
	_ = reads.Wait() // the errors are in errs
	var out []market.Record
	answered := 0
	var failed error
	for i := range ids {
		switch {
		case errs[i] == nil:
			out = append(out, found[i])
			answered++
		case errors.Is(errs[i], market.ErrNotFound):
			answered++
		default:
			failed = errs[i]
		}
	}
	if answered == 0 && failed != nil {
		return nil, failed
	}
	return out, nil
}
