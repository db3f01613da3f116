package manifold

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
	pageSize  = 1000
	mostPages = 200 // a walk ends here even if the venue never says that it is over
)

// List implements venue.Venue. It walks the open markets from the newest back
// by their time of creation: places in the list end at a thousand.
func (a *Adapter) List(ctx context.Context, cursor string) ([]venue.Market, string, error) {
	page, before, err := readCursor(cursor)
	if err != nil {
		return nil, "", unavailable(err)
	}
	query := url.Values{
		"term": {""}, "filter": {"open"}, "contractType": {"BINARY"}, "sort": {"newest"}, "limit": {strconv.Itoa(pageSize)},
	}
	if page > 0 {
		// The last moment is asked for again: it may have had one more market.
		query.Set("beforeTime", strconv.FormatInt(before+1, 10))
	}
	asked := a.now()
	answer, err := a.client.Read(ctx, "list", "/search-markets", query)
	if err != nil {
		return nil, "", unavailable(err)
	}
	var records []json.RawMessage
	if err := json.Unmarshal(answer.Body, &records); err != nil || records == nil {
		return nil, "", unavailable(fmt.Errorf("decode list: %w", errors.Join(err, errNone)))
	}
	var out []venue.Market
	readable, oldest := 0, int64(-1)
	for _, r := range records {
		o, err := decode(r)
		if err != nil {
			a.meter.Dropped(provider, "undecodable")
			continue
		}
		readable++
		if at, sign, ok := moment(o.CreatedTime); ok && sign == 0 && (oldest < 0 || at.UnixMilli() < oldest) {
			oldest = at.UnixMilli()
		}
		if !a.binary(&o) {
			a.meter.Dropped(provider, "not_binary")
			continue
		}
		d, known := a.details(&o)
		if m := a.derive(&o, d, known, asked); m.Status == venue.Open {
			m.Quote = o.quote(&m, &answer)
			out = append(out, m)
		}
	}
	if len(records) > 0 && readable == 0 {
		return nil, "", unavailable(fmt.Errorf("none of %d records can be read", len(records)))
	}
	if oldest <= 0 || page > 0 && oldest >= before || page+1 >= mostPages {
		return out, "", nil
	}
	return out, strconv.Itoa(page+1) + ":" + strconv.FormatInt(oldest, 10), nil
}

// readCursor reads our cursor: the number of the page and the oldest moment of
// the one before. Moments fall from page to page, and the number is what makes
// every walk end soon.
func readCursor(cursor string) (page int, before int64, err error) {
	if cursor == "" {
		return 0, 0, nil
	}
	number, moment, ok := strings.Cut(cursor, ":")
	page, err1 := strconv.Atoi(number)
	before, err2 := strconv.ParseInt(moment, 10, 64)
	if !ok || err1 != nil || err2 != nil || page < 1 || page >= mostPages || before < 1 || before >= int64(latest) {
		return 0, 0, fmt.Errorf("cursor %.40q is none of ours", cursor)
	}
	return page, before, nil
}
