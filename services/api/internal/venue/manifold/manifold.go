package manifold

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

const (
	fewReads = 40   // markets that are read one by one; more cost less by a walk
	mostFull = 4096 // markets whose details are cached
)

// Adapter is a market.Venue. It is safe for concurrent use.
type Adapter struct {
	client *venue.Client
	wait   time.Duration
	read   venue.Records[object]
	full   venue.Cache[details] // by contract
}

// New returns an adapter that reads the API with its version: …/v0. wait is how long a result can be taken back.
func New(client *venue.Client, wait time.Duration) *Adapter {
	a := &Adapter{client: client, wait: wait, full: venue.Cache[details]{Most: mostFull}}
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
	asked := a.client.Now()
	answer, err := a.client.Read(ctx, "market", "/market/"+contract, nil)
	o, err := a.read.One(contract, answer.Body, err)
	if err != nil {
		return market.Record{}, err
	}
	return a.market(&o, &answer, asked), nil
}

// market returns the market of a record, with its quote.
func (a *Adapter) market(o *object, answer *venue.Answer, asked time.Time) market.Record {
	d, known := a.details(o)
	m := a.derive(o, d, known, asked)
	m.Quote = o.quote(&m, answer)
	return m
}

// Quote implements market.Venue. The venue's batch read of probabilities does not say which
// markets are closed, so up to 40 markets are read one by one, and more by a walk along the
// open ones. Second quotes are always read one by one: a walk takes longer than they may.
func (a *Adapter) Quote(ctx context.Context, ids []protocol.MarketID) ([]market.Record, error) {
	return venue.QuoteOneByOne(ctx, a, ids, key, fewReads)
}

// details returns the details of the record, or those of the last full record of the market, because lists leave them out. known
// is false if there are none.
func (a *Adapter) details(o *object) (d details, known bool) {
	d, full := o.details()
	if !full {
		return a.full.Get(string(o.ID))
	}
	a.full.Put(string(o.ID), d)
	return d, true
}
