package attention

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

// Expected failures.
var (
	// ErrUnavailable: the open markets could not be read.
	ErrUnavailable = apperr.New(apperr.Unavailable, "db_unavailable", "the open markets are being read")
	ErrNotFound    = apperr.New(apperr.NotFound, "not_found", "no such open market")
)

const (
	// readBudget ends a reading that takes too long.
	readBudget = 20 * time.Second
	// filling is the pause between two readings of a catalogue that is being filled:
	// one that is empty, or has a tenth more markets than the reading before saw.
	filling = time.Second
	// overdue is the age of a reading that is no longer shown as the newest there is,
	// where the one after it went wrong.
	overdue = 90 * time.Second
	// deltaFor is how far back the change of a score is measured.
	deltaFor = time.Hour
)

// Service answers from the last reading of the open markets.
type Service struct {
	store  Store
	now    func() time.Time
	watch  func(ctx context.Context) map[protocol.MarketID]int64
	last   atomic.Pointer[state]
	failed atomic.Bool   // the newest reading went wrong
	ready  chan struct{} // closed when the markets were read once

	mu   sync.Mutex
	news chan struct{} // closed when there is a newer reading
}

// NewService knows nothing until Run or Refresh has read the markets.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{
		store: store, now: now, ready: make(chan struct{}), news: make(chan struct{}),
		watch: func(context.Context) map[protocol.MarketID]int64 { return nil },
	}
}

// Watch sets who tells how many watch each market now; without it nobody does. It is
// called before the first reading.
func (s *Service) Watch(viewers func(ctx context.Context) map[protocol.MarketID]int64) {
	s.watch = viewers
}

// Run reads the markets at once and then each interval until ctx ends; failed
// hears of readings that went wrong.
func (s *Service) Run(ctx context.Context, every time.Duration, failed func(error)) error {
	for seen := 0; ; {
		began, pause := s.now(), every
		if err := s.Refresh(ctx); err != nil && ctx.Err() == nil {
			failed(err)
		} else if n := s.size(); n == 0 || n > seen+seen/10 {
			seen, pause = n, min(every, filling)
		}
		if err := dbtime.Sleep(ctx, max(0, pause-s.now().Sub(began))); err != nil {
			return err
		}
	}
}

// size is the number of markets of the last reading.
func (s *Service) size() int {
	if st := s.last.Load(); st != nil {
		return len(st.rows)
	}
	return 0
}

// Refresh reads the markets and works everything out. It is not called twice at
// once. When it fails the reading before stays.
func (s *Service) Refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readBudget)
	defer cancel()
	next, err := s.read(ctx)
	s.failed.Store(err != nil)
	if err != nil {
		return err
	}
	first := s.last.Swap(next) == nil
	if first {
		close(s.ready)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.news)
	s.news = make(chan struct{})
	return nil
}

func (s *Service) read(ctx context.Context) (*state, error) {
	now := s.now()
	facts, err := s.store.ListFacts(ctx, now)
	if err != nil {
		return nil, err
	}
	viewers := s.watch(ctx)
	for i := range facts {
		facts[i].Viewers = viewers[facts[i].ID]
	}
	kept, err := s.store.ListSightings(ctx)
	if err != nil {
		return nil, err
	}
	st := newState(facts, kept, s.last.Load(), now)
	scores, err := s.store.ListAttention(ctx, st.shown(), now.Add(-deltaFor))
	if err != nil {
		return nil, err
	}
	st.compare(scores)
	return st, nil
}

// Newer is closed when there is a newer reading than now.
func (s *Service) Newer() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.news
}

// Age is how old the last reading is; before the first one it is 0.
func (s *Service) Age() time.Duration {
	st := s.last.Load()
	if st == nil {
		return 0
	}
	return s.now().Sub(st.at)
}

// state gives the last reading. A caller that comes before the first one waits
// for it. Fault: ErrUnavailable.
func (s *Service) state(ctx context.Context) (*state, error) {
	if st := s.last.Load(); st != nil {
		return st, nil
	}
	select {
	case <-s.ready:
		return s.last.Load(), nil
	case <-ctx.Done():
		return nil, ErrUnavailable.Wrap(ctx.Err())
	}
}

// current is state for those who have a copy of their own and have to say so when
// they show it: no reading has come for a while, and the newest one went wrong.
// Fault: ErrUnavailable.
func (s *Service) current(ctx context.Context) (*state, error) {
	st, err := s.state(ctx)
	if err == nil && s.failed.Load() && s.now().Sub(st.at) > overdue {
		return nil, ErrUnavailable
	}
	return st, err
}

// Moves lists the markets that moved within a window, the largest change first;
// an empty lane is every lane. It gives the time of the reading, too. When no
// reading succeeded for movement.LiveFor nothing is known to move. Fault:
// ErrUnavailable.
func (s *Service) Moves(ctx context.Context, w protocol.Window, lane protocol.Lane, limit int) ([]movement.Move, time.Time, error) {
	st, err := s.live(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	return movement.InLane(st.moves[slices.Index(protocol.Windows[:], w)], lane, func(m *movement.Move) protocol.Lane { return m.Market.Lane }, limit), st.at, nil
}

// Situations is Moves for the stories that moves make, by score; the lane is that
// of the lead market. Fault: ErrUnavailable.
func (s *Service) Situations(ctx context.Context, w protocol.Window, lane protocol.Lane, limit int) ([]movement.Situation, time.Time, error) {
	st, err := s.live(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	return movement.InLane(st.situations[slices.Index(protocol.Windows[:], w)], lane, func(s *movement.Situation) protocol.Lane { return s.Lead().Lane }, limit), st.at, nil
}

// live returns the current reading, or an empty one with its time when no reading succeeded for movement.LiveFor. Fault: ErrUnavailable.
func (s *Service) live(ctx context.Context) (*state, error) {
	st, err := s.current(ctx)
	if err == nil && s.now().Sub(st.at) > movement.LiveFor {
		return &state{at: st.at}, nil
	}
	return st, err
}

// Tiles gives the heatmap of the primary venue, at most MostTiles: the pinned
// markets in their order, then the events by attention; a pinned market that is
// not open is left out. With soon it is the markets that end within a day, the
// soonest first, and no pins. Fault: ErrUnavailable.
func (s *Service) Tiles(ctx context.Context, soon bool, pinned []protocol.MarketID) ([]Tile, time.Time, error) {
	st, err := s.current(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	if soon {
		return st.heatmap.takeSoon(s.now()), st.at, nil
	}
	return st.heatmap.take(pinned, s.now()), st.at, nil
}

// Top lists open markets by attention; an empty lane is every lane. Fault:
// ErrUnavailable.
func (s *Service) Top(ctx context.Context, lane protocol.Lane, limit int) ([]Row, time.Time, error) {
	st, err := s.state(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	top := st.tops[lane]
	top = top[:min(len(top), max(limit, 0))]
	out := make([]Row, len(top))
	for i, place := range top {
		out[i] = st.rows[place]
	}
	return out, st.at, nil
}

// Taken lists open markets with takes of the last 24 hours, the most first. When no
// reading succeeded for movement.LiveFor nothing is known of them. Fault: ErrUnavailable.
func (s *Service) Taken(ctx context.Context, limit int) ([]Row, time.Time, error) {
	st, err := s.live(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	return st.taken[:min(len(st.taken), max(limit, 0))], st.at, nil
}

// Score gives the attention of one market. Faults: ErrNotFound; ErrUnavailable
// before the first reading and while no reading succeeds, because the market may
// have opened since.
func (s *Service) Score(ctx context.Context, id protocol.MarketID) (Row, time.Time, error) {
	st, err := s.state(ctx)
	if err != nil {
		return Row{}, time.Time{}, err
	}
	i, known := st.places[id]
	switch {
	case known:
		return st.rows[i], st.at, nil
	case s.failed.Load():
		return Row{}, time.Time{}, ErrUnavailable
	}
	return Row{}, time.Time{}, ErrNotFound
}
