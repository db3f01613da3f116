package rows

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// g10 asks every door of the protocol with every set of permissions of both kinds
// of keys and with every scope of an app, alone and all but it. On the older doors
// the permissions of a key are recorded and not asked for.
var g10 = frame.Row{
	ID: "G10", Title: "scopes hold on the doors of the protocol and of agents",
	Fault: frame.Fault{What: "a scope that is missing is not missed"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		r, err := mintRing(ctx, env, "g10-holder")
		if err != nil {
			return nil, err
		}
		r.passes = nil
		for _, add := range []func(context.Context, *frame.Env) error{r.everyPermission, r.everyScope} {
			if err := add(ctx, env); err != nil {
				return nil, err
			}
		}
		var doors, old []*openapi.Operation
		for _, op := range doc.Operations {
			switch _, scoped := needs[op.Name()]; {
			case scoped:
				doors = append(doors, op)
			case op.Takes("operatorKey") && op.Host == "hub" && !underProtocol(op.Path):
				old = append(old, op)
			}
		}
		seen.Check(len(doors) == len(needs), "%d of %d doors that ask for scopes are described", len(doors), len(needs))
		cells, good := r.try(ctx, env, doors, seen)
		n, fine := r.try(ctx, env, old, seen)
		acted, done := r.act(ctx, env, seen)
		agents, held, err := r.useTools(ctx, env, seen)
		if err != nil {
			return nil, err
		}
		refusals := 0
		for _, p := range r.passes {
			for _, op := range doors {
				if p.at(op).code == "insufficient_scope" {
					refusals++
				}
			}
		}
		seen.Figure("refusals", refusals)
		seen.OutOf(cells+n+acted+agents, good+fine+done+held)
		seen.Volume("%d credentials at %d doors with scopes, %d without, and two of agents: %d cells, %d of them 403",
			len(r.passes), len(doors), len(old), cells+n+acted+agents, refusals)
		return seen, nil
	},
}

// permissionSets are all that a key may have.
var permissionSets = []string{"read", "signal", "broadcast", "read signal", "read broadcast", "signal broadcast", "read signal broadcast"}

// everyPermission mints a key of each kind for every set of permissions, two people
// sharing the work: one holds at most ten.
func (r *ring) everyPermission(ctx context.Context, env *frame.Env) error {
	for kind, at := range map[string]string{"dk_": env.Hub(0) + "/api/dev/keys", "db_live_": env.Stack.API + "/api/v1/agent/keys"} {
		holder, err := signUp(ctx, env, "g10-"+strings.ReplaceAll(kind, "_", ""), 0)
		if err != nil {
			return err
		}
		for _, set := range permissionSets {
			powers := strings.Fields(set)
			made, err := mintWith(ctx, env, at, holder.login, powers)
			if err != nil {
				return fmt.Errorf("mint a key: %w", err)
			}
			if !strings.HasPrefix(string(made.Key), kind) {
				return fmt.Errorf("%s minted no %s key", at, kind)
			}
			r.add(pass{name: fmt.Sprintf("a %s key for %s", kind, set), as: made.Key, takes: aKey, bearer: true, powers: powers, handle: holder.Handle})
		}
	}
	return nil
}

// moreScopes are those that no door of today asks for, and nothing must follow from.
var moreScopes = []string{
	"profile:update", "station:create", "station:update", "broadcast:create", "broadcast:goLive", "market:create", "resolution:create",
}

// everyScope lets an app have each scope alone, and all but each.
func (r *ring) everyScope(ctx context.Context, env *frame.Env) error {
	all := append(append([]string{}, everyScope...), moreScopes...)
	holder, err := signUp(ctx, env, "g10-granter", 0)
	if err != nil {
		return err
	}
	app, err := newApp(ctx, env, holder.login, "public", all...)
	if err != nil {
		return err
	}
	sets := [][]string{all}
	for _, one := range all {
		var rest []string
		for _, other := range all {
			if other != one {
				rest = append(rest, other)
			}
		}
		sets = append(sets, []string{one}, rest)
	}
	var mu sync.Mutex
	errs := make([]error, len(sets))
	frame.Each(len(sets), 4, func(i int) {
		// The page that asks is counted by session, so nobody asks often.
		who, err := signUp(ctx, env, fmt.Sprintf("g10-granter-%d", i), 0)
		if err != nil {
			errs[i] = err
			return
		}
		g, err := grantTo(ctx, env, app, who.session, strings.Join(sets[i], " "))
		mu.Lock()
		defer mu.Unlock()
		errs[i] = err
		name := "a token for " + strings.Join(sets[i], " ")
		r.add(pass{name: name, as: byBearer(g.Access), takes: []string{"appToken"}, bearer: true, powers: sets[i]})
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// act sends requests that are right to the doors that file calls: a pass without the
// scope leaves nothing on record, one with it does.
func (r *ring) act(ctx context.Context, env *frame.Env, seen *frame.Seen) (cells, good int) {
	for door, n := range needs {
		path, files := strings.CutPrefix(door, "POST hub")
		if !files || !strings.HasSuffix(path, "/predictions") && !strings.HasSuffix(path, "/signals") {
			continue
		}
		for i, p := range r.passes {
			if env.Size == frame.Small && i > 3 {
				break
			}
			asked := n.scope
			if strings.Contains(p.name, " key ") {
				asked = n.permission
			}
			due := slices.Contains(p.powers, asked)
			market, err := env.Client.Market(ctx, env.Hub(0), env.Admin(), fmt.Sprintf("Will scope %d be asked for at %s?", i, path), 5000)
			if err != nil {
				seen.Wrong("make a market: %v", err)
				return cells, good
			}
			a := env.Client.Do(ctx, client.Request{URL: env.Hub(i) + path, As: p.as, Body: map[string]any{"marketId": market, "position": "YES", "priceBps": 5000}})
			stored, err := env.Count(ctx, "SELECT count(*) FROM api.signals WHERE market_id = $1", market)
			cells++
			if err == nil && (a.Status == http.StatusOK) == due && (stored == 1) == due {
				good++
				continue
			}
			seen.Wrong("%s with %s: %s, and %d calls are on record (%v)", path, p.name, a, stored, err)
		}
	}
	return cells, good
}

// useTools uses every tool with every pass at both doors of agents: keys are good at the
// one for what they are permitted, and the tokens here are of another resource. Tokens
// for the other door come beside them.
func (r *ring) useTools(ctx context.Context, env *frame.Env, seen *frame.Seen) (cells, good int, err error) {
	cast, err := newAgentCast(ctx, env, "g10-agent")
	if err != nil {
		return 0, 0, err
	}
	passes, err := agentPasses(ctx, env, cast)
	if err != nil {
		return 0, 0, err
	}
	for i, p := range r.passes {
		if env.Size == frame.Small && i > 3 {
			break
		}
		one := agentPass{name: p.name, as: p.as, powers: p.powers}
		if slices.Contains(p.takes, "operatorKey") {
			one.door = agentDoor
		}
		passes = append(passes, one)
	}
	cells, good = useAll(ctx, env, seen, cast, passes)
	return cells, good, nil
}
