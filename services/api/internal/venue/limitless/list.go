package limitless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

const (
	pageSize  = 25  // the most that the venue allows
	mostPages = 400 // a walk ends here even if the venue never says that it is over
)

// List implements venue.Venue. Of a group it gives the children.
func (a *Adapter) List(ctx context.Context, cursor string) ([]venue.Market, string, error) {
	page, seen, err := readCursor(cursor)
	if err != nil {
		return nil, "", unavailable(err)
	}
	asked := a.now()
	answer, err := a.client.Read(ctx, "list", "/markets/active", url.Values{"page": {strconv.Itoa(page)}, "limit": {strconv.Itoa(pageSize)}})
	if err != nil {
		return nil, "", unavailable(err)
	}
	var box struct {
		Data  *[]json.RawMessage `json:"data"`
		Total wire.Decimal       `json:"totalMarketsCount"`
	}
	if err := json.Unmarshal(answer.Body, &box); err != nil || box.Data == nil {
		return nil, "", unavailable(fmt.Errorf("decode list: %w", errors.Join(err, errNone)))
	}
	var out []venue.Market
	readable := 0
	for _, r := range *box.Data {
		o, err := decode(r)
		if err != nil {
			a.meter.Dropped(provider, "undecodable")
			continue
		}
		readable++
		for _, m := range a.family(&o, &answer, asked) {
			if m.Status == venue.Open {
				out = append(out, m)
			}
		}
	}
	n := len(*box.Data)
	if n > 0 && readable == 0 {
		return nil, "", unavailable(fmt.Errorf("none of %d records can be read", n))
	}
	seen += n
	over := n == 0 || page >= mostPages
	if total, err := strconv.Atoi(string(box.Total)); err == nil && total > 0 {
		over = over || seen >= total
	} else {
		over = over || n < pageSize
	}
	if over {
		return out, "", nil
	}
	return out, strconv.Itoa(page+1) + ":" + strconv.Itoa(seen), nil
}

// family is the market of a record, or the markets of a group.
func (a *Adapter) family(o *object, answer *venue.Answer, asked time.Time) []venue.Market {
	if !o.group() {
		p, _ := a.parent(string(o.Slug)) // without a group it is on its own
		m := a.derive(o, p, asked)
		m.Quote = o.quote(&m, answer)
		return []venue.Market{m}
	}
	p := parent{slug: string(o.Slug), title: wire.Plain(string(o.Title), maxQuestion)}
	var out []venue.Market
	for _, r := range o.Markets {
		child, err := decode(r)
		if err != nil || child.group() {
			a.meter.Dropped(provider, "undecodable")
			continue
		}
		a.adopt(string(child.Slug), p)
		m := a.derive(&child, p, asked)
		m.Quote = child.quote(&m, answer)
		out = append(out, m)
	}
	return out
}

// readCursor reads our cursor: the number of the page and how many records came
// before it. The number is what makes every walk end.
func readCursor(cursor string) (page, seen int, err error) {
	if cursor == "" {
		return 1, 0, nil
	}
	number, before, ok := strings.Cut(cursor, ":")
	page, err1 := strconv.Atoi(number)
	seen, err2 := strconv.Atoi(before)
	if !ok || err1 != nil || err2 != nil || page < 2 || page > mostPages || seen < 1 {
		return 0, 0, fmt.Errorf("cursor %.40q is none of ours", cursor)
	}
	return page, seen, nil
}
