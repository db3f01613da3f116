package rows

import (
	"context"
	"math/rand/v2"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

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
