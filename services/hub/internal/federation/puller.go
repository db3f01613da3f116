package federation

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
)

// atOnce is how many answers of partners are read at the same time; each is held in
// memory until it is read.
const atOnce = 8

// Puller reads what the partners show. One runs at a time over all hubs.
type Puller struct {
	ledger *ledgerclient.Client
	reader Reader
	store  Store
	now    func() time.Time
	// Failed hears of a partner whose answer was none; may be nil.
	Failed func(origin string, err error)
}

// NewPuller wires it.
func NewPuller(ledger *ledgerclient.Client, reader Reader, store Store, now func() time.Time) *Puller {
	return &Puller{ledger: ledger, reader: reader, store: store, now: now}
}

// Round reads every active partner once. One that fails keeps the copy before; who is
// not active any more is forgotten. Errors: those of the register and of the copies.
func (p *Puller) Round(ctx context.Context) error {
	list, err := partners(ctx, p.ledger)
	if err != nil {
		return fmt.Errorf("list partners: %w", err)
	}
	origins := make([]string, len(list))
	for i := range list {
		origins[i] = list[i].Origin
	}
	if err := p.store.DropOthers(ctx, origins); err != nil {
		return fmt.Errorf("drop partners: %w", err)
	}
	var work errgroup.Group // without a context, so that a failed write does not cancel the others
	work.SetLimit(atOnce)
	for _, one := range list {
		if one.TapesURL != "" {
			work.Go(func() error { return pull(ctx, p, one, p.reader.Tapes, p.store.KeepTapes) })
		}
		if one.OperatorsURL != "" {
			work.Go(func() error { return pull(ctx, p, one, p.reader.Operators, p.store.KeepOperators) })
		}
	}
	return work.Wait()
}

// pull reads one list of a partner and stores it. It returns an error of the store, and passes an error of the partner to Failed.
func pull[T any](
	ctx context.Context, p *Puller, from Partner,
	read func(context.Context, Partner) ([]T, error), keep func(context.Context, string, []T, time.Time) error,
) error {
	list, err := read(ctx, from)
	if err == nil {
		return keep(ctx, from.Origin, list, p.now())
	}
	if p.Failed != nil {
		p.Failed(from.Origin, err)
	}
	return nil
}
