package rows

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// grantedApp is a confidential app that a person has let in, with every secret of the
// way there.
type grantedApp struct {
	app
	tokens
	state, verifier, challenge, code string
}

// admit registers an app, has the person consent, and redeems the code at a hub.
func admit(ctx context.Context, env *frame.Env, hub string, p person) (g grantedApp, err error) {
	a, err := newApp(ctx, env, p.login, "confidential", "profile:read", "offline_access")
	if err != nil {
		return g, fmt.Errorf("register an app: %w", err)
	}
	g = grantedApp{app: a, state: "state-" + rand.Text(), verifier: rand.Text() + rand.Text()}
	g.challenge = challengeOf(g.verifier)
	page := env.Client.Do(ctx, client.Request{As: p.session, URL: hub + "/protocol/authorize?" +
		a.asks("profile:read offline_access", "state", g.state, "code_challenge", g.challenge).Encode()})
	done := sendForm(ctx, env, hub+"/protocol/authorize", p.session, url.Values{"request": {requestOf(page)}, "decision": {"approve"}})
	if g.code = told(done).Get("code"); g.code == "" {
		return g, fmt.Errorf("consent was answered %s after %s", done, page)
	}
	answer := sendForm(ctx, env, hub+protocolPath+"/oauth/token", nil, a.redeems(g.code, "code_verifier", g.verifier))
	if err := answer.Into(http.StatusOK, &g.tokens); err != nil {
		return g, fmt.Errorf("redeem a code: %w", err)
	}
	return g, nil
}
