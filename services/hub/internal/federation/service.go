package federation

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Config is what a Service is made of.
type Config struct {
	Origin string // our own address: scheme, host and port
	People string // what stands before a handle in the address of a page of ours
	Store  Store
	Ledger *ledgerclient.Client
	Claims []identityclaim.Station // that claims may name
	Keep   time.Duration           // how long a copy is shown
	Now    func() time.Time
}

// Service shows what the stations show together.
type Service struct{ Config }

// NewService needs all of the configuration.
func NewService(c Config) *Service { return &Service{c} }

// Heard returns when partners were read last, by origin. Error: db_unavailable.
func (s *Service) Heard(ctx context.Context) (map[string]time.Time, error) { return s.Store.Heard(ctx) }

// Tapes merges our own clips with those of the partners: boosted ones first, then the
// newest, never more than MaxInARow of one handle in a row. Error: db_unavailable.
func (s *Service) Tapes(ctx context.Context, want Wanted, limit int) ([]Tape, error) {
	all, err := s.tapes(ctx, want)
	if err != nil {
		return nil, err
	}
	all = spread(all, limit)
	views, err := s.Store.Views(ctx, all)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Views += views[i]
	}
	return all, nil
}

// tapes are all that may be shown, in order, each id once: ours stand before those of
// partners, and partners in the order of their names.
func (s *Service) tapes(ctx context.Context, want Wanted) ([]Tape, error) {
	var all []Tape
	if want.has(Hub, s.Origin) {
		own, err := s.Store.LocalTapes(ctx, MaxRows)
		if err != nil {
			return nil, err
		}
		for _, t := range own {
			t.Origin, t.OriginURL, t.Href = Hub, s.Origin, s.People+t.Handle
			all = append(all, t)
		}
	}
	theirs, err := s.Store.CopiedTapes(ctx, s.Now().Add(-s.Keep))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(theirs, func(a, b Tape) int { return cmp.Compare(a.Origin, b.Origin) })
	seen := make(map[string]bool, len(all)+len(theirs))
	for _, t := range all {
		seen[t.ID] = true
	}
	for _, t := range theirs {
		if !seen[t.ID] && want.has(t.Origin, t.OriginURL) {
			seen[t.ID], t.Approved = true, true
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b Tape) int {
		if a.Boosted != b.Boosted {
			if a.Boosted {
				return -1
			}
			return 1
		}
		return b.CreatedAt.Compare(a.CreatedAt)
	})
	return all, nil
}

// spread takes up to limit tapes in order; one that would be too many of its handle
// waits until another handle came between.
func spread(list []Tape, limit int) []Tape {
	out := make([]Tape, 0, min(limit, len(list)))
	var waiting []Tape
	row := func(handle string) bool {
		n := 0
		for i := len(out) - 1; i >= 0 && out[i].Handle == handle && n < MaxInARow; i-- {
			n++
		}
		return n == MaxInARow
	}
	for len(out) < limit {
		if i := slices.IndexFunc(waiting, func(t Tape) bool { return !row(t.Handle) }); i >= 0 {
			out = append(out, waiting[i])
			waiting = slices.Delete(waiting, i, i+1)
			continue
		}
		if len(list) == 0 {
			break
		}
		if t := list[0]; row(t.Handle) {
			waiting = append(waiting, t)
		} else {
			out = append(out, t)
		}
		list = list[1:]
	}
	return out
}

// View counts a start of a tape. Error: db_unavailable.
func (s *Service) View(ctx context.Context, t Tape) error {
	return s.Store.AddView(ctx, t.Origin, t.ID)
}

// Find finds a tape that is shown. Errors: ErrTape, db_unavailable.
func (s *Service) Find(ctx context.Context, id string) (Tape, error) {
	if !isID(id) {
		return Tape{}, ErrTape
	}
	all, err := s.tapes(ctx, Wanted{})
	if err != nil {
		return Tape{}, err
	}
	i := slices.IndexFunc(all, func(t Tape) bool { return t.ID == id })
	if i < 0 {
		return Tape{}, ErrTape
	}
	return all[i], nil
}

// ownRows is how far our own ranking is read.
const ownRows = 2 * MaxOperators

// Operators ranks the people of all stations by their scores, each as its own station
// counts them. Somebody of ours who has proven to be at a partner is one row. Faults:
// db_unavailable, signal_service_unavailable.
func (s *Service) Operators(ctx context.Context, want Wanted, limit int) ([]Operator, error) {
	var own []Operator
	full := false
	if want.has(Hub, s.Origin) {
		list, err := ranked(ctx, s.Ledger, ownRows)
		if err != nil {
			return nil, err
		}
		full = len(list) == ownRows
		for _, o := range list {
			if o.Origin, o.OriginURL, o.Href = Hub, s.Origin, s.People+o.Handle; o.human() {
				own = append(own, o)
			}
		}
	}
	theirs, err := s.Store.CopiedOperators(ctx, s.Now().Add(-s.Keep))
	if err != nil {
		return nil, err
	}
	theirs = slices.DeleteFunc(theirs, func(o Operator) bool { return !want.has(o.Origin, o.OriginURL) })
	if theirs, err = s.link(ctx, own, full, theirs); err != nil {
		return nil, err
	}
	all := append(own, theirs...)
	slices.SortStableFunc(all, rank)
	return all[:min(limit, len(all))], nil
}

// rank orders by score, decided calls and accuracy, ours before theirs.
func rank(a, b Operator) int {
	return cmp.Or(
		cmp.Compare(b.Score, a.Score), cmp.Compare(b.Resolved, a.Resolved), cmp.Compare(b.Accuracy, a.Accuracy),
		cmp.Compare(foreign(a), foreign(b)), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Handle, b.Handle),
	)
}

func foreign(o Operator) int {
	if o.Origin == Hub {
		return 0
	}
	return 1
}

// link takes the rows away that are the same operator as one of ours, and notes them
// there. An operator of ours who stands behind all rows of a full list is one row as
// well: ours, further down than is shown.
func (s *Service) link(ctx context.Context, own []Operator, full bool, theirs []Operator) ([]Operator, error) {
	var proofs []Proof
	for i := range theirs {
		if p, ok := s.proof(&theirs[i]); ok {
			proofs = append(proofs, p)
		}
	}
	if len(own) == 0 || len(proofs) == 0 {
		return theirs, nil
	}
	owners, err := s.Store.Owners(ctx, proofs)
	if err != nil {
		return nil, err
	}
	at := make(map[operator.ID]int, len(own))
	for i := range own {
		at[own[i].ID] = i
	}
	return slices.DeleteFunc(theirs, func(o Operator) bool {
		p, _ := s.proof(&o)
		owner, there := owners[p]
		if !there {
			return false
		}
		i, shown := at[owner]
		if shown && !slices.Contains(own[i].AlsoOn, o.Origin) {
			own[i].AlsoOn = append(own[i].AlsoOn, o.Origin)
		}
		return shown || full
	}), nil
}

// proof is the wallet that a partner's row is of: the one whose profile it leads to. A
// handle proves nothing, anybody may have it elsewhere.
func (s *Service) proof(o *Operator) (Proof, bool) {
	for _, st := range s.Claims {
		rest, ok := strings.CutPrefix(o.Href, st.Profile)
		if !ok || st.Name != o.Origin {
			continue
		}
		if a, err := identityclaim.ParseAddress(rest); err == nil {
			return Proof{Station: st.Name, Identity: a.String()}, true
		}
	}
	return Proof{}, false
}
