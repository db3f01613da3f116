package httpapi_test

import (
	"net/http"
	"net/url"
	"testing"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
)

// TestHomeOfMember reads the home page of a visitor with a session: without calls, with a call and a watched market, and while the
// ledger is unavailable.
func TestHomeOfMember(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	has(t, b.send("GET", "/", ""), "How it works", "!Open calls")
	w := b.send("GET", "/", "", b.bySession())
	want(t, w, 200, "", "Cache-Control: private, no-store")
	has(t, w, "Welcome</h1>", "Make your first call", "Find forecasters to follow", "Press the star of a market", "!How it works", "!unavailable")
	lane := func() string { return apitest.Last[*cataloguev1.FindMarketsRequest](b.ledger).GetLane() }
	equal(t, lane(), "")
	lanes := url.Values{"displayName": {"Mara K"}, "lanes": {"WORLD"}}
	want(t, b.post("/studio", lanes, b.bySession()), http.StatusSeeOther, "")
	has(t, b.send("GET", "/", "", b.bySession()), "Welcome</h1>")
	equal(t, lane(), "WORLD") // the chosen lane
	filed := b.file("NO", 6900, b.bySession())
	want(t, b.post("/m/"+nativeID+"/watch", url.Values{"watch": {"yes"}}, b.bySession()), http.StatusSeeOther, "")
	has(t, b.send("GET", "/", "", b.bySession()), "Your calls</h1>", ` href="/receipts/`+filed+`"`, "now 68.5¢", "−0.5 points", "Markets to call",
		` href="/m/`+nativeID+`"`, "No results yet.", "!Make your first call")
	has(t, b.send("GET", "/", ""), "!Your calls")
	b.ledger.Fail(apitest.ErrDB, "ListCalls", "ListEvents", "ListMarkets", "FindMarkets")
	w = b.send("GET", "/", "", b.bySession())
	want(t, w, 200, "", "X-Degraded: db")
	has(t, w, "Your open calls are unavailable.", "Results are unavailable.", "Watched markets are unavailable.", "!Welcome")
}

// TestHomeOfMemberWithoutPoints checks that an open call which gets no points shows no change in points.
func TestHomeOfMemberWithoutPoints(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	b.ledger.Quote(marketID, 0, 0)
	w := b.post(callPost, callValues("k"), b.bySession())
	want(t, b.post(callPost, callValues(formKey(t, w), "withoutPoints", "yes"), b.bySession()), http.StatusSeeOther, "")
	has(t, b.send("GET", "/", "", b.bySession()), "Your calls</h1>", ">no points</b>")
}
