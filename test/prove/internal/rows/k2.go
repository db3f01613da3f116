package rows

import (
	"context"
	"net/http"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// k2 uses every tool with every kind of credential at both doors, names somebody else in
// the arguments, and writes messages in which a tool could be overlooked.
var k2 = frame.Row{
	ID: "K2", Title: "tools that act need a permission, and act for its owner alone",
	Fault: frame.Fault{What: "a permission that is missing is not missed at tools"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		cast, err := newAgentCast(ctx, env, "k2-owner")
		if err != nil {
			return nil, err
		}
		passes, err := agentPasses(ctx, env, cast)
		if err != nil {
			return nil, err
		}
		cells, good := useAll(ctx, env, seen, cast, passes)
		for _, door := range []string{agentDoor, protocolPath + agentPart} {
			for _, body := range [][]byte{greeting, message("tools/list", nil), message("ping", nil)} {
				cells++
				if a := say(ctx, env, env.Hub(cells)+door, nil, body); a.Status == http.StatusOK {
					good++
				} else {
					seen.Wrong("%s without a credential: %s", body, a)
				}
			}
		}
		more, fine, err := asSomebody(ctx, env, seen, cast)
		if err != nil {
			return nil, err
		}
		tricked, held, err := overlooked(ctx, env, seen, cast)
		if err != nil {
			return nil, err
		}
		seen.OutOf(cells+more+tricked, good+fine+held)
		seen.Volume("%d tools, %d credentials, %d arguments of somebody else, %d messages that hide a tool", len(allTools), len(passes), more, tricked)
		return seen, nil
	},
}

// agentPass is a credential at the doors of agents; kind is what it is taken as there.
type agentPass struct {
	name   string
	as     client.Credential
	door   string   // where it is good; empty: nowhere
	powers []string // permissions or scopes
}

// agentPasses are all that may come.
func agentPasses(ctx context.Context, env *frame.Env, cast *agentCast) ([]agentPass, error) {
	all := []agentPass{
		{name: "nothing"},
		{name: "a session", as: cast.session},
		{name: "a login", as: cast.login},
		{name: "the admin secret", as: env.Admin()},
		{name: "a key of nobody", as: byBearer("dk_" + strings.Repeat("A", 43))},
		{name: "a token of nobody", as: byBearer("dat_" + strings.Repeat("A", 43))},
		{name: "no bearer", as: byHeader("Authorization", "Basic eDp4")},
	}
	for _, set := range []string{"read", "signal", "broadcast", "read signal broadcast"} {
		k, err := mintWith(ctx, env, env.Hub(0)+"/api/dev/keys", cast.login, strings.Fields(set))
		if err != nil {
			return nil, err
		}
		all = append(all, agentPass{"a key for " + set, k.Key, agentDoor, strings.Fields(set)})
	}
	dead, err := mintWith(ctx, env, env.Hub(0)+"/api/dev/keys", cast.login, nil)
	if err != nil {
		return nil, err
	}
	if a := env.Client.Revoke(ctx, env.Hub(1), cast.login, dead.ID); a.Status != http.StatusOK {
		return nil, a.Into(http.StatusOK, nil)
	}
	all = append(all, agentPass{name: "a revoked key", as: dead.Key})
	scopes := []string{"profile:read", "signal:create", "broadcast:goLive"}
	app, err := newApp(ctx, env, cast.login, "public", scopes...)
	if err != nil {
		return nil, err
	}
	for _, set := range append(scopes, strings.Join(scopes, " ")) {
		t, err := agentToken(ctx, env, app, cast.session, set)
		if err != nil {
			return nil, err
		}
		all = append(all, agentPass{"a token for " + set, byBearer(t.Access), protocolPath + agentPart, strings.Fields(set)})
	}
	elsewhere, err := grantTo(ctx, env, app, cast.session, scopes[0])
	if err != nil {
		return nil, err
	}
	return append(all, agentPass{name: "a token for another resource", as: byBearer(elsewhere.Access)}), nil
}

// due is what comes of a tool: 200, or the status of a refusal with its code.
func (p agentPass) due(door, tool string) (status int, code string) {
	need, isGated := gated[tool]
	bare := p.name == "nothing" || p.name == "a session" || p.name == "the admin secret" // nothing that is looked at here
	asked := need.permission
	if door != agentDoor {
		asked = need.scope
	}
	has := false
	for _, power := range p.powers {
		has = has || power == asked
	}
	switch {
	case bare && !isGated, p.door == door && (!isGated || has):
		return http.StatusOK, ""
	case p.door == door:
		return http.StatusForbidden, "insufficient_scope"
	}
	return http.StatusUnauthorized, "unauthenticated"
}

// useAll uses every tool with every pass at both doors.
func useAll(ctx context.Context, env *frame.Env, seen *frame.Seen, cast *agentCast, passes []agentPass) (cells, good int) {
	for i, p := range passes {
		for k, tool := range allTools {
			for _, door := range []string{agentDoor, protocolPath + agentPart} {
				status, code := p.due(door, tool)
				t := use(ctx, env, env.Hub(i+k)+door, p.as, tool, cast.arguments(tool))
				cells++
				if t.Status == status && (status == http.StatusOK && t.text != "" || t.Code() == code && t.Header.Get("WWW-Authenticate") != "") {
					good++
					continue
				}
				seen.Wrong("%s at %s with %s: due %d %s, came %s", tool, door, p.name, status, code, t)
			}
		}
	}
	return cells, good
}

// asSomebody names another person in every way that arguments have, and wants the tools
// to refuse it, and nothing of theirs to change or to be told.
func asSomebody(ctx context.Context, env *frame.Env, seen *frame.Seen, cast *agentCast) (tries, good int, err error) {
	other, err := newAgentCast(ctx, env, "k2-other")
	if err != nil {
		return 0, 0, err
	}
	before, err := recordOf(ctx, env, other)
	if err != nil {
		return 0, 0, err
	}
	ways := map[string]any{
		"handle": other.Handle, "userId": other.ID, "operatorId": other.ID, "actor": other.ID, "privyId": other.ID, "key": other.keys[0].Key, "authorization": other.keys[0].Key,
		"_meta": map[string]any{"handle": other.Handle},
	}
	for tool := range gated {
		for name, value := range ways {
			arguments := cast.arguments(tool)
			delete(arguments, "dryRun")
			arguments[name] = value
			t := use(ctx, env, env.Hub(tries)+agentDoor, cast.keys[tries%2].Key, tool, arguments)
			tries++
			if refusedArgument := t.failed && t.asRoute().Text("field") == name || t.code == -32602; refusedArgument && !strings.Contains(t.text, other.Handle) {
				good++
			} else {
				seen.Wrong("%s with %s of somebody else: %s", tool, name, t)
			}
		}
	}
	tries++ // an event for a call of somebody else
	t := use(ctx, env, env.Hub(0)+agentDoor, cast.keys[0].Key, "submit_signal_event", map[string]any{"signalId": other.signal, "type": "note", "payload": map[string]any{"text": "not mine"}})
	if t.failed && (t.asRoute().Code() == "forbidden" || strings.Contains(t.asRoute().Code(), "not_found") || strings.Contains(t.asRoute().Code(), "owner")) {
		good++
	} else {
		seen.Wrong("an event for a call of somebody else: %s", t)
	}
	after, err := recordOf(ctx, env, other)
	seen.Check(before == after, "the record of somebody else was %q and is %q", before, after)
	return tries, good, err
}

// recordOf is what stands of a person.
func recordOf(ctx context.Context, env *frame.Env, who *agentCast) (string, error) {
	return env.Text(ctx, `SELECT concat((SELECT count(*) FROM api.signals WHERE user_id = $1), ' calls, ',
		(SELECT count(*) FROM api.signal_events WHERE signal_id = $2), ' events')`, who.ID, who.signal)
}

// overlooked writes messages in which whoever reads first could miss the tool that acts.
func overlooked(ctx context.Context, env *frame.Env, seen *frame.Seen, cast *agentCast) (tries, good int, err error) {
	one := string(usage("submit_signal", map[string]any{"marketId": cast.market, "direction": "YES", "priceAtPrediction": 5000}))
	innocent := string(usage("get_market", cast.arguments("get_market")))
	hide := strings.NewReplacer
	for name, body := range map[string]string{
		"many messages in one":            "[" + one + "]",
		"many with an innocent one first": "[" + innocent + "," + one + "]",
		"a second name":                   hide(`"name":"submit_signal"`, `"name":"get_market","name":"submit_signal"`).Replace(one),
		"a second name in other letters":  hide(`"name":"submit_signal"`, `"name":"submit_signal","Name":"get_market"`).Replace(one),
		"its name in other letters":       hide(`"name":"submit_signal"`, `"Name":"submit_signal"`).Replace(one),
		"a second method in others":       hide(`"method":"tools/call"`, `"method":"tools/call","Method":"tools/list"`).Replace(one),
		"a method in other letters":       hide(`"method":"tools/call"`, `"Method":"tools/call"`).Replace(one),
		"an escaped method":               hide(`"tools/call"`, `"tools\/call"`).Replace(one),
		"a method by its numbers":         hide(`"tools/call"`, `"tools\u002fcall"`).Replace(one),
		"a name by its numbers":           hide(`"submit_signal"`, `"submit\u005fsignal"`).Replace(one),
		"second params":                   hide(`"params":`, `"params":{"name":"get_market","arguments":{}},"params":`).Replace(one),
		"a notification":                  hide(`"id":1,`, ``).Replace(one),
		"white space before it":           " \n\t" + one,
	} {
		for _, door := range []string{agentDoor, protocolPath + agentPart} {
			a := say(ctx, env, env.Hub(tries)+door, nil, []byte(body))
			tries++
			if a.Err == nil && a.Status < http.StatusInternalServerError && !strings.Contains(string(a.Body), `\"ok\":true`) {
				good++
			} else {
				seen.Wrong("%s: %s", name, a)
			}
		}
	}
	stored, err := env.Count(ctx, "SELECT count(*) FROM api.signals WHERE market_id = $1", cast.market)
	seen.Check(stored == 0, "%d calls were filed by nobody", stored)
	return tries, good, err
}
