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
	small, err := startLedger(ctx, b.dir, scaleBase)
	if err != nil {
		return err
	}
	defer small.stop(b.logs)
	large, err := startLedger(ctx, b.dir, size)
	if err != nil {
		return err
	}
	defer large.stop(b.logs)
	if err := b.comparePlans(ctx, small, large); err != nil {
		return fmt.Errorf("plans: %w", err)
	}
	return nil
}
