package manifold

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

const (
	pageSize  = 1000
	mostPages = 200 // a walk ends here even if the venue never says that it is over
)

// ListOpen implements market.Venue. It walks the open markets from the newest back
// by their time of creation: places in the list end at a thousand.
func (a *Adapter) ListOpen(ctx context.Context, cursor string) ([]market.Record, string, error) {
	page, before, err := venue.ReadNumberCursor(cursor, mostPages)
	if err == nil && before >= int64(latest) {
		err = venue.Unavailable(fmt.Errorf("cursor %.40q is out of range", cursor))
	}
	if err != nil {
		return nil, "", err
	}
	query := url.Values{
		"term": {""}, "filter": {"open"}, "contractType": {"BINARY"}, "sort": {"newest"}, "limit": {strconv.Itoa(pageSize)},
	}
	if page > 0 {
		// The last moment is asked for again: it may have had one more market.
		query.Set("beforeTime", strconv.FormatInt(before+1, 10))
	}
	asked := a.client.Now()
	var records *[]json.RawMessage
	answer, list, err := a.read.List(ctx, "list", "/search-markets", query, &records, &records)
	if err != nil {
		return nil, "", err
	}
	var out []market.Record
	oldest := int64(-1)
	for i := range list {
		o := &list[i]
		if at, sign, ok := moment(o.CreatedTime); ok && sign == 0 && (oldest < 0 || at.UnixMilli() < oldest) {
			oldest = at.UnixMilli()
		}
		if !a.read.Usable(o) {
			continue
		}
		if m := a.market(o, &answer, asked); m.Status == protocol.MarketOpen {
			out = append(out, m)
		}
	}
	if oldest <= 0 || page > 0 && oldest >= before || page+1 >= mostPages {
		return out, "", nil
	}
	return out, venue.Cursor(page+1, strconv.FormatInt(oldest, 10)), nil
}
