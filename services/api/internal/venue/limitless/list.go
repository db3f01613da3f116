package limitless

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

const (
	pageSize = 25  // largest page size that the venue allows
	maxPages = 400 // the list ends here even if the venue never returns a last page
)

// ListOpen implements market.Venue. Instead of a group it returns the markets of the group.
func (a *Adapter) ListOpen(ctx context.Context, cursor string) ([]market.Record, string, error) {
	page, seen, err := venue.ReadNumberCursor(cursor, maxPages+1)
	if err != nil {
		return nil, "", err
	}
	page = max(page, 1)
	requested := a.client.Now()
	var box struct {
		Data  *[]json.RawMessage `json:"data"`
		Total loosejson.Decimal  `json:"totalMarketsCount"`
	}
	answer, list, err := a.read.List(ctx, "list", "/markets/active", url.Values{
		"page": {strconv.Itoa(page)}, "limit": {strconv.Itoa(pageSize)},
	}, &box, &box.Data)
	if err != nil {
		return nil, "", err
	}
	var out []market.Record
	for i := range list {
		for _, m := range a.marketsOf(&list[i], &answer, requested) {
			if m.Status == protocol.MarketOpen {
				out = append(out, m)
			}
		}
	}
	n := int64(len(*box.Data))
	seen += n
	over := n == 0 || page >= maxPages
	if total, err := strconv.ParseInt(string(box.Total), 10, 64); err == nil && total > 0 {
		over = over || seen >= total
	} else {
		over = over || n < pageSize
	}
	if over {
		return out, "", nil
	}
	return out, venue.Cursor(page+1, strconv.FormatInt(seen, 10)), nil
}

// marketsOf returns the market of a record. For the record of a group it returns the markets of the group.
func (a *Adapter) marketsOf(o *object, answer *venue.Answer, requested time.Time) []market.Record {
	if o.unusable() == "" {
		p, _ := a.parents.Get(string(o.Slug)) // the zero parent if the market has no group
		m := a.derive(o, p, requested)
		m.Quote = o.quote(&m, answer)
		return []market.Record{m}
	}
	p := parent{slug: string(o.Slug), title: loosejson.Plain(string(o.Title), loosejson.MaxTitle)}
	var out []market.Record
	for _, r := range o.Markets {
		child, err := decode(r)
		if err != nil || child.unusable() != "" {
			a.client.Dropped("undecodable")
			continue
		}
		a.parents.Put(string(child.Slug), p)
		m := a.derive(&child, p, requested)
		m.Quote = child.quote(&m, answer)
		out = append(out, m)
	}
	return out
}
