package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAPI checks that api sends a request to the service that has the route, with the credential that the route requires only.
func TestAPI(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	t.Setenv("SIGNALCAST_ADMIN_SECRET", "opensesame")
	input := filepath.Join(d.home, "body")
	if err := os.WriteFile(input, []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args                []string
		api                 bool // the request must reach the api instead of the hub
		request, body, auth string
		admin               bool
	}{
		{args: []string{"GET", "/api/m/701122"}, request: "GET /api/m/701122"},
		{args: []string{"GET", "/api/m/native-a%20b"}, request: "GET /api/m/native-a%20b"},
		{args: []string{"GET", "/api/v1/signals", "-f", "status=won", "-F", "limit=5"}, api: true, request: "GET /api/v1/signals?limit=5&status=won"},
		{args: []string{"GET", "/api/v1/users/me"}, api: true, request: "GET /api/v1/users/me", auth: "Bearer " + key},
		{args: []string{"GET", "/api/network/field-record/me"}, request: "GET /api/network/field-record/me", auth: "Bearer " + key},
		{
			args:    []string{"POST", "/api/predictions", "-f", "marketId=7", "-F", "priceAtPrediction=6850", "-F", "dryRun=true"},
			request: "POST /api/predictions", body: `{"dryRun":true,"marketId":"7","priceAtPrediction":6850}`, auth: "Bearer " + key,
		},
		{args: []string{"POST", "/api/predictions", "--input", input}, request: "POST /api/predictions", body: `{"a":1}`, auth: "Bearer " + key},
		{args: []string{"POST", "/api/admin/markets", "-f", "question=x"}, request: "POST /api/admin/markets", body: `{"question":"x"}`, admin: true},
		{args: []string{"GET", "/api/of_next_year?a=b"}, request: "GET /api/of_next_year?a=b"},
	} {
		answer := respond(http.StatusOK, `{"x":"\u202e"}`, "Content-Type", "application/json; charset=utf-8")
		hub, api := serve(t, answer), serve(t, answer)
		out, _ := d.run(done, append(append([]string{"api"}, c.args...), "--hub", hub.URL, "--api", api.URL)...)
		d.requireContains(out, `"x": "\u202e"`)
		at, other := hub, api
		if c.api {
			at, other = api, hub
		}
		if len(at.requests) != 1 || len(other.requests) != 0 {
			t.Errorf("%q: %d requests to the service of the route, want 1; %d to the other, want 0", c.args, len(at.requests), len(other.requests))
			continue
		}
		r, admin := at.requests[0], ""
		if c.admin {
			admin = "opensesame"
		}
		if got := r.Method + " " + r.URL.RequestURI(); got != c.request || strings.TrimSpace(at.bodies[0]) != c.body ||
			r.Header.Get("Authorization") != c.auth || r.Header.Get("x-admin-secret") != admin {
			t.Errorf("%q: the request is %s with the body %s and %v; want %s, %s and %q", c.args, got, at.bodies[0], r.Header, c.request, c.body, c.auth)
		}
	}
	other := serve(t, respond(http.StatusOK, "text\x1b[2J\nof a route", "Content-Type", "text/plain"))
	out, _ := d.run(done, "api", "GET", "/api/network/field-record/me", "--at", other.URL)
	if out != "text[2J\nof a route\n" || other.requests[0].Header.Get("Authorization") != "" {
		t.Errorf("with --at the output is %q and the headers are %v, want no key and no control characters", out, other.requests[0].Header)
	}
	refuses := serve(t, respond(http.StatusConflict, `{"error":"market_closed","message":"closed"}`))
	out, bad := d.run(refused, "api", "POST", "/api/predictions", "--hub", refuses.URL)
	d.requireContains(out, `"error": "market_closed"`)
	d.requireContains(bad, "409 market_closed: closed")
}

// TestAllPages checks that --all reads every page once and prints one answer, also if the pages of a server never end.
func TestAllPages(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	page := func(id, next string) http.HandlerFunc {
		return respond(http.StatusOK, fmt.Sprintf(`{"markets":[{"id":"%s","name":"N","lane":"OTHER","closed":false}],"count":1,"next_cursor":%s}`, id, next))
	}
	for name, c := range map[string]struct {
		last http.HandlerFunc
		args []string
	}{
		"search":       {page("3", "null"), []string{"market", "search", "--all"}},
		"api":          {page("3", "null"), []string{"api", "GET", "/api/polymarket/markets?closed=false", "--all"}},
		"same forever": {page("3", `"c"`), []string{"market", "search", "--all"}},
	} {
		hub := serve(t, page("1", `"b"`), page("2", `"c"`), c.last)
		out, _ := d.run(done, append(c.args, "--json", "--hub", hub.URL)...)
		d.requireContains(out, `"id": "1"`, `"id": "2"`, `"id": "3"`, `"count": 3`, `"next_cursor": null`)
		if len(hub.requests) != 3 || hub.requests[1].URL.Query().Get("cursor") != "b" || hub.requests[2].URL.Query().Get("closed") != "false" {
			t.Errorf("%s: %d requests, want 3 that keep the query: %v", name, len(hub.requests), hub.requests[len(hub.requests)-1].URL)
		}
	}
	hub := serve(t, page("1", `"b"`), respond(http.StatusTooManyRequests, `{"error":"rate_limited"}`))
	if out, _ := d.run(refused, "market", "search", "--all", "--hub", hub.URL, "--csv"); out != "" {
		t.Errorf("after a refused page the output is %q, want none", out)
	}
}

// TestCallsList checks that calls list reads the list of the owner of the key, and a public list without a key.
func TestCallsList(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	const list = `{"signals":[{"id":"` + signalID + `","marketId":"701122","marketTitle":"Will it?","direction":"NO","priceAtPrediction":6850,` +
		`"status":"won","score":31,"createdAt":"2026-03-01T10:00:00.000Z"}],"count":1,"next_cursor":"abc"}`
	api := serve(t, respond(http.StatusOK, `{"handle":"mara_k"}`), respond(http.StatusOK, list))
	out, _ := d.run(done, "calls", "list", "--status", "won", "--api", api.URL)
	d.requireContains(out, "FILED", "2026-03-01 10:00Z  won     NO    68.5   31     701122  "+signalID+"  Will it?", "--cursor abc")
	if got := api.requests[1].URL.RequestURI(); got != "/api/v1/users/mara_k/signals?status=won&limit=20" ||
		api.requests[1].Header.Get("Authorization") != "Bearer "+key {
		t.Errorf("the request is %s with %v, want the list of the owner with the key", got, api.requests[1].Header)
	}
	api = serve(t, respond(http.StatusOK, list))
	d.run(done, "calls", "list", "--handle", "tidewatch", "--api", api.URL)
	if got := api.requests[0].URL.RequestURI(); got != "/api/v1/signals?handle=tidewatch&limit=20" || api.requests[0].Header.Get("Authorization") != "" {
		t.Errorf("the request is %s with %v, want the public list without a key", got, api.requests[0].Header)
	}
}
