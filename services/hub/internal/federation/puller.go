package federation

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
)

// atOnce is the maximum number of concurrent requests to partners. It limits memory use, because each response is in memory
// while it is parsed.
const atOnce = 8

// Puller reads the lists of all partners and stores them. One hub at a time runs it.
type Puller struct {
	ledger *ledgerclient.Client
	reader Reader
	store  Store
	now    func() time.Time
	// Failed receives the error of a partner whose list could not be read; may be nil.
	Failed func(origin string, err error)
}

// NewPuller returns a Puller that gets the partners from ledger, reads their lists with reader, and stores the lists in store.
func NewPuller(ledger *ledgerclient.Client, reader Reader, store Store, now func() time.Time) *Puller {
	return &Puller{ledger: ledger, reader: reader, store: store, now: now}
}

// Round reads the lists of each active partner once. If a read fails, the stored list of the partner remains. Round deletes the
// stored lists of inactive partners. Errors: those of the ledger and of the store.
func (p *Puller) Round(ctx context.Context) error {
	list, err := partners(ctx, p.ledger)
	if err != nil {
		return fmt.Errorf("list partners: %w", err)
	}
	origins := make([]string, len(list))
	for i := range list {
		origins[i] = list[i].Origin
	}
	if err := p.store.DeleteOthers(ctx, origins); err != nil {
		return fmt.Errorf("drop partners: %w", err)
	}
	var work errgroup.Group // without a context, so that a failed write does not cancel the others
	work.SetLimit(atOnce)
	for _, one := range list {
		if one.TapesURL != "" {
			work.Go(func() error { return pull(ctx, p, one, p.reader.Tapes, p.store.ReplaceTapes) })
		}
		if one.OperatorsURL != "" {
			work.Go(func() error { return pull(ctx, p, one, p.reader.Operators, p.store.ReplaceOperators) })
		}
	}
	return work.Wait()
}

// pull reads one list of a partner and stores it. It returns errors of the store only. It passes an error of the partner to
// p.Failed.
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
