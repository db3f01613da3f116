package signal

import (
	"time"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Expected failures of a filing and of an event.
var (
	ErrUnauthenticated = apperr.New(apperr.Unauthenticated, "unauthenticated", "a valid operator key or session is required")
	ErrSettled         = apperr.New(apperr.Conflict, "market_closed", "market is settled").With("reason", "settled")
	ErrProvisional     = apperr.New(apperr.Conflict, "market_closed", "market is provisional").With("reason", "provisional")
	ErrPredicted       = apperr.New(apperr.Conflict, "already_predicted", "first call is locked")
	ErrKeyReused       = apperr.New(apperr.Conflict, "idempotency_key_reused", "this Idempotency-Key was used with another body")
	ErrNotFound        = apperr.New(apperr.NotFound, "not_found", "no such signal")
	ErrForbidden       = apperr.New(apperr.Forbidden, "forbidden", "only the owner of a signal may do this")
	ErrEventLimit      = apperr.New(apperr.Conflict, "event_limit_reached", "a signal holds at most 200 events")
	ErrInvalid         = apperr.New(apperr.Invalid, "invalid_body", "the call is out of bounds")
	ErrMoved           = apperr.New(apperr.Conflict, "price_moved", "the market's price is worse than yours by more than maxSlippageBps")
	ErrRefused         = apperr.New(apperr.Unavailable, "signal_service_unavailable", "the call could not be stored, try again").With("retryAfterMs", 1000)
	ErrBusy            = apperr.New(apperr.Unavailable, "db_unavailable", "too many calls wait to be written").With("retryAfterMs", 1000)
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
	MarketID         protocol.MarketID
	Side             protocol.Side
	Price            protocol.Bps
	ChannelID        *string
	Confidence       *int // 1-100
	CrowdYes         *protocol.Bps
	TimeToResolution *int // seconds
	Source           string
	MediaAssetID     *string
	TextTake         *string
	Reach            *int64
	CrowdLean        *protocol.Bps // audit payload only
	IdempotencyKey   *string
	BodyHash         []byte
	MaxSlippage      *protocol.Bps // most by which the price of the side may be worse than Price; nil: no limit
	AllowUnverified  bool          // MaxSlippage does not refuse a call without a fresh quote; no effect without MaxSlippage
	Venue            VenueWord
}

// validate returns invalid_body for a member that is out of bounds. The hub checks the same bounds before.
func (d *Draft) validate() error {
	switch {
	case d.Side != protocol.Yes && d.Side != protocol.No:
		return ErrInvalid.With("field", "direction")
	case !d.Price.Valid():
		return ErrInvalid.With("field", "priceAtPrediction")
	case d.CrowdYes != nil && !d.CrowdYes.Valid():
		return ErrInvalid.With("field", "crowdYesAtSignal")
	case d.CrowdLean != nil && !d.CrowdLean.Valid():
		return ErrInvalid.With("field", "crowdLeanBps")
	case d.Confidence != nil && (*d.Confidence < protocol.MinConfidence || *d.Confidence > protocol.MaxConfidence):
		return ErrInvalid.With("field", "confidence")
	case d.MaxSlippage != nil && !d.MaxSlippage.Valid():
		return ErrInvalid.With("field", "maxSlippageBps")
	case d.TimeToResolution != nil && (*d.TimeToResolution < 0 || *d.TimeToResolution > protocol.MaxTimeToResolution):
		return ErrInvalid.With("field", "timeToResolution")
	case d.IdempotencyKey != nil &&
		(*d.IdempotencyKey == "" || len(*d.IdempotencyKey) > protocol.MaxIdempotencyKey || len(d.BodyHash) != 32):
		return ErrInvalid.With("field", "idempotencyKey")
	}
	for _, t := range []struct {
		field string
		text  *string
		limit int
		lines bool
	}{
		{"channelId", d.ChannelID, protocol.MaxChannel, false},
		{"textTake", d.TextTake, protocol.MaxTake, true},
		{"mediaAssetId", d.MediaAssetID, protocol.MaxMediaAsset, false},
		{"source", &d.Source, 32, false},
	} {
		if t.text != nil && (utf8.RuneCountInString(*t.text) > t.limit || !protocol.IsText(*t.text, t.lines)) {
			return ErrInvalid.With("field", t.field)
		}
	}
	return nil
}

// VenueWord is the state of the request to a market's venue. The filing statement needs an
// answer for a market without a fresh quote, and for one that no venue has confirmed.
type VenueWord int16

// The states.
const (
	VenueSilent  VenueWord = iota // no request was made
	VenueAsked                    // a request was made: the ledger has the answer, or there is none
	VenueDenies                   // there is no such market
	VenueSkipped                  // no request may be made: a dry run
)

// Prices are the numbers of a call: those stored with it, or those of a refused one.
type Prices struct {
	Stated      protocol.Bps  // of the side called, after conversion
	Basis       protocol.Bps  // the scoring price at filing
	Verified    bool          // a fresh quote was known
	Rated       bool          // calls on the market count
	Unconfirmed bool          // of a dry run: no venue has confirmed the market, so Rated is not known
	MarketYes   *protocol.Bps // the middle
	Yes, No     *protocol.Bps // price of each side; nil without a fresh quote
	QuoteAt     *time.Time    // time of the quote by the venue's clock; nil for a native market
}

// Warnings names what the caller of a draft should know about its prices.
func (p Prices) Warnings(d Draft) []string {
	warnings := []string{}
	if p.Stated != d.Price {
		warnings = append(warnings, "price_converted")
	}
	side := p.of(d.Side)
	if side == nil && d.Venue == VenueSkipped {
		side = p.middle(d.Side)
	}
	if side != nil && distance(*side, p.Stated) > offMarket {
		warnings = append(warnings, "price_off_market")
	}
	if !p.Verified {
		warnings = append(warnings, "price_unverified")
	}
	if !p.Rated && !p.Unconfirmed {
		warnings = append(warnings, "market_unrated")
	}
	return warnings
}

// offMarket is the difference in bps from which a stated price has a warning.
const offMarket = 1000

func distance(a, b protocol.Bps) protocol.Bps {
	if a > b {
		return a - b
	}
	return b - a
}

func (p Prices) of(side protocol.Side) *protocol.Bps {
	if side == protocol.Yes {
		return p.Yes
	}
	return p.No
}

// middle returns the middle of a side, nil where the ledger has no price.
func (p Prices) middle(side protocol.Side) *protocol.Bps {
	if p.MarketYes == nil || side == protocol.Yes {
		return p.MarketYes
	}
	no := 10_000 - *p.MarketYes
	return &no
}

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
	Prices   Prices
	Warnings []string
}

// Row is a call as it was filed, with its result. Its members are the columns of the view signal_records in the same order, so
// that package postgres converts a whole row of the view to a Row. The compiler reports a difference between the two.
type Row struct {
	ID            string
	UserID        string
	PublicID      string
	ProviderID    string // raw; shown by the market ledger only
	Handle        string
	DisplayName   string
	Tier          protocol.Tier
	MarketID      string
	MarketTitle   string
	Lane          protocol.Lane
	Yes           bool // the side called
	PriceBps      protocol.Bps
	ScoreBasisBps protocol.Bps // scoring price of the filing
	CrowdYesBps   *protocol.Bps
	Confidence    *int
	TextTake      *string
	Source        string
	TTR           *int // seconds to the resolution, as the caller stated them
	CreatedAt     time.Time
	Status        protocol.SignalStatus
	Score         *int
	ResolvedAt    *time.Time
	Outcome       *protocol.Side
	ClosePrice    *protocol.Bps
	CLVBps        *int
	ScoredBps     protocol.Bps  // scoring price: of the result once there is one, else of the filing
	PriceVerified bool          // a fresh quote was known at the call
	Rated         bool          // the market was rated at the call
	MarketYesBps  *protocol.Bps // the ledger's YES price at the call
	ClosesAt      *time.Time    // the ledger's end date of the market at the call
	QuoteAt       *time.Time    // time of the quote at filing, by the venue's clock
	ConfirmedAt   *time.Time    // time of the second quote
	Reason        *string       // of a void: late or unknown_market; else nil
	Counted       *bool         // the call is part of points; nil while pending
	Unconfirmed   bool          // no venue has confirmed the market: not public
}

// Side returns the side called.
func (r *Row) Side() protocol.Side { return protocol.SideOf(r.Yes) }

// Record is a call as the API returns it.
type Record struct {
	Row
	LiveYes *protocol.Bps // open feed only
	Move    *int          // open feed only
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
