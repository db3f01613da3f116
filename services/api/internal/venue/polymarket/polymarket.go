package polymarket

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

const (
	pageSize = 100
	maxPages = 1000 // the list ends here even if the venue never returns a last page
)

// Adapter implements market.Venue and history.Venue for Polymarket. It is safe for concurrent use.
type Adapter struct {
	gamma, clob *venue.Client // metadata service and order-book service
	pastEnd     bool
	read        venue.Records[object]
	tokens      venue.Cache[string] // first token by market id; a token never changes
}

// New returns an adapter. gamma is the client of the metadata service, and clob is the client of the order-book service. If
// pastEnd is true, an open market is provisional after its end date, because the venue accepts orders even when the result is
// known.
func New(gamma, clob *venue.Client, pastEnd bool) *Adapter {
	return &Adapter{gamma: gamma, clob: clob, pastEnd: pastEnd, read: venue.Records[object]{
		Client: gamma, Decode: decode, Key: func(o *object) string { return o.ID }, Unusable: (*object).unusable,
	}}
}

// Get implements market.Venue. It reads the metadata of a market and, if the market is open, its order book. The two
// requests are concurrent if the token of the market is cached.
func (a *Adapter) Get(ctx context.Context, id protocol.MarketID) (market.Record, error) {
	key := string(id)
	if !digits(key, maxID) {
		return market.Record{}, market.ErrNotFound
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requested := a.gamma.Now()
	var wait func() *orderBook
	if token, known := a.tokens.Get(key); known {
		wait = inBackground(ctx, func(ctx context.Context) *orderBook { return a.readBook(ctx, token) })
	}
	raw, err := a.gamma.Get(ctx, "market", "/markets/"+key, url.Values{"include_tag": {"true"}})
	if venue.Missing(err, http.StatusUnprocessableEntity) {
		return market.Record{}, market.ErrNotFound
	}
	o, err := a.read.One(key, raw, err)
	if err != nil {
		return market.Record{}, err
	}
	d := a.derive(&o, requested)
	if d.askBook {
		// Without a response the market remains provisional and is requested again later.
		if record, err := a.readRecord(ctx, d.ConditionID); err == nil {
			d.resolveByRecord(record, a.gamma.Now())
		}
	}
	if d.Status == protocol.MarketOpen {
		if wait == nil {
			wait = inBackground(ctx, func(ctx context.Context) *orderBook { return a.readBook(ctx, d.ClobTokenID) })
		}
		wait().price(&d.Record, a.gamma.Now())
	}
	return d.Record, nil
}

// ListOpen implements market.Venue.
func (a *Adapter) ListOpen(ctx context.Context, cursor string) ([]market.Record, string, error) {
	page, after, err := venue.ReadCursor(cursor, maxPages)
	if err != nil {
		return nil, "", err
	}
	query := url.Values{
		"closed": {"false"}, "limit": {strconv.Itoa(pageSize)}, "include_tag": {"true"}, "order": {"volumeNum"}, "ascending": {"false"},
	}
	if after != "" {
		query.Set("after_cursor", after)
	}
	markets, next, err := a.page(ctx, "list", query)
	if err != nil {
		return nil, "", err
	}
	if next == "" || next == after || page+1 >= maxPages {
		return markets, "", nil
	}
	return markets, venue.Cursor(page+1, next), nil
}

// page reads one page of a list of markets and omits unusable records. Error: market.ErrUnavailable, also if none of the
// records can be decoded.
func (a *Adapter) page(ctx context.Context, op string, query url.Values) (markets []market.Record, next string, err error) {
	requested := a.gamma.Now()
	var box struct {
		Markets *[]json.RawMessage `json:"markets"`
		Next    *string            `json:"next_cursor"`
	}
	_, list, err := a.read.List(ctx, op, "/markets/keyset", query, &box, &box.Markets)
	if err != nil {
		return nil, "", err
	}
	for i := range list {
		if a.read.Usable(&list[i]) {
			markets = append(markets, a.derive(&list[i], requested).Record)
		}
	}
	if box.Next != nil && len(*box.Markets) > 0 {
		next = *box.Next
	}
	return markets, next, nil
}

// Quote implements market.Venue. For each 100 markets it concurrently reads one page of metadata and one list of order
// books. It then reads a second list with the order books of the markets whose token was not cached.
func (a *Adapter) Quote(ctx context.Context, ids []protocol.MarketID) ([]market.Record, error) {
	list := slices.DeleteFunc(slices.Clone(ids), func(id protocol.MarketID) bool { return !digits(string(id), maxID) })
	slices.Sort(list)
	list = slices.Compact(list)
	var out []market.Record
	for start := 0; start < len(list); start += pageSize {
		markets, err := a.quotePage(ctx, list[start:min(start+pageSize, len(list))])
		if err != nil {
			return nil, err
		}
		out = append(out, markets...)
	}
	return out, nil
}

// quotePage reads the metadata of up to 100 markets and returns the markets that are not closed. Open markets have the quotes
// of their order books.
func (a *Adapter) quotePage(ctx context.Context, ids []protocol.MarketID) ([]market.Record, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var keys, known []string
	requested := make(map[string]bool, len(ids)) // by token
	for _, id := range ids {
		keys = append(keys, string(id))
		if token, ok := a.tokens.Get(string(id)); ok {
			known, requested[token] = append(known, token), true
		}
	}
	wait := inBackground(ctx, func(ctx context.Context) map[string]*orderBook { return a.readBooks(ctx, known) })
	markets, _, err := a.page(ctx, "quote", url.Values{
		"id": keys, "closed": {"false"}, "limit": {strconv.Itoa(pageSize)}, "include_tag": {"true"},
	})
	if err != nil {
		return nil, err
	}
	markets = slices.DeleteFunc(markets, func(m market.Record) bool { return !slices.Contains(ids, m.ID) })
	var missing []string
	for i := range markets {
		if m := &markets[i]; m.Status == protocol.MarketOpen && !requested[m.ClobTokenID] {
			missing = append(missing, m.ClobTokenID)
		}
	}
	books := wait()
	more := inBackground(ctx, func(ctx context.Context) map[string]*orderBook { return a.readBooks(ctx, missing) })()
	for i := range markets {
		m, b := &markets[i], books[markets[i].ClobTokenID]
		if b == nil {
			b = more[m.ClobTokenID]
		}
		b.price(m, a.gamma.Now())
	}
	return markets, nil
}
