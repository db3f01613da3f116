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

// Verdict is what the one filing statement said of a draft.
type Verdict string

// The verdicts of a filing.
const (
	VerdictFiled           Verdict = "file"
	VerdictReplay          Verdict = "replay"
	VerdictUnauthenticated Verdict = "unauthenticated"
	VerdictReused          Verdict = "reused"
	VerdictDuplicate       Verdict = "duplicate"
	VerdictUnknown         Verdict = "unknown"
	VerdictStub            Verdict = "stub"   // no venue ever answered for the market, and its own was not asked
	VerdictAbsent          Verdict = "absent" // the same, and its venue says that there is none
	VerdictSettled         Verdict = "settled"
	VerdictProvisional     Verdict = "provisional"
	VerdictQuote           Verdict = "quote"      // no fresh quote, and the venue was not asked
	VerdictMoved           Verdict = "moved"      // the price is worse than the draft allows
	VerdictUnverified      Verdict = "unverified" // no fresh quote, and the draft has a bound that needs one
)

// Filing is a verdict, who called, the prices, and for a replay or a duplicate the id of the
// first call.
type Filing struct {
	Verdict Verdict
	FirstID string
	Actor   string // operator id; empty when unauthenticated
	Prices  Prices
}

// Store keeps signals.
type Store interface {
	File(ctx context.Context, caller Caller, draft Draft) (Filing, error)
	// FileMany files calls together; each has its own verdict or error. It waits for no
	// locked market.
	FileMany(ctx context.Context, calls []Call) ([]Filing, []error)
	// RehearseFile and RehearseEvent return what would be stored, and store nothing. With
	// stub, an unknown market is taken for an unconfirmed one.
	RehearseFile(ctx context.Context, caller Caller, draft Draft, stub bool) (Filing, Record, error)
	RehearseEvent(ctx context.Context, caller Caller, signalID string, event Event) (Event, error)
	// AppendEvent gives the event as it stands: the one of that id, when it is there.
	AppendEvent(ctx context.Context, caller Caller, signalID string, event Event) (Event, error)
	GetSignal(ctx context.Context, id string) (Record, error)
	ListEvents(ctx context.Context, signalID string) ([]Event, error)
	// ListSignalFeed lists a feed; a category narrows Recent to its markets.
	ListSignalFeed(ctx context.Context, feed FeedType, category string, limit int, now time.Time) ([]Record, error)
	ListLedger(ctx context.Context, marketID string, limit int, after protocol.Cursor) (Ledger, error)
	GetCrowd(ctx context.Context, marketID, operatorID string, now time.Time) (Crowd, error)
	ListCalls(ctx context.Context, q CallQuery) (CallPage, error)
	// ListLaneStats counts an operator's calls by lane, in the order of the names: the lane of the claim, or of the market
	// today without one.
	ListLaneStats(ctx context.Context, userID string) ([]LaneStats, error)
}

// Service files calls and reads them.
type Service struct {
	Store
	markets *market.Service
	now     func() time.Time
	counted func(protocol.MarketID) int // nil: nobody is counted
}

// NewService wires the subject.
func NewService(store Store, markets *market.Service, now func() time.Time) *Service {
	return &Service{Store: store, markets: markets, now: now}
}

// Count has the service's own count of who looks at a market stand in a call, instead of
// what its client says of its reach. counted asks nobody.
func (s *Service) Count(counted func(protocol.MarketID) int) { s.counted = counted }

// reach puts our own count in, where there is one.
func (s *Service) reach(d *Draft) {
	if s.counted == nil {
		return
	}
	if n := int64(s.counted(d.MarketID)); n > 0 {
		d.Reach = &n
	}
}

// File files one call. Faults: unauthenticated, market_not_found, market_closed
// (extra reason, marketId), already_predicted (extra id), price_moved (extra reason,
// marketId, marketYesBps, yesPriceBps, noPriceBps), idempotency_key_reused, invalid_body,
// signal_service_unavailable, db_unavailable.
func (s *Service) File(ctx context.Context, caller Caller, draft Draft) (Filed, error) {
	if err := draft.validate(); err != nil {
		return Filed{}, err
	}
	s.reach(&draft)
	began := s.now()
	f, err := s.Store.File(ctx, caller, draft)
	if err != nil {
		return Filed{}, err
	}
	if f.asksVenue() {
		if err := s.askVenue(ctx, f, &draft, maxWait-s.now().Sub(began)); err != nil {
			return Filed{}, err
		}
		if f, err = s.Store.File(ctx, caller, draft); err != nil {
			return Filed{}, err
		}
	}
	return s.answer(f, draft)
}

// maxWait is how long a call waits for the queue before the filing statement and for its
// venue. It leaves the second filing statement half a second of the 1.75 s that a call waits
// at most.
const maxWait = 1250 * time.Millisecond

func (f Filing) asksVenue() bool {
	return f.Verdict == VerdictUnknown || f.Verdict == VerdictStub || f.Verdict == VerdictQuote
}

// askVenue reads the market of a call at its venue, for at most limit, and notes the outcome in
// the draft. A read for a quote that does not end in time is no failure.
func (s *Service) askVenue(ctx context.Context, f Filing, draft *Draft, limit time.Duration) error {
	draft.Venue = VenueAsked
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
		draft.Venue = VenueDenies
	case f.Verdict != VerdictQuote:
		return err
	}
	return nil
}

// FileMany files calls that come together, each as File does. A call that has to wait for its
// venue or for a locked market is not filed, so that the others do not wait: Answer.Alone.
func (s *Service) FileMany(ctx context.Context, calls []Call) []Answer {
	out := make([]Answer, len(calls))
	good, at := make([]Call, 0, len(calls)), make([]int, 0, len(calls))
	for i := range calls {
		if out[i].Err = calls[i].Draft.validate(); out[i].Err == nil {
			good, at = append(good, calls[i]), append(at, i)
			s.reach(&good[len(good)-1].Draft)
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
		case filings[k].asksVenue():
			out[i].Alone = true
		default:
			out[i].Filed, out[i].Err = s.answer(filings[k], good[k].Draft)
		}
	}
	return out
}

// answer returns what a filing answers, and notes a stored call on its market.
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
		return Filed{}, f.moved(ErrMoved.Say("%s costs %d bps, you stated %d and accept %d more; state the current price or raise maxSlippageBps",
			draft.Side, *f.Prices.of(draft.Side), f.Prices.Stated, *draft.MaxSlippage), draft)
	case VerdictUnverified:
		return Filed{}, f.moved(ErrMoved.Say("no fresh quote of this market to check maxSlippageBps against; try again later, or set allowUnverified to file without points"), draft)
	}
	return Filed{}, errors.New("the filing statement gave the verdict " + string(f.Verdict))
}

// moved adds the known prices to a refusal; those that are not known are null.
func (f Filing) moved(refusal *apperr.Fault, draft Draft) error {
	refusal = refusal.With("reason", string(f.Verdict)).With("marketId", string(draft.MarketID))
	for member, price := range map[string]*protocol.Bps{
		"marketYesBps": f.Prices.MarketYes, "yesPriceBps": f.Prices.Yes, "noPriceBps": f.Prices.No,
	} {
		refusal = refusal.With(member, nil)
		if price != nil {
			refusal.Extra[member] = int(*price)
		}
	}
	return refusal
}

// AppendEvent adds to the history of the caller's own signal, once for an event id.
// Faults: unauthenticated, not_found, forbidden, event_limit_reached,
// idempotency_key_reused, db_unavailable.
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

// ownerEvent makes an event that happens now.
func (s *Service) ownerEvent(id, kind, payload string) (Event, error) {
	switch kind {
	case "take", "reaffirm", "confidence", "note", "share":
	default:
		return Event{}, apperr.New(apperr.Invalid, "invalid_type", "unknown event type").With("field", "type")
	}
	if !textsFit(payload) {
		return Event{}, apperr.New(apperr.Invalid, "invalid_payload", "a text of the payload has control characters").With("field", "payload")
	}
	owner := "owner"
	return Event{ID: id, Type: kind, Payload: payload, Actor: &owner, CreatedAt: s.now().UTC().Truncate(time.Millisecond)}, nil
}

// textsFit reports whether a payload is a JSON object whose texts are such, as protocol.IsText
// has it. Only its member text may have line feeds.
func textsFit(payload string) bool {
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

// Feed lists one of the three feeds, at most limit rows. A programme category
// narrows Recent to the calls on its markets; the others take none.
func (s *Service) Feed(ctx context.Context, feed FeedType, category string, limit int) ([]Record, error) {
	return s.ListSignalFeed(ctx, feed, category, min(max(limit, 1), 50), s.now())
}

// Crowd reads how a market's crowd stands; operatorID may be empty.
func (s *Service) Crowd(ctx context.Context, marketID, operatorID string) (Crowd, error) {
	return s.GetCrowd(ctx, marketID, operatorID, s.now())
}
