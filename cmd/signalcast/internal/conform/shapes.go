package conform

import (
	"context"
	"net/http"
	"strings"
)

// read is one route whose answer has a shape.
type read struct {
	host     host
	template string // in the description
	query    string
	needs    string // handle, signal, market or venue: without one it is left out
}

// shapes are checks of one area each.
func shapes() []check {
	areas := []struct {
		id, title, source string
		host              host
		reads             []read
	}{
		{"shape.signals", "calls, feeds and histories", "specification, Resources; contract 4.2.6", hub, []read{
			{hub, "/api/signals/feed", "", ""},
			{hub, "/api/signals/feed", "type=beat_crowd", ""},
			{hub, "/api/signals/feed", "type=open", ""},
			{hub, "/api/signals/{id}", "", "signal"},
			{hub, "/api/signals/{id}/events", "", "signal"},
			{hub, "/receipts/{id}", "", "signal"},
			{hub, "/api/fashion/signals", "", ""},
		}},
		{"shape.operators", "boards and operators", "specification, Signals and leaderboards; contract 4.7, 4.8", hub, []read{
			{hub, "/api/operator/leaderboard", "operators=all", ""},
			{hub, "/api/operator/{handle}", "", "handle"},
			{hub, "/api/network/operators", "", ""},
			{hub, "/api/network/field-record/{handle}", "", "handle"},
			{hub, "/api/network/identity/{handle}", "", "handle"},
			{hub, "/api/network/payout/{handle}", "", "handle"},
			{hub, "/api/user/follow", "handle=", "handle"},
		}},
		{"shape.markets", "markets", "specification, Market context; contract 4.6", hub, []read{
			{hub, "/api/polymarket/featured", "", ""},
			{hub, "/api/polymarket/featured", "mode=resolving24h", ""},
			{hub, "/api/polymarket/markets", "q=will", ""},
			{hub, "/api/polymarket/resolved", "", ""},
			{hub, "/api/polymarket/market", "id=", "venue"},
			{hub, "/api/polymarket/market-history", "marketId=", "market"},
			{hub, "/api/polymarket/history", "market_id=", "venue"},
			{hub, "/api/m/{marketId}", "", "market"},
			{hub, "/api/m/{marketId}/related", "", "market"},
			{hub, "/api/m/{marketId}/signals", "", "market"},
			{hub, "/api/m/{marketId}/crowd", "", "market"},
			{hub, "/api/m/{marketId}/sentiment", "", "market"},
			{hub, "/api/m/{marketId}/streams", "", "market"},
			{hub, "/api/m/{marketId}/clips", "", "market"},
			{hub, "/api/markets/airable", "", ""},
		}},
		{"shape.resolution", "outcomes", "specification, Resolution record; contract 4.3.4, 4.3.8", hub, []read{
			{hub, "/api/resolution/outcome", "market=", "market"},
			{hub, "/api/resolution/markets", "status=all", ""},
			{hub, "/api/resolution/markets", "status=open&due=1", ""},
		}},
		{"shape.network", "federation", "specification, Federation; contract 4.2.5, 4.6.4, 4.7", hub, []read{
			{hub, "/api/network/tapes", "", ""},
			{hub, "/api/network/market/{marketId}", "", "market"},
			{hub, "/api/network/crowd", "", ""},
			{hub, "/api/network/pulse", "", ""},
			{hub, "/api/network/program", "", ""},
			{hub, "/api/wire", "", ""},
			{hub, "/api/situations", "", ""},
			{hub, "/api/oracle/featured", "", ""},
		}},
		{"shape.broadcast", "what is on the air", "specification, Broadcast; contract 4.9.6, 4.10", hub, []read{
			{hub, "/api/broadcast/program", "preset=hot", ""},
			{hub, "/api/broadcast/schedule", "", ""},
			{hub, "/api/broadcast/spotlight", "", ""},
			{hub, "/api/broadcast/feed", "", ""},
			{hub, "/api/broadcast/bumpers", "", ""},
			{hub, "/api/broadcast/influence", "", ""},
		}},
		{"shape.live", "operators live", "specification, Operator live; contract 4.11", hub, []read{
			{hub, "/api/streamers/live", "", ""},
			{hub, "/api/streamer/signal", "handle=", "handle"},
			{hub, "/api/streamer/receipts", "handle=", "handle"},
			{hub, "/api/streamer/recap", "handle=", "handle"},
			{hub, "/api/streamer/profile", "handle=", "handle"},
			{hub, "/api/streamer/stream/state", "handle=", "handle"},
		}},
		{"shape.embeds", "embeds and cards", "contract 4.20", hub, []read{
			{hub, "/api/embed/operator/{handle}", "", "handle"},
			{hub, "/api/embed/market/{marketId}", "", "market"},
			{hub, "/api/embed/signal/{id}", "", "signal"},
		}},
		{"shape.protocol", "passports, keys and messages", "specification, Protocol identity records; identity 2.6, 2.7", hub, []read{
			{hub, "/api/protocol/v1", "", ""},
			{hub, "/api/protocol/v1/keys", "", ""},
			{hub, "/api/protocol/v1/messages", "", ""},
			{hub, "/api/protocol/v1/passports/{id}", "", "handle"},
		}},
		{"shape.api", "the api service", "specification, Signals and leaderboards; contract 4.8.4, 4.16", api, []read{
			{api, "/api/v1/signals/leaderboard", "", ""},
			{api, "/api/v1/signals", "", ""},
			{api, "/api/v1/signals/categories", "", ""},
			{api, "/api/v1/signals/external", "", ""},
			{api, "/api/v1/feed", "", ""},
			{api, "/api/v1/stations", "", ""},
			{api, "/api/v1/oracle/markets/{marketId}", "", "market"},
			{api, "/api/aura/top", "", ""},
			{api, "/api/aura/history", "marketId=", "market"},
		}},
		{"shape.clock", "the clock", "specification, Broadcast; contract 4.9.5", clock, []read{
			{clock, "/program/timeline", "", ""},
			{clock, "/program/channel", "preset=hot", ""},
			{clock, "/program/now", "", ""},
			{clock, "/program/next", "", ""},
		}},
	}
	out := make([]check, 0, len(areas))
	for _, area := range areas {
		out = append(out, check{id: area.id, title: "shapes: " + area.title, source: area.source, host: area.host, run: func(ctx context.Context, r *run) {
			for _, q := range area.reads {
				r.shape(ctx, q)
			}
		}})
	}
	return out
}

// shape holds one answer against the description of the kit.
func (r *run) shape(ctx context.Context, q read) {
	sample := ""
	switch q.needs {
	case "handle":
		sample = first(r.handles(ctx, 1))
	case "signal":
		sample = first(r.calls(ctx, 1))
	case "market":
		sample = first(r.markets(ctx, 1))
	case "venue":
		sample = text(r.get(ctx, hub, "/api/"+r.Venue+"/markets").value, "markets.0.id")
		if !marketForm.MatchString(sample) {
			sample = ""
		}
	}
	if q.needs != "" && sample == "" {
		return
	}
	path := strings.Replace(q.template, "/polymarket/", "/"+r.Venue+"/", 1)
	if strings.Contains(path, "{") {
		i, j := strings.Index(path, "{"), strings.Index(path, "}")
		path = path[:i] + sample + path[j+1:]
	}
	if query := q.query; query != "" {
		if strings.HasSuffix(query, "=") {
			query += sample
		}
		path += "?" + query
	}
	a := r.get(ctx, q.host, path)
	if !r.status(a, http.StatusOK) {
		return
	}
	r.due(strings.HasPrefix(a.header.Get("Content-Type"), "application/json"), a, "Content-Type: application/json", "Content-Type: "+a.header.Get("Content-Type"))
	if r.due(a.value != nil, a, "one JSON value") {
		wrong := r.doc.differs(q.template, http.StatusOK, a.value)
		r.due(wrong == "", a, "the shape of "+q.template, wrong)
	}
}
