package attention

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// thinEvery is how often the history of attention is thinned.
const thinEvery = time.Hour

// keeper writes what all processes share.
type keeper struct {
	store   Store
	scores  map[protocol.MarketID]int // what this process has seen written
	thinned time.Time
}

// Keep writes what each reading adds to the history of attention and to the
// sightings until ctx ends. Of all processes one runs it. failed hears of writes
// that went wrong; the next reading brings what they left out.
func (s *Service) Keep(ctx context.Context, failed func(error)) error {
	k := &keeper{store: s.store}
	for {
		newer := s.Newer()
		if st := s.last.Load(); st != nil {
			if err := k.keep(ctx, st); err != nil && ctx.Err() == nil {
				failed(err)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-newer:
		}
	}
}

func (k *keeper) keep(ctx context.Context, st *state) error {
	ctx, cancel := context.WithTimeout(ctx, readBudget)
	defer cancel()
	if fresh, gone := st.sightings(); len(fresh)+len(gone) > 0 {
		if err := k.store.KeepSightings(ctx, fresh, gone); err != nil {
			return err
		}
	}
	if st.at.Sub(k.thinned) >= thinEvery {
		if err := k.store.ThinAttention(ctx, st.at); err != nil {
			return err
		}
		// The last row of a market may be gone: it is looked for again.
		k.thinned, k.scores = st.at, nil
	}
	changed := make(map[protocol.MarketID]int)
	for i := range st.rows {
		r := &st.rows[i]
		if last, known := k.scores[r.ID]; !known || last != r.Score {
			changed[r.ID] = r.Score
		}
	}
	if len(changed) > 0 {
		if _, err := k.store.KeepAttention(ctx, changed, st.at); err != nil {
			return err
		}
	}
	scores := make(map[protocol.MarketID]int, len(st.rows))
	for i := range st.rows {
		scores[st.rows[i].ID] = st.rows[i].Score
	}
	k.scores = scores
	return nil
}
