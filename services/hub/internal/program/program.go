package program

import (
	"context"
	"time"
)

// Segment is one stretch of a lane.
type Segment struct {
	ID            string
	Kind          string // bumper, content
	MarketID      string
	Category      string
	Title         string
	StartsAt      time.Time
	EndsAt        time.Time
	MarketEndDate time.Time // zero: none
	EndsInMs      *int64    // to the market's end, from GeneratedAt
	YesPrice      *float64  // 0-100
	NoPrice       *float64  // 0-100
	Volume        *float64
	Bucket        string
	Status        string
	Signals       int64
	Tapes         int64
	Takes         int64
	Streams       int32
	EventKey      string // empty: none
	Provider      string
	Route         string
	PlannedAt     time.Time // when its slot was filled; zero: computed
}

// Lane is a row of the programme; Segments are indexes into the programme's.
type Lane struct {
	Key, Label string
	Segments   []int32
}

// Program is a computed or stored programme.
type Program struct {
	GeneratedAt time.Time
	Total       int32
	Segments    []Segment
	Lanes       []Lane
	Spec        []byte // canonical FilterSpec, a JSON object; empty: the stored default
	Degraded    string // the source that failed the clock; empty: the programme is whole
}

// Clock makes programmes. Fault: invalid_spec.
type Clock interface {
	Program(ctx context.Context, q Query) (Program, error)
}
