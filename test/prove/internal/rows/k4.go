package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// k4 brings what A1, D1, G10 and I1 bring to the routes to the doors of agents: one call
// stands, sixty are counted together with those of the routes, permissions count, and
// what is malformed is refused by name.
var k4 = frame.Row{
	ID: "K4", Title: "the doors of agents are no side doors", Limit: 3 * time.Minute,
	Fault: frame.Fault{What: "messages are not read before the library reads them"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		fresh, stop, err := freshHubs(ctx, env)
		if err != nil {
			return nil, err
		}
		defer stop()
		env = fresh
		sent, bad, err := brokenMessages(ctx, env, seen)
		if err != nil || env.Size == frame.Small {
			return seen, err
		}
		won, races, err := racesByTool(ctx, env, seen)
		if err != nil {
			return nil, err
		}
		taken, err := limitsByTool(ctx, env, seen)
		if err != nil {
			return nil, err
		}
		cells, good, err := scopesByTool(ctx, env, seen)
		if err != nil {
			return nil, err
		}
		seen.Promise(fmt.Sprintf("A1 %d of %d, D1 60 of 1,000, G10 %d of %d, I1 5xx 0", races, races, cells, cells),
			fmt.Sprintf("A1 %d of %d, D1 %d of 1,000, G10 %d of %d, I1 5xx %d", won, races, taken, good, cells, bad))
		seen.Volume("%d races of 400, 1,000 requests of a key, %d cells, %d malformed messages", races, cells, sent)
		return seen, nil
	},
}

// racesByTool is A1: all racers of a market come by the tool, half of them to each hub.
func racesByTool(ctx context.Context, env *frame.Env, seen *frame.Seen) (won, n int, err error) {
	n = env.Of(1, 4, 20)
	ids, err := markets(ctx, env, "K4", n)
	if err != nil {
		return 0, n, err
	}
	for i, id := range ids {
		p, err := signUp(ctx, env, fmt.Sprintf("k4-racer-%d", i), 8)
		if err != nil {
			return won, n, err
		}
		var next atomic.Int64
		file := byTool(env)
		ok, err := raceOne(ctx, env, seen, p, id, 400, func(ctx context.Context, i int, as client.Credential, c client.Call) client.Answer {
			if _, isSession := as.(client.Session); isSession { // which is none here
				as = p.keys[next.Add(1)%int64(len(p.keys))].Key
			}
			return file(ctx, i, as, c)
		})
		if err != nil {
			return won, n, err
		}
		if ok {
			won++
		}
	}
	return won, n, nil
}

// limitsByTool is D1: one key comes by tool and by route in turn, and has its sixty once.
func limitsByTool(ctx context.Context, env *frame.Env, seen *frame.Seen) (int, error) {
	ops, err := pool(ctx, env, "k4", 1, 1)
	if err != nil {
		return 0, err
	}
	ids, err := markets(ctx, env, "K4 limits", 1)
	if err != nil {
		return 0, err
	}
	tool, route := byTool(env), byRoute(env)
	got, other := burst(ctx, ops[0].Keys[0], ids[0], 1000, func(ctx context.Context, i int, as client.Credential, c client.Call) client.Answer {
		if i%4 == 0 {
			return route(ctx, i/2, as, c)
		}
		return tool(ctx, i, as, c)
	})
	seen.Check(got == keyLimit, "%d of 1,000 were taken", got)
	seen.Check(other == "", "a request was answered %s", other)
	return got, nil
}

// scopesByTool is G10: every permission and scope alone, at every tool, and what is
// refused leaves nothing on record.
func scopesByTool(ctx context.Context, env *frame.Env, seen *frame.Seen) (cells, good int, err error) {
	cast, err := newAgentCast(ctx, env, "k4-owner")
	if err != nil {
		return 0, 0, err
	}
	passes, err := agentPasses(ctx, env, cast)
	if err != nil {
		return 0, 0, err
	}
	cells, good = useAll(ctx, env, seen, cast, passes)
	for i, p := range passes {
		if p.door == "" {
			continue
		}
		id, err := markets(ctx, env, fmt.Sprint("K4 scope ", i), 1)
		if err != nil {
			return cells, good, err
		}
		due, _ := p.due(p.door, "submit_signal")
		t := use(ctx, env, env.Hub(i)+p.door, p.as, "submit_signal", map[string]any{"marketId": id[0], "direction": "NO", "priceAtPrediction": 5000})
		stored, err := env.Count(ctx, "SELECT count(*) FROM api.signals WHERE market_id = $1", id[0])
		if err != nil {
			return cells, good, err
		}
		cells++
		if t.Status == due && !t.failed && (stored == 1) == (due == http.StatusOK) {
			good++
			continue
		}
		seen.Wrong("a call with %s: %s, and %d are on record", p.name, t, stored)
	}
	return cells, good, nil
}

// brokenMessages is I1: texts that are no message, and arguments that are none of the
// tool.
func brokenMessages(ctx context.Context, env *frame.Env, seen *frame.Seen) (sent, failed int, err error) {
	cast, err := newAgentCast(ctx, env, "k4-writer")
	if err != nil {
		return 0, 0, err
	}
	ops, err := pool(ctx, env, "k4b", 20, 1)
	if err != nil {
		return 0, 0, err
	}
	ask := func(door string, as client.Credential, body []byte) toldByTool {
		t := readTool(say(ctx, env, env.Hub(sent)+door, as, body))
		sent++
		if t.Err != nil || t.Status >= http.StatusInternalServerError {
			failed++
		}
		return t
	}
	good := usage("get_market", cast.arguments("get_market"))
	for what, spoil := range brokenTexts {
		for _, door := range []string{agentDoor, protocolPath + agentPart} {
			t := ask(door, nil, spoil(good))
			seen.Check(t.Status == http.StatusBadRequest && t.code != 0 && t.text == "", "%s at %s: %s", what, door, t)
		}
	}
	fields := authorDoors(cast.forDoors())[0].fields
	taken := []string{"marketId", "direction", "priceAtPrediction", "confidence", "textTake", "marketTitle"}
	for _, m := range fields {
		if !slices.Contains(taken, m.name) {
			continue
		}
		for _, wrong := range wrongValues[m.kind] {
			arguments := cast.arguments("submit_signal")
			body := usage("submit_signal", json.RawMessage(with(arguments, m.name, wrong)))
			if len(body) == 0 || wrong == "1e400" {
				continue // a number that no message can hold, which is tried above
			}
			t := ask(agentDoor, ops[sent%len(ops)].Keys[0], body)
			seen.Check(t.Status == http.StatusOK && t.failed && t.asRoute().Text("field") == m.name, "%s is %s: %s", m.name, wrong, t)
		}
	}
	n, err := panics(env)
	seen.Check(n == 0 && failed == 0, "%d panics, %d answers of 5xx", n, failed)
	return sent, failed, err
}

// forDoors is the cast as the rows of routes have it.
func (a *agentCast) forDoors() cast {
	return cast{person: a.person, market: a.market, signal: a.signal}
}
