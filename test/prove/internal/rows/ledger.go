package rows

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
	"github.com/signalcast/signalcast/test/system/scorer"
)

// sideLedger is an api of our own with a hub in front of it, on the same database.
type sideLedger struct {
	api, hub *stack.Side
}

func startSide(ctx context.Context, env *frame.Env, settings map[string]string) (*sideLedger, error) {
	api, err := env.Stack.Side(ctx, "api", settings)
	if err != nil {
		return nil, err
	}
	hub, err := env.Stack.Side(ctx, "hub", map[string]string{"API_ADDR": api.GRPC})
	if err != nil {
		api.Stop()
		return nil, err
	}
	return &sideLedger{api, hub}, nil
}

func (l *sideLedger) stop() {
	l.hub.Stop()
	l.api.Stop()
}

// large is a market with many planted calls, of which we know all there is to know.
type large struct {
	id      string
	closing int
	calls   []client.Planted
}

func plantLarge(ctx context.Context, env *frame.Env, r *rand.Rand, row string, ops []client.Operator, n int) (large, error) {
	ids, err := markets(ctx, env, row, 1)
	if err != nil {
		return large{}, err
	}
	m := large{id: ids[0], closing: r.IntN(10001), calls: make([]client.Planted, n)}
	for i := range m.calls {
		price := r.IntN(10001)
		m.calls[i] = client.Planted{User: ops[i].ID, Yes: r.IntN(2) == 0, Price: price, Basis: min(10000, price+r.IntN(200))}
	}
	if err := client.Plant(ctx, env.DB, m.id, m.calls); err != nil {
		return m, err
	}
	_, err = env.DB.Exec(ctx, "INSERT INTO api.market_prices (market_id, at, yes_bps) VALUES ($1, now(), $2)", m.id, m.closing)
	return m, err
}

// right counts the calls of a large market that are scored once and as the second
// implementation says; twice counts results that no call of it has.
func (m large) right(ctx context.Context, env *frame.Env, verdict string) (right, unscored int, err error) {
	rows, err := env.DB.Query(ctx, `SELECT r.signal_id::text, r.status, r.score, r.clv_bps, r.close_price FROM api.signal_results r
		JOIN api.signals s ON s.id = r.signal_id WHERE s.market_id = $1`, m.id)
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close()
	results := map[string]scorer.Result{}
	closings := map[string]*int{}
	for rows.Next() {
		var id string
		var got scorer.Result
		var closing *int
		if err := rows.Scan(&id, &got.Status, &got.Score, &got.CLV, &closing); err != nil {
			return 0, 0, err
		}
		results[id], closings[id] = got, closing
	}
	for _, c := range m.calls {
		got, scored := results[c.ID]
		want := scorer.Scored(c.Yes, c.Basis, verdict, &m.closing)
		switch {
		case !scored:
			unscored++
		case got.Status == want.Status && got.Score == want.Score && same(got.CLV, want.CLV) && same(closings[c.ID], &m.closing):
			right++
		}
	}
	return right, unscored, rows.Err()
}

// drained waits until the scoring of a market is over, asking for a scan meanwhile.
func (m large) drained(ctx context.Context, env *frame.Env, l *sideLedger) error {
	done, err := frame.Until(ctx, 30*time.Second, func() (bool, error) {
		n, err := env.Count(ctx, "SELECT count(*) FROM api.score_drains WHERE market_id = $1", m.id)
		if n > 0 {
			env.Client.Scan(ctx, l.hub.URL, env.Admin())
		}
		return n == 0, err
	})
	if err == nil && !done {
		err = fmt.Errorf("the scoring of %s does not end", m.id)
	}
	return err
}

// scoresMatch counts operators whose score row differs from the sum of their results: points
// and closing lines are those of calls that count.
func scoresMatch(ctx context.Context, env *frame.Env, ops []client.Operator) (int, error) {
	ids := make([]string, len(ops))
	for i, o := range ops {
		ids[i] = o.ID
	}
	return env.Count(ctx, `SELECT count(*) FROM api.operator_scores o LEFT JOIN (
			SELECT r.user_id, sum(r.score) FILTER (WHERE r.counted) AS score, count(*) FILTER (WHERE r.status = 'won') AS won, count(*) FILTER (WHERE r.status = 'lost') AS lost,
				count(*) FILTER (WHERE r.status = 'void') AS void, sum(r.clv_bps) FILTER (WHERE r.counted AND m.provider <> 'manual') AS clv
			FROM api.signal_results r JOIN api.signals s ON s.id = r.signal_id JOIN api.markets m ON m.market_id = s.market_id
			WHERE r.user_id = ANY ($1::uuid[]) GROUP BY r.user_id) r ON r.user_id = o.user_id
		WHERE o.user_id = ANY ($1::uuid[]) AND (o.score, o.won, o.lost, o.void, o.clv_sum)
			IS DISTINCT FROM (coalesce(r.score, 0), coalesce(r.won, 0), coalesce(r.lost, 0), coalesce(r.void, 0), coalesce(r.clv, 0))`, ids)
}
