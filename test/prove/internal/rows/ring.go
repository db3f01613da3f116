package rows

import (
	"context"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// everyScope are the scopes that the doors of the protocol ask for.
var everyScope = []string{"profile:read", "signer:create", "signal:create", "prediction:create", "offline_access"}

// ring holds one pass of every kind, and all that the requests name.
type ring struct {
	person
	name                              string // what its people are called: each has limits of its own
	passes                            []pass
	open, own                         app                       // a public app, and one that proves itself
	identity                          string                    // the identity token
	sessions                          map[string]client.Session // that passes bring, by their names
	market, signal, message, passport string
	hook                              hook
}

func (r *ring) add(p pass) { r.passes = append(r.passes, p) }

// theSession are the two halves of a session in the words of the description.
var theSession = []string{"sessionId"}

var aKey = []string{"operatorKey"}

// pairs bring two credentials at once.
func (r *ring) pairs(ctx context.Context, env *frame.Env) error {
	other, err := signUp(ctx, env, r.name+"-other", 2)
	if err != nil {
		return err
	}
	app, err := grantTo(ctx, env, r.own, other.session, strings.Join(everyScope, " "))
	if err != nil {
		return err
	}
	key, cron := other.keys[0].Key, byQuery("secret", env.Stack.CronSecret)
	badAdmin := client.Admin("wrong")
	r.sessions["a session and the admin secret"] = other.session
	r.add(pass{name: "a key and a session", as: client.All(key, other.session), takes: aKey, bearer: true, handle: other.Handle})
	r.add(pass{name: "a key and the admin secret", as: client.All(other.keys[1].Key, env.Admin()), takes: aKey, bearer: true, handle: other.Handle})
	r.add(pass{name: "a revoked login and a session", as: client.All(byBearer("a.b.c"), other.session), bearer: true})
	r.add(pass{name: "a login and a session", as: client.All(other.login, other.session), takes: []string{"identityToken"}, bearer: true})
	r.add(pass{name: "an app's token and a session", as: client.All(byBearer(app.Access), other.session), takes: []string{"appToken"}, bearer: true, powers: everyScope})
	r.add(pass{name: "a session and the admin secret", as: client.All(other.session, env.Admin()), takes: append([]string{"adminSecret"}, theSession...), admin: right})
	r.add(pass{name: "both secrets", as: client.All(env.Admin(), cron), takes: []string{"adminSecret", "cronSecret"}, query: true, admin: right, cron: right})
	r.add(pass{name: "a wrong admin secret and the right cron secret", as: client.All(badAdmin, cron), query: true, admin: wrong, cron: right})
	r.add(pass{name: "a login and the cron secret", as: client.All(other.login, cron), takes: []string{"identityToken"}, query: true, bearer: true})
	return nil
}
