package export

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// ErrUnknown is the answer for an operator that nobody knows.
var ErrUnknown = apperr.New(apperr.NotFound, "not_found", "no such operator")

// pageSize is how many calls are read at a time: with their events well below what
// one message of the link may carry.
const pageSize = 200

// Owner is whose record it is.
type Owner struct {
	ID           string
	PublicID     string
	Handle       string
	DisplayName  string
	OperatorType string
	Tier         protocol.Tier
}

// Tolerance is how far below the market's price a call is scored at most, from a time
// on.
type Tolerance struct {
	Since time.Time
	Bps   int
}

// Head is what comes before the calls.
type Head struct {
	Owner
	AsOf         time.Time
	Tolerances   []Tolerance   // oldest first
	ConfirmAfter time.Duration // from a call to its second quote; 0: second quotes are off
}

// Call is a call with the facts from which its numbers follow.
type Call struct {
	signal.Record
	Quote       *market.Quote // that the filing was compared with; nil: unverified, or a native market
	SecondQuote *market.Quote // by which the result was scored; nil: none
	InitialYes  *protocol.Bps // native markets: the price before any call
	OwnMarket   bool          // the operator created the market
	Version     string        // of the score; empty: none yet
	Vertical    string
	Resolution  *Resolution
	Events      []signal.Event // oldest first
}

// Resolution is the claim on the market of a call.
type Resolution struct {
	Outcome    string
	Resolver   string
	Source     string
	ProofURL   string
	CloseAt    time.Time
	ClosePrice *protocol.Bps
	ResolvedAt time.Time
	Rated      bool       // the market was rated when it was resolved
	DecidedAt  *time.Time // when the outcome was public, as the administrator stated it
	Disputed   bool
}

// Place is where a page ends; the zero value is before the first call.
type Place struct {
	At time.Time
	ID string
}

// Store reads owners and pages. A page is one moment of the ledger: what it says of a
// call and of its events was true at the same time.
type Store interface {
	// RecordOwner finds an operator by handle. Fault: not_found.
	RecordOwner(ctx context.Context, handle string) (Owner, error)
	// PriceTolerances is the history of the tolerance, oldest first.
	PriceTolerances(ctx context.Context) ([]Tolerance, error)
	// ConfirmAfter is the time from a call to its second quote; 0: second quotes are off.
	ConfirmAfter() time.Duration
	// RecordPage reads up to n calls that were filed behind a place and up to asOf,
	// oldest first, with what had happened to them by then.
	RecordPage(ctx context.Context, owner string, behind Place, asOf time.Time, n int) ([]Call, error)
	// Checkpoint returns the newest signed head of the journal; empty without one.
	Checkpoint(ctx context.Context) (string, error)
}

// Service gives records out.
type Service struct {
	store Store
	now   func() time.Time
}

// NewService wires the service.
func NewService(store Store, now func() time.Time) *Service { return &Service{store, now} }

// Record passes the owner of a record to head and its calls to page, oldest first, and returns the newest checkpoint of the
// journal. While head or page runs it uses no connection and no transaction, and one page of memory; their errors end it.
// Fault: not_found.
func (s *Service) Record(
	ctx context.Context, handle string, head func(Head) error, page func([]Call) error,
) (checkpoint string, err error) {
	owner, err := s.store.RecordOwner(ctx, handle)
	if err != nil {
		return "", err
	}
	asOf := s.now().UTC()
	tolerances, err := s.store.PriceTolerances(ctx)
	if err != nil {
		return "", err
	}
	if err := head(Head{owner, asOf, tolerances, s.store.ConfirmAfter()}); err != nil {
		return "", err
	}
	var behind Place
	for {
		calls, err := s.store.RecordPage(ctx, owner.ID, behind, asOf, pageSize)
		if err != nil {
			return "", err
		}
		if err := page(calls); err != nil {
			return "", err
		}
		if len(calls) < pageSize {
			return s.store.Checkpoint(ctx)
		}
		last := &calls[len(calls)-1]
		behind = Place{At: last.CreatedAt, ID: last.ID}
	}
}
