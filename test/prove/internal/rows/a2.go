package rows

import (
	"context"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// a2 tries to rewrite a call that was filed and scored, in the roles in which the
// services themselves are connected.
var a2 = frame.Row{
	ID: "A2", Title: "the first call is locked",
	Fault: frame.Fault{
		What: "the writing role may update calls, and no trigger minds",
		SQL:  "GRANT UPDATE ON api.signals TO api_rw; ALTER TABLE api.signals DISABLE TRIGGER no_change",
	},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		signal, market, err := lostCall(ctx, env)
		if err != nil {
			return nil, err
		}
		tables := []string{"signals", "signal_results", "market_resolutions"}
		before, err := digests(ctx, env, tables...)
		if err != nil {
			return nil, err
		}
		list := rewrites(signal, market)
		n, err := refused(ctx, env, seen, list)
		if err != nil {
			return nil, err
		}
		after, err := digests(ctx, env, tables...)
		if err != nil {
			return nil, err
		}
		for t, d := range before {
			seen.Check(after[t] == d, "rows of %s have changed", t)
		}
		seen.Volume("%d attempts", len(list))
		seen.OutOf(len(list), n)
		return seen, nil
	},
}

// lostCall is a call that was filed and lost.
func lostCall(ctx context.Context, env *frame.Env) (signal, market string, err error) {
	p, err := signUp(ctx, env, "a2-caller", 1)
	if err != nil {
		return "", "", err
	}
	ids, err := markets(ctx, env, "A2", 1)
	if err != nil {
		return "", "", err
	}
	a := env.Client.File(ctx, env.Hub(0), p.keys[0].Key, client.Call{Market: ids[0], Yes: true, Price: 5000})
	if err := a.Into(200, nil); err != nil {
		return "", "", err
	}
	return a.Text("id"), ids[0], env.Client.Finalize(ctx, env.Hub(0), env.Admin(), ids[0], "NO").Into(200, nil)
}

func rewrites(signal, market string) []attempt {
	one := []any{signal}
	const again = `INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, created_at, market_title, source)
		SELECT gen_random_uuid(), market_id, user_id, NOT yes, 1, 1, true, now(), market_title, source FROM api.signals WHERE id = $1`
	const scoreAgain = `INSERT INTO api.signal_results SELECT signal_id, gen_random_uuid(), user_id, 'won', 99, clv_bps, close_price, outcome,
		beat_crowd, scoring_version, scoring_vertical, now() FROM api.signal_results WHERE signal_id = $1`
	return []attempt{
		{"change the side", "api_rw", "UPDATE api.signals SET yes = NOT yes WHERE id = $1", one},
		{"change the price", "api_rw", "UPDATE api.signals SET price_bps = 1, score_basis_bps = 1 WHERE id = $1", one},
		{"change the time", "api_rw", "UPDATE api.signals SET created_at = created_at - interval '1 day' WHERE id = $1", one},
		{"give it to another", "api_rw", "UPDATE api.signals SET user_id = gen_random_uuid() WHERE id = $1", one},
		{"delete the call", "api_rw", "DELETE FROM api.signals WHERE id = $1", one},
		{"empty the record", "api_rw", "TRUNCATE api.signals CASCADE", nil},
		{"call again", "api_rw", again, one},
		{"score again", "api_rw", scoreAgain, one},
		{"turn lost into won", "api_rw", "UPDATE api.signal_results SET status = 'won', score = 99 WHERE signal_id = $1", one},
		{"delete the result", "api_rw", "DELETE FROM api.signal_results WHERE signal_id = $1", one},
		{"change the outcome", "api_rw", "UPDATE api.market_resolutions SET outcome = 'YES' WHERE market_id = $1", []any{market}},
		{"raise a moment", "api_rw", "UPDATE api.moments SET tier = 'LEGENDARY', odds_bps = 1 WHERE signal_id = $1", one},
		{"take a moment", "api_rw", "DELETE FROM api.moments WHERE signal_id = $1", one},
		{"change the side", "hub_rw", "UPDATE api.signals SET yes = NOT yes WHERE id = $1", one},
	}
}
