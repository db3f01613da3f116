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

// Config holds the settings and dependencies of a Service.
type Config struct {
	Origin string // public origin of this station: scheme, host and port
	People string // URL prefix of operator pages; the handle is appended
	Store  Store
	Ledger *ledgerclient.Client
	Claims []identityclaim.Station // stations that identity claims may name
	Keep   time.Duration           // time after a read for which a stored list is shown
	Now    func() time.Time
}

// Service merges the lists of this station with the stored lists of its partners.
type Service struct{ Config }

// NewService builds a Service. All fields of c are required.
func NewService(c Config) *Service { return &Service{c} }

// LastReads returns the time of the last successful read of each partner, by origin. Error: db_unavailable.
func (s *Service) LastReads(ctx context.Context) (map[string]time.Time, error) {
	return s.Store.LastReads(ctx)
}

// Tapes returns up to limit tapes of the selected stations. Boosted tapes are first, then the newest. At most MaxInARow
// consecutive tapes have the same handle. Error: db_unavailable.
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

// tapes returns all selected tapes: boosted tapes first, then newest first. If tapes have the same id, it returns the tape of
// this station. If this station has none, it returns the tape of the partner whose station id is first in alphabetical order.
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
	partnerTapes, err := s.Store.CopiedTapes(ctx, s.Now().Add(-s.Keep))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(partnerTapes, func(a, b Tape) int { return cmp.Compare(a.Origin, b.Origin) })
	seen := make(map[string]bool, len(all)+len(partnerTapes))
	for _, t := range all {
		seen[t.ID] = true
	}
	for _, t := range partnerTapes {
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

// spread returns up to limit tapes in the order of list, with at most MaxInARow consecutive ones of one handle. It delays a
// further tape of that handle until a tape of another handle precedes it, and omits it if there is none.
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

// View counts a view of a tape. Error: db_unavailable.
func (s *Service) View(ctx context.Context, t Tape) error {
	return s.Store.AddView(ctx, t.Origin, t.ID)
}

// Find returns the tape with this id. Errors: ErrTape if there is none, db_unavailable.
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

// ownRows is the number of entries that are read from the ranking of this station.
const ownRows = 2 * MaxOperators

// Operators ranks the human operators of all selected stations by the scores that their stations report. It returns the best
// ones, up to limit. If an operator of this station has claimed a wallet at a partner, the two entries are merged. Errors:
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
	foreign, err := s.Store.CopiedOperators(ctx, s.Now().Add(-s.Keep))
	if err != nil {
		return nil, err
	}
	foreign = slices.DeleteFunc(foreign, func(o Operator) bool { return !want.has(o.Origin, o.OriginURL) })
	if foreign, err = s.merge(ctx, own, full, foreign); err != nil {
		return nil, err
	}
	all := append(own, foreign...)
	slices.SortStableFunc(all, rank)
	return all[:min(limit, len(all))], nil
}

// rank compares two operators by score, then decided calls, then accuracy, highest first. If these are equal, an operator of
// this station precedes an operator of a partner.
func rank(a, b Operator) int {
	return cmp.Or(
		cmp.Compare(b.Score, a.Score), cmp.Compare(b.Resolved, a.Resolved), cmp.Compare(b.Accuracy, a.Accuracy),
		cmp.Compare(originRank(a), originRank(b)), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Handle, b.Handle),
	)
}

func originRank(o Operator) int {
	if o.Origin == Hub {
		return 0
	}
	return 1
}

// merge removes the entries of partners that belong to operators of this station, and adds the partner to AlsoOn of the
// operator's entry in own. If full is true, own contains only the first ownRows operators of this station. In that case, merge
// also removes an entry whose operator is missing in own, because this operator may have a lower rank. If own is empty, merge
// removes nothing.
func (s *Service) merge(ctx context.Context, own []Operator, full bool, foreign []Operator) ([]Operator, error) {
	var proofs []Proof
	for i := range foreign {
		if p, ok := s.proof(&foreign[i]); ok {
			proofs = append(proofs, p)
		}
	}
	if len(own) == 0 || len(proofs) == 0 {
		return foreign, nil
	}
	owners, err := s.Store.Owners(ctx, proofs)
	if err != nil {
		return nil, err
	}
	at := make(map[operator.ID]int, len(own))
	for i := range own {
		at[own[i].ID] = i
	}
	return slices.DeleteFunc(foreign, func(o Operator) bool {
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

// proof returns the wallet in the profile URL of a partner's entry. If the URL contains no wallet, it returns false. A handle
// does not identify an operator, because anyone can register it at another station.
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
