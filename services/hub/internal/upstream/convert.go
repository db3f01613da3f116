package upstream

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// readTime bounds a read that asks the ledger for what it holds; it waits 300 ms
// for its own database. Reads that may go on to a venue, and writes, have the
// time of their request.
const readTime = 900 * time.Millisecond

func brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, readTime)
}

// at reads a time that may be missing; missing is the zero time.
func at(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// stamp writes a time that may be missing.
func stamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}
