package pages

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

var updateImages = flag.Bool("update-images", false, "write the screenshots of docs/img")

// resolved contains the ids of a market that an administrator has resolved as NO with evidence, and of a won call on it.
type resolved struct{ market, call, handle string }

func newResolved(t *testing.T, s *stack.Stack) resolved {
	t.Helper()
	market := s.NewNativeMarket(t, 3150, stack.JSON{
		"question": "Will the Ostrava gauge read above 6 m before 1 December?", "resolutionSource": "https://records.example/gauge",
		"description": "Decided by the reading of the hydrological office at noon.\nA tie is a NO.",
	})
	p := s.NewOperator(t)
	call := p.NewCall(t, market, "NO", 6850, stack.JSON{
		"confidence": 70, "textTake": "The upper gauges are falling and the dam opened at noon. Six metres is not coming.",
	})
	for range 4 {
		s.NewOperator(t).NewCall(t, market, "NO", 7000, nil)
	}
	for _, event := range []stack.JSON{
		{"type": "confidence", "payload": stack.JSON{"confidence": 85}},
		{"type": "take", "payload": stack.JSON{
			"text": "5.61 m and falling. Rain has stopped.", "url": "https://records.example/gauge/live",
		}},
	} {
		p.Send(t, "/api/signals/"+call+"/events", http.StatusCreated, stack.Bearer(p.Key), event)
	}
	admin(t, s, "/api/resolution/finalize", stack.JSON{
		"marketId": market, "verdict": "NO", "reason": "peak 5.61 m", "source": "gauge office",
		"proofUrl": "https://records.example/gauge/2026-12-01",
	})
	return resolved{market, call, p.Handle}
}

// TestReceiptAndMarketPages checks that the receipt of a call shows the call, its events and its result, and that the
// page of the market shows the outcome with a link to its evidence.
func TestReceiptAndMarketPages(t *testing.T) {
	t.Parallel()
	s := system(t)
	r := newResolved(t, s)
	receipt, market := "/receipts/"+r.call, "/m/"+r.market
	atBothSizes(t, func(t *testing.T, size browser.Size) {
		b := browser.Open(t, size)
		b.Visit(s.Hub+receipt, http.StatusOK)
		b.Shows("main", "Ostrava gauge", "NO", "68.5¢", "+31", "Won", "The upper gauges are falling", "@"+r.handle, "YES 31.5¢",
			"70%", "85%", "gauge office", "5.61 m and falling", r.call)
		b.RequireFits()
		b.RequireNoProblems()
		if *updateImages && size == browser.Desktop {
			writeImage(t, "receipt.png", b.Screenshot())
		}
		b.Press("h1 a", "article.market")
		b.VisitWhole(s.Hub + market)
		b.Shows("main", "Ostrava gauge", "Resolved NO", "@"+r.handle, "+31", "Crowd, 5 calls 0%", "Signalcast")
		b.Shows(".outcome", "Resolved NO", "Administrator (source: gauge office)", "Evidence of the outcome")
		const want = "https://records.example/gauge/2026-12-01 noopener nofollow ugc"
		if got := browser.Eval[string](b, `(a => a.href + ' ' + a.rel)(document.querySelector('.outcome a'))`); got != want {
			t.Errorf("the link to the evidence is %s; want %s", got, want)
		}
		b.RequireFits()
		b.RequireNoProblems()
	})
	asJSON := stack.Header("Accept", "application/json")
	read(t, s.Hub+receipt, asJSON).Expect(stack.JSON{
		"id": r.call, "status": "won", "resolution.outcome": "NO", "events.0.type": "confidence",
	})
	stack.Get(t, s.Hub+"/receipts/0199f0a4-0000-7000-8000-00000000ffff", asJSON).RequireError(http.StatusNotFound, "not_found")
	requirePolicy(t, s, receipt, market, "/markets", "/markets?q=gauge&lane=science", "/dev", "/u/"+r.handle, "/sign-in")
}

func writeImage(t *testing.T, name string, png []byte) {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "docs/img", name), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestUnusualReceiptsAndMarkets checks that pages with long words, pages of disputed markets, and error pages are not
// wider than a phone or a desktop.
func TestUnusualReceiptsAndMarkets(t *testing.T) {
	t.Parallel()
	s := system(t)
	long := s.NewNativeMarket(t, 5000, stack.JSON{"question": strings.Repeat("Donaudampfschifffahrtsgesellschaft", 5) + "?"})
	wide := s.NewOperator(t).NewCall(t, long, "YES", 5000, stack.JSON{"textTake": strings.Repeat("W", 500), "confidence": 1})
	disputed := s.NewVenueMarket(t, "polymarket", 0.5, nil).ID
	open := s.NewOperator(t).NewCall(t, disputed, "YES", 5000, nil)
	admin(t, s, "/api/resolution/dispute", stack.JSON{"marketId": disputed, "reason": strings.Repeat("why ", 100)})
	atBothSizes(t, func(t *testing.T, size browser.Size) {
		b := browser.Open(t, size)
		for _, path := range []string{"/receipts/" + wide, "/m/" + long, "/receipts/" + open, "/m/" + disputed} {
			b.Visit(s.Hub+path, http.StatusOK)
			b.RequireFits()
		}
		b.VisitWhole(s.Hub + "/m/" + disputed)
		b.Shows("main", "Disputed: why why")
		b.Visit(s.Hub+"/dev", http.StatusOK)
		b.Shows("main", "API keys")
		b.RequireFits()
		b.RequireNoProblems()
		for _, path := range []string{
			"/receipts/0199f0a4-0000-7000-8000-00000000ffff", "/receipts/nope", "/m/nope", "/m/native-0123456789abcdef",
		} {
			b.Visit(s.Hub+path, http.StatusNotFound)
			b.Shows("main", "404")
			b.RequireFits()
		}
	})
}

// styled matches an HTML element with a style attribute. It does not match texts of users in quoted attributes or between
// elements.
var styled = regexp.MustCompile(`(?i)<[a-z][a-z0-9-]*(?:\s+[^\s=>"]+(?:="[^"]*")?)*?\s+style=`)
