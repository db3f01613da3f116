package rows

import (
	"context"
	"fmt"
	"net/http"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// j4 tries what the best current practice of OAuth warns of, one attack after the
// other, and counts those that came to nothing.
var j4 = frame.Row{
	ID: "J4", Title: "authorization code: exact redirect, PKCE S256, single use, 60 s, iss returned",
	Fault: frame.Fault{What: "the verifier is not compared with the challenge"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		h := heist{env: env}
		if err := h.prepare(ctx); err != nil {
			return nil, err
		}
		if why := h.honest(ctx); why != "" {
			return nil, fmt.Errorf("an honest app is refused: %s", why)
		}
		all := append(h.atThePage(), h.atTheTokens()...)
		refused := 0
		for _, a := range all {
			if why := a.try(ctx); why != "" {
				seen.Wrong("%s: %s", a.name, why)
				continue
			}
			refused++
		}
		if why := h.honest(ctx); why != "" {
			seen.Wrong("after the attacks an honest app is refused: %s", why)
		}
		seen.OutOf(len(all), refused)
		seen.Volume("%d attacks", len(all))
		return seen, nil
	},
}

// attack is one try; it says what came of it, and nothing when it was refused as it
// should be.
type attack struct {
	name string
	try  func(ctx context.Context) string
}

// heist is an app, the people who let it act for them, and a stranger with an app of
// his own.
type heist struct {
	env            *frame.Env
	public, secret app // secret can keep one
	other          app // the stranger's
	people         []person
	stranger       person
	turn           int
}

func (h *heist) prepare(ctx context.Context) (err error) {
	for i := range 6 { // one session has thirty looks at the page a minute
		p, err := signUp(ctx, h.env, fmt.Sprintf("j4-person-%d", i), 0)
		if err != nil {
			return err
		}
		h.people = append(h.people, p)
	}
	if h.stranger, err = signUp(ctx, h.env, "j4-stranger", 0); err != nil {
		return err
	}
	if h.public, err = newApp(ctx, h.env, h.people[0].login, "public", "profile:read", "offline_access"); err != nil {
		return err
	}
	if h.secret, err = newApp(ctx, h.env, h.people[0].login, "confidential", "profile:read"); err != nil {
		return err
	}
	h.other, err = newApp(ctx, h.env, h.stranger.login, "public", "profile:read")
	return err
}

// session is the next person's.
func (h *heist) session() client.Session {
	h.turn++
	return h.people[h.turn%len(h.people)].session
}

const readsProfile = "profile:read"

// code lets an app have a code, as it should be.
func (h *heist) code(ctx context.Context, of app, change ...string) (string, error) {
	h.turn++
	return authorize(ctx, h.env, h.turn, h.session(), of.asks(readsProfile, change...))
}

// honest walks the whole way of an app that does nothing wrong.
func (h *heist) honest(ctx context.Context) string {
	for _, of := range []app{h.public, h.secret} {
		page := visit(ctx, h.env, 0, h.session(), of.asks(readsProfile))
		answer := decide(ctx, h.env, 1, h.people[h.turn%len(h.people)].session, requestOf(page), "approve")
		back := told(answer)
		if back.Get("iss") != issuerOf(h.env) || back.Get("state") != "a state" || len(back["code"]) != 1 {
			return answer.String()
		}
		a := oauth(ctx, h.env, 0, "token", of.redeems(back.Get("code")))
		if a.Status != http.StatusOK || a.Header.Get("Cache-Control") != "no-store" {
			return a.String()
		}
		if me := whoIs(ctx, h.env, 1, a.Text("access_token")); me.Status != http.StatusOK {
			return me.String()
		}
	}
	return ""
}

// refuses is nothing when the answer is a refusal of that code, and gives away nothing.
func refuses(a client.Answer, status int, code string) string {
	if a.Status == status && a.Code() == code && a.Text("access_token") == "" && a.Header.Get("Location") == "" {
		return ""
	}
	return "answered " + a.String()
}
