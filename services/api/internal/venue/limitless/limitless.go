package limitless

import (
	"context"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

const maxParents = 20_000 // largest number of markets whose group is cached

// Adapter implements market.Venue for Limitless. It is safe for concurrent use.
type Adapter struct {
	client *venue.Client
	read   venue.Records[object]
	// parents caches the group under which a market was last listed, by the slug of the market. Only lists contain the
	// group.
	parents venue.Cache[parent]
}

// New returns an adapter that uses client.
func New(client *venue.Client) *Adapter {
	return &Adapter{client: client, parents: venue.Cache[parent]{Most: maxParents}, read: venue.Records[object]{
		Client: client, Decode: decode, Key: func(o *object) string { return string(o.Slug) }, Unusable: (*object).unusable,
	}}
}

// Get implements market.Venue. For the id of a group it returns market.ErrNotFound, because only the members of a group are
// markets.
func (a *Adapter) Get(ctx context.Context, id protocol.MarketID) (market.Record, error) {
	slug, ok := key(id)
	if !ok {
		return market.Record{}, market.ErrNotFound
	}
	requested := a.client.Now()
	answer, err := a.client.Read(ctx, "market", "/markets/"+slug, nil)
	o, err := a.read.One(slug, answer.Body, err)
	if err != nil {
		return market.Record{}, err
	}
	p, listed := a.parents.Get(slug)
	m := a.derive(&o, p, requested)
	m.Short = !listed // the market may belong to a group
	m.Quote = o.quote(&m, &answer)
	a.readBook(ctx, &m, &o)
	return m, nil
}

// Quote implements market.Venue. The venue cannot return several slugs in one request. Quote therefore requests up to 25
// markets one by one. For more markets it reads the list of open markets instead. With the purpose market.ForConfirm, it
// always requests markets one by one, because reading the list takes too long.
func (a *Adapter) Quote(ctx context.Context, ids []protocol.MarketID) ([]market.Record, error) {
	return venue.QuoteOneByOne(ctx, a, ids, key, pageSize)
}
