package conform

import (
	"context"
	"net/http"
	"strings"
)

// shapes are checks of one area each.
func shapes() []check {
	areas := []struct {
		id, title, source string
		host              host
		reads             []string // templates of the description; a query that ends in = is completed by a sample
	}{
		{"shape.signals", "calls, feeds and histories", "specification, Resources; contract 4.2.6", hub, []string{
			"/api/signals/feed", "/api/signals/feed?type=beat_crowd", "/api/signals/feed?type=open", "/api/signals/{id}",
			"/api/signals/{id}/events", "/receipts/{id}", "/api/fashion/signals",
		}},
		{"shape.operators", "boards and operators", "specification, Signals and leaderboards; contract 4.7, 4.8", hub, []string{
			"/api/operator/leaderboard?operators=all", "/api/operator/{handle}", "/api/network/operators",
			"/api/network/field-record/{handle}", "/api/network/identity/{handle}", "/api/network/payout/{handle}",
			"/api/user/follow?handle=",
		}},
		{"shape.markets", "markets", "specification, Market context; contract 4.6", hub, []string{
			"/api/polymarket/featured", "/api/polymarket/featured?mode=resolving24h", "/api/polymarket/markets?q=will",
			"/api/polymarket/resolved", "/api/polymarket/market?id=", "/api/polymarket/market-history?marketId=",
			"/api/polymarket/history?market_id=", "/api/m/{marketId}", "/api/m/{marketId}/related",
			"/api/m/{marketId}/signals", "/api/m/{marketId}/crowd", "/api/m/{marketId}/sentiment", "/api/m/{marketId}/streams",
			"/api/m/{marketId}/clips", "/api/markets/airable",
		}},
		{"shape.resolution", "outcomes", "specification, Resolution record; contract 4.3.4, 4.3.8", hub, []string{
			"/api/resolution/outcome?market=", "/api/resolution/markets?status=all",
			"/api/resolution/markets?status=open&due=1",
		}},
		{"shape.network", "federation", "specification, Federation; contract 4.2.5, 4.6.4, 4.7", hub, []string{
			"/api/network/tapes", "/api/network/market/{marketId}", "/api/network/crowd", "/api/network/pulse",
			"/api/network/program", "/api/wire", "/api/situations", "/api/oracle/featured",
		}},
		{"shape.broadcast", "what is on the air", "specification, Broadcast; contract 4.9.6, 4.10", hub, []string{
			"/api/broadcast/program?preset=hot", "/api/broadcast/schedule", "/api/broadcast/spotlight", "/api/broadcast/feed",
			"/api/broadcast/bumpers", "/api/broadcast/influence",
		}},
		{"shape.live", "operators live", "specification, Operator live; contract 4.11", hub, []string{
			"/api/streamers/live", "/api/streamer/signal?handle=", "/api/streamer/receipts?handle=",
			"/api/streamer/recap?handle=", "/api/streamer/profile?handle=", "/api/streamer/stream/state?handle=",
		}},
		{"shape.embeds", "embeds and cards", "contract 4.20", hub, []string{
			"/api/embed/operator/{handle}", "/api/embed/market/{marketId}", "/api/embed/signal/{id}",
		}},
		{"shape.protocol", "passports, keys and messages", "specification, Protocol identity records; identity 2.6, 2.7", hub, []string{
			"/api/protocol/v1", "/api/protocol/v1/keys", "/api/protocol/v1/messages", "/api/protocol/v1/passports/{id}",
		}},
		{"shape.api", "the api service", "specification, Signals and leaderboards; contract 4.8.4, 4.16", api, []string{
			"/api/v1/signals/leaderboard", "/api/v1/signals", "/api/v1/signals/categories", "/api/v1/signals/external",
			"/api/v1/feed", "/api/v1/stations", "/api/v1/oracle/markets/{marketId}", "/api/aura/top",
			"/api/aura/history?marketId=",
		}},
		{"shape.clock", "the clock", "specification, Broadcast; contract 4.9.5", clock, []string{
			"/program/timeline", "/program/channel?preset=hot", "/program/now", "/program/next",
		}},
	}
	out := make([]check, 0, len(areas))
	for _, area := range areas {
		out = append(out, check{id: area.id, title: "shapes: " + area.title, source: area.source, host: area.host, run: func(ctx context.Context, r *run) {
			for _, read := range area.reads {
				template, query, _ := strings.Cut(read, "?")
				r.shape(ctx, area.host, template, query)
			}
		}})
	}
	return out
}

// shape holds one answer against the description of the kit. A read that needs a sample is left out where there is none.
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
	r.due(strings.HasPrefix(a.header.Get("Content-Type"), "application/json"), a, "Content-Type: application/json", "Content-Type: "+a.header.Get("Content-Type"))
	if r.due(a.value != nil, a, "one JSON value") {
		wrong := r.doc.differs(template, http.StatusOK, a.value)
		r.due(wrong == "", a, "the shape of "+template, wrong)
	}
}

// sample returns a value of a parameter, from what the server has; empty: there is none.
func (r *run) sample(ctx context.Context, template, name string) string {
	switch {
	case name == "handle", strings.Contains(template, "/passports/"):
		return first(r.handles(ctx, 1))
	case strings.HasPrefix(template, "/api/polymarket/") && name != "" && name != "marketId": // an id of the venue itself
		return first(pick(marketForm, 1, []string{text(r.get(ctx, hub, "/api/"+r.Venue+"/markets").value, "markets.0.id")}))
	case name == "id":
		return first(r.calls(ctx, 1))
	case name == "marketId", name == "market":
		return first(r.markets(ctx, 1))
	}
	return ""
}
