package polymarket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

const (
	provider  = string(syntax.Polymarket)
	pageSize  = 100
	mostPages = 1000 // a walk ends here even if the venue never says that it is over
)

// Config tells where Polymarket is and how it is to be read.
type Config struct {
	GammaURL          string  // metadata service
	ClobURL           string  // order-book service
	RequestsPerSecond float64 // per host
	// PastEndIsProvisional makes an open market whose end has passed
	// provisional: known results keep taking orders there.
	PastEndIsProvisional bool
}

// Adapter is a venue.Venue. It is safe for concurrent use.
type Adapter struct {
	gamma, clob *venue.Client
	meter       *venue.Meter
	now         func() time.Time
	pastEnd     bool
	tokens      venue.Cache[string] // first token by market id; it never changes
}

// New checks the configuration; it does not contact the venue.
func New(c Config, meter *venue.Meter, now func() time.Time) (*Adapter, error) {
	gamma, err1 := venue.NewClient(provider, c.GammaURL, c.RequestsPerSecond, meter, now)
	clob, err2 := venue.NewClient(provider, c.ClobURL, c.RequestsPerSecond, meter, now)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return &Adapter{gamma: gamma, clob: clob, meter: meter, now: now, pastEnd: c.PastEndIsProvisional}, nil
}

// Provider implements venue.Venue.
func (a *Adapter) Provider() string { return provider }

// Get implements venue.Venue: one read of the metadata and, for an open market, one of the
// book, at the same time once the token of the market is known.
func (a *Adapter) Get(ctx context.Context, id string) (venue.Market, error) {
	if !digits(id, maxID) {
		return venue.Market{}, venue.ErrNotFound
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	asked := a.now()
	var wait func() *orderBook
	if token, known := a.tokens.Get(id); known {
		wait = inBackground(ctx, func(ctx context.Context) *orderBook { return a.readBook(ctx, token) })
	}
	raw, err := a.gamma.Get(ctx, "market", "/markets/"+id, url.Values{"include_tag": {"true"}})
	var refused *venue.RefusedError
	if errors.As(err, &refused) && (refused.Status == http.StatusNotFound || refused.Status == http.StatusUnprocessableEntity) {
		return venue.Market{}, venue.ErrNotFound
	}
	if err != nil {
		return venue.Market{}, unavailable(err)
	}
	o, err := decode(raw)
	if err != nil {
		a.meter.Dropped(provider, "undecodable")
		return venue.Market{}, unavailable(fmt.Errorf("decode market %s: %w", id, err))
	}
	if o.ID != id {
		a.meter.Dropped(provider, "another_market")
		return venue.Market{}, venue.ErrNotFound // no market is spelt so
	}
	d, ok := a.derive(&o, asked)
	if !ok {
		a.meter.Dropped(provider, "not_two_outcomes")
		return venue.Market{}, venue.ErrNotFound
	}
	if d.askBook {
		// Without an answer the market stays provisional and is asked again.
		if record, err := a.readRecord(ctx, d.ConditionID); err == nil {
			d.resolveByRecord(record, a.now())
		}
	}
	if d.Status == venue.Open {
		if wait == nil {
			wait = inBackground(ctx, func(ctx context.Context) *orderBook { return a.readBook(ctx, d.ClobTokenID) })
		}
		wait().price(&d.Market, a.now())
	}
	return d.Market, nil
}

// List implements venue.Venue.
func (a *Adapter) List(ctx context.Context, cursor string) ([]venue.Market, string, error) {
	page, after, err := readCursor(cursor)
	if err != nil {
		return nil, "", unavailable(err)
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
	if next == "" || next == after || page+1 >= mostPages {
		return markets, "", nil
	}
	return markets, strconv.Itoa(page+1) + ":" + next, nil
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

// page reads one list answer. A record that cannot be used is left out; an
// answer of which none can be used is no answer.
func (a *Adapter) page(ctx context.Context, op string, query url.Values) (markets []venue.Market, next string, err error) {
	asked := a.now()
	raw, err := a.gamma.Get(ctx, op, "/markets/keyset", query)
	if err != nil {
		return nil, "", unavailable(err)
	}
	var box struct {
		Markets *[]json.RawMessage `json:"markets"`
		Next    *string            `json:"next_cursor"`
	}
	if err := json.Unmarshal(raw, &box); err != nil || box.Markets == nil {
		return nil, "", unavailable(fmt.Errorf("decode list: no markets in it (%w)", errors.Join(err, errRecord)))
	}
	readable := 0
	for _, r := range *box.Markets {
		o, err := decode(r)
		if err != nil {
			a.meter.Dropped(provider, "undecodable")
			continue
		}
		readable++
		d, ok := a.derive(&o, asked)
		if !ok {
			a.meter.Dropped(provider, "not_two_outcomes")
			continue
		}
		markets = append(markets, d.Market)
	}
	if len(*box.Markets) > 0 && readable == 0 {
		return nil, "", unavailable(fmt.Errorf("none of %d records can be read", len(*box.Markets)))
	}
	if box.Next != nil && len(*box.Markets) > 0 {
		next = *box.Next
	}
	return markets, next, nil
}

// Quote implements venue.Venue. 100 markets take one read of metadata and one of books, at
// the same time; the books of markets whose token was not known take one more.
func (a *Adapter) Quote(ctx context.Context, ids []string) ([]venue.Market, error) {
	list := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !digits(id, maxID) })
	slices.Sort(list)
	list = slices.Compact(list)
	var out []venue.Market
	for start := 0; start < len(list); start += pageSize {
		markets, err := a.quotePage(ctx, list[start:min(start+pageSize, len(list))])
		if err != nil {
			return nil, err
		}
		out = append(out, markets...)
	}
	return out, nil
}

// quotePage reads the open ones of up to 100 markets, with their books.
func (a *Adapter) quotePage(ctx context.Context, ids []string) ([]venue.Market, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var known []string
	asked := make(map[string]bool, len(ids)) // by token
	for _, id := range ids {
		if token, ok := a.tokens.Get(id); ok {
			known, asked[token] = append(known, token), true
		}
	}
	wait := inBackground(ctx, func(ctx context.Context) map[string]*orderBook { return a.readBooks(ctx, known) })
	markets, _, err := a.page(ctx, "quote", url.Values{
		"id": ids, "closed": {"false"}, "limit": {strconv.Itoa(pageSize)}, "include_tag": {"true"},
	})
	if err != nil {
		return nil, err
	}
	markets = slices.DeleteFunc(markets, func(m venue.Market) bool { return !slices.Contains(ids, m.ID) })
	var missing []string
	for i := range markets {
		if m := &markets[i]; m.Status == venue.Open && !asked[m.ClobTokenID] {
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
		b.price(m, a.now())
	}
	return markets, nil
}

// unavailable makes every failure that is not the venue's "no" the one fault.
func unavailable(err error) error {
	if errors.Is(err, venue.ErrUnavailable) {
		return err
	}
	return venue.ErrUnavailable.Wrap(err)
}
