package rows

import (
	"context"
	"net/http"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// looks counts what was held against how much was kept.
type looks struct {
	env        *frame.Env
	seen       *frame.Seen
	kept, held int
}

// at wants that a hub knows each session, or none of them any more.
func (l *looks) at(ctx context.Context, hub, of string, people []person, known bool) {
	for i, p := range people {
		a := l.env.Client.Do(ctx, client.Request{URL: hub + "/api/identity/claim", As: p.session})
		ok := known && a.Status == http.StatusOK || !known && a.Status == http.StatusUnauthorized
		if known {
			l.held++
			if ok {
				l.kept++
			}
		}
		l.seen.Check(ok, "session %d of %s: %s", i, of, a)
	}
}

// secretsOf are the settings of a hub with other secrets.
func secretsOf(now map[string]string, sessions, successors string) map[string]string {
	put := func(name, form string) string {
		first, _, _ := strings.Cut(now[name], ",")
		return strings.NewReplacer("old", first, "new", freshSecret(name)).Replace(form)
	}
	return map[string]string{"SESSION_SECRETS": put("SESSION_SECRETS", sessions), "SUCCESSOR_SECRETS": put("SUCCESSOR_SECRETS", successors)}
}

// freshSecret is the one that follows; the same for a whole row.
func freshSecret(name string) string {
	return map[string]string{
		"SESSION_SECRETS": "Vb3Nq8Rt1Yw6Zk4Lp9Hd2Fs7Gm5Jc0XaQe", "SUCCESSOR_SECRETS": "Mx7Cd2Wf9Kj4Ps1Ta6Uz8Bn3Ly5Eo0RhVg",
	}[name]
}

// rotate replaces the secrets in three steps, each of which a hub may be in while
// the others are a step behind.
func rotate(ctx context.Context, env *frame.Env, seen *frame.Seen, before []person) (kept, held int, err error) {
	now, err := stack.Environment(env.Stack.PID("hub"))
	if err != nil {
		return 0, 0, err
	}
	var steps []*stack.Side
	defer func() {
		for _, s := range steps {
			s.Stop()
		}
	}()
	for _, form := range []string{"old,new", "new,old", "new"} {
		side, err := env.Stack.Side(ctx, "hub", secretsOf(now, form, form))
		if err != nil {
			return 0, 0, err
		}
		steps = append(steps, side)
	}
	added, signs, alone := steps[0].URL, steps[1].URL, steps[2].URL
	during, err := crowd(ctx, env, "g5-during", 12, added)
	if err != nil {
		return 0, 0, err
	}
	behind, err := crowd(ctx, env, "g5-behind", 12, signs)
	if err != nil {
		return 0, 0, err
	}
	l := &looks{env: env, seen: seen}
	for _, hub := range []string{env.Hub(0), added, signs} {
		l.at(ctx, hub, "before", before, true)
		l.at(ctx, hub, "the first step", during, true)
	}
	for _, hub := range []string{added, signs, alone} {
		l.at(ctx, hub, "the second step", behind, true)
	}
	l.at(ctx, alone, "before, once the old secret is gone", before, false)
	l.at(ctx, env.Hub(0), "another secret", behind, false)
	return l.kept, l.held, l.apps(ctx, before[0], steps)
}

// apps renews what apps hold while the secrets change: an answer that was lost is
// given again by a hub that has both.
func (l *looks) apps(ctx context.Context, p person, steps []*stack.Side) error {
	app, err := newApp(ctx, l.env, p.login, "public", everyScope...)
	if err != nil {
		return err
	}
	hubs := []string{l.env.Hub(0), steps[0].URL, steps[1].URL}
	for i, first := range hubs {
		g, err := grantTo(ctx, l.env, app, p.session, "profile:read offline_access")
		if err != nil {
			return err
		}
		renewed := renew(ctx, l.env, app, first, g.Refresh)
		for k, second := range hubs[1:] {
			again := renew(ctx, l.env, app, second, g.Refresh)
			l.held++
			if renewed != "" && again == renewed {
				l.kept++
			} else {
				l.seen.Wrong("a refresh at step %d, again at step %d: not the same successor", i, k+1)
			}
		}
		l.held++
		if next := renew(ctx, l.env, app, hubs[2-i%2], renewed); next != "" {
			l.kept++
		} else {
			l.seen.Wrong("the successor of step %d is not taken later", i)
		}
	}
	return nil
}

// renew uses a refresh token and gives the one that follows; empty: it was refused.
func renew(ctx context.Context, env *frame.Env, app app, hub, refresh string) string {
	return sendForm(ctx, env, hub+protocolPath+"/oauth/token", nil, app.renews(refresh)).Text("refresh_token")
}
