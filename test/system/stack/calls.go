package stack

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
)

// StoredCall is a call as the database stores it.
type StoredCall struct {
	ID, Operator string // Operator is a user id
	Yes          bool
	Price, Basis int // in basis points of the side called; Basis is the scoring price
}

const insertCalls = `
WITH f AS (
    INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, rated, crowd_yes_bps,
        created_at, market_title, source)
    SELECT id, $1, user_id, yes, price, basis, true, true, 5000, $7, 'seeded', 'web'
    FROM unnest($2::uuid[], $3::uuid[], $4::boolean[], $5::integer[], $6::integer[]) AS t (id, user_id, yes, price, basis)
    RETURNING id, user_id, yes
), o AS (
    INSERT INTO api.open_signals (signal_id, market_id, created_at) SELECT id, $1, $7 FROM f
), c AS (
    UPDATE api.operator_totals t SET total = total + 1 FROM f WHERE t.user_id = f.user_id
)
INSERT INTO api.market_totals AS t (market_id, yes, no, crowd_yes, crowd_no)
SELECT $1, count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes), count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes) FROM f
ON CONFLICT (market_id) DO UPDATE SET yes = t.yes + excluded.yes, no = t.no + excluded.no,
    crowd_yes = t.crowd_yes + excluded.crowd_yes, crowd_no = t.crowd_no + excluded.crowd_no`

// InsertCalls stores calls on a market directly in the database and updates the counters of the market and of the operators.
// Tests use it for more calls than they can file over HTTP. It sets the ID of each call that has none. Leaderboards do not
// include the calls until RefreshBoards is called.
func (s *Stack) InsertCalls(t testing.TB, market string, calls []StoredCall) {
	t.Helper()
	var ids, users []string
	var yes []bool
	var prices, bases []int
	for i := range calls {
		c := &calls[i]
		if c.ID == "" {
			c.ID = uuid.Must(uuid.NewV7()).String()
		}
		ids, users, yes = append(ids, c.ID), append(users, c.Operator), append(yes, c.Yes)
		prices, bases = append(prices, c.Price), append(bases, c.Basis)
	}
	args := []any{market, ids, users, yes, prices, bases, time.Now().UTC().Truncate(time.Millisecond)}
	_, err := s.DB(t).Exec(t.Context(), insertCalls, args...)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42703" { // undefined_column: the database of an earlier release has no column rated
		older := strings.NewReplacer("price_verified, rated", "price_verified", "true, true", "true").Replace(insertCalls)
		_, err = s.DB(t).Exec(t.Context(), older, args...)
	}
	if err != nil {
		t.Fatalf("insert calls: %v", err)
	}
}

// RefreshBoards recomputes the leaderboards from all stored calls.
func (s *Stack) RefreshBoards(t testing.TB) {
	t.Helper()
	if _, err := s.DB(t).Exec(t.Context(), "SELECT api.fill_boards()"); err != nil {
		t.Fatalf("refresh the boards: %v", err)
	}
}
