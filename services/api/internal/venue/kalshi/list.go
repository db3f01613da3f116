package kalshi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/services/api/internal/venue"
)

const (
	// pageSize is events in a page; the venue allows 200, but with their markets
	// inside that comes near the largest answer that is read.
	pageSize    = 100
	quoteSize   = 100  // tickers in one request
	mostMarkets = 1000 // in one answer
	mostEvents  = 20   // events that one quote asks for; the walk along all of them brings the others
	mostPages   = 1000 // a walk ends here even if the venue never says that it is over
)

// List implements venue.Venue. It walks the events, whose records carry the
// category that the markets' own do not, and which leave out combinations.
func (a *Adapter) List(ctx context.Context, cursor string) ([]venue.Market, string, error) {
	page, after, err := readCursor(cursor)
	if err != nil {
		return nil, "", unavailable(err)
	}
	query := url.Values{"status": {"open"}, "with_nested_markets": {"true"}, "limit": {strconv.Itoa(pageSize)}}
	if after != "" {
		query.Set("cursor", after)
	}
	asked := a.now()
	answer, err := a.client.Read(ctx, "list", "/events", query)
	if err != nil {
		return nil, "", unavailable(err)
	}
	var box struct {
		Events *[]json.RawMessage `json:"events"`
		Cursor string             `json:"cursor"`
	}
	if err := json.Unmarshal(answer.Body, &box); err != nil || box.Events == nil {
		return nil, "", unavailable(fmt.Errorf("decode list: %w", errors.Join(err, errNone)))
	}
	var out []venue.Market
	records, readable := 0, 0
	for _, r := range *box.Events {
		var o eventObject
		if err := json.Unmarshal(r, &o); err != nil || !isTicker(string(o.Ticker)) {
			a.meter.Dropped(provider, "undecodable_event")
			records++
			continue
		}
		e := o.event()
		a.events.Put(string(o.Ticker), e)
		list, n := a.usable(o.Markets)
		records, readable = records+len(o.Markets), readable+n
		if len(list) > 0 {
			e = a.tagged(ctx, e)
		}
		for i := range list {
			if m := a.derive(&list[i], e, asked); m.Status == venue.Open {
				m.Quote = list[i].quote(&m, &answer)
				out = append(out, m)
			}
		}
	}
	if records > 0 && readable == 0 {
		return nil, "", unavailable(fmt.Errorf("none of %d records can be read", records))
	}
	if box.Cursor == "" || box.Cursor == after || len(*box.Events) == 0 || page+1 >= mostPages {
		return out, "", nil
	}
	return out, strconv.Itoa(page+1) + ":" + box.Cursor, nil
}

// readCursor reads our cursor: the number of the page and the venue's own
// cursor. The number is what makes every walk end.
func readCursor(cursor string) (page int, after string, err error) {
	if cursor == "" {
		return 0, "", nil
	}
	number, after, ok := strings.Cut(cursor, ":")
	page, err = strconv.Atoi(number)
	if !ok || err != nil || page < 1 || page >= mostPages || after == "" {
		return 0, "", fmt.Errorf("cursor %.40q is none of ours", cursor)
	}
	return page, after, nil
}
