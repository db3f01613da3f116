package clip

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
)

// ReportEvery is the interval at which changed numbers of tapes are reported to the ledger.
const ReportEvery = 5 * time.Second

// repeatAfter is the age of a report after which the number is reported again. A ledger that was restored from a backup receives
// all numbers within this time.
const repeatAfter = 10 * time.Minute

// maxReported is the maximum number of markets in one report.
const maxReported = 500

// reportTime is the time limit of one report.
const reportTime = 900 * time.Millisecond

// Count is the number of tapes of a market: its ready clips, without those of operators that are not shown.
type Count struct {
	MarketID protocol.MarketID
	Tapes    int64
}

// ReportStore stores which numbers of tapes the ledger has received. Error of all methods: db_unavailable.
type ReportStore interface {
	// UnreportedTapes returns up to limit numbers of tapes that differ from the reported ones or were reported at or before
	// the time repeat.
	UnreportedTapes(ctx context.Context, repeat time.Time, limit int) ([]Count, error)
	// TapesReported stores that the ledger has received the numbers.
	TapesReported(ctx context.Context, list []Count, at time.Time) error
}

// Reporter reports the number of tapes of each market to the ledger. Only one process at a time should use it.
type Reporter struct {
	Store  ReportStore
	Ledger feedv1.FeedServiceClient
	Now    func() time.Time
}

// Report sends all numbers of tapes that the ledger has not received. Errors: db_unavailable, those of the ledger.
func (r *Reporter) Report(ctx context.Context) error {
	for {
		now := r.Now()
		list, err := r.Store.UnreportedTapes(ctx, now.Add(-repeatAfter), maxReported)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := r.send(ctx, list, now); err != nil {
			return err
		}
		if err := r.Store.TapesReported(ctx, list, now); err != nil || len(list) < maxReported {
			return err
		}
	}
}

func (r *Reporter) send(ctx context.Context, list []Count, now time.Time) error {
	m := &feedv1.PublishRequest{}
	for _, c := range list {
		m.Tapes = append(m.Tapes, &feedv1.Tapes{MarketId: string(c.MarketID), Tapes: c.Tapes, At: timestamppb.New(now)})
	}
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	_, err := r.Ledger.Publish(ctx, m)
	return err
}
