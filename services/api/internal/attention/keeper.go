package attention

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// thinEvery is the time between two calls of Store.ThinAttention.
const thinEvery = time.Hour

// keeper stores attention scores, price changes of 24 hours, and the times at which moves and situations were first seen, for all
// processes.
type keeper struct {
	store   Store
	scores  map[protocol.MarketID]int // newest scores that this process has stored
	moves   map[protocol.MarketID]int // newest price changes that this process has stored; nil: those of another process may be stored
	thinned time.Time
}

// Keep stores the changed scores and price changes of each reading, and the moves and situations that have begun or ended, until
// ctx ends. Only one process may run it. It passes errors of the store to the function failed. After an error, the next reading
// stores the missing data.
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
	if err := k.storeMoves(ctx, st); err != nil {
		return err
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

// storeMoves stores the changes of prices within 24 hours that differ from the stored ones.
func (k *keeper) storeMoves(ctx context.Context, st *state) error {
	moves, changed := make(map[protocol.MarketID]int), make(map[protocol.MarketID]int)
	for i := range st.rows {
		r := &st.rows[i]
		delta, known := r.Market.Delta(protocol.Window24h, st.at)
		if !known {
			continue
		}
		moves[r.ID] = max(delta, -delta)
		if last, stored := k.moves[r.ID]; !stored || last != moves[r.ID] {
			changed[r.ID] = moves[r.ID]
		}
	}
	var unknown []protocol.MarketID
	for id := range k.moves {
		if _, known := moves[id]; !known {
			unknown = append(unknown, id)
		}
	}
	if all := k.moves == nil; all || len(changed)+len(unknown) > 0 {
		if err := k.store.StoreMoves(ctx, changed, unknown, all); err != nil {
			return err
		}
	}
	k.moves = moves
	return nil
}
