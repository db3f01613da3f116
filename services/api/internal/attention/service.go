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

// Errors of the read methods of Service.
var (
	// ErrUnavailable means that the open markets have not been read yet, or that the newest reading is too old.
	ErrUnavailable = apperr.New(apperr.Unavailable, "db_unavailable",
		"the list of open markets is not loaded or out of date; retry later")
	ErrNotFound = apperr.New(apperr.NotFound, "not_found", "no such open market")
)

const (
	// readBudget is the timeout of one reading of all open markets.
	readBudget = 20 * time.Second
	// filling is the pause between two readings while markets are being loaded: the store is empty, or the number of markets
	// has grown by more than a tenth since the last such reading.
	filling = time.Second
	// overdue is the age at which the last successful reading is too old for callers with their own cache, if the newest
	// reading failed.
	overdue = 90 * time.Second
	// deltaFor is the period over which the change of an attention score is measured.
	deltaFor = time.Hour
)

// Service answers requests from the last successful reading of the open markets.
type Service struct {
	store  Store
	now    func() time.Time
	watch  func(ctx context.Context) map[protocol.MarketID]int64
	last   atomic.Pointer[state]
	failed atomic.Bool   // the newest reading failed, and last is from an earlier one
	ready  chan struct{} // closed after the first successful reading

	mu   sync.Mutex
	news chan struct{} // closed after the next successful reading
}

// NewService returns a service that has no data yet. Run or Refresh reads the markets.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{
		store: store, now: now, ready: make(chan struct{}), news: make(chan struct{}),
		watch: func(context.Context) map[protocol.MarketID]int64 { return nil },
	}
}

// Watch sets the function that returns the present number of viewers of each market. Without it, every market has 0 viewers.
// Call Watch before the first reading.
func (s *Service) Watch(viewers func(ctx context.Context) map[protocol.MarketID]int64) {
	s.watch = viewers
}

// Run reads the markets immediately and then once in each interval, until ctx ends. It reads more often while there are no
// markets, and while their number grows by more than a tenth. It passes errors of readings to the function failed.
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

// size returns the number of markets in the last successful reading, or 0 before the first.
func (s *Service) size() int {
	if st := s.last.Load(); st != nil {
		return len(st.rows)
	}
	return 0
}

// Refresh reads the open markets and computes the new result. It must not be called concurrently. After an error, the
// previous result remains in use.
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
	sightings, err := s.store.ListSightings(ctx)
	if err != nil {
		return nil, err
	}
	st := newState(facts, sightings, s.last.Load(), now)
	scores, err := s.store.ListAttention(ctx, st.shown(), now.Add(-deltaFor))
	if err != nil {
		return nil, err
	}
	st.compare(scores)
	return st, nil
}

// Newer returns a channel that is closed after the next successful reading.
func (s *Service) Newer() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.news
}

// Age returns the age of the last successful reading, or 0 before the first.
func (s *Service) Age() time.Duration {
	st := s.last.Load()
	if st == nil {
		return 0
	}
	return s.now().Sub(st.at)
}

// state returns the result of the last successful reading. Before the first reading, it waits. Error: ErrUnavailable if ctx
// ends.
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

// current returns the result of the last successful reading. If the newest reading failed and the result is older than
// overdue, the error is ErrUnavailable. On this error, callers can return an older response from a cache and mark it as stale.
func (s *Service) current(ctx context.Context) (*state, error) {
	st, err := s.state(ctx)
	if err == nil && s.failed.Load() && s.now().Sub(st.at) > overdue {
		return nil, ErrUnavailable
	}
	return st, err
}

// Moves returns at most limit markets that moved within a window, the largest change first, and the time of the reading. An
// empty lane selects every lane. The list is empty if the reading is older than movement.LiveFor. Error: ErrUnavailable.
func (s *Service) Moves(ctx context.Context, w protocol.Window, lane protocol.Lane, limit int) ([]movement.Move, time.Time, error) {
	st, err := s.live(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	return movement.InLane(st.moves[slices.Index(protocol.Windows[:], w)], lane, func(m *movement.Move) protocol.Lane { return m.Market.Lane }, limit), st.at, nil
}

// Changes returns the price change of each market that moved within a window, in bps. It does not wait for the first reading, and
// is empty if there is none or if it is older than movement.LiveFor.
func (s *Service) Changes(w protocol.Window) map[protocol.MarketID]int {
	st := s.last.Load()
	if st == nil || s.now().Sub(st.at) > movement.LiveFor {
		return nil
	}
	moves := st.moves[slices.Index(protocol.Windows[:], w)]
	out := make(map[protocol.MarketID]int, len(moves))
	for i := range moves {
		out[moves[i].Market.ID] = moves[i].Delta()
	}
	return out
}

// Situations returns at most limit situations of a window, the greatest score first, and the time of the reading. A lane
// selects the situations whose lead market has this lane; an empty lane selects all. The list is empty if the reading is older
// than movement.LiveFor. Error: ErrUnavailable.
func (s *Service) Situations(ctx context.Context, w protocol.Window, lane protocol.Lane, limit int) ([]movement.Situation, time.Time, error) {
	st, err := s.live(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	return movement.InLane(st.situations[slices.Index(protocol.Windows[:], w)], lane, func(s *movement.Situation) protocol.Lane { return s.Lead().Lane }, limit), st.at, nil
}

// live returns the result of the last successful reading. If it is older than movement.LiveFor, live returns an empty result
// with the same time. Error: ErrUnavailable.
func (s *Service) live(ctx context.Context) (*state, error) {
	st, err := s.current(ctx)
	if err == nil && s.now().Sub(st.at) > movement.LiveFor {
		return &state{at: st.at}, nil
	}
	return st, err
}

// Tiles returns the heatmap of the primary venue, at most MostTiles tiles, and the time of the reading. The pinned markets
// come first, in the given order, then the events with the greatest attention score. Pinned markets that are not open are
// omitted. If soon is true, it returns the markets that end within 24 hours instead, earliest end first, and ignores pinned.
// Error: ErrUnavailable.
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

// Top returns at most limit open markets, the greatest attention score first, and the time of the reading. An empty lane
// selects every lane. Error: ErrUnavailable.
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

// Taken returns at most limit open markets with takes in the last 24 hours, the largest number of takes first, and the time
// of the reading. The list is empty if the reading is older than movement.LiveFor. Error: ErrUnavailable.
func (s *Service) Taken(ctx context.Context, limit int) ([]Row, time.Time, error) {
	st, err := s.live(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	return st.taken[:min(len(st.taken), max(limit, 0))], st.at, nil
}

// Score returns the attention score of one open market and the time of the reading. Errors: ErrNotFound; ErrUnavailable
// before the first reading, and for an unknown market while readings fail, because the market may have opened since the
// reading.
func (s *Service) Score(ctx context.Context, id protocol.MarketID) (Row, time.Time, error) {
	st, err := s.state(ctx)
	if err != nil {
		return Row{}, time.Time{}, err
	}
	i, known := st.indexes[id]
	switch {
	case known:
		return st.rows[i], st.at, nil
	case s.failed.Load():
		return Row{}, time.Time{}, ErrUnavailable
	}
	return Row{}, time.Time{}, ErrNotFound
}
