package export

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// ErrUnknown is returned for an unknown operator.
var ErrUnknown = apperr.New(apperr.NotFound, "not_found", "no such operator")

// pageSize is the number of calls that are read at once. With their events they are well below the maximum size of a gRPC
// message.
const pageSize = 200

// Owner is the operator of a record.
type Owner struct {
	ID           string
	PublicID     string
	Handle       string
	DisplayName  string
	OperatorType string
	Tier         protocol.Tier
}

// Tolerance is the price tolerance from a time on: the number of bps by which the scoring price may be below the market's
// price.
type Tolerance struct {
	Since time.Time
	Bps   int
}

// Head contains the data that precede the calls.
type Head struct {
	Owner
	AsOf         time.Time
	Tolerances   []Tolerance   // oldest first
	ConfirmAfter time.Duration // from a call to its second quote; 0: second quotes are off
}

// Call is a call with the data from which its figures can be recomputed.
type Call struct {
	signal.Record
	Quote       *market.Quote // quote at filing; nil: unverified, or a native market
	SecondQuote *market.Quote // second quote, from which the scoring price was computed; nil: none
	InitialYes  *protocol.Bps // native market: initial price
	OwnMarket   bool          // the operator created the market
	Version     string        // version of the scoring rules; empty: not scored
	Vertical    string
	Resolution  *Resolution
	Events      []signal.Event // oldest first
}

// Resolution is the resolution of a call's market.
type Resolution struct {
	Outcome    string
	Resolver   string
	Source     string
	ProofURL   string
	CloseAt    time.Time
	ClosePrice *protocol.Bps
	ResolvedAt time.Time
	Rated      bool       // the market was rated when it was resolved
	DecidedAt  *time.Time // time at which the outcome was public, as stated by the administrator
	Disputed   bool
}

// Place is the end of a page; the zero value is before the first call.
type Place struct {
	At time.Time
	ID string
}

// Store reads owners and pages. A page is a consistent snapshot of its calls and their events.
type Store interface {
	// RecordOwner returns an operator by handle. Error: not_found.
	RecordOwner(ctx context.Context, handle string) (Owner, error)
	// PriceTolerances returns the history of the tolerance, oldest first.
	PriceTolerances(ctx context.Context) ([]Tolerance, error)
	// ConfirmAfter returns the time from a call to its second quote; 0: second quotes are off.
	ConfirmAfter() time.Duration
	// RecordPage returns up to n calls that were filed after a place and at or before asOf, oldest first, in their state at
	// asOf.
	RecordPage(ctx context.Context, owner string, after Place, asOf time.Time, n int) ([]Call, error)
	// Checkpoint returns the newest checkpoint of the journal; empty without one.
	Checkpoint(ctx context.Context) (string, error)
}

// Service exports records.
type Service struct {
	store Store
	now   func() time.Time
}

// NewService returns a Service.
func NewService(store Store, now func() time.Time) *Service { return &Service{store, now} }

// Record passes the owner of a record to head and its calls to page, oldest first, and returns the newest checkpoint of the
// journal. While head or page runs, it uses no connection and no transaction, and has one page in memory. An error of head or
// page ends it. Error: not_found.
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
	var after Place
	for {
		calls, err := s.store.RecordPage(ctx, owner.ID, after, asOf, pageSize)
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
		after = Place{At: last.CreatedAt, ID: last.ID}
	}
}
