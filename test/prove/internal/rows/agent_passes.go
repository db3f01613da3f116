package rows

import (
	"context"
	"net/http"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

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
