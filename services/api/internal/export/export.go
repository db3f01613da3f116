package export

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// ErrUnknown is returned for a handle that no operator has.
var ErrUnknown = apperr.New(apperr.NotFound, "not_found", "no such operator")

// pageSize is the maximum number of calls in one read. A page of calls with their events is well below the maximum size of a
// gRPC message.
const pageSize = 200

// Owner is the operator whose record is exported.
type Owner struct {
	ID           string
	PublicID     string
	Handle       string
	DisplayName  string
	OperatorType string
	Tier         protocol.Tier
}

// Tolerance is the price tolerance that applies from the time Since on. A scoring price may be up to Bps below the price of the
// market.
type Tolerance struct {
	Since time.Time
	Bps   int
}

// Head contains the data of a record that are not about a single call. It is sent before the calls.
type Head struct {
	Owner
	AsOf         time.Time     // time of the export; later changes are not included
	Tolerances   []Tolerance   // oldest first
	ConfirmAfter time.Duration // time between a call and its second quote; 0: no second quotes
}

// Call is a call with the data from which its prices and score can be recomputed.
type Call struct {
	signal.Record
	Quote       *market.Quote // quote at filing; nil for an unverified call and a native market
	SecondQuote *market.Quote // second quote, which decided the scoring price; nil: none
	InitialYes  *protocol.Bps // initial YES price of a native market; nil for other markets
	OwnMarket   bool          // the operator has created the market
	Version     string        // version of the scoring rules; empty: not scored yet
	Vertical    string
	Resolution  *Resolution
	Events      []signal.Event // oldest first
}

// Resolution contains the outcome of a call's market and the data of its decision.
type Resolution struct {
	Outcome    string
	Resolver   string
	Source     string
	ProofURL   string
	CloseAt    time.Time
	ClosePrice *protocol.Bps
	ResolvedAt time.Time
	Rated      bool       // the market was rated when it was resolved
	DecidedAt  *time.Time // time at which the outcome became public, as the administrator states it
	Disputed   bool
}

// Place is the position of the last call of a page. The zero value is the position before the first call.
type Place struct {
	At time.Time
	ID string
}

// Store reads the parts of a record. A page is a consistent snapshot of its calls and their events.
type Store interface {
	// RecordOwner returns the operator with a handle. Error: not_found.
	RecordOwner(ctx context.Context, handle string) (Owner, error)
	// PriceTolerances returns all price tolerances that have applied, oldest first.
	PriceTolerances(ctx context.Context) ([]Tolerance, error)
	// ConfirmAfter returns the time between a call and its second quote. 0 means that there are no second quotes.
	ConfirmAfter() time.Duration
	// RecordPage returns up to n calls of the operator with the id owner, oldest first: those after a place and filed at or
	// before asOf, in their state at asOf.
	RecordPage(ctx context.Context, owner string, after Place, asOf time.Time, n int) ([]Call, error)
	// Checkpoint returns the newest signed checkpoint of the journal, or an empty text if there is none.
	Checkpoint(ctx context.Context) (string, error)
	// PersonalRows returns rows of a section of what is stored about an operator besides its published calls, in the order of
	// their keys, after the key after, at most MaxRows.
	PersonalRows(ctx context.Context, owner, section, after string) ([]Row, error)
}

// Row is a stored row of an account, as a JSON object. Key is unique in a section of an account.
type Row struct{ Key, JSON string }

// MaxRows is the maximum number of rows that PersonalRows returns.
const MaxRows = 1000

// Service exports the records of operators.
type Service struct {
	store Store
	now   func() time.Time
}

// NewService returns a Service that reads from store.
func NewService(store Store, now func() time.Time) *Service { return &Service{store, now} }

// PersonalRows returns rows of a section of an account. See the method of Store.
func (s *Service) PersonalRows(ctx context.Context, owner, section, after string) ([]Row, error) {
	return s.store.PersonalRows(ctx, owner, section, after)
}

// Record exports the record of the operator with a handle. It calls the function head with the owner and the tolerances, and
// then the function page with each page of calls, oldest first. It returns the newest signed checkpoint of the journal. While
// head or page runs, Record uses no database connection, and has one page in memory. If head or page returns an error, Record
// stops and returns it. Error: not_found.
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
