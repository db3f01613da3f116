package manifold

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

const (
	fewReads = 40   // largest number of markets that one Quote reads one by one
	maxFull  = 4096 // largest number of markets whose details are cached
)

// Adapter implements market.Venue for Manifold. It is safe for concurrent use.
type Adapter struct {
	client *venue.Client
	wait   time.Duration
	read   venue.Records[object]
	full   venue.Cache[details] // by market id
}

// New returns an adapter that uses client. The base URL of the client must include the version: …/v0. wait is the time after
// a resolution in which the creator of the market can withdraw it.
func New(client *venue.Client, wait time.Duration) *Adapter {
	a := &Adapter{client: client, wait: wait, full: venue.Cache[details]{Most: maxFull}}
	a.read = venue.Records[object]{
		Client: client, Decode: decode, Key: func(o *object) string { return string(o.ID) }, Unusable: a.unusable,
	}
	return a
}

// Get implements market.Venue.
func (a *Adapter) Get(ctx context.Context, id protocol.MarketID) (market.Record, error) {
	contract, ok := key(id)
	if !ok {
		return market.Record{}, market.ErrNotFound
	}
	requested := a.client.Now()
	answer, err := a.client.Read(ctx, "market", "/market/"+contract, nil)
	o, err := a.read.One(contract, answer.Body, err)
	if err != nil {
		return market.Record{}, err
	}
	return a.market(&o, &answer, requested), nil
}

// market converts a market record to a market with its quote.
func (a *Adapter) market(o *object, answer *venue.Answer, requested time.Time) market.Record {
	d, known := a.details(o)
	m := a.derive(o, d, known, requested)
	m.Quote = o.quote(&m, answer)
	return m
}

// Quote implements market.Venue. It requests up to 40 markets one by one. For more markets it reads the list of open markets
// instead. With the purpose market.ForConfirm, it always requests markets one by one, because reading the list takes too
// long. The venue's batch read of probabilities is not used, because it does not contain the status.
func (a *Adapter) Quote(ctx context.Context, ids []protocol.MarketID) ([]market.Record, error) {
	return venue.QuoteOneByOne(ctx, a, ids, key, fewReads)
}

// details returns the description and the topics in a record. For a short record from a list, it returns the cached details
// of the last full record of that market. known is false if there are none.
func (a *Adapter) details(o *object) (d details, known bool) {
	d, full := o.details()
	if !full {
		return a.full.Get(string(o.ID))
	}
	a.full.Put(string(o.ID), d)
	return d, true
}
