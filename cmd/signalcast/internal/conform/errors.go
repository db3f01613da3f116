package conform

import (
	"context"
	"net/http"
	"strings"
)

// wellFormed adds a finding unless the response is an error object of the protocol: a code in snake_case and an optional message.
func (r *run) wellFormed(a *answer) {
	if a.err != nil {
		r.expect(false, a, "an error of the protocol")
		return
	}
	o, isObject := a.value.(map[string]any)
	code, isText := o["error"].(string)
	if !r.expect(isObject && isText && code != "", a, "an object with error", shorten(string(a.body), 80)) {
		return
	}
	r.expect(codeForm.MatchString(code), a, "error is in snake_case", "error is "+describe(code))
	if m, there := o["message"]; there {
		_, isText := m.(string)
		r.expect(isText, a, "message is text", "message is "+describe(m))
	}
}

// errorForm checks the form of the error responses of all three services.
func errorForm(ctx context.Context, r *run) {
	for _, q := range r.reachable(
		request{method: http.MethodGet, host: hub, path: "/api/nothing/of/conform"},
		request{method: http.MethodGet, host: hub, path: "/api/signals/" + noSignal},
		request{method: http.MethodGet, host: hub, path: "/api/operator/" + noHandle},
		request{method: http.MethodGet, host: hub, path: "/api/resolution/outcome"},
		request{method: http.MethodPost, host: hub, path: "/api/predictions", body: "{}"},
		request{method: http.MethodPut, host: hub, path: "/api/network/pulse"},
		request{method: http.MethodGet, host: hub, path: "/api/channels"},
		request{method: http.MethodGet, host: api, path: "/api/v1/nothing"},
		request{method: http.MethodGet, host: api, path: "/api/aura/score"},
		request{method: http.MethodGet, host: clock, path: "/program/nothing"},
		request{method: http.MethodGet, host: clock, path: "/program/channel?spec=[]"},
	) {
		a := r.send(ctx, q)
		if r.expect(a.status >= 400 && a.status < 500, a, "an error") {
			r.wellFormed(a)
		}
	}
	r.refused(r.get(ctx, hub, "/api/resolution/outcome"), http.StatusBadRequest, "missing_market")
}

// wrongMethod checks the responses to methods that a path does not support.
func wrongMethod(ctx context.Context, r *run) {
	requests := []struct{ method, path, allowed string }{
		{http.MethodPut, "/api/network/pulse", "GET"},
		{http.MethodDelete, "/api/signals/feed", "GET"},
		{http.MethodPut, "/api/predictions", "POST"},
	}
	for _, q := range requests {
		a := r.send(ctx, request{method: q.method, host: hub, path: q.path})
		if !r.refused(a, http.StatusMethodNotAllowed, "method_not_allowed") {
			continue
		}
		allow := strings.Join(a.header.Values("Allow"), ", ")
		r.expect(strings.Contains(allow, q.allowed) && !strings.Contains(allow, q.method), a,
			"Allow contains "+q.allowed+" and not "+q.method, "Allow: "+allow)
	}
}

// retiredRoutes checks that retired routes return 410 with the code gone.
func retiredRoutes(ctx context.Context, r *run) {
	for _, q := range r.reachable(
		request{method: http.MethodGet, host: hub, path: "/api/channels"},
		request{method: http.MethodGet, host: hub, path: "/api/channels/old"},
		request{method: http.MethodPost, host: hub, path: "/api/channel/old", body: "{}"},
		request{method: http.MethodGet, host: api, path: "/api/v1/channels"},
	) {
		a := r.send(ctx, q)
		r.refused(a, http.StatusGone, "gone")
	}
}

// wrongCredentials sends requests with invalid credentials and secrets. A server that conforms refuses them and stores nothing.
func wrongCredentials(ctx context.Context, r *run) {
	call := request{
		method: http.MethodPost, host: hub, path: "/api/predictions",
		body: object("marketId", noMarket, "direction", "YES", "priceAtPrediction", 5000),
	}
	for _, bearer := range []string{
		"", "Bearer", "Bearer x", "Bearer dk_" + strings.Repeat("A", 43), "Bearer db_live_" + strings.Repeat("A", 43),
		"Bearer dat_" + strings.Repeat("A", 43), "Bearer eyJhbGciOiJub25lIn0.e30.", "Basic eDp4",
	} {
		q := call
		if bearer != "" {
			q = q.with("Authorization", bearer).with("Cookie", "db_uid=x; db_sig=y")
		}
		a := r.send(ctx, q)
		if r.refused(a, http.StatusUnauthorized, "unauthenticated") {
			got := a.header.Get("WWW-Authenticate")
			r.expect(strings.HasPrefix(got, "Bearer"), a, "WWW-Authenticate: Bearer", "WWW-Authenticate: "+got)
		}
	}
	for _, path := range []string{"/api/network/field-record/me", "/api/dev/keys"} {
		r.refused(r.send(ctx, request{method: http.MethodGet, host: hub, path: path}), http.StatusUnauthorized, "unauthenticated")
	}
	claim := request{
		method: http.MethodPost, host: hub, path: "/api/resolution/finalize",
		body: object("marketId", "native-zzzzzzzzzzzzzzzz", "verdict", "YES"),
	}
	r.refused(r.send(ctx, claim), http.StatusUnauthorized, "unauthenticated")
	r.refused(r.send(ctx, claim.with("x-admin-secret", "not the admin secret")), http.StatusForbidden, "forbidden")
}
