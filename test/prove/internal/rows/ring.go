package rows

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
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

// mintRing makes all the credentials that there are.
func mintRing(ctx context.Context, env *frame.Env, name string) (*ring, error) {
	r := &ring{name: name, sessions: map[string]client.Session{}}
	var err error
	if r.person, err = signUp(ctx, env, name, 1); err != nil {
		return nil, err
	}
	ids, err := markets(ctx, env, "G7 "+name, 2)
	if err != nil {
		return nil, err
	}
	r.market, r.passport = ids[0], r.ID
	filed := env.Client.Do(ctx, client.Request{URL: env.Hub(0) + protocolPath + "/predictions", As: r.keys[0].Key, Body: map[string]any{
		"marketId": ids[1], "position": "YES", "priceBps": 5000,
	}})
	if err := filed.Into(http.StatusOK, nil); err != nil {
		return nil, fmt.Errorf("file a call: %w", err)
	}
	r.signal, r.message = filed.Text("id"), filed.Text("messageId")
	if r.hook, err = register(ctx, env, r.keys[0].Key); err != nil {
		return nil, err
	}
	for _, add := range []func(context.Context, *frame.Env) error{r.people, r.keyPasses, r.appPasses, r.secretPasses, r.brokenPasses, r.pairs} {
		if err := add(ctx, env); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *ring) add(p pass) { r.passes = append(r.passes, p) }

// theSession are the two halves of a session in the words of the description.
var theSession = []string{"sessionId"}

func (r *ring) people(ctx context.Context, env *frame.Env) error {
	var minted struct {
		Token         string `json:"token"`
		IdentityToken string `json:"identityToken"`
	}
	err := env.Client.Do(ctx, client.Request{URL: env.Stack.IDP + "/mint", Body: map[string]any{"user": r.name + "-second"}}).Into(http.StatusOK, &minted)
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	login := client.Login(minted.Token)
	r.identity = minted.IdentityToken
	r.add(pass{name: "nothing"})
	r.add(pass{name: "a session", as: r.session, takes: theSession})
	r.sessions["a session"] = r.session
	r.add(pass{name: "a login", as: login, takes: []string{"identityToken"}, bearer: true})
	r.add(pass{name: "the developer page's cookie", as: developer(minted.Token), takes: []string{"developerToken"}})
	r.add(pass{name: "an identity token as a bearer", as: byBearer(minted.IdentityToken), bearer: true})
	r.add(pass{name: "an identity token alone", as: byHeader("Privy-Id-Token", minted.IdentityToken)})
	return nil
}

// developer is the cookie of the developer page, as our own page sends it.
func developer(token string) client.Credential {
	return client.By(func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: "db_dev", Value: token})
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	})
}

var aKey = []string{"operatorKey"}

func (r *ring) keyPasses(ctx context.Context, env *frame.Env) error {
	hub, api := env.Hub(0)+"/api/dev/keys", env.Stack.API+"/api/v1/agent/keys"
	for _, k := range []struct{ name, at, permissions string }{
		{"a key", hub, "read signal broadcast"},
		{"a key to read", hub, "read"},
		{"a key to call", hub, "signal"},
		{"a key to broadcast", hub, "broadcast"},
		{"an older key", api, "read signal broadcast"},
		{"an older key to read", api, "read"},
	} {
		powers := strings.Fields(k.permissions)
		made, err := mintWith(ctx, env, k.at, r.login, powers)
		if err != nil {
			return fmt.Errorf("mint %s: %w", k.name, err)
		}
		r.add(pass{name: k.name, as: made.Key, takes: aKey, bearer: true, powers: powers})
	}
	dead, err := mintWith(ctx, env, hub, r.login, nil)
	if err != nil {
		return err
	}
	if a := env.Client.Revoke(ctx, env.Hub(0), r.login, dead.ID); a.Status != http.StatusOK {
		return fmt.Errorf("revoke a key: %s", a)
	}
	r.add(pass{name: "a revoked key", as: dead.Key, bearer: true})
	r.add(pass{name: "a key of nobody", as: byBearer("dk_" + strings.Repeat("A", 43)), bearer: true})
	r.add(pass{name: "a key in the address", as: byQuery("access_token", string(r.keys[0].Key)), query: true})
	return nil
}

func (r *ring) appPasses(ctx context.Context, env *frame.Env) (err error) {
	if r.open, err = newApp(ctx, env, r.login, "public", everyScope...); err != nil {
		return err
	}
	if r.own, err = newApp(ctx, env, r.login, "confidential", everyScope...); err != nil {
		return err
	}
	token := func(name, text string, powers ...string) {
		r.add(pass{name: name, as: byBearer(text), takes: []string{"appToken"}, bearer: true, powers: append([]string{}, powers...)})
	}
	whole, err := grantTo(ctx, env, r.open, r.session, strings.Join(everyScope, " "))
	if err != nil {
		return err
	}
	token("an app's token", whole.Access, everyScope...)
	resource, err := agentResource(ctx, env)
	if err != nil {
		return err
	}
	agent, err := grantFor(ctx, env, r.open, r.session, strings.Join(everyScope, " "), resource)
	if err != nil {
		return err
	}
	r.add(pass{name: "an agent's token", as: byBearer(agent.Access), takes: []string{"appToken"}, bearer: true, agent: true, powers: everyScope})
	r.add(pass{name: "a refresh token", as: byBearer(whole.Refresh), bearer: true})
	for _, scope := range everyScope[:4] {
		g, err := grantTo(ctx, env, r.own, r.session, scope)
		if err != nil {
			return fmt.Errorf("%s: %w", scope, err)
		}
		token("an app's token for "+scope, g.Access, scope)
	}
	late, err := grantTo(ctx, env, r.open, r.session, "profile:read")
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(late.Access))
	done, err := env.DB.Exec(ctx, "UPDATE hub.access_tokens SET expires_at = now() - interval '1 second' WHERE hash = $1", sum[:])
	if err != nil || done.RowsAffected() != 1 {
		return fmt.Errorf("age a token: %d rows, %w", done.RowsAffected(), err)
	}
	r.add(pass{name: "an app's token that ran out", as: byBearer(late.Access), bearer: true})
	dead, err := grantTo(ctx, env, r.own, r.session, "profile:read")
	if err != nil {
		return err
	}
	a := env.Client.Do(ctx, client.Request{Method: http.MethodDelete, URL: env.Hub(0) + "/api/user/grants/" + dead.Grant, As: r.session})
	if err := a.Into(http.StatusOK, nil); err != nil {
		return fmt.Errorf("end a grant: %w", err)
	}
	r.add(pass{name: "an app's token of a grant that ended", as: byBearer(dead.Access), bearer: true})
	r.add(pass{name: "an app's token of nobody", as: byBearer("dat_" + strings.Repeat("A", 43)), bearer: true})
	r.add(pass{name: "an app's secret", as: r.own.basic(), takes: []string{"appCredentials"}, bearer: true})
	r.add(pass{name: "an app with a wrong secret", as: app{r.own.id, "x"}.basic(), bearer: true})
	return nil
}

const adminHeader = "X-Admin-Secret"

func (r *ring) secretPasses(_ context.Context, env *frame.Env) error {
	admin, cron := env.Stack.AdminSecret, env.Stack.CronSecret
	r.add(pass{name: "the admin secret", as: env.Admin(), takes: []string{"adminSecret"}, admin: right})
	r.add(pass{name: "the admin secret in the address", as: byQuery("secret", admin), query: true, cron: wrong})
	r.add(pass{name: "the admin secret in the address by its name", as: byQuery("x-admin-secret", admin)})
	r.add(pass{name: "the admin secret as a bearer", as: byBearer(admin), bearer: true})
	r.add(pass{name: "the admin secret in a cookie", as: byHeader("Cookie", "x-admin-secret="+admin)})
	r.add(pass{name: "the cron secret", as: byQuery("secret", cron), takes: []string{"cronSecret"}, query: true, cron: right})
	r.add(pass{name: "the cron secret as the admin's", as: client.Admin(cron), admin: wrong})
	r.add(pass{name: "the cron secret in a header", as: byHeader("X-Cron-Secret", cron), takes: []string{"cronSecret"}, cron: right})
	r.add(pass{name: "the cron secret as a bearer", as: byBearer(cron), bearer: true})
	r.add(pass{name: "a wrong admin secret", as: client.Admin(strings.Repeat("x", len(admin))), admin: wrong})
	r.add(pass{name: "an empty admin secret", as: client.Admin(""), admin: wrong})
	r.add(pass{name: "an empty cron secret", as: byQuery("secret", ""), query: true, cron: wrong})
	r.add(pass{name: "two admin secrets", admin: wrong, as: client.By(func(q *http.Request) { q.Header[adminHeader] = []string{admin, admin} })})
	r.add(pass{name: "two cron secrets", query: true, cron: wrong, as: client.By(func(q *http.Request) {
		q.URL.RawQuery = strings.Trim(q.URL.RawQuery+"&"+url.Values{"secret": {cron, cron}}.Encode(), "&")
	})})
	return nil
}

func (r *ring) brokenPasses(ctx context.Context, env *frame.Env) error {
	key := string(r.keys[0].Key)
	line := func(name string, lines ...string) {
		r.add(pass{name: name, bearer: true, as: client.By(func(q *http.Request) { q.Header["Authorization"] = lines })})
	}
	line("a bearer without a word", "Bearer")
	line("an empty bearer", "Bearer ")
	line("a bearer behind two blanks", "Bearer  "+key)
	line("a key of another scheme", "Token "+key)
	line("a key without a scheme", key)
	line("a short key", "Bearer "+key[:len(key)-1])
	line("the same key twice", "Bearer "+key, "Bearer "+key)
	line("two keys in a line", "Bearer "+key+", Bearer "+key)
	line("three words with dots", "Bearer a.b.c")
	a := env.Client.Do(ctx, client.Request{URL: env.Stack.IDP + "/mint", Body: map[string]any{"user": r.name + "-late", "ttl": -3600}})
	if err := a.Into(http.StatusOK, nil); err != nil {
		return err
	}
	line("a login that ran out", "Bearer "+a.Text("token"))
	r.add(pass{name: "the developer's cookie that ran out", as: developer(a.Text("token"))})
	secret, err := sessionSecret(env)
	if err != nil {
		return err
	}
	r.add(pass{name: "a session that ran out", as: signSession(secret, r.ID, time.Now().AddDate(0, 0, -31), 0)})
	r.add(pass{name: "a session of another secret", as: signSession(strings.Repeat("x", 32), r.ID, time.Now(), 0)})
	r.add(pass{name: "half a session", as: client.Session{UID: r.session.UID}})
	return nil
}

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

// sessionSecret is the one that the hubs sign with.
func sessionSecret(env *frame.Env) (string, error) {
	hub, err := stack.Environment(env.Stack.PID("hub"))
	first, _, _ := strings.Cut(hub["SESSION_SECRETS"], ",")
	return first, err
}

// signSession makes the cookie pair of a session as the hubs do.
func signSession(secret, user string, issued time.Time, version int64) client.Session {
	uid := base64.RawURLEncoding.EncodeToString([]byte(user)) + "." + strconv.FormatInt(issued.Unix(), 10) + "." + strconv.FormatInt(version, 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(uid))
	return client.Session{UID: uid, Sig: base64.RawURLEncoding.EncodeToString(mac.Sum(nil))}
}
