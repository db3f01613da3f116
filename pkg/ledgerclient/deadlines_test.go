package ledgerclient_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// recorder is a connection that answers every call and records the time until its deadline.
type recorder struct {
	grpc.ClientConnInterface
	left time.Duration // 0: no deadline
}

func (r *recorder) Invoke(ctx context.Context, _ string, _, _ any, _ ...grpc.CallOption) error {
	r.left = 0
	if deadline, ok := ctx.Deadline(); ok {
		r.left = time.Until(deadline)
	}
	return nil
}

func TestReadsOfStoredFactsHaveDeadlines(t *testing.T) {
	conn := &recorder{}
	ledger := ledgerclient.New(conn)
	for _, c := range []struct {
		name  string
		call  func(context.Context) error
		limit time.Duration // 0: no deadline
	}{
		{"stored signal", func(ctx context.Context) error {
			_, err := ledger.Signals.GetSignal(ctx, &signalv1.GetSignalRequest{})
			return err
		}, 900 * time.Millisecond},
		{"statistics", func(ctx context.Context) error {
			_, err := ledger.Records.GetSkill(ctx, &recordv1.GetSkillRequest{})
			return err
		}, 5 * time.Second},
		{"market that may be requested from a venue", func(ctx context.Context) error {
			_, err := ledger.Markets.GetMarket(ctx, &marketv1.GetMarketRequest{})
			return err
		}, 0},
		{"filing", func(ctx context.Context) error {
			_, err := ledger.SignalWrites.File(ctx, &signalv1.FileRequest{})
			return err
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.call(t.Context()); err != nil {
				t.Fatal(err)
			}
			if conn.left > c.limit || (conn.left > 0) != (c.limit > 0) {
				t.Errorf("the timeout of the call is %v, want %v", conn.left, c.limit)
			}
		})
	}
}
