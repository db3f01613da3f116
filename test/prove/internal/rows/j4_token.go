package rows

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// atTheTokens are the attacks on codes and on the token endpoint.
func (h *heist) atTheTokens() []attack {
	list := []attack{
		{"a code that comes again", h.again},
		{"a code in a race", h.race},
		{"a code of another app", h.stolen},
		{"a code after a minute", h.late},
		{"a code in the address", h.inAddress},
		{"a client that proves itself in two ways", h.twoWays},
	}
	for _, c := range []struct {
		what, code string
		change     []string
	}{
		{"another verifier", "invalid_grant", []string{"code_verifier", strings.Repeat("x", 43)}},
		{"no verifier", "invalid_request", []string{"code_verifier", ""}},
		{"the challenge for the verifier", "invalid_grant", []string{"code_verifier", challengeOf(verifier)}},
		{"a short verifier", "invalid_request", []string{"code_verifier", verifier[:42]}},
		{"another redirect address", "invalid_grant", []string{"redirect_uri", "https://evil.example/cb"}},
		{"another resource", "invalid_target", []string{"resource", issuerOf(h.env) + "/mcp"}},
	} {
		// The code is used up by the attack, so that nobody tries again and again.
		list = append(list, attack{c.what, func(ctx context.Context) string {
			code, err := h.code(ctx, h.public)
			if err != nil {
				return err.Error()
			}
			if why := refuses(h.token(ctx, h.public.redeems(code, c.change...)), http.StatusBadRequest, c.code); why != "" {
				return why
			}
			return refuses(h.token(ctx, h.public.redeems(code)), http.StatusBadRequest, "invalid_grant")
		}})
	}
	for _, c := range []struct{ what, secret string }{{"no secret", ""}, {"another secret", "dcs_" + strings.Repeat("A", 43)}} {
		list = append(list, attack{c.what, func(ctx context.Context) string {
			code, err := h.code(ctx, h.secret)
			if err != nil {
				return err.Error()
			}
			return refuses(h.token(ctx, h.secret.redeems(code, "client_secret", c.secret)), http.StatusUnauthorized, "invalid_client")
		}})
	}
	for _, kind := range []string{"password", "client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer", "implicit"} {
		list = append(list, attack{"the way in named " + kind, func(ctx context.Context) string {
			form := url.Values{"grant_type": {kind}, "client_id": {h.public.id}, "username": {"a"}, "password": {"b"}, "assertion": {"c"}}
			return refuses(h.token(ctx, form), http.StatusBadRequest, "unsupported_grant_type")
		}})
	}
	for _, uri := range []string{"javascript:alert(1)", "https://*.app.example/cb", "http://app.example/cb", "https://localhost/cb", "https://app.example/cb#x"} {
		list = append(list, attack{"an app that returns to " + uri, func(ctx context.Context) string {
			return refuses(h.env.Client.Do(ctx, client.Request{URL: h.env.Hub(0) + "/api/dev/apps", As: h.stranger.login, Body: map[string]any{
				"name": "Evil", "type": "public", "redirectUris": []string{uri}, "scopes": []string{readsProfile},
			}}), http.StatusBadRequest, "invalid_redirect_uri")
		}})
	}
	return list
}

// token asks the hubs in turn.
func (h *heist) token(ctx context.Context, form url.Values) client.Answer {
	h.turn++
	return oauth(ctx, h.env, h.turn, "token", form)
}

// again: a code serves once, and what it has brought dies with the second try.
func (h *heist) again(ctx context.Context) string {
	code, err := h.code(ctx, h.public)
	if err != nil {
		return err.Error()
	}
	first := h.token(ctx, h.public.redeems(code))
	if first.Status != http.StatusOK {
		return "the first one was answered " + first.String()
	}
	if why := refuses(h.token(ctx, h.public.redeems(code)), http.StatusBadRequest, "invalid_grant"); why != "" {
		return why
	}
	return refuses(whoIs(ctx, h.env, h.turn, first.Text("access_token")), http.StatusUnauthorized, "unauthenticated")
}

// race: of many at once one is served at most, and it has nothing of it.
func (h *heist) race(ctx context.Context) string {
	code, err := h.code(ctx, h.public)
	if err != nil {
		return err.Error()
	}
	answers := make([]client.Answer, 20)
	frame.AtOnce(len(answers), func(i int) { answers[i] = oauth(ctx, h.env, i, "token", h.public.redeems(code)) })
	served := 0
	for _, a := range answers {
		if a.Status != http.StatusOK {
			continue
		}
		served++
		if why := refuses(whoIs(ctx, h.env, 0, a.Text("access_token")), http.StatusUnauthorized, "unauthenticated"); why != "" {
			return why
		}
	}
	if served > 1 {
		return fmt.Sprintf("%d of %d were served", served, len(answers))
	}
	return ""
}

// stolen: another app has nothing of a code, and its own app still has.
func (h *heist) stolen(ctx context.Context) string {
	code, err := h.code(ctx, h.public)
	if err != nil {
		return err.Error()
	}
	if why := refuses(h.token(ctx, h.other.redeems(code)), http.StatusBadRequest, "invalid_grant"); why != "" {
		return why
	}
	if a := h.token(ctx, h.public.redeems(code)); a.Status != http.StatusOK {
		return "the app whose code it is was answered " + a.String()
	}
	return ""
}

// late: a code that is a minute old is none. The record is moved back instead of
// waiting, and a second less is still good.
func (h *heist) late(ctx context.Context) string {
	for _, c := range []struct {
		back string
		fits bool
	}{{"40 seconds", true}, {"60 seconds", false}} {
		code, err := h.code(ctx, h.public)
		if err != nil {
			return err.Error()
		}
		hash := sha256.Sum256([]byte(code))
		tag, err := h.env.DB.Exec(ctx, `UPDATE hub.auth_codes SET created_at = created_at - $2::interval, expires_at = expires_at - $2::interval
			WHERE hash = $1`, hash[:], c.back)
		if err != nil || tag.RowsAffected() != 1 {
			return fmt.Sprintf("the code is not on record: %v", err)
		}
		a := h.token(ctx, h.public.redeems(code))
		if c.fits && a.Status != http.StatusOK {
			return "a code of " + c.back + " was answered " + a.String()
		}
		if !c.fits {
			return refuses(a, http.StatusBadRequest, "invalid_grant")
		}
	}
	return ""
}

// inAddress: what is in an address is in every log on its way.
func (h *heist) inAddress(ctx context.Context) string {
	code, err := h.code(ctx, h.public)
	if err != nil {
		return err.Error()
	}
	url := protocol(h.env, 0) + "/oauth/token?" + h.public.redeems(code).Encode()
	if a := h.env.Client.Do(ctx, client.Request{URL: url}); a.Status != http.StatusMethodNotAllowed {
		return "answered " + a.String()
	}
	a := h.env.Client.Do(ctx, client.Request{Method: http.MethodPost, URL: url, Body: []byte{}, Header: formed})
	if a.Status == http.StatusOK || a.Text("access_token") != "" {
		return "answered " + a.String()
	}
	return ""
}

// twoWays: a secret in the header and one in the body.
func (h *heist) twoWays(ctx context.Context) string {
	code, err := h.code(ctx, h.secret)
	if err != nil {
		return err.Error()
	}
	r := client.Request{URL: protocol(h.env, 0) + "/oauth/token", Body: []byte(h.secret.redeems(code).Encode()), Header: http.Header{
		"Content-Type": formed["Content-Type"], "Authorization": {basic(h.secret)},
	}}
	return refuses(h.env.Client.Do(ctx, r), http.StatusBadRequest, "invalid_request")
}

func basic(a app) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(url.QueryEscape(a.id), url.QueryEscape(a.secret))
	return r.Header.Get("Authorization")
}
