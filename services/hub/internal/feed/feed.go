package feed

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Event is one numbered event. Members that it does not have are empty.
type Event struct {
	Seq      int64
	ID       string // uuid
	Type     string
	At       time.Time
	Handle   string
	MarketID syntax.MarketID
	Data     string // one JSON object
}

// Query selects the newest events, or the newest below a number.
type Query struct {
	Types  []string    // empty: every type
	Lane   syntax.Lane // empty: every lane
	Limit  int
	Before int64  // only older ones than this number; 0: from the newest
	Topic  string // of segment events, only those of this channel of a programme; empty: all
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
