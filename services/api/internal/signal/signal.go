package signal

import (
	"time"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Errors of filing and of events that are reported to the client.
var (
	ErrUnauthenticated = apperr.New(apperr.Unauthenticated, "unauthenticated", "a valid operator key or session is required")
	ErrSettled         = apperr.New(apperr.Conflict, "market_closed", "the market no longer accepts calls: it is closed or resolved").With("reason", "settled")
	ErrProvisional     = apperr.New(apperr.Conflict, "market_closed", "the market no longer accepts calls: its outcome is being decided").With("reason", "provisional")
	ErrPredicted       = apperr.New(apperr.Conflict, "already_predicted", "you already have a call on this market; the first call is final")
	ErrKeyReused       = apperr.New(apperr.Conflict, "idempotency_key_reused", "this Idempotency-Key was used with another body")
	ErrNotFound        = apperr.New(apperr.NotFound, "not_found", "no such signal")
	ErrForbidden       = apperr.New(apperr.Forbidden, "forbidden", "only the owner of a call may do this")
	ErrEventLimit      = apperr.New(apperr.Conflict, "event_limit_reached", "limit of 200 events per call reached")
	ErrInvalid         = apperr.New(apperr.Invalid, "invalid_body", "a member of the call is out of bounds")
	ErrMoved           = apperr.New(apperr.Conflict, "price_moved", "the market's price is worse than yours by more than maxSlippageBps")
	ErrRefused         = apperr.New(apperr.Unavailable, "signal_service_unavailable", "the call could not be stored; retry in 1 s").With("retryAfterMs", 1000)
	ErrBusy            = apperr.New(apperr.Unavailable, "db_unavailable", "the service is overloaded; retry in 1 s").With("retryAfterMs", 1000)
)

// MaxEvents is the maximum number of events of one call.
const MaxEvents = 200

// Caller identifies the caller: by the hash of a key, which the writing statement verifies, or by an operator whose session
// the hub has verified.
type Caller struct {
	KeyHash    []byte // SHA-256, 32 bytes; nil when OperatorID is set
	OperatorID string // uuid
}

// Draft is a call to file. Price is the price of the side called.
type Draft struct {
	ID               string // UUIDv7 made by the hub; a retry has the same id
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
	CrowdLean        *protocol.Bps // stored in the audit payload only
	IdempotencyKey   *string
	BodyHash         []byte
	MaxSlippage      *protocol.Bps // maximum by which the price of the side may be worse than Price; nil: no limit
	AllowUnverified  bool          // accept a call without a fresh quote in spite of MaxSlippage
	Venue            VenueState
}

// validate returns invalid_body for a member that is out of bounds. The hub checks the same bounds earlier.
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

// VenueState is the state of the request to a market's venue. The filing statement requires this request for a market without
// a fresh quote, and for a market that no venue has confirmed.
type VenueState int16

// States of the request to a venue.
const (
	VenueNotRequested VenueState = iota // no request was made
	VenueRequested                      // a request was made; its result, if any, is stored
	VenueHasNoMarket                    // the venue has no such market
	VenueSkipped                        // no request may be made: a dry run
)

// Prices are the prices of a stored or rejected call.
type Prices struct {
	Stated      protocol.Bps  // price of the side called, after conversion
	Basis       protocol.Bps  // scoring price at filing
	Verified    bool          // a fresh quote existed
	Rated       bool          // calls on the market count
	Unconfirmed bool          // dry run: no venue has confirmed the market, so Rated is unknown
	MarketYes   *protocol.Bps // middle price
	Yes, No     *protocol.Bps // price of each side; nil without a fresh quote
	QuoteAt     *time.Time    // time of the quote by the venue's clock; nil for a native market
}

// Warnings returns the codes of warnings about the prices of a draft.
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

// offMarket is the difference in bps above which a stated price gets a warning.
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

// middle returns the middle price of a side; nil without a price.
func (p Prices) middle(side protocol.Side) *protocol.Bps {
	if p.MarketYes == nil || side == protocol.Yes {
		return p.MarketYes
	}
	no := 10_000 - *p.MarketYes
	return &no
}

// Call is a draft and its caller.
type Call struct {
	Caller Caller
	Draft  Draft
}

// Answer is the result of one of several calls.
type Answer struct {
	Filed Filed
	Err   error
	Alone bool // the call was not processed and must be filed separately
}

// MaxReach is the maximum reach that a client may report.
const MaxReach = 100_000

// Filed is the result of filing a call.
type Filed struct {
	ID       string
	Replayed bool // the call was stored earlier, with the same id or idempotency key
	Prices   Prices
	Warnings []string
}

// Row is a call as it was filed, with its result. Its members are the columns of the view signal_records in the same order, so
// that package postgres converts a whole row of the view to a Row. The compiler reports a difference between the two.
type Row struct {
	ID            string
	UserID        string
	PublicID      string
	ProviderID    string // raw; only in the ledger of a market
	Handle        string
	DisplayName   string
	Tier          protocol.Tier
	MarketID      string
	MarketTitle   string
	Lane          protocol.Lane
	Yes           bool // the side called
	PriceBps      protocol.Bps
	ScoreBasisBps protocol.Bps // scoring price at filing
	CrowdYesBps   *protocol.Bps
	Confidence    *int
	TextTake      *string
	Source        string
	TTR           *int // seconds to the resolution, as stated by the caller
	CreatedAt     time.Time
	Status        protocol.SignalStatus
	Score         *int
	ResolvedAt    *time.Time
	Outcome       *protocol.Side
	ClosePrice    *protocol.Bps
	CLVBps        *int
	ScoredBps     protocol.Bps  // scoring price: that of the result if there is one, else that of the filing
	PriceVerified bool          // a fresh quote existed at the call
	Rated         bool          // the market was rated at the call
	MarketYesBps  *protocol.Bps // the ledger's YES price at the call
	ClosesAt      *time.Time    // the ledger's end date of the market at the call
	QuoteAt       *time.Time    // time of the quote at filing, by the venue's clock
	ConfirmedAt   *time.Time    // time of the second quote
	Reason        *string       // reason of a void: late or unknown_market; else nil
	Counted       *bool         // the call is in points; nil while pending
	Unconfirmed   bool          // no venue has confirmed the market; the call is not public
}

// Side returns the side called.
func (r *Row) Side() protocol.Side { return protocol.SideOf(r.Yes) }

// Record is a call as the API returns it.
type Record struct {
	Row
	LiveYes *protocol.Bps // only in the feed Open
	Move    *int          // only in the feed Open
}

// Event is an event of a call. Payload is a JSON object.
type Event struct {
	ID        string
	Type      string
	Payload   string
	Actor     *string
	CreatedAt time.Time
}

// FeedType is the name of one of the three feeds of calls.
type FeedType string

// Feeds of calls. An unknown name selects Recent.
const (
	Recent    FeedType = "recent"
	BeatCrowd FeedType = "beat_crowd"
	Open      FeedType = "open"
)

// ParseFeedType returns the feed with a name, or Recent for an unknown name.
func ParseFeedType(s string) FeedType {
	switch t := FeedType(s); t {
	case BeatCrowd, Open:
		return t
	}
	return Recent
}

// Ledger is a page of one market's calls with its totals.
type Ledger struct {
	Yes, No int64
	Signals []Record
	Next    string // cursor, empty at the end
}

// Crowd is the opinion of the operators that count as crowd on a market.
type Crowd struct {
	Yes, No       int64
	TopYesPercent *int // share of the top operators that call YES; set with TopSample
	TopSample     int
	Own           *Record
	UpdatedAt     time.Time
}
