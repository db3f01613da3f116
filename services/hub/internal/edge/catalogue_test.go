package edge_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"

	"github.com/signalcast/signalcast/services/hub/internal/edge"
)

// listed is a bench with three more markets of the primary venue, one resolved.
func listed(t *testing.T, options ...option) *bench {
	t.Helper()
	b := setup(t, options...)
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Markets["701123"] = &marketv1.Market{
		Id: "701123", Provider: "polymarket", Title: "Gauge of the Morava", Status: "open", Lane: "WORLD", VolumeUnit: "usd",
		UpdatedAt: at("2026-09-18T11:59:30Z"),
	}
	b.ledger.Markets["699001"] = &marketv1.Market{
		Id: "699001", Provider: "polymarket", Title: "Will the gauge fall?", Status: "resolved", Lane: "SCIENCE", VolumeUnit: "usd",
		Volume: proto.Float64(51000), VolumeUsd: proto.Float64(51000), ClosePriceBps: proto.Int32(1200), Signals: 4,
		ResolutionValue: proto.String("NO"), EndDate: at("2026-09-17T18:00:00Z"), UpdatedAt: at("2026-09-17T20:00:00Z"),
	}
	b.ledger.Markets["699002"] = &marketv1.Market{Id: "699002", Provider: "polymarket", Title: "Gauge, void", Status: "resolved", Lane: "OTHER"}
	b.ledger.Outcomes["699001"] = &resolutionv1.Outcome{Outcome: proto.String("NO"), ResolvedAt: at("2026-09-17T20:00:00Z")}
	b.ledger.Outcomes["699002"] = &resolutionv1.Outcome{Outcome: proto.String("INVALID"), ResolvedAt: at("2026-09-16T20:00:00Z")}
	return b
}

func TestCatalogue(t *testing.T) {
	t.Parallel()
	b := listed(t)
	for name, target := range map[string]string{
		"found":          "/api/polymarket/markets?q=gauge&closed=false",
		"found_page":     "/api/polymarket/markets?q=gauge&limit=1",
		"found_closed":   "/api/polymarket/markets?q=gauge&closed=true&sort=endDate",
		"found_nothing":  "/api/polymarket/markets?q=nothing",
		"market":         "/api/polymarket/market?id=701122",
		"market_settled": "/api/polymarket/market?id=699001",
		"resolved":       "/api/polymarket/resolved",
		"resolved_page":  "/api/polymarket/resolved?limit=1",
		"resolved_next":  "/api/polymarket/resolved?limit=1&cursor=699001",
	} {
		w := b.send("GET", target, "")
		golden(t, "catalogue/"+name, w)
		if w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Etag") == "" {
			t.Errorf("%s: %v", target, w.Header())
		}
		if again := b.send("GET", target, "", with("If-None-Match", w.Header().Get("Etag"))); again.Code != 304 {
			t.Errorf("%s again: %d", target, again.Code)
		}
	}
}

// What the ledger is asked is clean, whatever the query was.
func TestSearchQueries(t *testing.T) {
	t.Parallel()
	b := listed(t)
	for raw, want := range map[string]string{
		"":               `"" lane= closed=false sort=volume limit=100 cursor=`,
		"?q=a%00b&q=c":   `"a\x00b" lane= closed=false sort=volume limit=100 cursor=`,
		"?q=%ff%fegauge": `" gauge" lane= closed=false sort=volume limit=100 cursor=`,
		"?limit=500&lane=science&closed=true&sort=volume24h":                 `"" lane=SCIENCE closed=true sort=volume24h limit=100 cursor=`,
		"?limit=-1&lane=OTHER&closed=TRUE&sort=%27;drop&cursor=%00%ff":       `"" lane= closed=false sort=volume limit=100 cursor=`,
		"?limit=99999999999999999999&cursor=" + strings.Repeat("A", 100_000): `"" lane= closed=false sort=volume limit=100 cursor=`,
		"?sort=endDate&cursor=eyJrIjpbXX0":                                   `"" lane= closed=false sort=endDate limit=100 cursor=eyJrIjpbXX0`,
	} {
		if w := b.send("GET", "/api/polymarket/markets"+raw, ""); w.Code != 200 {
			t.Errorf("%.60s: %d %s", raw, w.Code, w.Body)
			continue
		}
		r := b.ledger.LastFind
		got := fmt.Sprintf("%q lane=%s closed=%v sort=%s limit=%d cursor=%s", r.GetText(), r.GetLane(), r.GetClosed(), r.GetSort(), r.GetLimit(), r.GetCursor())
		if got != want || r.GetProvider() != "polymarket" {
			t.Errorf("%.60s asks %s of %s", raw, got, r.GetProvider())
		}
	}
	b.send("GET", "/api/polymarket/markets?q="+strings.Repeat("gauge+", 50_000), "")
	if n := len(b.ledger.LastFind.GetText()); n > 512 {
		t.Errorf("%d bytes of a huge query travel on", n)
	}
}

func TestVenueSlugIsASetting(t *testing.T) {
	t.Parallel()
	b := listed(t, func(cfg *edge.Config, _ *edge.Deps) { cfg.VenueA = "exchange" })
	want(t, b.send("GET", "/api/exchange/market?id=701122", ""), 200, "")
	want(t, b.send("GET", "/api/polymarket/market?id=701122", ""), 404, "not_found")
}
