package main

import (
	"context"
	"fmt"
)

// scaleBase is the size that the larger ones are held against.
const scaleBase = 10_000

// scale compares a large ledger with a small one: both run at once and take turns.
func (b *bench) scale(ctx context.Context) error {
	for _, size := range b.ledgers {
		if err := b.scaleTo(ctx, size); err != nil {
			return fmt.Errorf("%d calls: %w", size, err)
		}
	}
	return nil
}

func (b *bench) scaleTo(ctx context.Context, size int) error {
	small, err := startLedger(ctx, b.dir, b.buffers, scaleBase)
	if err != nil {
		return err
	}
	defer small.stop(b.logs)
	large, err := startLedger(ctx, b.dir, b.buffers, size)
	if err != nil {
		return err
	}
	defer large.stop(b.logs)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"verify", func() error { return b.verify(ctx, small, large) }},
		{"plans", func() error { return b.comparePlans(ctx, small, large) }},
		{"doors", func() error { return b.compareDoors(ctx, small, large) }},
		{"recount", func() error { return b.recount(ctx, large) }},
		{"write", func() error { return b.compareWrites(ctx, small, large) }},
		{"change", func() error { return b.compareChange(ctx, small, large) }},
		{"export", func() error { return b.export(ctx, large) }},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// verify lets the product itself say that what was filled in is right; of many millions
// of calls only the counters, and those when they are timed.
func (b *bench) verify(ctx context.Context, ledgers ...*archive) error {
	for _, l := range ledgers {
		if l.size > 2_000_000 {
			continue
		}
		if err := l.command(ctx, "boards", "verify"); err != nil {
			return err
		}
	}
	return nil
}
