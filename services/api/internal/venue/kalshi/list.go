package kalshi

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

const (
	// pageSize is the number of events on a page. The venue allows 200, but 200 events with their markets can exceed the
	// largest response that the client reads.
	pageSize   = 100
	quoteSize  = 100  // largest number of tickers in one request
	maxMarkets = 1000 // largest number of markets in one response
	maxEvents  = 20   // largest number of events that one Quote requests; ListOpen reads the others
	maxPages   = 1000 // the list ends here even if the venue never returns a last page
)

// ListOpen implements market.Venue. It lists events with their markets, because only events have a category, and because the
// list of events omits combinations of markets.
func (a *Adapter) ListOpen(ctx context.Context, cursor string) ([]market.Record, string, error) {
	page, after, err := venue.ReadCursor(cursor, maxPages)
	if err != nil {
		return nil, "", err
	}
	query := url.Values{"status": {"open"}, "with_nested_markets": {"true"}, "limit": {strconv.Itoa(pageSize)}}
	if after != "" {
		query.Set("cursor", after)
	}
	requested := a.client.Now()
	var box struct {
		Events *[]json.RawMessage `json:"events"`
		Cursor string             `json:"cursor"`
	}
	answer, err := venue.ReadList(ctx, a.client, "list", "/events", query, &box, &box.Events)
	if err != nil {
		return nil, "", err
	}
	var out []market.Record
	var failed error
	readable := 0
	for _, r := range *box.Events {
		var o eventObject
		if err := json.Unmarshal(r, &o); err != nil || !isTicker(string(o.Ticker)) {
			a.client.Dropped("undecodable_event")
			failed = venue.Unavailable(errors.Join(err, errRecord))
			continue
		}
		e := o.event()
		a.events.Put(string(o.Ticker), e)
		list, err := a.read.All(o.Markets)
		if err != nil {
			failed = err
			continue
		}
		readable += len(list)
		list = slices.DeleteFunc(list, func(o object) bool { return !a.read.Usable(&o) })
		if len(list) > 0 {
			e = a.tagged(ctx, e)
		}
		for i := range list {
			if m := a.derive(&list[i], e, requested); m.Status == protocol.MarketOpen {
				m.Quote = list[i].quote(&m, &answer)
				out = append(out, m)
			}
		}
	}
	if failed != nil && readable == 0 {
		return nil, "", failed
	}
	if box.Cursor == "" || box.Cursor == after || len(*box.Events) == 0 || page+1 >= maxPages {
		return out, "", nil
	}
	return out, venue.Cursor(page+1, box.Cursor), nil
}
