package limitless

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

const (
	provider = string(syntax.Limitless)
	mostKept = 20_000 // children whose group is remembered
)

// Config tells where Limitless is and how it is to be read.
type Config struct {
	URL               string
	RequestsPerSecond float64
}

// Adapter is a venue.Venue. It is safe for concurrent use.
type Adapter struct {
	client *venue.Client
	meter  *venue.Meter
	now    func() time.Time

	mu      sync.Mutex
	parents map[string]parent // by the slug of the child
}

// New checks the configuration; it does not contact the venue.
func New(c Config, meter *venue.Meter, now func() time.Time) (*Adapter, error) {
	client, err := venue.NewClient(provider, c.URL, c.RequestsPerSecond, meter, now)
	if err != nil {
		return nil, err
	}
	return &Adapter{client: client, meter: meter, now: now, parents: map[string]parent{}}, nil
}

// Provider implements venue.Venue.
func (a *Adapter) Provider() string { return provider }

// Get implements venue.Venue. A group is no market; its children are.
func (a *Adapter) Get(ctx context.Context, id string) (venue.Market, error) {
	slug, ok := key(id)
	if !ok {
		return venue.Market{}, venue.ErrNotFound
	}
	asked := a.now()
	answer, err := a.client.Read(ctx, "market", "/markets/"+slug, nil)
	if isMissing(err) {
		return venue.Market{}, venue.ErrNotFound
	}
	if err != nil {
		return venue.Market{}, unavailable(err)
	}
	o, err := decode(answer.Body)
	if err != nil {
		a.meter.Dropped(provider, "undecodable")
		return venue.Market{}, unavailable(fmt.Errorf("decode market %s: %w", slug, err))
	}
	if string(o.Slug) != slug {
		a.meter.Dropped(provider, "another_market")
		return venue.Market{}, venue.ErrNotFound // no market is spelt so
	}
	if o.group() {
		a.meter.Dropped(provider, "group")
		return venue.Market{}, venue.ErrNotFound
	}
	p, listed := a.parent(slug)
	m := a.derive(&o, p, asked)
	m.Short = !listed // it may be of a group
	m.Quote = o.quote(&m, &answer)
	a.readBook(ctx, &m, &o)
	return m, nil
}

// Quote implements venue.Venue. The venue has no read of several slugs: up to 25 markets are
// read one by one, more by a walk along the open ones. Second quotes are always read one by
// one: a walk takes longer than they may.
func (a *Adapter) Quote(ctx context.Context, ids []string) ([]venue.Market, error) {
	own := func(id string) bool {
		_, ok := key(id)
		return ok
	}
	return venue.QuoteOneByOne(ctx, a, ids, own, pageSize)
}

// parent is the group that a market was last listed under. The venue tells it
// only in its lists.
func (a *Adapter) parent(slug string) (p parent, listed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, listed = a.parents[slug]
	return p, listed
}

func (a *Adapter) adopt(slug string, p parent) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.parents) >= mostKept {
		clear(a.parents)
	}
	a.parents[slug] = p
}

// isMissing tells the venue's own "no such thing".
func isMissing(err error) bool {
	var refused *venue.RefusedError
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}

// unavailable makes every failure that is not the venue's "no" the one fault.
func unavailable(err error) error {
	if errors.Is(err, venue.ErrUnavailable) {
		return err
	}
	return venue.ErrUnavailable.Wrap(err)
}
