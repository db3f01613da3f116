package watch

import (
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// MaxMarkets is the maximum number of markets that a user watches.
const MaxMarkets = 1000

// ErrFull is the error of a new watch of a user who watches MaxMarkets markets.
var ErrFull = apperr.New(apperr.Conflict, "limit_reached", fmt.Sprintf("limit of %d watched markets reached; remove one first", MaxMarkets)).
	With("limit", MaxMarkets)

// Watch is a market that a user watches.
type Watch struct {
	MarketID  protocol.MarketID
	CreatedAt time.Time
}
