package kalshi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

const (
	provider = string(syntax.Kalshi)
	// patience bounds the reads of event and series, which a market can do without.
	patience = 400 * time.Millisecond
)

// Config tells where Kalshi is and how it is to be read.
type Config struct {
	URL               string // trade API, with its version: …/trade-api/v2
	RequestsPerSecond float64
}

// Adapter is a venue.Venue. It is safe for concurrent use.
type Adapter struct {
	client *venue.Client
	meter  *venue.Meter
	now    func() time.Time
	events venue.Cache[event]
	series venue.Cache[series]

	mu       sync.Mutex // guards what follows
	cutoff   time.Time  // markets settled before it are in the archive
	cutoffAt time.Time  // when that was read
}

// New checks the configuration; it does not contact the venue.
func New(c Config, meter *venue.Meter, now func() time.Time) (*Adapter, error) {
	client, err := venue.NewClient(provider, c.URL, c.RequestsPerSecond, meter, now)
	if err != nil {
		return nil, err
	}
	return &Adapter{client: client, meter: meter, now: now}, nil
}

// Provider implements venue.Venue.
func (a *Adapter) Provider() string { return provider }

// Get implements venue.Venue. A market that settled long ago is read from the
// archive.
func (a *Adapter) Get(ctx context.Context, id string) (venue.Market, error) {
	ticker, ok := key(id)
	if !ok {
		return venue.Market{}, venue.ErrNotFound
	}
	asked := a.now()
	answer, err := a.client.Read(ctx, "market", "/markets/"+ticker, nil)
	if isMissing(err) {
		answer, err = a.client.Read(ctx, "archived_market", "/historical/markets/"+ticker, nil)
	}
	switch {
	case isMissing(err):
		return venue.Market{}, venue.ErrNotFound
	case err != nil:
		return venue.Market{}, unavailable(err)
	}
	var box struct {
		Market json.RawMessage `json:"market"`
	}
	if err := json.Unmarshal(answer.Body, &box); err != nil || box.Market == nil {
		a.meter.Dropped(provider, "undecodable")
		return venue.Market{}, unavailable(fmt.Errorf("decode market %s: %w", ticker, errors.Join(err, errNone)))
	}
	o, err := decode(box.Market)
	if err != nil {
		a.meter.Dropped(provider, "undecodable")
		return venue.Market{}, unavailable(fmt.Errorf("decode market %s: %w", ticker, err))
	}
	if string(o.Ticker) != ticker {
		a.meter.Dropped(provider, "another_market")
		return venue.Market{}, venue.ErrNotFound // no market is spelt so
	}
	if o.combination() {
		a.meter.Dropped(provider, "combination")
		return venue.Market{}, venue.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return a.complete(ctx, &o, a.event(ctx, string(o.Event)), &answer, asked), nil
}

// complete returns the market of a record, with its quote and, once it is settled, the page
// that the result was taken from.
func (a *Adapter) complete(ctx context.Context, o *object, e event, answer *venue.Answer, asked time.Time) venue.Market {
	m := a.derive(o, e, asked)
	m.Quote = o.quote(&m, answer)
	if m.Settled {
		if s, err := a.readSeries(ctx, e.series); err == nil && s.source != "" {
			m.ProofURL = s.source
		}
	}
	return m
}

// Quote implements venue.Venue, with one request for 100 markets.
func (a *Adapter) Quote(ctx context.Context, ids []string) ([]venue.Market, error) {
	wanted := make(map[string]bool, len(ids))
	tickers := make([]string, 0, len(ids))
	for _, id := range ids {
		if ticker, ok := key(id); ok && !wanted[ticker] {
			wanted[ticker] = true
			tickers = append(tickers, ticker)
		}
	}
	var out []venue.Market
	asking := mostEvents
	for start := 0; start < len(tickers); start += quoteSize {
		part := tickers[start:min(start+quoteSize, len(tickers))]
		asked := a.now()
		answer, err := a.client.Read(ctx, "quote", "/markets", url.Values{
			"tickers": {strings.Join(part, ",")}, "limit": {fmt.Sprint(mostMarkets)},
		})
		if err != nil {
			return nil, unavailable(err)
		}
		var box struct {
			Markets *[]json.RawMessage `json:"markets"`
		}
		if err := json.Unmarshal(answer.Body, &box); err != nil || box.Markets == nil {
			return nil, unavailable(fmt.Errorf("decode markets: %w", errors.Join(err, errNone)))
		}
		list, readable := a.usable(*box.Markets)
		if len(*box.Markets) > 0 && readable == 0 {
			return nil, unavailable(fmt.Errorf("none of %d records can be read", len(*box.Markets)))
		}
		for i := range list {
			if !wanted[string(list[i].Ticker)] {
				continue
			}
			e, known := a.events.Get(string(list[i].Event))
			switch {
			case known:
			case asking > 0:
				asking--
				e = a.event(ctx, string(list[i].Event))
			default:
				e.unread = true
			}
			out = append(out, a.complete(ctx, &list[i], a.tagged(ctx, e), &answer, asked))
		}
	}
	return out, nil
}

// usable decodes records; those that cannot be used are left out and counted.
func (a *Adapter) usable(raw []json.RawMessage) (list []object, readable int) {
	for _, r := range raw {
		o, err := decode(r)
		if err != nil {
			a.meter.Dropped(provider, "undecodable")
			continue
		}
		readable++
		if o.combination() {
			a.meter.Dropped(provider, "combination")
			continue
		}
		list = append(list, o)
	}
	return list, readable
}

// unavailable makes every failure that is not the venue's "no" the one fault.
func unavailable(err error) error {
	if errors.Is(err, venue.ErrUnavailable) {
		return err
	}
	return venue.ErrUnavailable.Wrap(err)
}
