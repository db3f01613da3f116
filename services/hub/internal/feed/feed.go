package feed

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Event is one numbered event. Members that it does not have are empty.
type Event struct {
	Seq      int64
	Type     string
	At       time.Time
	Handle   string
	MarketID syntax.MarketID
	Data     string // one JSON object
}

// Query selects the newest events.
type Query struct {
	Types []string    // empty: every type
	Lane  syntax.Lane // empty: every lane
	Limit int
}

// Page is the newest events, the newest first, and the newest number of the feed:
// whoever goes on behind it misses nothing.
type Page struct {
	Events []Event
	Head   int64
}

// Reader reads the record. Faults: db_unavailable.
type Reader interface {
	Newest(ctx context.Context, q Query) (Page, error)
}
