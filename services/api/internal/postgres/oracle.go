package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/oracle"
)

// ListFacts reads every open market as of now.
func (s *Store) ListFacts(ctx context.Context, now time.Time) ([]oracle.Fact, error) {
	rows, err := s.pool.Query(ctx, query("oracle_facts"), now)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list facts: %w", err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (oracle.Fact, error) { return scanFact(row, now) })
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list facts: %w", err))
	}
	return list, nil
}

func scanFact(row pgx.CollectableRow, now time.Time) (f oracle.Fact, err error) {
	var initial *syntax.Bps
	var crowdYes, crowdNo int64
	var priced *time.Time
	err = row.Scan(&f.ID, &f.Provider, &f.Title, &f.Outcome, &f.Lane, &f.EventKey, &f.EventTitle, &f.Slug, &f.ImageURL, &f.EndDate,
		&f.Callable, &initial, &f.Yes, &priced, &f.Volume, &f.Volume24h,
		&f.Signals, &crowdYes, &crowdNo, &f.Signals24h, &f.Takes24h,
		&f.From[0], &f.From[1], &f.From[2], &f.From[3])
	if priced != nil {
		f.PricedAt = *priced
	}
	if initial != nil { // a native market, priced by its crowd at any time
		yes := market.NativePrice(*initial, crowdYes, crowdNo)
		f.Yes, f.PricedAt = &yes, now
	}
	return f, err
}

// ListSightings reads since when each thing that moved is seen.
func (s *Store) ListSightings(ctx context.Context) (map[oracle.Sighting]time.Time, error) {
	rows, err := s.pool.Query(ctx, query("oracle_sightings"))
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list sightings: %w", err))
	}
	out := make(map[oracle.Sighting]time.Time)
	var one oracle.Sighting
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&one.Kind, &one.Window, &one.Key, &at}, func() error {
		out[one] = at
		return nil
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list sightings: %w", err))
	}
	return out, nil
}

// KeepSightings adds sightings that are not kept yet and drops others.
func (s *Store) KeepSightings(ctx context.Context, seen map[oracle.Sighting]time.Time, gone []oracle.Sighting) error {
	add, drop := newSightings(len(seen)), newSightings(len(gone))
	at := make([]time.Time, 0, len(seen))
	for one, when := range seen {
		add.add(one)
		at = append(at, when)
	}
	for _, one := range gone {
		drop.add(one)
	}
	if _, err := s.pool.Exec(ctx, query("oracle_sightings_keep"), add.kind, add.span, add.key, at, drop.kind, drop.span, drop.key); err != nil {
		return pg.Fault(fmt.Errorf("keep sightings: %w", err))
	}
	return nil
}

// sightingColumns are the arrays of the sightings statement.
type sightingColumns struct{ kind, span, key []string }

func newSightings(n int) *sightingColumns {
	return &sightingColumns{make([]string, 0, n), make([]string, 0, n), make([]string, 0, n)}
}

func (c *sightingColumns) add(s oracle.Sighting) {
	c.kind, c.span, c.key = append(c.kind, string(s.Kind)), append(c.span, string(s.Window)), append(c.key, s.Key)
}

// ListAttention reads the score that each of these markets had at a time.
func (s *Store) ListAttention(ctx context.Context, ids []syntax.MarketID, at time.Time) (map[syntax.MarketID]int, error) {
	rows, err := s.pool.Query(ctx, query("oracle_attention"), plainIDs(ids), at)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list scores: %w", err))
	}
	out := make(map[syntax.MarketID]int, len(ids))
	var id syntax.MarketID
	var score int
	_, err = pgx.ForEachRow(rows, []any{&id, &score}, func() error {
		out[id] = score
		return nil
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list scores: %w", err))
	}
	return out, nil
}

// ListAttentionHistory reads what a market's score was at from and became since, oldest
// first: the newest limit points.
func (s *Store) ListAttentionHistory(ctx context.Context, id syntax.MarketID, from time.Time, limit int) ([]oracle.Point, error) {
	rows, err := s.reads.Query(ctx, query("oracle_history"), string(id), from, limit)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list attention: %w", err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p oracle.Point, err error) {
		err = row.Scan(&p.At, &p.Score)
		return p, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list attention: %w", err))
	}
	slices.Reverse(list)
	return list, nil
}

// KeepAttention adds to the history of markets whose score is not the last one in
// it, and gives their number.
func (s *Store) KeepAttention(ctx context.Context, scores map[syntax.MarketID]int, at time.Time) (int, error) {
	ids, values := make([]string, 0, len(scores)), make([]int32, 0, len(scores))
	for id, score := range scores {
		ids, values = append(ids, string(id)), append(values, int32(score))
	}
	tag, err := s.pool.Exec(ctx, query("oracle_attention_keep"), ids, values, at)
	if err != nil {
		return 0, pg.Fault(fmt.Errorf("keep scores: %w", err))
	}
	return int(tag.RowsAffected()), nil
}

const (
	// Each score of the last day is kept, of the last week one in fifteen minutes.
	fineScores = 24 * time.Hour
	keepScores = 7 * 24 * time.Hour
	// thinReach is how far behind fineScores thinning looks. It goes on each hour,
	// so that what lies further back is thinned already.
	thinReach = 24 * time.Hour
	thinRows  = 20_000
)

// ThinAttention drops what is too old or too fine of the history of attention, in
// statements of a bounded size each.
func (s *Store) ThinAttention(ctx context.Context, now time.Time) error {
	fine := now.Add(-fineScores)
	for _, step := range []struct {
		name string
		args []any
	}{
		{"oracle_attention_drop", []any{now.Add(-keepScores), thinRows}},
		{"oracle_attention_thin", []any{fine.Add(-thinReach), fine, thinRows}},
	} {
		for {
			tag, err := s.pool.Exec(ctx, query(step.name), step.args...)
			if err != nil {
				return pg.Fault(fmt.Errorf("%s: %w", step.name, err))
			}
			if tag.RowsAffected() < thinRows {
				break
			}
		}
	}
	return nil
}

func plainIDs(ids []syntax.MarketID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return out
}
