package market

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Bounds of a pin.
const (
	MaxPinText  = 80
	MinPosition = 1
	MaxPosition = 100 // where a pin stands that was given no place
	MaxPins     = 200 // that are listed
	MaxTiles    = 40
)

// Pin puts a market in front of the heatmap, under words of its own where it has any.
type Pin struct {
	MarketID  syntax.MarketID
	Label     *string
	Tagline   *string
	Position  int32 // the lowest first
	CreatedAt time.Time
}

// Pins keeps the pins. Fault: db_unavailable.
type Pins interface {
	// Pins lists the first pins in their order, limit at most.
	Pins(ctx context.Context, limit int) ([]Pin, error)
	// Pin puts a pin in the place of the one before on its market, which keeps its
	// time of creation, and gives it back as it is kept.
	Pin(ctx context.Context, p Pin) (Pin, error)
	// Unpin tells whether there was a pin.
	Unpin(ctx context.Context, id syntax.MarketID) (bool, error)
}
