package e2e

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var bothSizes = [][2]int64{{phoneWidth, phoneHeight}, {desktopWidth, desktopHeight}}

// count is how many elements there are.
func (b *tab) count(selector string) int {
	b.t.Helper()
	return int(ask(b, "count "+selector, chromedp.Evaluate[float64](`document.querySelectorAll(`+strconv.Quote(selector)+`).length`)))
}

// whole loads a page of the hub until no part of it is missing: each has little
// time, which a machine under tests may need for itself.
func (b *tab) whole(path string) {
	b.t.Helper()
	hub := up(b.t).Hub
	end := time.Now().Add(3 * patience)
	for {
		b.visit(hub+path, http.StatusOK)
		if b.count(".away") == 0 {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("%s: a part stays away: %s", path, b.text(".away"))
		}
		asked.Add(1)
		<-time.After(200 * time.Millisecond)
	}
}

// TestMarketPage: the page of a market that is called, on a phone and on a desk,
// with its price, the calls on it and the way to their receipts.
func TestMarketPage(t *testing.T) {
	t.Parallel()
	s := up(t)
	market := s.venue(t, 0.4, obj{
		"question": "Will the winter ferry to Norrby run before the ice is gone?", "volume": 51000,
		"startDate": stamp(time.Now().AddDate(0, 0, -6)), "description": "Decided by the timetable of the harbour office.",
	})
	s.person(t).call(t, market, "YES", 4200, obj{"confidence": 60})
	s.person(t).call(t, market, "NO", 5800, obj{"confidence": 80, "textTake": "The harbour office ordered no ice class."})
	last := s.person(t).call(t, market, "YES", 3800)
	for _, size := range bothSizes {
		b := open(t, size[0], size[1])
		b.whole("/m/" + market)
		shows(t, b, "main", "winter ferry to Norrby", "Polymarket", "Open", "40%", "60%", "$51,000", "3 calls", "67%", "+27 points", "no ice class", "Related markets")
		shows(t, b, ".m-side", "No clear lean", "Mean confidence", "Last 24 hours: 3 calls")
		if lines, marks := b.count("path.line"), b.count("a.mark"); lines == 0 || marks != 3 {
			t.Errorf("%d lines and %d marks", lines, marks)
		}
		// What is drawn has a size, and stands within the plot.
		inside := ask(b, "measure the chart", chromedp.Evaluate[bool](`(() => {
			const plot = document.querySelector('.plot').getBoundingClientRect();
			const near = (r) => r.width > 0 && r.height > 0 && r.left >= plot.left - 12 && r.right <= plot.right + 12 && r.top >= plot.top - 12 && r.bottom <= plot.bottom + 12;
			return plot.width > 200 && plot.height > 150 && [...document.querySelectorAll('.plot .mark path, .plot .dot.now')].every(e => near(e.getBoundingClientRect()));
		})()`))
		if !inside {
			t.Error("the chart stands out of its plot")
		}
		b.fits("the market")
		for _, interval := range []string{"1H", "7D", "ALL", "24H"} {
			b.whole("/m/" + market + "?interval=" + interval)
			shows(t, b, ".m-chart .tabs [aria-current]", interval)
			b.fits("the chart of " + interval)
		}
		b.press(`.mark[href$="`+last+`"] circle`, "article.ticket")
		if at := ask(b, "where", chromedp.Location()); at != s.Hub+"/receipts/"+last {
			t.Errorf("a mark leads to %s", at)
		}
		b.clean("the market")
	}

	post(t, s.Hub+"/api/admin/resolve-signals", s.admin(), payload(obj{"marketId": market, "outcome": "YES"})).is(http.StatusOK)
	b := open(t, phoneWidth, phoneHeight)
	eventually(t, func() bool { // a shared copy of the page may be ten seconds old, this one is not
		b.whole("/m/" + market)
		return b.count(".outcome.yes") == 1
	}, "the outcome")
	shows(t, b, ".m-head", "Resolved YES")
	shows(t, b, ".outcome", "Resolved YES", "admin", "UTC", "Closing price", "40%")
	shows(t, b, ".calls", "Won", "+58", "Lost")
	b.fits("the outcome")
	b.clean("the outcome")
}

// TestOutcomeWithProof: what a director claims is shown with its proof, and nothing
// but a page of the web is one.
func TestOutcomeWithProof(t *testing.T) {
	t.Parallel()
	s := up(t)
	market, _ := s.example(t)
	for _, size := range bothSizes {
		b := open(t, size[0], size[1])
		b.whole("/m/" + market)
		shows(t, b, ".outcome", "Resolved NO", "manual, gauge office", "Proof of the outcome")
		link := ask(b, "read the proof", chromedp.Evaluate[string](`(a => a.href + ' ' + a.rel)(document.querySelector('.outcome a'))`))
		if link != "https://records.example/gauge/2026-12-01 noopener nofollow ugc" {
			t.Errorf("the proof is %s", link)
		}
		b.fits("the outcome")
		b.clean("the outcome")
	}
}

// TestMarketsPage: a market of any venue is found by two of its words in any order,
// one of them with a wrong letter, and by its lane.
func TestMarketsPage(t *testing.T) {
	t.Parallel()
	s := up(t)
	word := strings.ToLower(rand.Text()[:12])
	question := "Will the lighthouse of " + word + " glow at dusk?"
	ids := map[string]string{}
	for _, provider := range []string{"polymarket", "kalshi", "limitless", "manifold"} {
		ids[provider] = post(t, s.Venues+"/sim/"+provider+"/markets", payload(obj{
			"question": question, "yesPrice": 0.4, "endDate": time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339),
		})).is(http.StatusCreated).str("id")
		s.person(t).call(t, ids[provider], "YES", 4000)
	}
	native := s.native(t, 5000, obj{"question": question, "lane": "MUSIC"})
	find := func(b *tab, query string, want int) {
		t.Helper()
		eventually(t, func() bool { // among those that are searched
			b.whole("/markets?" + query)
			return b.count("table.list tbody tr") == want
		}, strconv.Itoa(want)+" markets for "+query)
	}
	for _, size := range bothSizes {
		b := open(t, size[0], size[1])
		b.whole("/markets")
		shows(t, b, "main", "Markets", "All markets", "Politics", "Ends")
		b.fits("all markets")
		find(b, "q="+word, 5)

		typo := word + " lighthause"
		b.whole("/markets")
		b.do("write the words", chromedp.SendKeys(chromedp.CSS(`input[name="q"]`), typo))
		b.press(".find button", `.find input[name="q"][value$="lighthause"]`)
		if q := ask(b, "read the words", chromedp.Value(chromedp.CSS(`input[name="q"]`))); q != typo {
			t.Errorf("the words are now %q", q)
		}
		find(b, url.Values{"q": {typo}}.Encode(), 5)
		shows(t, b, "table.list", question, "Polymarket", "Kalshi", "Limitless", "Manifold", "Signalcast", "40%")
		for _, id := range ids {
			if b.count(`table.list a[href="/m/`+id+`"]`) != 1 {
				t.Errorf("%s is not among them", id)
			}
		}
		b.fits("what was found")

		b.press(`.lanes a[href*="lane=music"]`, `.lanes a[href*="lane=music"][aria-current]`)
		find(b, "lane=music&q="+word, 1)
		shows(t, b, ".lanes [aria-current]", "Music")
		b.press(`table.list a[href="/m/`+native+`"]`, "article.market")
		b.whole("/markets?closed=true&q=" + word)
		shows(t, b, ".empty", "No market has these words", "Look among the open markets")
		b.fits("nothing")
		b.clean("the markets")
	}
}

// TestMarketsPages lead on to the next markets and back to the first.
func TestMarketsPages(t *testing.T) {
	t.Parallel()
	b := open(t, desktopWidth, desktopHeight)
	eventually(t, func() bool { b.whole("/markets"); return b.count(`a[rel="next"]`) == 1 }, "more markets than one page has")
	first := b.text("table.list tbody tr:first-child td:first-child")
	if n := b.count("table.list tbody tr"); n != 40 {
		t.Errorf("%d rows on a page", n)
	}
	b.press(`a[rel="next"]`, `.paging a[href="/markets"]`)
	if again := b.text("table.list tbody tr:first-child td:first-child"); again == first {
		t.Errorf("the next page begins with %q, too", again)
	}
	b.clean("the pages")
}
