package rows

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// estate is a person who owns one of everything that can be owned.
type estate struct {
	person
	delegated

	token    client.Login // a login
	identity string       // the identity token
	wallet   string       // linked to the person
	friend   person       // whom the person follows
	app      app          // the person's own
	granted  tokens       // what that app may do for the person
	market   string       // with the stream
	signal   string       // with one event
	desk     string       // the person's station
}

// settle makes an estate for a person of that name.
func settle(ctx context.Context, env *frame.Env, name string) (*estate, error) {
	e := &estate{desk: "desk-of-" + name}
	var err error
	if e.person, err = signUp(ctx, env, name, 2); err != nil {
		return nil, err
	}
	if e.friend, err = signUp(ctx, env, name+"-friend", 0); err != nil {
		return nil, err
	}
	if e.delegated, err = delegate(ctx, env, e.person); err != nil {
		return nil, err
	}
	if e.app, err = newApp(ctx, env, e.login, "confidential", everyScope...); err != nil {
		return nil, err
	}
	if e.granted, err = grantTo(ctx, env, e.app, e.session, "profile:read signer:create signal:create offline_access"); err != nil {
		return nil, err
	}
	if err := enlist(ctx, env, e.keys[0].Key, e.desk); err != nil {
		return nil, err
	}
	ids, err := markets(ctx, env, "of "+name, 1)
	if err != nil {
		return nil, err
	}
	e.market = ids[0]
	a := env.Client.File(ctx, env.Hub(0), e.keys[0].Key, client.Call{Market: e.market, Yes: true, Price: 5000})
	if err := a.Into(http.StatusOK, nil); err != nil {
		return nil, fmt.Errorf("file a call: %w", err)
	}
	e.signal = a.Text("id")
	if err := e.link(ctx, env, name); err != nil {
		return nil, err
	}
	for _, d := range []struct {
		path   string
		status int
		body   map[string]any
	}{
		{"/api/signals/" + e.signal + "/events", http.StatusCreated, map[string]any{"type": "note", "payload": map[string]any{"text": "mine"}}},
		{"/api/m/" + e.market + "/streams", http.StatusOK, map[string]any{"url": "https://video.example/mine.m3u8", "label": "mine"}},
		{"/api/user/follow", http.StatusOK, map[string]any{"handle": e.friend.Handle}},
		{"/api/streamer/signal", http.StatusOK, map[string]any{"marketId": e.market, "name": "mine"}},
	} {
		if err := env.Client.Do(ctx, client.Request{URL: env.Hub(0) + d.path, As: e.session, Body: d.body}).Into(d.status, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", d.path, err)
		}
	}
	return e, nil
}

// link gives the person a wallet at the provider, and claims it.
func (e *estate) link(ctx context.Context, env *frame.Env, name string) error {
	address := make([]byte, 20)
	_, _ = rand.Read(address)
	e.wallet = "0x" + hex.EncodeToString(address)
	a := env.Client.Do(ctx, client.Request{
		URL: env.Stack.IDP + "/users/did:idp:" + name + "/wallets", Body: map[string]any{"address": e.wallet, "chainType": "ethereum"},
	})
	if err := a.Into(http.StatusOK, nil); err != nil {
		return fmt.Errorf("link a wallet: %w", err)
	}
	a = env.Client.Do(ctx, client.Request{URL: env.Stack.IDP + "/mint", Body: map[string]any{"user": name}})
	if err := a.Into(http.StatusOK, nil); err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	e.token, e.identity = client.Login(a.Text("token")), a.Text("identityToken")
	err := e.claim(ctx, env).Into(http.StatusOK, nil)
	if err != nil {
		err = fmt.Errorf("claim an identity: %w", err)
	}
	return err
}

// claim claims the wallet.
func (e *estate) claim(ctx context.Context, env *frame.Env) client.Answer {
	return env.Client.Do(ctx, client.Request{
		URL: env.Hub(0) + "/api/identity/claim", Body: map[string]any{"address": e.wallet},
		As: client.All(e.session, byHeader("Privy-Id-Token", e.identity)),
	})
}

// deed reads all that an estate holds; when something was last used is no part of it,
// nor how far a webhook that is told of nothing has come.
const deed = `SELECT jsonb_build_object(
	'user', (SELECT to_jsonb(u) FROM api.users u WHERE id = $1),
	'keys', (SELECT jsonb_agg(to_jsonb(k) - 'last_used_at' ORDER BY k.id) FROM api.operator_keys k WHERE user_id = $1),
	'signals', (SELECT jsonb_agg(to_jsonb(s) ORDER BY s.id) FROM api.signals s WHERE user_id = $1),
	'events', (SELECT jsonb_agg(to_jsonb(v) ORDER BY v.id) FROM api.signal_events v JOIN api.signals s ON s.id = v.signal_id WHERE s.user_id = $1),
	'signal', (SELECT to_jsonb(o) - 'expires_at' FROM hub.overlay_signals o WHERE handle = $2),
	'streamer', (SELECT to_jsonb(r) FROM hub.streamer_profiles r WHERE handle = $2),
	'sessions', (SELECT jsonb_agg(to_jsonb(v) ORDER BY v.id) FROM hub.live_sessions v WHERE handle = $2),
	'streams', (SELECT jsonb_agg(to_jsonb(b) ORDER BY b.market_id) FROM hub.streams b WHERE handle = $2),
	'follows', (SELECT jsonb_agg(to_jsonb(f) ORDER BY f.followed) FROM hub.follows f WHERE follower = $1),
	'claims', (SELECT jsonb_agg(to_jsonb(c) ORDER BY c.station) FROM hub.identity_claims c WHERE user_id = $1),
	'apps', (SELECT jsonb_agg(to_jsonb(p) ORDER BY p.id) FROM hub.apps p WHERE owner_id = $1),
	'grants', (SELECT jsonb_agg(to_jsonb(g) - 'last_used_at' ORDER BY g.id) FROM hub.grants g WHERE user_id = $1),
	'tokens', (SELECT jsonb_agg(to_jsonb(t) ORDER BY t.hash) FROM hub.access_tokens t JOIN hub.grants g ON g.id = t.grant_id WHERE g.user_id = $1),
	'refresh', (SELECT jsonb_agg(to_jsonb(t) ORDER BY t.hash) FROM hub.refresh_tokens t JOIN hub.grants g ON g.id = t.grant_id WHERE g.user_id = $1),
	'signers', (SELECT jsonb_agg(to_jsonb(n) ORDER BY n.public_key) FROM hub.signers n WHERE denpa_id = $1),
	'messages', (SELECT count(*) FROM hub.messages m WHERE denpa_id = $1),
	'stations', (SELECT jsonb_agg(to_jsonb(s) ORDER BY s.station_id) FROM api.stations s WHERE user_id = $1),
	'webhooks', (SELECT jsonb_agg(to_jsonb(w) - 'taken' ORDER BY w.id) FROM api.webhooks w WHERE user_id = $1),
	'deliveries', (SELECT count(*) FROM api.webhook_deliveries d JOIN api.webhooks w ON w.id = d.webhook_id WHERE w.user_id = $1))::text`

// holds is all that the person has on record.
func (e *estate) holds(ctx context.Context, env *frame.Env) (string, error) {
	return env.Text(ctx, deed, e.ID, e.Handle)
}
