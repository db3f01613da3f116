package signal

import (
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
)

// Expected failures of a filing and of an event.
var (
	ErrUnauthenticated = fault.New(fault.Unauthenticated, "unauthenticated", "a valid operator key or session is required")
	ErrSettled         = fault.New(fault.Conflict, "market_closed", "market is settled").With("reason", "settled")
	ErrProvisional     = fault.New(fault.Conflict, "market_closed", "market is provisional").With("reason", "provisional")
	ErrPredicted       = fault.New(fault.Conflict, "already_predicted", "first call is locked")
	ErrKeyReused       = fault.New(fault.Conflict, "idempotency_key_reused", "this Idempotency-Key was used with another body")
	ErrNotFound        = fault.New(fault.NotFound, "not_found", "no such signal")
	ErrForbidden       = fault.New(fault.Forbidden, "forbidden", "only the owner of a signal may do this")
	ErrEventLimit      = fault.New(fault.Conflict, "event_limit_reached", "a signal holds at most 200 events")
	ErrInvalid         = fault.New(fault.Invalid, "invalid_body", "the call is out of bounds")
	ErrBusy            = fault.New(fault.Unavailable, "db_unavailable", "too many calls wait to be written").With("retryAfterMs", 1000)
)

// MaxEvents is the most events that one signal holds.
const MaxEvents = 200

// Caller is who acts: a key by its hash, checked in the statement that acts on
// it, or an operator whose session the front door verified.
type Caller struct {
	KeyHash    []byte // SHA-256, 32 bytes; nil when OperatorID is set
	OperatorID string // uuid
}

// Draft is a call to file. Price is the price of the side called.
type Draft struct {
	ID               string // uuid v7 made by the front door: a retry carries the same one
	MarketID         syntax.MarketID
	Side             syntax.Side
	Price            syntax.Bps
	MarketTitle      *string
	ChannelID        *string
	Confidence       *int // 1-100
	CrowdYes         *syntax.Bps
	TimeToResolution *int // seconds
	Source           string
	MediaAssetID     *string
	TextTake         *string
	Reach            *int64
	CrowdLean        *syntax.Bps // audit payload only
	IdempotencyKey   *string
	BodyHash         []byte
	Venue            VenueWord
}

// VenueWord is what the venue of a market said that it never answered for.
type VenueWord int16

// The words. Nobody asks before the filing statement has found a stub.
const (
	VenueSilent VenueWord = iota // it was not asked
	VenueAsked                   // it is away, or has answered by now
	VenueDenies                  // there is no such market
)

// Call is a draft and who files it.
type Call struct {
	Caller Caller
	Draft  Draft
}

// Answer is what came of one of many calls.
type Answer struct {
	Filed Filed
	Err   error
	Alone bool // nothing was done: the call has to be filed alone
}

// MaxReach caps the audience that a client reports.
const MaxReach = 100_000

// Filed is the answer to a filing.
type Filed struct {
	ID       string
	Replayed bool // the first result of the same draft or idempotency key
}

// Record is a signal as it reads: the row that was filed joined with its result.
type Record struct {
	ID               string
	PublicID         string
	ProviderID       string // raw; shown by the market ledger only
	Handle           string
	DisplayName      string
	Tier             syntax.Tier
	MarketID         string
	MarketTitle      string
	Lane             syntax.Lane
	Side             syntax.Side
	Price            syntax.Bps
	CrowdYes         *syntax.Bps
	Confidence       *int
	TextTake         *string
	Source           string
	TimeToResolution *int
	CreatedAt        time.Time
	Status           syntax.SignalStatus
	Score            *int
	ResolvedAt       *time.Time
	Outcome          *syntax.Side
	ClosePrice       *syntax.Bps
	CLV              *int
	LiveYes          *syntax.Bps // open feed only
	Move             *int        // open feed only
}

// Event is one entry of a signal's history. Payload is a JSON object.
type Event struct {
	ID        string
	Type      string
	Payload   string
	Actor     *string
	CreatedAt time.Time
}

// FeedType names one of the three feeds of contract 4.2.6.
type FeedType string

// The feeds; an unknown name reads as Recent.
const (
	Recent    FeedType = "recent"
	BeatCrowd FeedType = "beat_crowd"
	Open      FeedType = "open"
)

// ParseFeedType falls back to Recent.
func ParseFeedType(s string) FeedType {
	switch t := FeedType(s); t {
	case BeatCrowd, Open:
		return t
	}
	return Recent
}

// Ledger is a page of one market's signals with its totals.
type Ledger struct {
	Yes, No int64
	Signals []Record
	Next    string // cursor, empty at the end
}

// Crowd is how the operators that count as crowd stand on a market.
type Crowd struct {
	Yes, No       int64
	TopYesPercent *int // consensus of the top forecasters, with TopSample
	TopSample     int
	Own           *Record
	UpdatedAt     time.Time
}
