package network

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Service shows what the stations show together.
type Service struct {
	origin string // our own address
	people string // what stands before a handle in the address of a page of ours
	copies Copies
	shelf  Shelf
	field  Field
	links  Links
	keep   time.Duration
	now    func() time.Time
}

// Config is what a Service is made of.
type Config struct {
	Origin string // our own address: scheme, host and port
	People string // what stands before a handle in the address of a page of ours
	Copies Copies
	Shelf  Shelf
	Field  Field
	Links  Links
	Keep   time.Duration // how long a copy is shown
	Now    func() time.Time
}

// NewService needs all of the configuration.
func NewService(c Config) *Service {
	return &Service{origin: c.Origin, people: c.People, copies: c.Copies, shelf: c.Shelf, field: c.Field, links: c.Links, keep: c.Keep, now: c.Now}
}

// Tapes merges our own clips with those of the partners: boosted ones first, then the
// newest, never more than MaxInARow of one handle in a row. Fault: db_unavailable.
func (s *Service) Tapes(ctx context.Context, without Exclude, limit int) ([]Tape, error) {
	all, err := s.tapes(ctx, without)
	if err != nil {
		return nil, err
	}
	all = spread(all, limit)
	views, err := s.shelf.Views(ctx, all)
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
func (s *Service) tapes(ctx context.Context, without Exclude) ([]Tape, error) {
	var all []Tape
	if !without.has(Hub, s.origin) {
		own, err := s.shelf.LocalTapes(ctx, MaxRows)
		if err != nil {
			return nil, err
		}
		for _, t := range own {
			t.Origin, t.OriginURL, t.Href = Hub, s.origin, s.people+t.Handle
			all = append(all, t)
		}
	}
	theirs, err := s.copies.CopiedTapes(ctx, s.now().Add(-s.keep))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(theirs, func(a, b Tape) int { return cmp.Compare(a.Origin, b.Origin) })
	seen := make(map[string]bool, len(all)+len(theirs))
	for _, t := range all {
		seen[t.ID] = true
	}
	for _, t := range theirs {
		if !seen[t.ID] && !without.has(t.Origin, t.OriginURL) {
			seen[t.ID] = true
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

// View counts a start of a tape. Fault: db_unavailable.
func (s *Service) View(ctx context.Context, t Tape) error {
	return s.shelf.AddView(ctx, t.Origin, t.ID)
}

// Find finds a tape that is shown. Faults: ErrTape, db_unavailable.
func (s *Service) Find(ctx context.Context, id string) (Tape, error) {
	if !isID(id) {
		return Tape{}, ErrTape
	}
	all, err := s.tapes(ctx, nil)
	if err != nil {
		return Tape{}, err
	}
	i := slices.IndexFunc(all, func(t Tape) bool { return t.ID == id })
	if i < 0 {
		return Tape{}, ErrTape
	}
	return all[i], nil
}

// Operators ranks the people of all stations by their scores, each as its own station
// counts them. Somebody of ours who has proven to be at a partner is one row. Faults:
// db_unavailable, signal_service_unavailable.
func (s *Service) Operators(ctx context.Context, without Exclude, limit int) ([]Operator, error) {
	var own []Operator
	if !without.has(Hub, s.origin) {
		list, err := s.field.Ranked(ctx, 2*MaxOperators)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			if o.Origin, o.OriginURL, o.Href = Hub, s.origin, s.people+o.Handle; o.human() {
				own = append(own, o)
			}
		}
	}
	theirs, err := s.copies.CopiedOperators(ctx, s.now().Add(-s.keep))
	if err != nil {
		return nil, err
	}
	theirs = slices.DeleteFunc(theirs, func(o Operator) bool { return without.has(o.Origin, o.OriginURL) })
	if theirs, err = s.link(ctx, own, theirs); err != nil {
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
// there.
func (s *Service) link(ctx context.Context, own, theirs []Operator) ([]Operator, error) {
	if len(own) == 0 || len(theirs) == 0 {
		return theirs, nil
	}
	ids, at := make([]operator.ID, len(own)), make(map[string]int, len(own))
	for i, o := range own {
		ids[i], at[o.Handle] = o.ID, i
	}
	linked, err := s.links.Linked(ctx, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(theirs, func(o Operator) bool {
		i, there := at[o.Handle]
		if !there || !slices.Contains(linked[own[i].ID], o.Origin) {
			return false
		}
		own[i].AlsoOn = append(own[i].AlsoOn, o.Origin)
		return true
	}), nil
}
