package network

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
)

// atOnce is how many answers of partners are read at the same time; each is held in
// memory until it is read.
const atOnce = 8

// Puller reads what the partners show. One runs at a time over all hubs.
type Puller struct {
	ledger *ledgerclient.Client
	reader Reader
	copies Copies
	now    func() time.Time
	// Failed hears of a partner whose answer was none; may be nil.
	Failed func(origin string, err error)
}

// NewPuller wires it.
func NewPuller(ledger *ledgerclient.Client, reader Reader, copies Copies, now func() time.Time) *Puller {
	return &Puller{ledger: ledger, reader: reader, copies: copies, now: now}
}

// Round reads every active partner once. One that fails keeps the copy before; who is
// not active any more is forgotten. Faults: those of the register and of the copies.
func (p *Puller) Round(ctx context.Context) error {
	list, err := partners(ctx, p.ledger)
	if err != nil {
		return fmt.Errorf("list partners: %w", err)
	}
	origins := make([]string, len(list))
	for i := range list {
		origins[i] = list[i].Origin
	}
	if err := p.copies.DropOthers(ctx, origins); err != nil {
		return fmt.Errorf("drop partners: %w", err)
	}
	var wg sync.WaitGroup
	slots, failures := make(chan struct{}, atOnce), make(chan error, 2*len(list))
	read := func(do func() error) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := do(); err != nil {
				failures <- err
			}
		})
	}
	for _, one := range list {
		if one.TapesURL != "" {
			read(func() error { return p.tapes(ctx, one) })
		}
		if one.OperatorsURL != "" {
			read(func() error { return p.operators(ctx, one) })
		}
	}
	wg.Wait()
	close(failures)
	return <-failures // nil: there is none
}

// tapes gives an error where the rows could not be kept; a partner that fails is none.
func (p *Puller) tapes(ctx context.Context, from Partner) error {
	list, err := p.reader.Tapes(ctx, from)
	if err != nil {
		p.failed(from, err)
		return nil
	}
	return p.copies.KeepTapes(ctx, from.Origin, list, p.now())
}

func (p *Puller) operators(ctx context.Context, from Partner) error {
	list, err := p.reader.Operators(ctx, from)
	if err != nil {
		p.failed(from, err)
		return nil
	}
	return p.copies.KeepOperators(ctx, from.Origin, list, p.now())
}

func (p *Puller) failed(from Partner, err error) {
	if p.Failed != nil {
		p.Failed(from.Origin, err)
	}
}
