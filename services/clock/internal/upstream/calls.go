package upstream

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/syntax"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

const (
	// callPage is how many calls of a market are read at once, the newest first.
	callPage = 500
	// callPages bounds one count. What a count does not reach was filed before a flood that
	// came later, and is not counted.
	callPages = 40
)

// Calls is the ledger's record of calls.
type Calls struct {
	read signalv1.SignalReadServiceClient
}

// NewCalls uses a connection to the ledger.
func NewCalls(cc grpc.ClientConnInterface) *Calls {
	return &Calls{signalv1.NewSignalReadServiceClient(cc)}
}

// CountCalls implements program.Calls.
func (c *Calls) CountCalls(ctx context.Context, market syntax.MarketID, from, to time.Time) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var n int64
	cursor := ""
	for range callPages {
		r, err := c.read.ListLedger(ctx, &signalv1.ListLedgerRequest{MarketId: string(market), Limit: callPage, Cursor: cursor})
		if err != nil {
			return 0, fmt.Errorf("list calls: %w", err)
		}
		for _, s := range r.GetSignals() {
			at := s.GetCreatedAt().AsTime()
			if at.Before(from) {
				return n, nil
			}
			if at.Before(to) {
				n++
			}
		}
		if cursor = r.GetNextCursor(); cursor == "" {
			break
		}
	}
	return n, nil
}
