package kalshi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

// detailTimeout is the timeout of the requests for an event and its series. A market is usable without them.
const detailTimeout = 400 * time.Millisecond

// Adapter implements market.Venue for Kalshi. It is safe for concurrent use.
type Adapter struct {
	client *venue.Client
	read   venue.Records[object]
	events venue.Cache[event]
	series venue.Cache[series]
}

// New returns an adapter that uses client. The base URL of the client must include the version: …/trade-api/v2.
func New(client *venue.Client) *Adapter {
	return &Adapter{client: client, read: venue.Records[object]{
		Client: client, Decode: decode, Key: func(o *object) string { return string(o.Ticker) }, Unusable: (*object).unusable,
	}}
}

// Get implements market.Venue. It reads a market that settled long ago from the archive.
func (a *Adapter) Get(ctx context.Context, id protocol.MarketID) (market.Record, error) {
	ticker, ok := key(id)
	if !ok {
		return market.Record{}, market.ErrNotFound
	}
	requested := a.client.Now()
	answer, err := a.client.Read(ctx, "market", "/markets/"+ticker, nil)
	if venue.Missing(err) {
		answer, err = a.client.Read(ctx, "archived_market", "/historical/markets/"+ticker, nil)
	}
	var box struct {
		Market json.RawMessage `json:"market"`
	}
	_ = json.Unmarshal(answer.Body, &box) // an invalid response leaves Market empty, which decode rejects
	o, err := a.read.One(ticker, box.Market, err)
	if err != nil {
		return market.Record{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, detailTimeout)
	defer cancel()
	return a.complete(ctx, &o, a.event(ctx, string(o.Event)), &answer, requested), nil
}

// complete returns the market of a record with its quote. For a settled market, URL is the settlement source of its series,
// if that is known.
func (a *Adapter) complete(ctx context.Context, o *object, e event, answer *venue.Answer, requested time.Time) market.Record {
	m := a.derive(o, e, requested)
	m.Quote = o.quote(&m, answer)
	if m.Status == protocol.MarketResolved {
		if s, err := a.readSeries(ctx, e.series); err == nil && s.source != "" {
			m.URL = s.source
		}
	}
	return m
}

// Quote implements market.Venue. It requests up to 100 markets at a time.
func (a *Adapter) Quote(ctx context.Context, ids []protocol.MarketID) ([]market.Record, error) {
	wanted := make(map[string]bool, len(ids))
	tickers := make([]string, 0, len(ids))
	for _, id := range ids {
		if ticker, ok := key(id); ok && !wanted[ticker] {
			wanted[ticker] = true
			tickers = append(tickers, ticker)
		}
	}
	var out []market.Record
	eventsLeft := maxEvents
	for start := 0; start < len(tickers); start += quoteSize {
		part := tickers[start:min(start+quoteSize, len(tickers))]
		requested := a.client.Now()
		var box struct {
			Markets *[]json.RawMessage `json:"markets"`
		}
		answer, list, err := a.read.List(ctx, "quote", "/markets", url.Values{
			"tickers": {strings.Join(part, ",")}, "limit": {fmt.Sprint(maxMarkets)},
		}, &box, &box.Markets)
		if err != nil {
			return nil, err
		}
		for i := range list {
			if !a.read.Usable(&list[i]) || !wanted[string(list[i].Ticker)] {
				continue
			}
			e, known := a.events.Get(string(list[i].Event))
			switch {
			case known:
			case eventsLeft > 0:
				eventsLeft--
				e = a.event(ctx, string(list[i].Event))
			default:
				e.unread = true
			}
			out = append(out, a.complete(ctx, &list[i], a.tagged(ctx, e), &answer, requested))
		}
	}
	return out, nil
}
