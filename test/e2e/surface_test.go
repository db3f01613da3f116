package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// base is the address of a service.
func (s *stack) base(host string) string {
	return map[string]string{"hub": s.Hub, "api": s.API, "clock": s.Clock}[host]
}

// target fills the parameters of a path.
func target(path, market string) string {
	return strings.NewReplacer(
		"{marketId}", market, "{id}", "0199f0a4-0000-7000-8000-00000000ffff", "{file}", "app.css", "{rest}", "of/old",
	).Replace(path)
}

// paths lists every path of every host, once.
func paths(t *testing.T) map[string][]string {
	t.Helper()
	doc, err := described()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, o := range doc.ops {
		if !slices.Contains(out[o.host], o.path) {
			out[o.host] = append(out[o.host], o.path)
		}
	}
	return out
}

// TestEveryPathAndMethod walks the description on the running services: each path
// answers OPTIONS with the methods that are described, each other method with
// 405, and each origin sees the same. The watcher judges every single answer.
func TestEveryPathAndMethod(t *testing.T) {
	t.Parallel()
	s := up(t)
	market := s.native(t, 5000)
	cells := 0
	for host, list := range paths(t) {
		for _, path := range list {
			url := s.base(host) + target(path, market)
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
				var first *answer
				for _, origin := range []string{"", s.Hub, "https://evil.example", "null"} {
					opts := []option{with("Access-Control-Request-Method", "POST")}
					if origin != "" {
						opts = append(opts, with("Origin", origin))
					}
					a := send(t, method, url, opts...)
					cells++
					if first == nil {
						first = a
					}
					if got, want := corsOf(a), corsOf(first); !maps.Equal(got, want) {
						t.Errorf("%s %s from %q: %v, from none: %v", method, url, origin, got, want)
					}
				}
				methods := "GET, OPTIONS"
				if host == "hub" && strings.HasPrefix(path, "/api/protocol/") {
					methods = "GET, POST, DELETE, OPTIONS"
				}
				if h := corsOf(first); h["Access-Control-Allow-Origin"] != "" && (h["Access-Control-Allow-Methods"] != methods ||
					h["Access-Control-Max-Age"] != "86400" || !strings.Contains(h["Access-Control-Expose-Headers"], "X-Degraded")) {
					t.Errorf("%s %s: %v", method, url, h)
				}
			}
		}
	}
	t.Logf("%d cells", cells)
}

func corsOf(a *answer) map[string]string {
	out := map[string]string{}
	for name, values := range a.header {
		if strings.HasPrefix(name, "Access-Control-") {
			out[name] = strings.Join(values, "|")
		}
	}
	return out
}

// TestPathTricks: no spelling of a path reaches a route under another name.
func TestPathTricks(t *testing.T) {
	t.Parallel()
	s := up(t)
	for _, path := range []string{
		"/api/network/../predictions", "/api/network/%2e%2e/predictions", "/api/network//../predictions", "//api/network/program",
		"/api//network/program", "/API/network/program", "/api/Network/program", "/api/network/program/", "/api/network%2Fprogram",
		"/api/broadcast/program;x=1", "/api/network/program%00", "/api/network/program%20", "/.%2e/api/predictions", "/api/predictions/", "/healthz/", "/nothing",
	} {
		for _, method := range []string{"GET", "POST", "OPTIONS"} {
			a := send(t, method, s.Hub, func(r *http.Request) { r.URL.Opaque = strings.TrimPrefix(s.Hub, "http:") + path })
			if a.status != http.StatusNotFound {
				t.Errorf("%s %s: %d", method, path, a.status)
			}
		}
	}
}

// TestConditionalReads: a copy that is current costs no body.
func TestConditionalReads(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market := s.native(t, 5000)
	id := p.call(t, market, "YES", 5000)
	attested := post(t, s.Hub+"/api/protocol/v1/predictions", p.auth(t),
		payload(obj{"marketId": s.native(t, 5000), "position": "NO", "priceBps": 4000})).is(http.StatusOK).str("messageId")
	doc, err := described()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, o := range doc.ops {
		if o.method != http.MethodGet || o.op.Responses.Status(http.StatusNotModified) == nil {
			continue
		}
		n++
		url := s.base(o.host) + strings.NewReplacer("0199f0a4-0000-7000-8000-00000000ffff", id, "{handle}", p.user).Replace(target(o.path, market))
		switch o.path {
		case "/api/protocol/v1/passports/{id}":
			url = s.Hub + "/api/protocol/v1/passports/" + p.user
		case "/api/protocol/v1/apps/{appId}":
			url = s.Hub + "/api/protocol/v1/apps/" + p.app(t, "http://127.0.0.1/cb", "profile:read").ClientID
		case "/api/user/follow", "/api/streamer/profile", "/api/streamer/signal", "/api/streamer/stream/state", "/api/streamer/receipts", "/api/streamer/recap":
			url += "?handle=" + p.user
		case "/docs/guide/{file}":
			url = s.Hub + "/docs/guide/concepts.html"
		case "/api/c/{code}":
			url = get(t, s.Hub+"/api/embed/operator/"+p.user).is(http.StatusOK).str("shortUrl")
		case "/api/card/{kind}/{id}":
			url = s.Hub + "/api/card/operator/" + p.user + "?format=json"
		case "/api/embed/oembed":
			url += "?url=" + s.Hub + "/u/" + p.user
		case "/api/resolution/outcome":
			url += "?market=" + market
		case "/api/polymarket/market-history":
			url += "?marketId=" + market
		case "/api/polymarket/market":
			url += "?id=" + s.venue(t, 0.4)
		case "/api/polymarket/history":
			url += "?market_id=" + market
		case "/api/protocol/v1/messages/{id}":
			url = s.base(o.host) + strings.Replace(o.path, "{id}", attested, 1)
		case "/api/aura/score", "/api/aura/history":
			url += "?marketId=" + s.scored(t)
		}
		asJSON := with("Accept", "application/json") // of a receipt, which is a page to others
		for _, form := range []func(tag string) string{
			func(tag string) string { return tag },
			func(tag string) string { return strings.TrimPrefix(tag, "W/") },
			func(tag string) string { return `"x", ` + tag + `, "y"` },
		} {
			eventually(t, func() bool { // a page may be built again between the two
				tag := get(t, url, asJSON).is(http.StatusOK).header.Get("ETag")
				a := get(t, url, asJSON, with("If-None-Match", form(tag)))
				return a.status == http.StatusNotModified && a.header.Get("ETag") == tag
			}, "304 of "+o.name())
		}
		get(t, url, asJSON, with("If-None-Match", `"other"`)).is(http.StatusOK)
		head := send(t, http.MethodHead, url, asJSON).is(http.StatusOK)
		if len(head.body) != 0 || !o.answers(head.header.Get("Content-Type")) || head.header.Get("ETag") == "" {
			t.Errorf("HEAD %s: %v", url, head.header)
		}
	}
	if n < 15 {
		t.Errorf("%d operations know 304", n)
	}
}

// answers tells whether a good answer may be of this kind, JSON before others.
func (o *operation) answers(kind string) bool {
	content := o.op.Responses.Status(http.StatusOK).Value.Content
	if content["application/json"] != nil {
		return kind == "application/json; charset=utf-8"
	}
	name, _, _ := strings.Cut(kind, ";")
	return content[name] != nil
}

// scored is a market with an attention score.
func (s *stack) scored(t *testing.T) (id string) {
	t.Helper()
	testkit.Eventually(t, 30*time.Second, func() bool { // a reading comes every ten seconds
		list := get(t, s.API+"/api/aura/top?limit=1").is(http.StatusOK).list("markets")
		if len(list) == 1 {
			id = list[0].(map[string]any)["marketId"].(string)
		}
		return id != ""
	})
	return id
}

// TestCompression: large answers come packed to those who take it, and say so.
func TestCompression(t *testing.T) {
	t.Parallel()
	s := up(t)
	for _, url := range []string{s.Hub + "/openapi.json", s.Clock + "/program/timeline", s.Hub + "/api/broadcast/program?preset=hot"} {
		for accept, packed := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "*": true, "identity": false, "gzip;q=0": false, "br": false} {
			a := get(t, url, with("Accept-Encoding", accept)).is(http.StatusOK)
			if (a.header.Get("Content-Encoding") == "gzip") != packed || a.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s to %q: %v", url, accept, a.header)
			}
			body := a.body
			if packed {
				var err error
				if body, err = gunzip(body); err != nil {
					t.Errorf("%s: %v", url, err)
				}
			}
			if !json.Valid(body) {
				t.Errorf("%s to %q: no JSON", url, accept)
			}
		}
	}
}

// TestDescriptionIsServed: both addresses give the same bytes, and they say what
// the document of the repository says.
func TestDescriptionIsServed(t *testing.T) {
	t.Parallel()
	s := up(t)
	one, two := get(t, s.Hub+"/openapi.json").is(http.StatusOK), get(t, s.Hub+"/docs/openapi.json").is(http.StatusOK)
	if string(one.body) != string(two.body) || one.header.Get("ETag") != two.header.Get("ETag") {
		t.Error("the two addresses differ")
	}
	one.has(obj{"openapi": "3.1.0", "info.version": "1.9.2", "info.x-contract-version": "1.9", "info.x-contract-date": "2026-09-18"})
	source, err := openapi3.NewLoader().LoadFromFile(repo + "/docs/protocol/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	served, err := openapi3.NewLoader().LoadFromData(one.body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plain(t, source), plain(t, served)); diff != "" {
		t.Errorf("docs/protocol/openapi.yaml and /openapi.json differ; make gen writes it (-want +got):\n%.2000s", diff)
	}
}

// plain is a document in the form of JSON.
func plain(t *testing.T, doc *openapi3.T) (out any) {
	t.Helper()
	raw, err := doc.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestHealth: every service says who it is.
func TestHealth(t *testing.T) {
	t.Parallel()
	s := up(t)
	for _, host := range []string{"hub", "api", "clock"} {
		for _, path := range []string{"/healthz", "/readyz"} {
			get(t, s.base(host)+path).is(http.StatusOK).has(obj{"ok": true, "nonce": s.Nonce})
		}
	}
}

// TestListsNeverFail: no parameter of a list read makes it fail.
func TestListsNeverFail(t *testing.T) {
	t.Parallel()
	s := up(t)
	market := s.native(t, 5000)
	var wg sync.WaitGroup
	values := []string{"", "0", "-1", "1", "1e9", "99999999999999999999", "x", "%00", "%ff", "null", "[]", strings.Repeat("9", 2000), "OTHER", "all,all", "%F0%9F%92%A9"}
	for _, read := range []struct{ url, params string }{
		{s.Hub + "/api/signals/feed", "type limit cursor"},
		{s.Hub + "/api/m/" + market + "/signals", "limit cursor"},
		{s.Hub + "/api/m/" + market + "/crowd", "x"},
		{s.Hub + "/api/resolution/markets", "status due limit"},
		{s.Hub + "/api/operator/leaderboard", "operators window lane limit"},
		{s.Hub + "/api/broadcast/program", "preset limit lanes"},
		{s.Hub + "/api/streamers/live", "limit"},
		{s.Hub + "/api/broadcast/schedule", "cat"},
		{s.Hub + "/api/broadcast/spotlight", "x"},
		{s.Hub + "/api/broadcast/feed", "limit cursor types"},
		{s.Hub + "/api/broadcast/bumpers", "limit"},
		{s.Hub + "/api/broadcast/influence", "window limit"},
		{s.Hub + "/api/network/program", "preset spec providers categories maxResolveHours minVolume maxVolume minYes maxYes topPerCategory limit lanes"},
		{s.API + "/api/v1/feed", "types lane providers handle after cursor limit"},
		{s.API + "/api/v1/signals/leaderboard", "operators lane limit"},
		{s.Clock + "/program/timeline", "limit"},
		{s.Clock + "/program/channel", "preset limit"},
		{s.Clock + "/program/now", "lane preset"},
		{s.Clock + "/program/next", "lane preset"},
	} {
		wg.Go(func() {
			for name := range strings.FieldsSeq(read.params) {
				for _, v := range values {
					a := get(t, read.url+"?"+name+"="+v)
					if a.status != http.StatusOK || a.header.Get("X-Degraded") != "" {
						t.Errorf("%s?%s=%.40s: %d %s %.200s", read.url, name, v, a.status, a.header.Get("X-Degraded"), a.body)
					}
				}
			}
		})
	}
	wg.Wait()
	get(t, s.Hub+"/api/signals/feed?limit=500").is(http.StatusOK)
	testkit.Eventually(t, 5*time.Second, func() bool { return get(t, s.Hub+"/readyz").status == http.StatusOK })
}
