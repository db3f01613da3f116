package pages

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestMarketPage checks that the page of a market shows its price, the calls with links to their receipts, and after
// the resolution its outcome.
func TestMarketPage(t *testing.T) {
	t.Parallel()
	s := system(t)
	market := s.NewVenueMarket(t, "polymarket", 0.4, stack.JSON{
		"question": "Will the winter ferry to Norrby run before the ice is gone?", "volume": 51000, "tags": []string{"Science"},
		"startDate": stack.Stamp(time.Now().AddDate(0, 0, -6)), "description": "Decided by the timetable of the harbour office.",
	}).ID
	s.NewOperator(t).NewCall(t, market, "YES", 4200, stack.JSON{"confidence": 60})
	s.NewOperator(t).NewCall(t, market, "NO", 5800, stack.JSON{
		"confidence": 80, "textTake": "The harbour office ordered no ice class.",
	})
	last := s.NewOperator(t).NewCall(t, market, "YES", 3800, nil)
	page := s.Hub + "/m/" + market
	t.Run("open", func(t *testing.T) {
		atBothSizes(t, func(t *testing.T, size browser.Size) {
			b := browser.Open(t, size)
			b.VisitWhole(page)
			b.Shows("main", "winter ferry to Norrby", "Polymarket", "Open", "40¢", "60¢", "$51,000", "3 calls", "67%", "+27 pp",
				"no ice class", "Related markets")
			b.Shows(".m-side", "No clear lean", "Average confidence", "Last 24 hours: 3 calls")
			requireChart(t, b, 3)
			b.RequireFits()
			for _, interval := range []string{"1H", "7D", "ALL", "24H"} {
				b.VisitWhole(page + "?interval=" + interval)
				b.Shows(".m-chart .tabs [aria-current]", interval)
				b.RequireFits()
			}
			b.Press(`.mark[href$="`+last+`"] circle`, "article.ticket")
			requireURL(t, b, s.Hub+"/receipts/"+last)
			b.RequireNoProblems()
		})
	})
	t.Run("resolved", func(t *testing.T) {
		admin(t, s, "/api/admin/resolve-signals", stack.JSON{"marketId": market, "outcome": "YES"})
		b := browser.Open(t, browser.Phone)
		stack.Eventually(t, browser.Within, "the outcome on the page", func() bool { // a shared copy of the page may be up to ten seconds old
			b.VisitWhole(page)
			return b.Count(".outcome.yes") == 1
		})
		b.Shows(".m-head", "Resolved YES")
		b.Shows(".outcome", "Resolved YES", "Administrator", "UTC", "Closing price", "40¢")
		b.Shows(".calls", "Won", "+58", "Lost")
		b.RequireFits()
		b.RequireNoProblems()
	})
}

// requireChart requires a chart with lines and the given number of marks for calls. All of them must be within the plot area.
func requireChart(t *testing.T, b *browser.Tab, marks int) {
	t.Helper()
	if lines, got := b.Count("path.line"), b.Count("a.mark"); lines == 0 || got != marks {
		t.Errorf("the chart has %d lines and %d marks; want lines and %d marks", lines, got, marks)
	}
	const within = `(() => {
		const plot = document.querySelector('.plot').getBoundingClientRect();
		const near = r => r.width > 0 && r.height > 0 && r.left >= plot.left - 12 && r.right <= plot.right + 12 &&
			r.top >= plot.top - 12 && r.bottom <= plot.bottom + 12;
		const drawn = [...document.querySelectorAll('.plot .mark path, .plot .dot.now')];
		return plot.width > 200 && plot.height > 150 && drawn.every(e => near(e.getBoundingClientRect()));
	})()`
	if !browser.Eval[bool](b, within) {
		t.Error("a line or mark of the chart is outside the plot area")
	}
}

// TestMarketsPageSearches checks that a search finds a market of any venue by two of its words, one of them misspelled, and by
// its lane.
func TestMarketsPageSearches(t *testing.T) {
	t.Parallel()
	s := system(t)
	word := strings.ToLower(rand.Text()[:12])
	question := "Will the lighthouse of " + word + " glow at dusk?"
	var ids []string
	for _, venue := range stack.Venues {
		end := time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)
		m := s.NewVenueMarket(t, venue, 0.4, stack.JSON{"question": question, "endDate": end})
		s.NewOperator(t).NewCall(t, m.ID, "YES", 4000, nil)
		ids = append(ids, m.ID)
	}
	native := s.NewNativeMarket(t, 5000, stack.JSON{"question": question, "lane": "MUSIC"})
	ids = append(ids, native)
	atBothSizes(t, func(t *testing.T, size browser.Size) {
		b := browser.Open(t, size)
		find := func(query string, want int) {
			t.Helper()
			stack.Eventually(t, browser.Within, fmt.Sprintf("%d markets for %s", want, query), func() bool {
				b.VisitWhole(s.Hub + "/markets?" + query)
				return b.Count("table.list tbody tr") == want
			})
		}
		b.VisitWhole(s.Hub + "/markets")
		b.Shows("main", "Markets", "All markets", "Politics", "Ends")
		b.RequireFits()
		find("q="+word, len(ids))
		typo := word + " lighthause"
		b.VisitWhole(s.Hub + "/markets")
		b.Type(`.find input[name="q"]`, typo)
		b.Press(".find button", `.find input[name="q"][value$="lighthause"]`)
		if got := b.Value(`.find input[name="q"]`); got != typo {
			t.Errorf("the page searched for %q; want %q", got, typo)
		}
		find(url.Values{"q": {typo}}.Encode(), len(ids))
		b.Shows("table.list", question, "Polymarket", "Kalshi", "Limitless", "Manifold", "Signalcast", "40¢")
		for _, id := range ids {
			if n := b.Count(`table.list a[href="/m/` + id + `"]`); n != 1 {
				t.Errorf("the page has %d links to market %s; want 1", n, id)
			}
		}
		b.RequireFits()
		b.Press(`.lanes a[href*="lane=music"]`, `.lanes a[href*="lane=music"][aria-current]`)
		find("lane=music&q="+word, 1)
		b.Shows(".lanes [aria-current]", "Music")
		b.Press(`table.list a[href="/m/`+native+`"]`, "article.market")
		b.VisitWhole(s.Hub + "/markets?closed=true&q=" + word)
		b.Shows(".empty", "No markets match", "Search open markets")
		b.RequireFits()
		b.RequireNoProblems()
	})
}
