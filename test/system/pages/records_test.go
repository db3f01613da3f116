package pages

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

const hostileName = `"><img src=x onerror=canary(1)><b>Ann`

// decided is the number of calls of newRecord that have a counted result.
const decided = 22

// newRecord creates an operator with won, lost, void and open calls, more than fit on a page. best is the id of the call with
// the highest score.
func newRecord(t *testing.T, s *stack.Stack) (p *stack.Operator, best string) {
	t.Helper()
	p = s.NewOperator(t)
	p.Send(t, "/api/streamer/profile", http.StatusOK, stack.Bearer(p.Key), stack.JSON{
		"displayName": hostileName, "bio": "Rivers do not read polls.\n<script>canary(2)</script>",
	})
	var ended []string
	for i := range 28 {
		price := []int{900, 3000, 5500, 7000}[i%4]
		lane := []string{"Science", "Music", "Sports"}[i%3]
		market := s.NewVenueMarket(t, "polymarket", float64(price)/10_000, stack.JSON{"spread": 0, "tags": []string{lane}})
		market.Read(t) // the market must be known: calls of one operator may cause at most 20 market reads per minute
		id := p.NewCall(t, market.ID, "YES", price, stack.JSON{
			"confidence": 10 + 3*i, "textTake": `<img src=x onerror=canary(3)> The dam opened at noon.`,
		})
		switch {
		case i == 0:
			best = id
			market.Resolve(t, "YES")
		case i%9 == 8:
			market.Resolve(t, "INVALID")
		case i < 24:
			market.Resolve(t, []string{"NO", "YES", "YES"}[i%3])
		default:
			continue
		}
		ended = append(ended, id)
	}
	stack.Eventually(t, browser.Within, "results of all calls", func() bool {
		s.Scan(t)
		return !slices.ContainsFunc(ended, func(id string) bool { return s.Signal(t, id).Text("status") == "pending" })
	})
	return p, best
}

// TestRecordPage checks that the page of an operator shows the complete record, with and without scripts, and that all its
// links work.
func TestRecordPage(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, best := newRecord(t, s)
	path := "/u/" + p.Handle
	stack.Eventually(t, time.Minute, "statistics of all calls", func() bool {
		a := read(t, s.Hub+"/api/operator/"+p.Handle+"/skill")
		page := read(t, s.Hub+path)
		return a.Value("report") != nil && a.Int("report.calls") == decided && page.Contains("these 22 resolved calls") &&
			page.Contains("Points by call")
	})
	t.Run("page", func(t *testing.T) {
		atBothSizes(t, func(t *testing.T, size browser.Size) {
			b := browser.Open(t, size)
			b.VisitWhole(s.Hub + path)
			b.Shows("main", hostileName, "@"+p.Handle, "Independent", "Skill or luck?", "edge", "resolved calls", "Points by call",
				"Calibration", "Edge by lane", "Science", "Long-shot wins", "Epic", "won at 9¢", "The dam opened at noon", "22",
				"record verify", "Won", "Lost", "Void", "Open")
			b.RequireAccessible()
			b.RequireLinks(s.Hub, map[string]bool{})
			b.Press(`a[rel="next"]`, `#calls`)
			b.Shows("#calls", "Older calls", "Newest calls")
			if n := b.Count(".calls-of li"); n != 3 {
				t.Errorf("the second page shows %d calls; want 3", n)
			}
			b.Press(`.best a`, `article.ticket`)
			requireURL(t, b, s.Hub+"/receipts/"+best)
			b.Press(`.facts a[href="`+path+`"]`, `.r-head`)
			b.RequireNoProblems()
		})
	})
	t.Run("without scripts", func(t *testing.T) {
		t.Parallel()
		b := browser.Open(t, browser.Phone)
		b.DisableScripts()
		b.VisitWhole(s.Hub + path)
		b.Shows("main", "Skill or luck?", "Points by call", "More calls")
		b.RequireNoProblems()
		b.Visit(s.Hub+"/u/nobody_of_that_name", http.StatusNotFound)
		b.Shows("main", "404", "Page not found")
	})
	t.Run("other forms", func(t *testing.T) {
		t.Parallel()
		requireSameRecord(t, s, p, best)
	})
}

// requireSameRecord requires that the embed, the downloaded record and the card of an operator match the operator's summary.
// best is the id of the best call.
func requireSameRecord(t *testing.T, s *stack.Stack, p *stack.Operator, best string) {
	t.Helper()
	var summary stack.Answer
	stack.Eventually(t, 10*time.Second, "a summary of all calls", func() bool {
		summary = read(t, s.Hub+"/api/operator/"+p.Handle)
		return summary.Int("stats.resolvedCalls") == decided
	})
	embed := read(t, s.Hub+"/api/embed/operator/"+p.Handle)
	embed.Expect(stack.JSON{
		"rank": summary.Value("rank"), "score": summary.Value("stats.score"), "accuracy": summary.Value("stats.accuracy"),
		"live": summary.Value("live"), "liveSignal": summary.Value("liveSignal"),
	})
	calls := embed.List("recentCalls")
	if diff := cmp.Diff(summary.List("recentCalls"), calls); diff != "" || len(calls) != 10 {
		t.Errorf("the embed shows %d recent calls; want 10 (-summary +embed):\n%s", len(calls), diff)
	}
	minted, recorded := map[string]string{}, map[string]string{}
	for _, m := range summary.List("moments") {
		moment := m.(map[string]any)
		minted[moment["signalId"].(string)] = moment["tier"].(string)
	}
	lines := bufio.NewScanner(bytes.NewReader(read(t, s.Hub+"/api/operator/"+p.Handle+"/record").Body))
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		var line struct{ ID, Moment string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Moment != "" {
			recorded[line.ID] = line.Moment
		}
	}
	if diff := cmp.Diff(minted, recorded); diff != "" || minted[best] != "EPIC" {
		t.Errorf("the tier of the best call is %q; want EPIC; moments (-summary +record):\n%s", minted[best], diff)
	}
	requireCard(t, s.Hub+"/api/card/operator/"+p.Handle)
	b := browser.Open(t, browser.Size{Width: 420, Height: 220})
	stack.Eventually(t, browser.Within, "the record in the frame", func() bool {
		b.Visit(s.Hub+"/operator/"+p.Handle+"/embed", http.StatusOK)
		return !strings.Contains(b.Text("main"), "The record is unavailable")
	})
	b.Shows("main", hostileName, "28", "Points", "%")
	b.RequireFits()
	b.RequireNoProblems()
}

// requireCard requires that a card exists as well-formed SVG, and as a PNG of full width that a browser can display. card is
// its URL without the extension.
func requireCard(t *testing.T, card string) {
	t.Helper()
	svg := xml.NewDecoder(bytes.NewReader(read(t, card+".svg").Body))
	for {
		if _, err := svg.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("parse %s.svg: %v", card, err)
		}
	}
	if img, err := png.Decode(bytes.NewReader(read(t, card+".png").Body)); err != nil || img.Bounds().Dx() != 1200 {
		t.Errorf("%s.png: error %v; want a PNG that is 1200 pixels wide", card, err)
	}
	b := browser.Open(t, browser.Desktop)
	for _, form := range []string{".svg", ".png"} {
		b.Visit(card+form, http.StatusOK)
	}
}

// TestNetworkPages checks that leaderboards, stations and totals are readable on a phone and on a desktop, with and
// without scripts.
func TestNetworkPages(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, market := s.NewOperator(t), s.NewVenueMarket(t, "polymarket", 0.2, nil)
	id := p.NewCall(t, market.ID, "YES", 2000, nil)
	market.Resolve(t, "YES")
	s.RequireResult(t, id)
	link := `href="/u/` + p.Handle + `"`
	for _, board := range []string{"/board", "/board?order=score"} {
		stack.Eventually(t, browser.Within, p.Handle+" on "+board, func() bool { return read(t, s.Hub+board).Contains(link) })
	}
	t.Run("pages", func(t *testing.T) {
		atBothSizes(t, func(t *testing.T, size browser.Size) {
			b, seen := browser.Open(t, size), map[string]bool{}
			for path, texts := range map[string][]string{
				"/":                                   {"How it works", "Newest calls", "Last resolutions", "Top forecasters", "@" + p.Handle},
				"/board":                              {"Leaderboard", "People", "Ranked by the lower bound", "Lower bound", "Points", "@" + p.Handle},
				"/board?order=score":                  {"Ranked by broadcast score", "@" + p.Handle},
				"/board?operators=house&lane=culture": {"No forecasters on this leaderboard yet"},
				"/network":                            {"This station", "Forecasters of all stations", "Clips"},
				"/pulse":                              {"Calls per forecaster", "Calls by people, per week", "House accounts and bots, per week", "Resolved"},
			} {
				b.VisitWhole(s.Hub + path)
				b.Shows("main", texts...)
				b.RequireAccessible()
				b.RequireLinks(s.Hub, seen)
			}
			b.VisitWhole(s.Hub + "/pulse")
			if n := b.Count(".weeks .plot g"); n != 32 {
				t.Errorf("the chart shows %d weeks; want 32", n)
			}
			for _, name := range []string{"network", "pulse"} {
				link := fmt.Sprintf(`footer nav a[href="/%s"]`, name)
				b.Press(link, link+`[aria-current]`)
			}
			menu := "header > nav"
			for _, name := range []string{"board", "markets"} {
				if size == browser.Phone {
					menu = "header details.pages"
					b.Click(menu+" summary", menu+" nav")
				}
				link := fmt.Sprintf(`%s a[href="/%s"]`, menu, name)
				b.Press(link, "h1")
				if b.Count(link+"[aria-current]") != 1 {
					t.Errorf("the header does not mark the page /%s", name)
				}
			}
			b.VisitWhole(s.Hub + "/board")
			b.Press(`.ranks tbody tr:first-child a`, `.r-head`)
			b.RequireNoProblems()
		})
	})
	t.Run("without scripts", func(t *testing.T) {
		t.Parallel()
		b := browser.Open(t, browser.Phone)
		b.DisableScripts()
		for _, path := range []string{"/", "/board", "/network", "/pulse"} {
			b.VisitWhole(s.Hub + path)
			if b.Count("main svg[role=img], main table") == 0 {
				t.Errorf("%s shows neither a chart nor a table", path)
			}
		}
		b.RequireNoProblems()
	})
	requirePolicy(t, s, "/", "/board", "/board?order=score", "/network", "/pulse", "/u/"+p.Handle)
}
