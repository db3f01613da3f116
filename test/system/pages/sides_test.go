package pages

import (
	"html"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestPagesNameTheSides checks that pages name the sides of a market of a venue whose outcomes are not Yes and No: as rendered by
// the server and by the script of the feed. Hostile names are shown as text, and long ones are cut.
func TestPagesNameTheSides(t *testing.T) {
	t.Parallel()
	s := system(t)
	const (
		hostile = `<script>canary(1)</script>`
		long    = "Ochre Rovers of the North Bank and the Old Harbour"
		cut     = "Ochre Rovers of the North Bank and the…"
	)
	m := s.NewVenueMarket(t, "polymarket", 0.315, stack.JSON{"spread": 0, "outcomes": []string{long, html.EscapeString(hostile)}})
	m.Read(t)
	tabs := []*browser.Tab{browser.Open(t, browser.Desktop), browser.Open(t, browser.Phone)}
	for _, b := range tabs {
		b.Visit(s.Hub+"/feed", http.StatusOK)
		b.Await("#feed-phase", "Live")
	}
	p, q := s.NewOperator(t), s.NewOperator(t)
	p.NewCall(t, m.ID, "NO", 6850, nil)
	q.NewCall(t, m.ID, "YES", 3150, nil)
	for _, b := range tabs {
		awaitEvent(t, b, "@"+p.Handle, hostile+" at 68.5¢", "@"+q.Handle, cut+" at 31.5¢")
		b.Visit(s.Hub+"/feed?x=fresh", http.StatusOK)
		b.Shows("#feed-rows", hostile+" at 68.5¢", cut+" at 31.5¢")
		b.RequireFits()
		b.Visit(s.Hub+"/u/"+p.Handle, http.StatusOK)
		b.Shows("#calls", hostile+" 68.5¢")
		b.RequireFits()
		b.Visit(s.Hub+"/operator/"+q.Handle+"/embed", http.StatusOK)
		b.Shows("main", cut+" 31.5¢")
		b.RequireFits()
		b.Visit(s.Hub+"/markets?q="+url.QueryEscape(m.Title), http.StatusOK)
		b.Shows("table.list", cut+" 31.5¢")
		b.RequireFits()
		b.Visit(s.Hub+"/m/"+m.ID, http.StatusOK)
		b.Shows("main", "Price of "+cut, "Crowd, 2 calls 50% "+cut)
		b.Await("details.how", "In a call, YES is "+cut+" and NO is "+hostile+".")
		b.Shows(".calls", hostile, cut)
		b.RequireFits()
		b.RequireNoProblems()
	}
	b := tabs[0]
	b.Visit(s.Hub+"/feed?of=resolutions", http.StatusOK)
	b.Await("#feed-phase", "Live")
	m.Resolve(t, "YES")
	stack.Eventually(t, time.Minute, "the resolution in the feed", func() bool {
		s.Scan(t)
		b.ClickIfShown("#feed-new")
		return slices.Contains(b.Texts("#feed-rows .fact"), cut)
	})
	b.Visit(s.Hub+"/m/"+m.ID, http.StatusOK)
	b.Shows(".outcome", "Resolved "+cut)
	b.RequireNoProblems()
}
