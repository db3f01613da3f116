package pages_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"

	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
)

func TestMarketsPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.get("/markets")
	has(t, w, 200,
		"<title>Markets · Signalcast</title>", `<link rel="canonical" href="https://hub.example/markets">`, `content="website"`, "!noindex",
		"River levels", "−6.5 points", `class="down strong"`, "$48,210 in 24 h", "3 markets",
		`<a class="t" href="/m/701122">`+question, "Polymarket · Science", "$9,100", "30 Nov 2026", `<a class="t" href="/m/kalshi-MILL">`, "Kalshi · World",
		`<a href="/markets" aria-current="true">All</a>`, `<a href="/markets?lane=science">Science</a>`, `<a href="/markets?closed=true">Closed</a>`, "!OTHER", "!>Other<")
	if cached(w) != "public, s-maxage=10|" {
		t.Error(cached(w))
	}
	has(t, b.get("/markets?q=GAUGE&sort=endDate&lane=science"), 200,
		`value="GAUGE"`, "Found for “GAUGE”", question, "!River levels", "!mill race", "noindex", `<option value="endDate" selected>`,
		`<input type="hidden" name="lane" value="SCIENCE">`, `<a href="/markets?lane=music&amp;q=GAUGE&amp;sort=endDate">Music</a>`,
		`<a href="/markets?closed=true&amp;lane=science&amp;q=GAUGE&amp;sort=endDate">Closed</a>`, `<link rel="canonical" href="https://hub.example/markets?lane=science">`)
	has(t, b.get("/markets?q=zzz"), 200, "No market has these words.", "Try fewer words", "Look among the closed markets.", `<a href="/markets">Clear the search</a>`)
	has(t, b.get("/markets?lane=music&closed=true"), 200, "No market here.", "Look in all lanes.", "Look among the open markets.", `<input type="hidden" name="closed" value="true">`)
	if b.ledger.Count("ListTiles") != 1 {
		t.Error("the heatmap is read where nobody sees it")
	}
}

// TestMarketsParameters: what cannot be meant is the default, and goes no further.
func TestMarketsParameters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	long := strings.Repeat("ü", 600)
	for raw, want := range map[string]*cataloguev1.FindMarketsRequest{
		"":                                    {Sort: "volume"},
		"sort=volume24h":                      {Sort: "volume24h"},
		"sort=%3Cb%3E":                        {Sort: "volume"},
		"lane=Science":                        {Sort: "volume", Lane: "SCIENCE"},
		"lane=OTHER":                          {Sort: "volume"},
		"lane=%27":                            {Sort: "volume"},
		"closed=true":                         {Sort: "volume", Closed: true},
		"closed=1":                            {Sort: "volume"},
		"q=+a++b+":                            {Sort: "volume", Text: "a  b"},
		"q=%ff%fe":                            {Sort: "volume"},
		"q=" + url.QueryEscape(long):          {Sort: "volume", Text: strings.Repeat("ü", 256)},
		"cursor=abc_-=":                       {Sort: "volume", Cursor: "abc_-="},
		"cursor=%ff":                          {Sort: "volume"},
		"cursor=a%20b":                        {Sort: "volume"},
		"cursor=" + strings.Repeat("a", 1025): {Sort: "volume"},
		"q=%zz&lane=music":                    {Sort: "volume", Lane: "MUSIC"},
	} {
		want.Limit = 40
		has(t, b.get("/markets?"+raw), 200, "<h1>Markets</h1>")
		if got := b.ledger.LastFind; !proto.Equal(got, want) {
			t.Errorf("%.60s: asked %v, want %v", raw, got, want)
		}
	}
}

// TestMarketsPaging leads on and back, and keeps what was asked for.
func TestMarketsPaging(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Lock()
	for i := range 50 {
		id := fmt.Sprint(800_100 + i)
		b.ledger.Markets[id] = &marketv1.Market{Id: id, Provider: "polymarket", Title: "Harbour " + id, Status: "open", Lane: "WORLD", YesBps: proto.Int32(int32(i))}
	}
	b.ledger.Unlock()
	first := b.get("/markets?q=harbour&lane=world")
	has(t, first, 200, "Harbour 800139", "!Harbour 800140", `<a class="button" rel="next" href="/markets?cursor=800139&amp;lane=world&amp;q=harbour">`, "!From the beginning")
	has(t, b.get("/markets?cursor=800139&lane=world&q=harbour"), 200, "Harbour 800140", "!Harbour 800139", `<a href="/markets?lane=world&amp;q=harbour">From the beginning</a>`, "!More markets")
}

// TestMarketsParts: list and heatmap may be missing, each alone.
func TestMarketsParts(t *testing.T) {
	t.Parallel()
	for _, err := range []error{memledger.ErrDB, nil} {
		b := setup(t)
		b.fail(err, "FindMarkets")
		w := b.get("/markets")
		has(t, w, 200, "The list is not available right now.", "River levels", "!No market")
		if !strings.HasPrefix(cached(w), "no-store|") {
			t.Error(cached(w))
		}
		b.fail(err, "ListTiles")
		w = b.get("/markets")
		has(t, w, 200, "The heatmap is not available right now.", "mill race")
		if !strings.HasPrefix(cached(w), "no-store|") {
			t.Error(cached(w))
		}
		has(t, b.get("/markets?q=mill"), 200, "!not available", "mill race")
	}
}

// TestMarketsPins: a pin's words stand over its tile; without the pins there is a
// heatmap, and no cache keeps it.
func TestMarketsPins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	label := "The <flood> desk"
	b.pins.list = []market.Pin{{MarketID: gauge, Label: &label}, {MarketID: "kalshi-MILL"}}
	has(t, b.get("/markets"), 200, "The &lt;flood&gt; desk", "!River levels")
	if got := b.ledger.LastTiles.GetPinned(); fmt.Sprint(got) != "[701122 kalshi-MILL]" {
		t.Errorf("pinned are %v", got)
	}
	b.pins.list, b.pins.err = nil, memledger.ErrDB
	w := b.get("/markets")
	has(t, w, 200, "River levels", "!available right now")
	if cached(w) != "no-store|db" {
		t.Error(cached(w))
	}
}
