package rows

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
)

// atThePage are the attacks on the page that asks, and on its form.
func (h *heist) atThePage() []attack {
	list := []attack{}
	for what, uri := range map[string]string{
		"a longer path":                 appReturns + "/evil",
		"a path that leads back":        appReturns + "/../evil",
		"a query":                       appReturns + "?to=evil",
		"a fragment":                    appReturns + "#evil",
		"another case of the path":      "https://app.example/CB",
		"another case of the host":      "https://APP.example/cb",
		"a port":                        "https://app.example:8443/cb",
		"a name before the host":        "https://app.example@evil.example/cb",
		"a host that begins like it":    "https://app.example.evil.example/cb",
		"plain http":                    "http://app.example/cb",
		"another address":               "https://evil.example/cb",
		"an escaped letter of the path": "https://app.example/%63b",
	} {
		list = append(list, attack{"a redirect to " + what, func(ctx context.Context) string {
			return h.noRedirect(ctx, h.public.asks(readsProfile, "redirect_uri", uri))
		}})
	}
	twice := func(name, value string) func(ctx context.Context) string {
		return func(ctx context.Context) string {
			q := h.public.asks(readsProfile)
			q.Add(name, value)
			return h.noRedirect(ctx, q)
		}
	}
	list = append(list,
		attack{"no redirect address", func(ctx context.Context) string {
			return h.noRedirect(ctx, h.public.asks(readsProfile, "redirect_uri", ""))
		}},
		attack{"two redirect addresses", twice("redirect_uri", "https://evil.example/cb")},
		attack{"two clients", twice("client_id", h.other.id)},
		attack{"an unknown client", func(ctx context.Context) string {
			return h.noRedirect(ctx, h.public.asks(readsProfile, "client_id", "0199f0b0-1111-7d11-9a55-3f2f6c1f0b21"))
		}},
	)
	for _, c := range []struct{ what, code, name, value string }{
		{"no challenge", "invalid_request", "code_challenge", ""},
		{"a plain challenge", "invalid_request", "code_challenge_method", "plain"},
		{"no method of the challenge", "invalid_request", "code_challenge_method", ""},
		{"a token in the address", "unsupported_response_type", "response_type", "token"},
		{"more than the app may ask", "invalid_scope", "scope", "profile:read signal:create"},
		{"a resource of somebody else", "invalid_target", "resource", "https://evil.example/"},
		{"a page that is not shown", "consent_required", "prompt", "none"},
		{"a request object", "invalid_request", "request_uri", "https://evil.example/request"},
		{"an answer in the fragment", "invalid_request", "response_mode", "fragment"},
	} {
		list = append(list, attack{c.what, func(ctx context.Context) string {
			// The stranger has never let the app have anything.
			back := told(visit(ctx, h.env, 0, h.stranger.session, h.public.asks(readsProfile, c.name, c.value)))
			if back.Get("error") == c.code && back.Get("iss") == issuerOf(h.env) && back.Get("state") == "a state" && !back.Has("code") {
				return ""
			}
			return "the app was told " + back.Encode()
		}})
	}
	return append(list, h.atTheForm()...)
}

// noRedirect wants a page of our own, from which no way leads on.
func (h *heist) noRedirect(ctx context.Context, query url.Values) string {
	a := visit(ctx, h.env, 0, h.session(), query)
	if a.Status == http.StatusBadRequest && a.Header.Get("Location") == "" && requestOf(a) == "" && !strings.Contains(string(a.Body), "evil.example") {
		return ""
	}
	return "answered " + a.String()
}

// atTheForm are the attacks on the decision.
func (h *heist) atTheForm() []attack {
	victim, foe := h.people[0].session, h.stranger.session
	opened := func(ctx context.Context, as client.Session) string {
		return requestOf(visit(ctx, h.env, 0, as, h.public.asks(readsProfile)))
	}
	forbidden := func(a client.Answer) string {
		if a.Status == http.StatusForbidden && a.Header.Get("Location") == "" {
			return ""
		}
		return "answered " + a.String()
	}
	return []attack{
		{"the form of somebody else's page", func(ctx context.Context) string {
			return forbidden(decide(ctx, h.env, 0, victim, opened(ctx, foe), "approve"))
		}},
		{"a form from another site", func(ctx context.Context) string {
			form := url.Values{"request": {opened(ctx, victim)}, "decision": {"approve"}}.Encode()
			return forbidden(h.env.Client.Do(ctx, client.Request{
				URL: h.env.Hub(0) + "/protocol/authorize", As: victim, Body: []byte(form),
				Header: http.Header{"Content-Type": formed["Content-Type"], "Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}},
			}))
		}},
		{"a form sent twice", func(ctx context.Context) string {
			request := opened(ctx, victim)
			if told(decide(ctx, h.env, 0, victim, request, "approve")).Get("code") == "" {
				return "the first one got no code"
			}
			return forbidden(decide(ctx, h.env, 1, victim, request, "approve"))
		}},
		{"a form without a session", func(ctx context.Context) string {
			a := decide(ctx, h.env, 0, nil, opened(ctx, victim), "approve")
			if a.Status == http.StatusUnauthorized && a.Header.Get("Location") == "" {
				return ""
			}
			return "answered " + a.String()
		}},
		{"the page in a frame", func(ctx context.Context) string {
			a := visit(ctx, h.env, 0, victim, h.public.asks(readsProfile))
			if strings.Contains(a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") && a.Header.Get("Cache-Control") == "no-store" {
				return ""
			}
			return "it may be framed"
		}},
	}
}
