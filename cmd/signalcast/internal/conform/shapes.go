package conform

import (
	"context"
	"net/http"
	"strings"
)

// shapeChecks returns one check for each area of the API. Each check compares responses with their schemas in the OpenAPI
// document.
func shapeChecks() []check {
	areas := []struct {
		id, title, source string
		host              host
		reads             []string // path templates of the OpenAPI document; a sample value completes a query that ends in "="
	}{
		{"shape.signals", "calls, feeds and histories", "openapi: tag signals; openapi: getReceipt", hub, []string{
			"/api/signals/feed", "/api/signals/feed?type=beat_crowd", "/api/signals/feed?type=open", "/api/signals/{id}",
			"/api/signals/{id}/events", "/receipts/{id}", "/api/fashion/signals",
		}},
		{"shape.operators", "boards and operators", "openapi: tags boards, people, stations", hub, []string{
			"/api/operator/leaderboard?operators=all", "/api/operator/{handle}", "/api/network/operators",
			"/api/network/field-record/{handle}", "/api/network/identity/{handle}", "/api/network/payout/{handle}",
			"/api/user/follow?handle=",
		}},
		{"shape.markets", "markets", "openapi: tags markets, programme", hub, []string{
			"/api/polymarket/featured", "/api/polymarket/featured?mode=resolving24h", "/api/polymarket/markets?q=will",
			"/api/polymarket/resolved", "/api/polymarket/market?id=", "/api/polymarket/market-history?marketId=",
			"/api/polymarket/history?market_id=", "/api/m/{marketId}", "/api/m/{marketId}/related",
			"/api/m/{marketId}/signals", "/api/m/{marketId}/crowd", "/api/m/{marketId}/sentiment", "/api/m/{marketId}/streams",
			"/api/m/{marketId}/clips", "/api/markets/airable",
		}},
		{"shape.resolution", "outcomes", "openapi: tag resolution", hub, []string{
			"/api/resolution/outcome?market=", "/api/resolution/markets?status=all",
			"/api/resolution/markets?status=open&due=1",
		}},
		{"shape.network", "network, movements and situations", "openapi: tags boards, markets, programme, stations, wire", hub, []string{
			"/api/network/tapes", "/api/network/market/{marketId}", "/api/network/crowd", "/api/network/pulse",
			"/api/network/program", "/api/wire", "/api/situations", "/api/oracle/featured",
		}},
		{"shape.broadcast", "broadcast", "openapi: tag programme", hub, []string{
			"/api/broadcast/program?preset=hot", "/api/broadcast/schedule", "/api/broadcast/spotlight", "/api/broadcast/feed",
			"/api/broadcast/bumpers", "/api/broadcast/influence",
		}},
		{"shape.live", "live operators", "openapi: tag people", hub, []string{
			"/api/streamers/live", "/api/streamer/signal?handle=", "/api/streamer/receipts?handle=",
			"/api/streamer/recap?handle=", "/api/streamer/profile?handle=", "/api/streamer/stream/state?handle=",
		}},
		{"shape.embeds", "embeds", "openapi: tag sharing", hub, []string{
			"/api/embed/operator/{handle}", "/api/embed/market/{marketId}", "/api/embed/signal/{id}",
		}},
		{"shape.protocol", "passports, keys and messages", "openapi: tags apps, messages", hub, []string{
			"/api/protocol/v1", "/api/protocol/v1/keys", "/api/protocol/v1/messages", "/api/protocol/v1/passports/{id}",
		}},
		{"shape.api", "the api service", "openapi: tags attention, boards, live, signals, stations", api, []string{
			"/api/v1/signals/leaderboard", "/api/v1/signals", "/api/v1/signals/categories", "/api/v1/signals/external",
			"/api/v1/feed", "/api/v1/stations", "/api/v1/oracle/markets/{marketId}", "/api/aura/top",
			"/api/aura/history?marketId=",
		}},
		{"shape.clock", "the clock service", "openapi: tag programme", clock, []string{
			"/program/timeline", "/program/channel?preset=hot", "/program/now", "/program/next",
		}},
	}
	out := make([]check, 0, len(areas))
	for _, area := range areas {
		compare := func(ctx context.Context, r *run) {
			for _, read := range area.reads {
				template, query, _ := strings.Cut(read, "?")
				r.shape(ctx, area.host, template, query)
			}
		}
		out = append(out, check{id: area.id, title: "shapes: " + area.title, source: area.source, host: area.host, run: compare})
	}
	return out
}

// shape reads a path and compares the response with its schema. It does nothing if the path requires a sample value and the
// server has none.
func (r *run) shape(ctx context.Context, h host, template, query string) {
	path := strings.Replace(template, "/polymarket/", "/"+r.Venue+"/", 1)
	before, rest, inPath := strings.Cut(path, "{")
	name, after, _ := strings.Cut(rest, "}")
	if needs, is := strings.CutSuffix(query, "="); is {
		name = needs
	}
	sample := r.sample(ctx, template, name)
	if name != "" && sample == "" {
		return
	}
	if inPath {
		path = before + sample + after
	} else if name != "" {
		query += sample
	}
	if query != "" {
		path += "?" + query
	}
	a := r.get(ctx, h, path)
	if !r.status(a, http.StatusOK) {
		return
	}
	kind := a.header.Get("Content-Type")
	r.expect(strings.HasPrefix(kind, "application/json"), a, "Content-Type: application/json", "Content-Type: "+kind)
	if r.expect(a.value != nil, a, "one JSON value") {
		wrong := r.doc.differs(template, http.StatusOK, a.value)
		r.expect(wrong == "", a, "the shape of "+template, wrong)
	}
}

// sample returns a value for the path or query parameter with the given name. The value comes from the data of the server. It
// returns "" if there is none.
func (r *run) sample(ctx context.Context, template, name string) string {
	switch {
	case name == "handle", strings.Contains(template, "/passports/"):
		return first(r.handles(ctx, 1))
	// These routes use the ids of the venue.
	case strings.HasPrefix(template, "/api/polymarket/") && name != "" && name != "marketId":
		return first(pick(marketForm, 1, []string{text(r.get(ctx, hub, "/api/"+r.Venue+"/markets").value, "markets.0.id")}))
	case name == "id":
		return first(r.calls(ctx, 1))
	case name == "marketId", name == "market":
		return first(r.markets(ctx, 1))
	}
	return ""
}
