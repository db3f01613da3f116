package signal

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Errors of filing calls and of adding events to calls. Clients receive the codes and texts.
var (
	ErrUnauthenticated = apperr.ErrCredentialUnknown.WithText("the operator key or session is unknown or was revoked")
	ErrSettled         = apperr.New(apperr.Conflict, "market_closed",
		"the market no longer accepts calls: it is resolved").With("reason", "settled")
	ErrProvisional = apperr.New(apperr.Conflict, "market_closed",
		"the market accepts no calls now: it is not open, past its end or disputed, or its outcome is being decided").
		With("reason", "provisional")
	ErrPredicted = apperr.New(apperr.Conflict, "already_predicted",
		"you already have a call on this market; the first call is final")
	ErrKeyReused = apperr.New(apperr.Conflict, "idempotency_key_reused",
		"this Idempotency-Key was used with another body; use a new key")
	ErrNotFound   = apperr.New(apperr.NotFound, "not_found", "no such call")
	ErrForbidden  = apperr.New(apperr.Forbidden, "forbidden", "only the operator who filed the call may do this")
	ErrEventLimit = apperr.New(apperr.Conflict, "event_limit_reached", "limit of 200 events of a call reached; no more can be added")
	ErrInvalid    = apperr.New(apperr.Invalid, "invalid_body", "the call has a member with an invalid value")
	ErrMoved      = apperr.New(apperr.Conflict, "price_moved",
		"the side costs more than your price plus maxSlippageBps; state the current price")
	ErrRefused = apperr.New(apperr.Unavailable, "signal_service_unavailable",
		"storing the call failed; retry in 1 s").With("retryAfterMs", 1000)
	ErrBusy = apperr.New(apperr.Unavailable, "db_unavailable",
		"the service is overloaded; retry in 1 s").With("retryAfterMs", 1000)
)

// MaxEvents is the maximum number of events of one call.
const MaxEvents = 200

// Caller identifies the operator who files a call: either by the hash of an operator key, which the SQL statement verifies, or
// by the id of an operator whose session the hub has verified.
type Caller struct {
	KeyHash    []byte // SHA-256, 32 bytes; nil when OperatorID is set
	OperatorID string // uuid
}

// Draft is a call to file. Price is the stated price of Side.
type Draft struct {
	ID               string // UUIDv7 that the hub has created; a retry has the same id
	MarketID         protocol.MarketID
	Side             protocol.Side
	Price            protocol.Bps
	ChannelID        *string
	Confidence       *int // 1 to 100
	CrowdYes         *protocol.Bps
	TimeToResolution *int // seconds
	Source           string
	MediaAssetID     *string
	TextTake         *string
	Reach            *int64
	ClobToken        string        // order-book token of the market as the caller states it; empty: none
	CrowdLean        *protocol.Bps // stored only in the audit log
	IdempotencyKey   *string
	BodyHash         []byte
	MaxSlippage      *protocol.Bps // maximum by which the price of the side may be worse than Price; nil: no limit
	AllowUnverified  bool          // accept a call without a fresh quote in spite of MaxSlippage
	Venue            VenueState
}

// validate returns invalid_body with the name of the first invalid member. The hub checks the same bounds before it sends a
// call.
func (d *Draft) validate() error {
	switch {
	case d.Side != protocol.Yes && d.Side != protocol.No:
		return invalid("direction", "must be YES or NO")
	case !d.Price.Valid():
		return invalid("priceAtPrediction", mustBeBps)
	case d.CrowdYes != nil && !d.CrowdYes.Valid():
		return invalid("crowdYesAtSignal", mustBeBps)
	case d.CrowdLean != nil && !d.CrowdLean.Valid():
		return invalid("crowdLeanBps", mustBeBps)
	case d.Confidence != nil && (*d.Confidence < protocol.MinConfidence || *d.Confidence > protocol.MaxConfidence):
		return invalid("confidence", "must be an integer from %d to %d", protocol.MinConfidence, protocol.MaxConfidence)
	case d.MaxSlippage != nil && !d.MaxSlippage.Valid():
		return invalid("maxSlippageBps", mustBeBps)
	case d.TimeToResolution != nil && (*d.TimeToResolution < 0 || *d.TimeToResolution > protocol.MaxTimeToResolution):
		return invalid("timeToResolution", "must be an integer from 0 to %d (seconds)", protocol.MaxTimeToResolution)
	case d.IdempotencyKey != nil &&
		(*d.IdempotencyKey == "" || len(*d.IdempotencyKey) > protocol.MaxIdempotencyKey || len(d.BodyHash) != 32):
		return invalid("idempotencyKey", "must have 1 to %d characters, and the hash of the body must be sent with it",
			protocol.MaxIdempotencyKey)
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
			form := "must have at most %d characters and no control characters"
			if t.lines {
				form += " except line feeds"
			}
			return invalid(t.field, form, t.limit)
		}
	}
	return nil
}

const mustBeBps = "must be an integer from 0 to 10000 (bps)"

// invalid returns ErrInvalid for a member of a call. The text from format and args states the valid values of the member.
func invalid(field, format string, args ...any) error {
	return ErrInvalid.WithText("%s %s", field, fmt.Sprintf(format, args...)).With("field", field)
}

// VenueState is the state of the request to a market's venue. The filing statement requires this request for a market without
// a fresh quote, and for a market that no venue has confirmed.
type VenueState int16

// Values of VenueState.
const (
	VenueNotRequested VenueState = iota // no request was made
	VenueRequested                      // a request was made; its result, if any, is stored
	VenueHasNoMarket                    // the venue has no such market
	VenueSkipped                        // no request may be made: a dry run
)

// Prices contains the prices that the database computes when a call is filed, also for a rejected call.
type Prices struct {
	Stated      protocol.Bps  // price of the side called, after Repair
	Basis       protocol.Bps  // scoring price at filing
	Verified    bool          // a fresh quote existed
	Rated       bool          // the market is rated: calls on it count
	Unconfirmed bool          // in a dry run: no venue has confirmed the market, so Rated is unknown
	MarketYes   *protocol.Bps // middle price of YES; nil if unknown
	Yes, No     *protocol.Bps // price of each side; nil without a fresh quote
	QuoteAt     *time.Time    // time of the quote by the clock of the venue; nil for a native market
}

// Warnings returns the codes of warnings about the prices of a call, for example price_unverified. It returns an empty list if
// there are none.
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

// middle returns the middle price of a side, or nil if the market has none.
func (p Prices) middle(side protocol.Side) *protocol.Bps {
	if p.MarketYes == nil || side == protocol.Yes {
		return p.MarketYes
	}
	no := 10_000 - *p.MarketYes
	return &no
}

// Call is one of several calls to file together, with its caller.
type Call struct {
	Caller Caller
	Draft  Draft
}

// Answer is the result of one of several calls that were filed together.
type Answer struct {
	Filed Filed
	Err   error
	Alone bool // the call was not processed; file it alone
}

// MaxReach is the maximum reach of a call that a client may state, in viewers.
const MaxReach = 100_000

// Filed is the result of filing a call: its id, prices and warnings.
type Filed struct {
	ID       string
	Replayed bool // the call was stored earlier, with the same id or idempotency key
	Prices   Prices
	Warnings []string
}

// Row is a stored call with its result. Its members are the columns of the database view signal_records in the same order,
// because package postgres converts a row of the view to a Row. The compiler reports a difference between the two.
type Row struct {
	ID            string
	UserID        string
	PublicID      string
	ProviderID    string // id at the identity provider; set only in the ledger of a market
	Handle        string
	DisplayName   string
	Tier          protocol.Tier
	MarketID      string
	MarketTitle   string
	Lane          protocol.Lane
	Yes           bool // true if the side called is YES
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
	ScoredBps     protocol.Bps  // scoring price of the result; without a result, that at filing
	PriceVerified bool          // a fresh quote existed when the call was filed
	Rated         bool          // the market was rated when the call was filed
	MarketYesBps  *protocol.Bps // YES price of the market when the call was filed
	ClosesAt      *time.Time    // end date of the market when the call was filed
	QuoteAt       *time.Time    // time of the quote at filing, by the clock of the venue
	ConfirmedAt   *time.Time    // time of the second quote; nil without one
	Reason        *string       // reason of a void call: late or unknown_market; else nil
	Counted       *bool         // the score counts for the operator's points; nil while pending
	Unconfirmed   bool          // no venue has confirmed the market, so the call is not public
}

// Side returns the side that the call predicts.
func (r *Row) Side() protocol.Side { return protocol.SideOf(r.Yes) }

// Record is a stored call, with the current price for the feed Open.
type Record struct {
	Row
	LiveYes *protocol.Bps // only in the feed Open
	Move    *int          // only in the feed Open
}

// Event is an addition to a stored call, for example a note. Payload is a JSON object.
type Event struct {
	ID        string
	Type      string
	Payload   string
	Actor     *string
	CreatedAt time.Time
}

// FeedType is the name of a feed of calls.
type FeedType string

// Feeds of calls. Recent contains the newest calls, BeatCrowd the won calls whose side had a market price below half, and Open
// the open calls.
const (
	Recent    FeedType = "recent"
	BeatCrowd FeedType = "beat_crowd"
	Open      FeedType = "open"
)

// ParseFeedType returns the feed with this name, or Recent for an unknown name.
func ParseFeedType(s string) FeedType {
	switch t := FeedType(s); t {
	case BeatCrowd, Open:
		return t
	}
	return Recent
}

// Ledger is a page of the calls on one market, with the numbers of all its calls by side.
type Ledger struct {
	Yes, No int64
	Signals []Record
	Next    string // cursor of the next page; empty at the end
}

// Crowd contains the numbers of calls on a market by operators who count as its crowd, by side. Own is the call of the
// requesting operator.
type Crowd struct {
	Yes, No       int64
	TopYesPercent *int // percentage of the top operators who call YES; nil if TopSample is 0
	TopSample     int  // number of top operators with a call on the market
	Own           *Record
	UpdatedAt     time.Time
}
