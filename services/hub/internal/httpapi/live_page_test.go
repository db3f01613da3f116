package httpapi_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

// TestLivePages checks the list of live broadcasts, and that the title of a broadcast page says live only during a broadcast.
func TestLivePages(t *testing.T) {
	t.Parallel()
	b := withPages(t, countViewers(t))
	want(t, b.send("GET", "/live", "", with("Accept", "text/html")), 200, "", "No forecaster is live right now.",
		"No broadcasts in the last 30 days.", "Nothing is scheduled.", `>Live</a>`)
	offline := b.send("GET", "/live/mara_k", "", with("Accept", "text/html"))
	want(t, offline, 200, "", "Broadcasts · Signalcast</title>", "!live · Signalcast", "!is live on", "No broadcast yet.", "Full record of @mara_k",
		"Sign in to be notified when live")
	b.ledger.AddOperator("tide")
	want(t, b.send("GET", "/live/tide", "", b.bySession()), 200, "", ` action="/u/tide/follow"`, "Follow and notify me when live")
	want(t, b.post("/u/tide/follow", url.Values{}, b.bySession()), http.StatusSeeOther, "")
	want(t, b.send("GET", "/live/tide", "", b.bySession()), 200, "", "You follow @tide and are notified when a broadcast starts.")
	pages := []string{"/u/mara_k", "/m/701122", "/board?operators=all"}
	for _, page := range pages {
		has(t, b.send("GET", page, "", with("Accept", "text/html")), "!/live/mara_k")
	}

	must(t, b.deps.Links.(*postgres.Store).OnAir().Decide(t.Context(), "mara_k", livestream.Approved, b.clock.Now()))
	want(t, b.send("POST", streamsURL, bound(playURL), b.byKey()), 200, "")
	want(t, b.send("POST", overlayURL, `{"marketId":"701122","name":"Ostrava gauge above 6 m?"}`, b.byKey()), 200, "")
	want(t, b.send("POST", beatURL, `{"state":"live","marketId":"701122"}`, b.bySession()), 200, "")
	b.clock.Advance(20 * time.Second)
	want(t, b.send("GET", "/live", "", with("Accept", "text/html")), 200, "", ` href="/live/mara_k"`, "Ostrava gauge above 6 m?",
		` href="/m/701122"`, "0 viewers", "!No forecaster is live")
	want(t, b.send("GET", "/live/mara_k", "", with("Accept", "text/html")), 200, "", "live · Signalcast</title>", "!Last broadcast",
		"Sign in to follow", "Clips of this market", "No calls yet.", "No clips yet.")
	b.file("NO", 6850, b.byKey())
	want(t, b.send("GET", "/live/mara_k", "", with("Accept", "text/html")), 200, "", "<b>NO at 69¢, stated 68.5¢</b> Open, now 68.5¢",
		` href="/m/701122?side=NO#call">Call it too</a>`, ` id="live-no-calls" hidden`)
	has(t, b.send("GET", receiptsURL, ""), `"yesBps":3150`)
	session, _, err := b.deps.OnAir.Last(t.Context(), "mara_k")
	must(t, err)
	want(t, b.send("GET", "/live/mara_k?show="+session.ID, "", with("Accept", "text/html")), 200, "", "live · Signalcast</title>", "!Recap</h2>")
	for _, page := range pages[:2] {
		has(t, b.send("GET", page, "", with("Accept", "text/html")), ` href="/live/mara_k"`)
	}

	want(t, b.send("POST", beatURL, `{"state":"offline"}`, b.byKey()), 200, "")
	b.clock.Advance(20 * time.Second)
	want(t, b.send("GET", "/live", "", with("Accept", "text/html")), 200, "", "No forecaster is live right now.", "Ostrava gauge above 6 m?",
		"ended <time", "!No broadcasts")
	want(t, b.send("GET", "/live/mara_k", "", with("Accept", "text/html")), 200, "", "!live · Signalcast", "Last broadcast</h2>", "Ended <time",
		"with no viewers", "!No broadcast yet.", "too short for a chart")
	want(t, b.send("GET", "/live/mara_k?show="+session.ID, "", with("Accept", "text/html")), 200, "", "<title>Broadcast of ", "Recap</h2>",
		` content="1 call, 0 points, no viewers."`, session.ID+`"><code`)
	card := "/api/card/broadcast/mara_k." + session.ID
	want(t, b.send("GET", "/live", "", with("Accept", "text/html")), 200, "", `<img data-src="`+card+`.svg"`, `<noscript><img src="`+card+`.svg"`)
	want(t, b.send("GET", card+".svg", ""), 200, "", "Ostrava gauge above 6 m?", "1 call", "No viewers")
	want(t, b.send("GET", "/api/card/broadcast/tide."+session.ID, ""), 404, "not_found")
	for _, show := range []string{"1", "0199f0c0-0000-7000-8000-000000000099"} {
		want(t, b.send("GET", "/live/mara_k?show="+show, "", with("Accept", "text/html")), 404, "", "There is no page at this address.")
	}
}
