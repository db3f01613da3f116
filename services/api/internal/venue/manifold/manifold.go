package manifold

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
	provider = string(syntax.Manifold)
	fewReads = 40   // markets that are read one by one; more cost less by a walk
	mostKept = 4096 // markets whose details are remembered
	// Wait is how long a result can be taken back, unless the configuration says
	// otherwise.
	Wait = time.Hour
)

// Config tells where Manifold is and how it is to be read.
type Config struct {
	URL               string // with its version: …/v0
	RequestsPerSecond float64
	Wait              time.Duration // before a result is final; 0 = Wait
}

// Adapter is a venue.Venue. It is safe for concurrent use.
type Adapter struct {
	client *venue.Client
	meter  *venue.Meter
	now    func() time.Time
	wait   time.Duration

	mu   sync.Mutex
	kept map[string]details // by contract
}

// New checks the configuration; it does not contact the venue.
func New(c Config, meter *venue.Meter, now func() time.Time) (*Adapter, error) {
	client, err := venue.NewClient(provider, c.URL, c.RequestsPerSecond, meter, now)
	if err != nil {
		return nil, err
	}
	if c.Wait < 0 {
		return nil, fmt.Errorf("%s wait %v must not be below 0", provider, c.Wait)
	}
	if c.Wait == 0 {
		c.Wait = Wait
	}
	return &Adapter{client: client, meter: meter, now: now, wait: c.Wait, kept: map[string]details{}}, nil
}

// Provider implements venue.Venue.
func (a *Adapter) Provider() string { return provider }

// Get implements venue.Venue.
func (a *Adapter) Get(ctx context.Context, id string) (venue.Market, error) {
	contract, ok := key(id)
	if !ok {
		return venue.Market{}, venue.ErrNotFound
	}
	asked := a.now()
	answer, err := a.client.Read(ctx, "market", "/market/"+contract, nil)
	if isMissing(err) {
		return venue.Market{}, venue.ErrNotFound
	}
	if err != nil {
		return venue.Market{}, unavailable(err)
	}
	o, err := decode(answer.Body)
	if err != nil {
		a.meter.Dropped(provider, "undecodable")
		return venue.Market{}, unavailable(fmt.Errorf("decode market %s: %w", contract, err))
	}
	if string(o.ID) != contract {
		a.meter.Dropped(provider, "another_market")
		return venue.Market{}, venue.ErrNotFound // no market is spelt so
	}
	if !a.binary(&o) {
		a.meter.Dropped(provider, "not_binary")
		return venue.Market{}, venue.ErrNotFound
	}
	d, known := a.details(&o)
	m := a.derive(&o, d, known, asked)
	m.Quote = o.quote(&m, &answer)
	return m, nil
}

// Quote implements venue.Venue. The venue's batch read of probabilities does not say which
// markets are closed, so up to 40 markets are read one by one, and more by a walk along the
// open ones. Second quotes are always read one by one: a walk takes longer than they may.
func (a *Adapter) Quote(ctx context.Context, ids []string) ([]venue.Market, error) {
	own := func(id string) bool {
		_, ok := key(id)
		return ok
	}
	return venue.QuoteOneByOne(ctx, a, ids, own, fewReads)
}

// details are those of the record, or of the last full record of the market:
// what a list leaves out is not gone. known is false where neither is there.
func (a *Adapter) details(o *object) (d details, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	contract := string(o.ID)
	d, full := o.details()
	if !full {
		d, known = a.kept[contract]
		return d, known
	}
	if _, known := a.kept[contract]; !known && len(a.kept) >= mostKept {
		for other := range a.kept {
			delete(a.kept, other)
			break
		}
	}
	a.kept[contract] = d
	return d, true
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
