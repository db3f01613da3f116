package attention

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// thinEvery is the time between two reductions of the history of attention.
const thinEvery = time.Hour

// keeper writes the data that all processes share.
type keeper struct {
	store   Store
	scores  map[protocol.MarketID]int // last scores that this process has written
	thinned time.Time
}

// Keep writes the changes of each reading to the history of attention and to the sightings, until ctx ends. Only one
// process runs it. Errors of writes are passed to failed; the next reading writes the missing data.
func (s *Service) Keep(ctx context.Context, failed func(error)) error {
	k := &keeper{store: s.store}
	for {
		newer := s.Newer()
		if st := s.last.Load(); st != nil {
			if err := k.write(ctx, st); err != nil && ctx.Err() == nil {
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

func (k *keeper) write(ctx context.Context, st *state) error {
	ctx, cancel := context.WithTimeout(ctx, readBudget)
	defer cancel()
	if added, ended := st.sightings(); len(added)+len(ended) > 0 {
		if err := k.store.StoreSightings(ctx, added, ended); err != nil {
			return err
		}
	}
	if st.at.Sub(k.thinned) >= thinEvery {
		if err := k.store.ThinAttention(ctx, st.at); err != nil {
			return err
		}
		// Thinning may have deleted the last score of a market, so all scores are written again.
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
		if _, err := k.store.StoreAttention(ctx, changed, st.at); err != nil {
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
