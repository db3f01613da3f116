package pages_test

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

func TestMarketsPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Run()
	now := b.clock.Now()
	b.ledger.Exec(`DELETE FROM market_prices`)
	b.ledger.Exec(`INSERT INTO market_prices VALUES ($1, $2, 2000), ($1, $3, 4000), ('kalshi-MILL', $3, 500)`, gauge, now.AddDate(0, 0, -3), now)
	trends := b.ledger.Count("ListTrends")
	w := b.get("/markets")
	if n := b.ledger.Count("ListTrends") - trends; n != 1 {
		t.Errorf("the trends were read %d times", n)
	}
	has(t, w, 200, `aria-label="Last 7 days: low 20¢, high 40¢"><path class="line" d="M0 `, "Polymarket · Science · 1 call</span>", `31.5¢<svg class="trend"`,
		"<title>Markets · Signalcast</title>", `<link rel="canonical" href="https://hub.example/markets">`, `content="website"`, "!noindex",
		"River levels", "−6.5 pp", `class="down strong"`, "$48,210 traded in 24 h", "3 markets",
		`<a class="t" href="/m/701122">`+question, "Polymarket · Science", ">Volume</th>", "$182,000", "!$9,100", "30 Nov 2026", `<a class="t" href="/m/kalshi-MILL">`, "Kalshi · World",
		`<a href="/markets" aria-current="true">All</a>`, `<a href="/markets?lane=science">Science</a>`, `<a href="/markets?closed=true">Closed</a>`, "!OTHER", "!>Other<")
	has(t, b.get("/markets?sort=volume24h"), 200, ">24 h volume</th>", "$9,100", "!$182,000")
	cached(t, w, shared)
	read := b.ledger.Count("ListTiles")
	has(t, b.get("/markets?q=GAUGE&sort=endDate&lane=science"), 200,
		`value="GAUGE"`, "Results for “GAUGE”", question, "!River levels", "!mill race", "noindex", `<option value="endDate" selected>`,
		`<input type="hidden" name="lane" value="SCIENCE">`, `<a href="/markets?lane=music&amp;q=GAUGE&amp;sort=endDate">Music</a>`,
		`<a href="/markets?closed=true&amp;lane=science&amp;q=GAUGE&amp;sort=endDate">Closed</a>`, `<link rel="canonical" href="https://hub.example/markets?lane=science">`)
	has(t, b.get("/markets?q=zzz"), 200, "No markets match", "Try fewer words", "Search closed markets.", `<a href="/markets">Clear the search</a>`)
	has(t, b.get("/markets?lane=music&closed=true"), 200, "No markets found.", "Search all lanes.", "Search open markets.", `<input type="hidden" name="closed" value="true">`)
	if n := b.ledger.Count("ListTiles"); read == 0 || n != read {
		t.Errorf("the heatmap was read %d times for the page that shows it, and %d times for pages without it", read, n-read)
	}
}

// TestMarketsParameters checks that an invalid parameter is replaced by its default and not sent to the ledger.
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
		if got := apitest.Last[*cataloguev1.FindMarketsRequest](b.ledger); !proto.Equal(got, want) {
			t.Errorf("%.60s: requested %v, want %v", raw, got, want)
		}
	}
}

// TestMarketsPaging checks that the links to the next and to the first page keep the query, and that each market is on exactly
// one page.
func TestMarketsPaging(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 50 {
		id := fmt.Sprint(800_100 + i)
		b.ledger.AddMarket(apitest.Market{ID: id, Title: "Harbour " + id, Lane: "WORLD", Yes: i})
	}
	b.ledger.Run()
	first := b.get("/markets?q=harbour&lane=world")
	_, link, _ := strings.Cut(first.Body.String(), `<a class="button" rel="next" href="`)
	link, _, _ = strings.Cut(link, `"`)
	next := b.get(html.UnescapeString(link))
	has(t, first, 200, "!First page")
	has(t, next, 200, `<a href="/markets?lane=world&amp;q=harbour">First page</a>`, "!More markets")
	for i := range 50 {
		name := fmt.Sprint("Harbour ", 800_100+i)
		if one, two := strings.Contains(first.Body.String(), name), strings.Contains(next.Body.String(), name); one == two {
			t.Errorf("%s is on the first page: %v, on the second: %v", name, one, two)
		}
	}
	if !strings.HasPrefix(link, "/markets?cursor=") || !strings.HasSuffix(link, "&amp;lane=world&amp;q=harbour") {
		t.Errorf("the link is %s", link)
	}
}

// TestMarketsParts checks that the page is served without its list or without its heatmap, and is not cached in these cases.
func TestMarketsParts(t *testing.T) {
	t.Parallel()
	for err, source := range map[error]string{apitest.ErrDB: "db", context.DeadlineExceeded: "signal_service"} {
		b := setup(t)
		b.ledger.Run()
		b.ledger.Fail(err, "FindMarkets")
		w := b.get("/markets")
		has(t, w, 200, "The list of markets is unavailable.", "River levels", "!No market")
		cached(t, w, "no-store|"+source)
		b.ledger.Fail(err, "ListTiles")
		w = b.get("/markets")
		has(t, w, 200, "Trending markets are unavailable.", "mill race")
		cached(t, w, "no-store|"+source)
		has(t, b.get("/markets?q=mill"), 200, "!unavailable", "mill race")
	}
}

// TestMarketsPins checks that a tile has the label of its pin. Without the pins, the page still has a heatmap but is not cached.
func TestMarketsPins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	label := "The <flood> desk"
	b.pins.list = []market.Pin{{MarketID: gauge, Label: &label}, {MarketID: "kalshi-MILL"}}
	has(t, b.get("/markets"), 200, "The &lt;flood&gt; desk", "!River levels")
	if got := apitest.Last[*cataloguev1.ListTilesRequest](b.ledger).GetPinned(); fmt.Sprint(got) != "[701122 kalshi-MILL]" {
		t.Errorf("pinned are %v", got)
	}
	b.pins.list, b.pins.err = nil, apitest.ErrDB
	w := b.get("/markets")
	has(t, w, 200, "River levels", "!unavailable")
	cached(t, w, "no-store|db")
}
