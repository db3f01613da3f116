package signal

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
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
)

// Filing is a verdict and, for a replay or a duplicate, the first call's id.
type Filing struct {
	Verdict Verdict
	FirstID string
}

// Store keeps signals.
type Store interface {
	File(ctx context.Context, caller Caller, draft Draft) (Filing, error)
	// FileMany files calls together; each has its own verdict or error. It waits for
	// no market that is held.
	FileMany(ctx context.Context, calls []Call) ([]Filing, []error)
	// RehearseFile and RehearseEvent give what would stand, and keep nothing.
	RehearseFile(ctx context.Context, caller Caller, draft Draft) (Filing, Record, error)
	RehearseEvent(ctx context.Context, caller Caller, signalID string, event Event) (Event, error)
	// AppendEvent gives the event as it stands: the one of that id, when it is there.
	AppendEvent(ctx context.Context, caller Caller, signalID string, event Event) (Event, error)
	GetSignal(ctx context.Context, id string) (Record, error)
	ListEvents(ctx context.Context, signalID string) ([]Event, error)
	// ListSignalFeed lists a feed; a category narrows Recent to its markets.
	ListSignalFeed(ctx context.Context, feed FeedType, category string, limit int, now time.Time) ([]Record, error)
	ListLedger(ctx context.Context, marketID string, limit int, after syntax.Cursor) (Ledger, error)
	GetCrowd(ctx context.Context, marketID, operatorID string, now time.Time) (Crowd, error)
}

// Markets brings a market into the ledger that a filing did not find there.
type Markets interface {
	// Ensure faults with market_not_found when its venue says it does not exist.
	Ensure(ctx context.Context, id syntax.MarketID, title string) error
}

// Service files calls and reads them.
type Service struct {
	Store
	markets Markets
	now     func() time.Time
	counted func(syntax.MarketID) int // nil: nobody is counted
}

// NewService wires the subject.
func NewService(store Store, markets Markets, now func() time.Time) *Service {
	return &Service{Store: store, markets: markets, now: now}
}

// Count has the service's own count of who looks at a market stand in a call, instead of
// what its client says of its reach. counted asks nobody.
func (s *Service) Count(counted func(syntax.MarketID) int) { s.counted = counted }

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
// (extra reason, marketId), already_predicted (extra id), idempotency_key_reused,
// invalid_body, db_unavailable.
func (s *Service) File(ctx context.Context, caller Caller, draft Draft) (Filed, error) {
	if err := draft.validate(); err != nil {
		return Filed{}, err
	}
	s.reach(&draft)
	f, err := s.Store.File(ctx, caller, draft)
	if err != nil {
		return Filed{}, err
	}
	if f.asksVenue() {
		if err := s.ensure(ctx, f, &draft); err != nil {
			return Filed{}, err
		}
		if f, err = s.Store.File(ctx, caller, draft); err != nil {
			return Filed{}, err
		}
	}
	return f.answer(draft)
}

func (f Filing) asksVenue() bool { return f.Verdict == VerdictUnknown || f.Verdict == VerdictStub }

// ensure brings in the market that a filing did not find, and notes what its venue said.
func (s *Service) ensure(ctx context.Context, f Filing, draft *Draft) error {
	title := string(draft.MarketID)
	if draft.MarketTitle != nil {
		title = *draft.MarketTitle
	}
	draft.Venue = VenueAsked
	if err := s.markets.Ensure(ctx, draft.MarketID, title); err != nil {
		if f.Verdict != VerdictStub || !errors.Is(err, market.ErrNotFound) {
			return err
		}
		draft.Venue = VenueDenies // whoever has a call there still hears of that first
	}
	return nil
}

// FileMany files calls that come together, each as File does. A call on a market
// that is not known yet or that somebody holds is left undone, so that the others do
// not wait for a venue or a claim: Answer.Alone.
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
		case filings[k].Verdict == VerdictUnknown, filings[k].Verdict == VerdictStub:
			out[i].Alone = true
		default:
			out[i].Filed, out[i].Err = filings[k].answer(good[k].Draft)
		}
	}
	return out
}

func (f Filing) answer(draft Draft) (Filed, error) {
	switch f.Verdict {
	case VerdictFiled:
		return Filed{ID: draft.ID}, nil
	case VerdictReplay:
		return Filed{ID: f.FirstID, Replayed: true}, nil
	case VerdictUnauthenticated:
		return Filed{}, ErrUnauthenticated
	case VerdictReused:
		return Filed{}, ErrKeyReused
	case VerdictDuplicate:
		return Filed{}, ErrPredicted.With("id", f.FirstID)
	case VerdictAbsent:
		return Filed{}, market.ErrNotFound
	case VerdictSettled:
		return Filed{}, ErrSettled.With("marketId", string(draft.MarketID))
	case VerdictProvisional:
		return Filed{}, ErrProvisional.With("marketId", string(draft.MarketID))
	}
	return Filed{}, errors.New("the filing statement gave the verdict " + string(f.Verdict))
}

// validate keeps out what the front door should have refused already.
func (d *Draft) validate() error {
	switch {
	case d.Side != syntax.Yes && d.Side != syntax.No:
		return ErrInvalid.With("field", "direction")
	case !d.Price.Valid():
		return ErrInvalid.With("field", "priceAtPrediction")
	case d.CrowdYes != nil && !d.CrowdYes.Valid():
		return ErrInvalid.With("field", "crowdYesAtSignal")
	case d.CrowdLean != nil && !d.CrowdLean.Valid():
		return ErrInvalid.With("field", "crowdLeanBps")
	case d.Confidence != nil && (*d.Confidence < 1 || *d.Confidence > 100):
		return ErrInvalid.With("field", "confidence")
	case d.TimeToResolution != nil && (*d.TimeToResolution < 0 || *d.TimeToResolution > 315360000):
		return ErrInvalid.With("field", "timeToResolution")
	case d.IdempotencyKey != nil && (*d.IdempotencyKey == "" || len(*d.IdempotencyKey) > 128 || len(d.BodyHash) != 32):
		return ErrInvalid.With("field", "idempotencyKey")
	}
	for _, t := range []struct {
		field string
		text  *string
		limit int
	}{
		{"marketTitle", d.MarketTitle, 300},
		{"channelId", d.ChannelID, 64},
		{"textTake", d.TextTake, 500},
		{"mediaAssetId", d.MediaAssetID, 200},
		{"source", &d.Source, 32},
	} {
		if t.text != nil && (utf8.RuneCountInString(*t.text) > t.limit || strings.ContainsRune(*t.text, 0)) {
			return ErrInvalid.With("field", t.field)
		}
	}
	return nil
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
		return Event{}, fault.New(fault.Invalid, "invalid_type", "unknown event type").With("field", "type")
	}
	owner := "owner"
	return Event{ID: id, Type: kind, Payload: payload, Actor: &owner, CreatedAt: s.now().UTC().Truncate(time.Millisecond)}, nil
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
