package limitless

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

const (
	provider = string(syntax.Limitless)
	readers  = 4      // markets that are read at a time
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
	wanted := make(map[string]bool, len(ids))
	list := make([]string, 0, len(ids))
	for _, id := range ids {
		if _, ok := key(id); ok && !wanted[id] {
			wanted[id] = true
			list = append(list, id)
		}
	}
	if len(list) <= pageSize || market.PurposeOf(ctx) == market.ForConfirm {
		return a.each(ctx, list)
	}
	var out []venue.Market
	for cursor := ""; ; {
		page, next, err := a.List(ctx, cursor)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if wanted[page[i].ID] {
				delete(wanted, page[i].ID)
				out = append(out, page[i])
			}
		}
		if cursor = next; next == "" || len(wanted) == 0 {
			return out, nil
		}
	}
}

// each reads markets one by one, a few at a time. Those that fail are left out;
// it is a fault only when none was answered for.
func (a *Adapter) each(ctx context.Context, ids []string) ([]venue.Market, error) {
	found, errs := make([]venue.Market, len(ids)), make([]error, len(ids))
	places := make(chan struct{}, readers)
	var wait sync.WaitGroup
	for i, id := range ids {
		places <- struct{}{}
		wait.Go(func() {
			defer func() { <-places }()
			found[i], errs[i] = a.Get(ctx, id)
		})
	}
	wait.Wait()
	var out []venue.Market
	answered := 0
	var failed error
	for i := range ids {
		switch {
		case errs[i] == nil:
			out = append(out, found[i])
			answered++
		case errors.Is(errs[i], venue.ErrNotFound):
			answered++
		default:
			failed = errs[i]
		}
	}
	if answered == 0 && failed != nil {
		return nil, failed
	}
	return out, nil
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
