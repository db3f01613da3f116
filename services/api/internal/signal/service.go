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

// Verdict is the decision of the filing statement about a draft.
type Verdict string

// Verdicts of the filing statement.
const (
	VerdictFiled           Verdict = "file"
	VerdictReplay          Verdict = "replay"
	VerdictUnauthenticated Verdict = "unauthenticated"
	VerdictReused          Verdict = "reused"
	VerdictDuplicate       Verdict = "duplicate"
	VerdictUnknown         Verdict = "unknown"
	VerdictStub            Verdict = "stub"   // no venue has confirmed the market, and its venue was not asked
	VerdictAbsent          Verdict = "absent" // no venue has confirmed the market, and its venue has no such market
	VerdictSettled         Verdict = "settled"
	VerdictProvisional     Verdict = "provisional"
	VerdictQuote           Verdict = "quote"      // no fresh quote, and the venue was not asked
	VerdictMoved           Verdict = "moved"      // the price is worse than the draft allows
	VerdictUnverified      Verdict = "unverified" // no fresh quote, but the draft limits the slippage
)

// Filing is the result of the filing statement: the verdict, the caller, the prices, and the id of the first call for a
// replay or a duplicate.
type Filing struct {
	Verdict Verdict
	FirstID string
	Actor   string // operator id; empty when unauthenticated
	Prices  Prices
}

// Store stores calls and their events.
type Store interface {
	File(ctx context.Context, caller Caller, draft Draft) (Filing, error)
	// FileMany files several calls in one statement; each has a separate verdict or error. It does not wait for locked
	// markets.
	FileMany(ctx context.Context, calls []Call) ([]Filing, []error)
	// DryRunFile and DryRunEvent return what would be stored, and store nothing. If stub is true, an unknown market is
	// treated as an unconfirmed one.
	DryRunFile(ctx context.Context, caller Caller, draft Draft, stub bool) (Filing, Record, error)
	DryRunEvent(ctx context.Context, caller Caller, signalID string, event Event) (Event, error)
	// AppendEvent returns the stored event, or the existing one with the same id.
	AppendEvent(ctx context.Context, caller Caller, signalID string, event Event) (Event, error)
	GetSignal(ctx context.Context, id string) (Record, error)
	ListEvents(ctx context.Context, signalID string) ([]Event, error)
	// ListSignalFeed returns the calls of a feed. A category limits the feed Recent to its markets.
	ListSignalFeed(ctx context.Context, feed FeedType, category string, limit int, now time.Time) ([]Record, error)
	ListLedger(ctx context.Context, marketID string, limit int, after protocol.Cursor) (Ledger, error)
	GetCrowd(ctx context.Context, marketID, operatorID string, now time.Time) (Crowd, error)
	ListCalls(ctx context.Context, q CallQuery) (CallPage, error)
	// ListLaneStats counts an operator's calls by lane, ordered by name. The lane is that of the resolution, or the current
	// one of the market without a resolution.
	ListLaneStats(ctx context.Context, userID string) ([]LaneStats, error)
}

// Service files calls and reads them.
type Service struct {
	Store
	markets *market.Service
	now     func() time.Time
	counted func(protocol.MarketID) int // nil: the reach that the client states is stored
}

// NewService returns a Service.
func NewService(store Store, markets *market.Service, now func() time.Time) *Service {
	return &Service{Store: store, markets: markets, now: now}
}

// SetViewerCounter makes calls store the result of counted, the number of viewers of a market, as their reach. A result of 0
// keeps the reach that the client states. counted must not block.
func (s *Service) SetViewerCounter(counted func(protocol.MarketID) int) { s.counted = counted }

// setReach sets the reach of a draft to the number of viewers.
func (s *Service) setReach(d *Draft) {
	if s.counted == nil {
		return
	}
	if n := int64(s.counted(d.MarketID)); n > 0 {
		d.Reach = &n
	}
}

// File files one call. Errors: unauthenticated, market_not_found, market_closed (extra reason, marketId), already_predicted
// (extra id), price_moved (extra reason, marketId, marketYesBps, yesPriceBps, noPriceBps), idempotency_key_reused,
// invalid_body, signal_service_unavailable, db_unavailable.
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

// maxWait is the time limit for the queue before the filing statement and the request to the venue together. A call may take
// 1.75 s in total, so half a second remains for the second filing statement.
const maxWait = 1250 * time.Millisecond

func (f Filing) needsVenue() bool {
	return f.Verdict == VerdictUnknown || f.Verdict == VerdictStub || f.Verdict == VerdictQuote
}

// readVenue reads the market of a call at its venue, for at most limit, and sets draft.Venue. A request for a quote that
// exceeds the limit is not an error.
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

// FileMany files several calls together with the rules of File. A call that would have to wait for its venue or for a locked
// market is not filed, so that the others need not wait. Its Answer.Alone is true.
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

// answer returns the result of a filing, and informs the market service of a stored call.
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
		return Filed{}, f.withPrices(ErrMoved.Say("%s costs %d bps, you stated %d and accept %d more; state the current price or raise maxSlippageBps",
			draft.Side, *f.Prices.of(draft.Side), f.Prices.Stated, *draft.MaxSlippage), draft)
	case VerdictUnverified:
		return Filed{}, f.withPrices(ErrMoved.Say("no fresh quote of this market to check maxSlippageBps against; try again later, or set allowUnverified to file without points"), draft)
	}
	return Filed{}, errors.New("unknown verdict of the filing statement: " + string(f.Verdict))
}

// withPrices adds the known prices to an error; unknown prices are null.
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

// AppendEvent adds an event to the caller's own call, once per event id. Errors: unauthenticated, not_found, forbidden,
// event_limit_reached, idempotency_key_reused, db_unavailable.
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

// ownerEvent returns an event of the call's owner at the current time.
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

// validTexts reports whether a payload is a JSON object whose string members satisfy protocol.IsText. Only the member text may
// contain line feeds.
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

// Feed returns at most limit calls of one of the three feeds, with limit from 1 to 50. A category of the programme limits
// Recent to its markets; the other feeds ignore it.
func (s *Service) Feed(ctx context.Context, feed FeedType, category string, limit int) ([]Record, error) {
	return s.ListSignalFeed(ctx, feed, category, min(max(limit, 1), 50), s.now())
}

// Crowd returns the crowd of a market. operatorID may be empty.
func (s *Service) Crowd(ctx context.Context, marketID, operatorID string) (Crowd, error) {
	return s.GetCrowd(ctx, marketID, operatorID, s.now())
}
