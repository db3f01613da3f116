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
	pageSize = 1000
	maxPages = 200 // the list ends here even if the venue never returns a last page
)

// ListOpen implements market.Venue. It lists the open markets by descending time of creation. The cursor contains this time,
// because the venue limits offsets to 1000.
func (a *Adapter) ListOpen(ctx context.Context, cursor string) ([]market.Record, string, error) {
	page, before, err := venue.ReadNumberCursor(cursor, maxPages)
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
		// The last millisecond of the previous page is requested again, because another market may have the same time.
		query.Set("beforeTime", strconv.FormatInt(before+1, 10))
	}
	requested := a.client.Now()
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
		if m := a.market(o, &answer, requested); m.Status == protocol.MarketOpen {
			out = append(out, m)
		}
	}
	if oldest <= 0 || page > 0 && oldest >= before || page+1 >= maxPages {
		return out, "", nil
	}
	return out, venue.Cursor(page+1, strconv.FormatInt(oldest, 10)), nil
}
