package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// MaxMarkets is the maximum number of markets that a user watches.
const MaxMarkets = 1000

// ErrFull is the error of a new watch of a user who watches MaxMarkets markets.
var ErrFull = apperr.New(apperr.Conflict, "limit_reached", fmt.Sprintf("limit of %d watched markets reached; remove one first", MaxMarkets)).
	With("limit", MaxMarkets)

// Store stores watches. Error of all methods: db_unavailable.
type Store interface {
	// Watch makes a user watch a market. A repeated call changes nothing. Error: ErrFull.
	Watch(ctx context.Context, user operator.ID, market protocol.MarketID, at time.Time) error
	// Unwatch makes a user no longer watch a market. A repeated call changes nothing.
	Unwatch(ctx context.Context, user operator.ID, market protocol.MarketID) error
	// ListWatched returns the markets that a user watches, the newest watch first, at most limit.
	ListWatched(ctx context.Context, user operator.ID, limit int) ([]Watch, error)
	// WatchedOf returns which of the markets a user watches.
	WatchedOf(ctx context.Context, user operator.ID, markets []protocol.MarketID) (map[protocol.MarketID]bool, error)
}

// Watch is a market that a user watches.
type Watch struct {
	MarketID  protocol.MarketID
	CreatedAt time.Time
}
