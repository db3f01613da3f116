package rows

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// a1 races writes of one operator on one market through both hubs and both
// doors: one key has sixty calls a minute, so an operator brings eight.
var a1 = frame.Row{
	ID: "A1", Title: "one signal per user and market",
	Fault: frame.Fault{
		What: "calls without their unique key",
		SQL:  "ALTER TABLE api.signals DROP CONSTRAINT signals_market_id_user_id_key",
	},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		n, racers := env.Of(2, 20, 20), 500
		ids, err := markets(ctx, env, "A1", n)
		if err != nil {
			return nil, err
		}
		won := 0
		for i, id := range ids {
			p, err := signUp(ctx, env, fmt.Sprintf("a1-racer-%d", i), 8)
			if err != nil {
				return nil, err
			}
			if ok, err := raceOne(ctx, env, seen, p, id, racers, byRoute(env)); err != nil {
				return nil, err
			} else if ok {
				won++
			}
		}
		seen.Volume("%s requests", frame.Number(n*racers))
		seen.OutOf(n, won)
		return seen, nil
	},
}

// raceOne is one market; it is won when one call stands and everybody was told so.
func raceOne(ctx context.Context, env *frame.Env, seen *frame.Seen, p person, market string, racers int, file filing) (bool, error) {
	answers := make([]client.Answer, racers)
	frame.AtOnce(racers, func(i int) {
		var as client.Credential = p.session
		if door := i / 2 % 10; door < len(p.keys) {
			as = p.keys[door].Key
		}
		answers[i] = file(ctx, i, as, client.Call{Market: market, Yes: i%3 == 0, Price: 5000})
	})
	codes := map[string]int{}
	id, side := "", false
	for i, a := range answers {
		switch {
		case a.Status == 200:
			codes["taken"]++
			id, side = a.Text("id"), i%3 == 0
		case a.Err != nil:
			codes["no answer"]++
			seen.Wrong("market %s: no answer after %v: %v", market, a.Took().Round(time.Millisecond), a.Err)
		default:
			codes[a.Code()]++
		}
	}
	wrongID := 0
	for _, a := range answers {
		if a.Status == 409 && a.Text("id") != id {
			wrongID++
		}
	}
	rows, err := env.Count(ctx, "SELECT count(*) FROM api.signals WHERE market_id = $1 AND user_id = $2", market, p.ID)
	if err != nil {
		return false, err
	}
	kept, err := env.Count(ctx, "SELECT count(*) FROM api.signals WHERE market_id = $1 AND id::text = $2 AND yes = $3", market, id, side)
	if err != nil {
		return false, err
	}
	counted, err := env.Count(ctx, "SELECT coalesce(sum(yes + no), 0) FROM api.market_totals WHERE market_id = $1", market)
	if err != nil {
		return false, err
	}
	ok := codes["taken"] == 1 && codes["already_predicted"] == racers-1 && wrongID == 0 && rows == 1 && kept == 1 && counted == 1
	seen.Check(ok, "market %s: answers %v, %d refusals name another call, rows %d, the acknowledged one %d, counted %d",
		market, codes, wrongID, rows, kept, counted)
	return ok, nil
}
