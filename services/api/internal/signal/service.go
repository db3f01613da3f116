package signal

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// Verdict is the decision of the filing statement about a call. The filing statement is the SQL statement that checks and
// stores calls.
type Verdict string

// Verdicts on a call. With VerdictFiled and VerdictReplay, the caller gets the id of a stored call. The other verdicts reject
// the call or require a request to its venue.
const (
	VerdictFiled           Verdict = "file"            // the call was stored
	VerdictReplay          Verdict = "replay"          // the same call was stored earlier
	VerdictUnauthenticated Verdict = "unauthenticated" // the key is unknown or revoked
	VerdictReused          Verdict = "reused"          // the idempotency key was used with another body
	VerdictDuplicate       Verdict = "duplicate"       // the operator has another call on the market
	VerdictUnknown         Verdict = "unknown"         // the market is not stored
	VerdictStub            Verdict = "stub"            // no venue has confirmed the market; its venue must be asked
	VerdictAbsent          Verdict = "absent"          // no venue has confirmed the market; its venue has no such market
	VerdictSettled         Verdict = "settled"         // the market is closed or resolved
	VerdictProvisional     Verdict = "provisional"     // the outcome of the market is being decided
	VerdictQuote           Verdict = "quote"           // no fresh quote; the venue must be asked
	VerdictMoved           Verdict = "moved"           // the current price is worse than the call allows
	VerdictUnverified      Verdict = "unverified"      // no fresh quote, although the call limits the slippage
)

// Filing is the result of the filing statement for one call.
type Filing struct {
	Verdict Verdict
	FirstID string // id of the existing call, for a replay or a duplicate
	Actor   string // id of the calling operator; empty if unauthenticated
	Prices  Prices
}

// Store stores calls and their events, and reads them.
type Store interface {
	// File executes the filing statement for one call.
	File(ctx context.Context, caller Caller, draft Draft) (Filing, error)
	// FileMany executes the filing statement for several calls together. Each call has a separate result or error. A call on a
	// locked market is not filed and does not delay the others.
	FileMany(ctx context.Context, calls []Call) ([]Filing, []error)
	// DryRunFile and DryRunEvent return what would be stored, and store nothing. If stub is true, an unknown market is
	// treated as an unconfirmed one.
	DryRunFile(ctx context.Context, caller Caller, draft Draft, stub bool) (Filing, Record, error)
	DryRunEvent(ctx context.Context, caller Caller, signalID string, event Event) (Event, error)
	// AppendEvent returns the stored event, or the existing one with the same id.
	AppendEvent(ctx context.Context, caller Caller, signalID string, event Event) (Event, error)
	GetSignal(ctx context.Context, id string) (Record, error)
	ListEvents(ctx context.Context, signalID string) ([]Event, error)
	// ListSignalFeed returns up to limit calls of a feed. In the feed Recent, a category selects the calls on its markets.
	ListSignalFeed(ctx context.Context, feed FeedType, category string, limit int, now time.Time) ([]Record, error)
	ListLedger(ctx context.Context, marketID string, limit int, after protocol.Cursor) (Ledger, error)
	// ListCallers returns up to limit operators with a call on a market, by id, after the operator after.
	ListCallers(ctx context.Context, marketID, after string, limit int) ([]string, error)
	// CountCalls returns the number of calls of each operator. It omits operators without calls.
	CountCalls(ctx context.Context, operatorIDs []string) (map[string]int64, error)
	// ListClosingMarkets returns the calls of operators on open markets that close after now and not after before, and the given markets
	// that do, without an operator.
	ListClosingMarkets(ctx context.Context, operatorIDs, marketIDs []string, now, before time.Time) ([]Closing, error)
	GetCrowd(ctx context.Context, marketID, operatorID string, now time.Time) (Crowd, error)
	ListCalls(ctx context.Context, q CallQuery) (CallPage, error)
	// ListLaneStats counts the calls of an operator by lane, ordered by the name of the lane. For a resolved market, the lane
	// is the one stored with the resolution, else the current one.
	ListLaneStats(ctx context.Context, userID string) ([]LaneStats, error)
}

// Closing is a market that closes soon. Operator is an operator with a call on it; empty: the request contains the market.
type Closing struct{ MarketID, Operator string }

// Service files calls and returns stored calls. It uses the market service to get quotes for calls.
type Service struct {
	Store
	markets *market.Service
	now     func() time.Time
	// counted returns the number of viewers of the markets with an order-book token, or of a market; it may be nil.
	counted func(id protocol.MarketID, token string) int
}

// NewService returns a Service that stores calls in store. markets provides the quotes of markets.
func NewService(store Store, markets *market.Service, now func() time.Time) *Service {
	return &Service{Store: store, markets: markets, now: now}
}

// SetViewerCounter sets the function that returns the number of viewers of the markets with the order-book token of a call, or of
// its market if no such market has viewers. The function must not block. Its result is stored as the reach of the call. If the
// result is 0, or if no function is set, the reach that the client states is stored.
func (s *Service) SetViewerCounter(counted func(id protocol.MarketID, token string) int) {
	s.counted = counted
}

// setReach sets the reach of a draft to the number of viewers of its token or market, unless the number is 0 or unknown.
func (s *Service) setReach(d *Draft) {
	if s.counted == nil {
		return
	}
	if n := int64(s.counted(d.MarketID, d.ClobToken)); n > 0 {
		d.Reach = &n
	}
}

// File files one call. If the market has no fresh quote, it reads one from the venue first. Errors: unauthenticated,
// market_not_found, market_closed (with reason, marketId), already_predicted (with id), price_moved (with reason, marketId,
// marketYesBps, yesPriceBps, noPriceBps), idempotency_key_reused, invalid_body, signal_service_unavailable, db_unavailable.
func (s *Service) File(ctx context.Context, caller Caller, draft Draft) (Filed, error) {
	if err := draft.validate(); err != nil {
		return Filed{}, err
	}
	s.setReach(&draft)
	began := s.now()
	f, err := s.Store.File(ctx, caller, draft)
	if err != nil {
		return Filed{}, err
	}
	if f.needsVenue() {
		if err := s.readVenue(ctx, f, &draft, maxWait-s.now().Sub(began)); err != nil {
			return Filed{}, err
		}
		if f, err = s.Store.File(ctx, caller, draft); err != nil {
			return Filed{}, err
		}
	}
	return s.answer(f, draft)
}

// maxWait is the time limit for the first filing statement, including its queue, and the request to the venue together. A call
// may take 1.75 s in total, so half a second remains for the second filing statement.
const maxWait = 1250 * time.Millisecond

func (f Filing) needsVenue() bool {
	return f.Verdict == VerdictUnknown || f.Verdict == VerdictStub || f.Verdict == VerdictQuote
}

// readVenue reads the market of a call from its venue, within the time limit, and sets draft.Venue to the result. If the read
// of a quote fails or exceeds the limit, it returns nil, and the call is filed without the quote.
func (s *Service) readVenue(ctx context.Context, f Filing, draft *Draft, limit time.Duration) error {
	draft.Venue = VenueRequested
	var err error
	if f.Verdict == VerdictQuote {
		wait, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		err = s.markets.Fresh(wait, draft.MarketID, f.Actor)
	} else {
		err = s.markets.Ensure(ctx, draft.MarketID, f.Actor, limit)
	}
	switch {
	case errors.Is(err, market.ErrNotFound) && f.Verdict != VerdictUnknown:
		draft.Venue = VenueHasNoMarket
	case f.Verdict != VerdictQuote:
		return err
	}
	return nil
}

// FileMany files several calls together, with the rules of File, and returns one Answer for each. It does not file a call that
// would have to wait for its venue or for a locked market, so that the other calls need not wait. It sets Answer.Alone instead,
// and the caller must pass the call to File.
func (s *Service) FileMany(ctx context.Context, calls []Call) []Answer {
	out := make([]Answer, len(calls))
	good, at := make([]Call, 0, len(calls)), make([]int, 0, len(calls))
	for i := range calls {
		if out[i].Err = calls[i].Draft.validate(); out[i].Err == nil {
			good, at = append(good, calls[i]), append(at, i)
			s.setReach(&good[len(good)-1].Draft)
		}
	}
	if len(good) == 0 {
		return out
	}
	filings, errs := s.Store.FileMany(ctx, good)
	for k, i := range at {
		switch {
		case errs[k] != nil:
			out[i].Err = errs[k]
		case filings[k].needsVenue():
			out[i].Alone = true
		default:
			out[i].Filed, out[i].Err = s.answer(filings[k], good[k].Draft)
		}
	}
	return out
}

// answer converts the result of the filing statement to the result for the caller. If the call was stored, it informs the
// market service.
func (s *Service) answer(f Filing, draft Draft) (Filed, error) {
	if f.Verdict == VerdictFiled {
		s.markets.Called(draft.MarketID, f.Prices.QuoteAt)
	}
	return f.answer(draft)
}

func (f Filing) answer(draft Draft) (Filed, error) {
	switch f.Verdict {
	case VerdictFiled:
		return Filed{ID: draft.ID, Prices: f.Prices, Warnings: f.Prices.Warnings(draft)}, nil
	case VerdictReplay:
		return Filed{ID: f.FirstID, Replayed: true, Prices: f.Prices, Warnings: f.Prices.Warnings(draft)}, nil
	case VerdictUnauthenticated:
		return Filed{}, ErrUnauthenticated
	case VerdictReused:
		return Filed{}, ErrKeyReused
	case VerdictDuplicate:
		return Filed{}, ErrPredicted.With("id", f.FirstID)
	case VerdictAbsent, VerdictUnknown:
		return Filed{}, market.ErrNotFound
	case VerdictSettled:
		return Filed{}, ErrSettled.With("marketId", string(draft.MarketID))
	case VerdictProvisional:
		return Filed{}, ErrProvisional.With("marketId", string(draft.MarketID))
	case VerdictMoved:
		return Filed{}, f.withPrices(ErrMoved.WithText(
			"%s costs %d bps, but you stated %d bps and accept at most %d bps more; state the current price or raise maxSlippageBps",
			draft.Side, *f.Prices.of(draft.Side), f.Prices.Stated, *draft.MaxSlippage), draft)
	case VerdictUnverified:
		return Filed{}, f.withPrices(ErrMoved.WithText(
			"the market has no fresh quote, so maxSlippageBps cannot be checked; retry later, or set allowUnverified "+
				"to file without points"), draft)
	}
	return Filed{}, errors.New("unknown verdict of the filing statement: " + string(f.Verdict))
}

// withPrices adds the verdict, the market id and the prices to an error. Unknown prices are null.
func (f Filing) withPrices(fault *apperr.Fault, draft Draft) error {
	fault = fault.With("reason", string(f.Verdict)).With("marketId", string(draft.MarketID))
	for member, price := range map[string]*protocol.Bps{
		"marketYesBps": f.Prices.MarketYes, "yesPriceBps": f.Prices.Yes, "noPriceBps": f.Prices.No,
	} {
		fault = fault.With(member, nil)
		if price != nil {
			fault.Extra[member] = int(*price)
		}
	}
	return fault
}

// AppendEvent adds an event to a call that the caller has filed, once for each event id. Errors: invalid_type,
// invalid_payload, unauthenticated, not_found, forbidden, event_limit_reached, idempotency_key_reused, db_unavailable.
func (s *Service) AppendEvent(ctx context.Context, caller Caller, signalID, eventID, kind, payload string) (Event, error) {
	e, err := s.ownerEvent(eventID, kind, payload)
	if err != nil {
		return Event{}, err
	}
	e, err = s.Store.AppendEvent(ctx, caller, signalID, e)
	if err != nil {
		return Event{}, err
	}
	return e, nil
}

// ownerEvent returns a new event with the actor "owner" and the current time. Errors: invalid_type, invalid_payload.
func (s *Service) ownerEvent(id, kind, payload string) (Event, error) {
	switch kind {
	case "take", "reaffirm", "confidence", "note", "share":
	default:
		return Event{}, apperr.New(apperr.Invalid, "invalid_type", "type must be take, reaffirm, confidence, note or share").With("field", "type")
	}
	if !validTexts(payload) {
		return Event{}, apperr.New(apperr.Invalid, "invalid_payload", "payload must be an object whose texts have no control characters").With("field", "payload")
	}
	owner := "owner"
	return Event{ID: id, Type: kind, Payload: payload, Actor: &owner, CreatedAt: s.now().UTC().Truncate(time.Millisecond)}, nil
}

// validTexts reports whether a payload is a JSON object without control characters in its string members (protocol.IsText).
// Only the member text may contain line feeds.
func validTexts(payload string) bool {
	var members map[string]any
	if json.Unmarshal([]byte(payload), &members) != nil {
		return false
	}
	for name, v := range members {
		if s, ok := v.(string); ok && !protocol.IsText(s, name == "text") {
			return false
		}
	}
	return true
}

// Feed returns up to limit calls of a feed. The limit is changed to at least 1 and at most 50. In the feed Recent, a category
// selects the calls on its markets. Other feeds ignore it. Error: db_unavailable.
func (s *Service) Feed(ctx context.Context, feed FeedType, category string, limit int) ([]Record, error) {
	return s.ListSignalFeed(ctx, feed, category, min(max(limit, 1), 50), s.now())
}

// Crowd returns the numbers of the crowd's calls on a market, by side. If operatorID is not empty, the result includes the
// call of that operator. Error: db_unavailable.
func (s *Service) Crowd(ctx context.Context, marketID, operatorID string) (Crowd, error) {
	return s.GetCrowd(ctx, marketID, operatorID, s.now())
}
