package e2e

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// The promises of the overlay.
const (
	staleWithin = 5 * time.Second
	backWithin  = 2 * time.Second
	moveWithin  = time.Second
)

// cutFor is how long the server is away; OVERLAY_CUT sets another time.
func cutFor(t *testing.T) time.Duration {
	t.Helper()
	raw := os.Getenv("OVERLAY_CUT")
	if raw == "" {
		return 8 * time.Second
	}
	d, err := time.ParseDuration(raw)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// overlaid puts a signal over the picture of somebody.
func (p *person) overlaid(t testing.TB, body obj) {
	t.Helper()
	post(t, p.s.Hub+"/api/streamer/signal", p.auth(t), payload(body)).is(http.StatusOK)
}

// state waits until the overlay is in a state and gives how long that took.
func (b *tab) state(want string, within time.Duration) time.Duration {
	b.t.Helper()
	began := time.Now()
	for {
		got := ask(b, "read the state", chromedp.Evaluate[string](`document.getElementById("overlay").dataset.state`))
		if got == want {
			return time.Since(began)
		}
		if time.Since(began) > within {
			b.t.Fatalf("the overlay is %q, and not %q within %v", got, want, within)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (b *tab) seen(id string) string {
	b.t.Helper()
	return ask(b, "read "+id, chromedp.Evaluate[string](`(e => e && e.getClientRects().length ? e.textContent : "")(document.getElementById("`+id+`"))`))
}

// quiet forgets what a browser says of a server that is away.
func (b *tab) quiet() {
	for _, text := range []string{"WebSocket connection to", "Failed to load resource"} {
		b.forget(text)
	}
}

// TestOverlay: nothing where there is no signal, then what the operator says, with the
// price of its market as it moves; STALE when the server is away, and back when it is.
func TestOverlay(t *testing.T) {
	s := up(t)
	p := s.person(t)
	p.auth(t)
	market := s.venue(t, 0.4, obj{"question": "Will the overlay be read?"})
	p.call(t, market, "YES", 4000)
	b := open(t, 1920, 1080)
	b.visit(s.Hub+"/overlay/"+p.user+"?theme=dark&pos=tr", http.StatusOK)
	b.state("none", within)
	if shown := b.seen("overlay-box"); shown != "" {
		t.Errorf("without a signal it shows %q", shown)
	}
	p.overlaid(t, obj{"marketId": market, "name": "Will the overlay be read?", "yesPct": 40, "annotation": "rain band moving east", "closesAt": stamp(time.Now().Add(50 * time.Hour))})
	b.state("live", within)
	sees(t, b, within, "#overlay-box", "@"+p.user, "Will the overlay be read?", "YES40¢", "NO60¢", "rain band moving east", "closes in 2 d 1 h")
	b.shoot("overlay dark")
	b.clean("the overlay")
	s.overlayMoves(t, b, p, market)
	s.overlayCut(t, b)
	other := s.native(t, 2500)
	p.overlaid(t, obj{"marketId": other, "name": "Another one"})
	sees(t, b, within, "#overlay-box", "Another one", "25¢")
	s.finalize(t, other, "NO")
	sees(t, b, within, "#overlay-box", "RESOLVED NO")
	send(t, http.MethodDelete, s.Hub+"/api/streamer/signal", p.auth(t)).is(http.StatusOK)
	b.state("none", within)
	if left := ask(b, "read all", chromedp.Evaluate[string](`document.body.innerText.trim()`)); strings.Contains(left, "Another") {
		t.Errorf("a signal that was cleared leaves %q", left)
	}
	b.clean("the overlay at the end")
}

// overlayMoves: a price that the feed tells is on the overlay within a second.
func (s *stack) overlayMoves(t *testing.T, b *tab, _ *person, market string) {
	t.Helper()
	eventually(t, func() bool { return slices.Contains(s.sockets(t).Markets, market) }, "the market among those that are followed")
	k := s.connect(t, nil)
	k.say(obj{"op": "subscribe", "id": "s", "channels": []string{"market:" + market}})
	k.until("the snapshot", func(f frame) bool { return f.Op == "snapshot" })
	for _, yes := range []float64{0.61, 0.355, 0.8} {
		s.turn(t, market, obj{"yesPrice": yes})
		k.until("the price", func(f frame) bool {
			return f.Type == "price.tick" && strings.Contains(string(f.Data), fmt.Sprintf(`"yesBps":%d`, int(yes*10000+0.5)))
		})
		began := time.Now()
		sees(t, b, moveWithin, "#overlay-yes", strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf("%.2f", yes*100), "0"), ".0")+"¢")
		t.Logf("a move is shown %v behind the feed", time.Since(began))
	}
}

// overlayCut stops the front door and the ledger, then kills them.
func (s *stack) overlayCut(t *testing.T, b *tab) {
	t.Helper()
	mark := ask(b, "mark the page", chromedp.Evaluate[float64](`window.mark = Math.random()`))
	shown := b.seen("overlay-name")
	now := up(t)
	began := time.Now()
	goOnHub, goOnAPI := testkit.Hang(t, now.PIDs["hub"]), testkit.Hang(t, now.PIDs["api"])
	t.Logf("STALE after %v", b.state("stale", staleWithin-time.Since(began)))
	if word := b.seen("overlay-stale"); word != "STALE" || b.seen("overlay-name") != shown {
		t.Errorf("it says %q over %q", word, b.seen("overlay-name"))
	}
	b.shoot("overlay stale")
	<-time.After(time.Until(began.Add(cutFor(t))))
	b.state("stale", 0)
	goOnAPI()
	goOnHub()
	t.Logf("back after %v", b.state("live", backWithin))

	began = time.Now()
	s.kill(t, "hub")
	s.kill(t, "api")
	t.Logf("killed, STALE after %v", b.state("stale", staleWithin-time.Since(began)))
	s.back(t, "hub", now.PIDs["hub"])
	s.back(t, "api", now.PIDs["api"])
	for _, part := range []string{s.Hub, s.API} {
		eventually(t, func() bool {
			a, err := try(t, http.MethodGet, part+"/readyz")
			return err == nil && a.status == http.StatusOK
		}, part+" is ready")
	}
	t.Logf("back after %v", b.state("live", backWithin))
	if ask(b, "read the mark", chromedp.Evaluate[float64](`window.mark`)) != mark {
		t.Error("the page was loaded again")
	}
	b.quiet()
	b.clean("the overlay through a cut")
}

// TestOverlayOutcome: an outcome takes the place of the prices, one that is disputed is
// shown as that, whether the page was there or came later, and a market that is void says so.
func TestOverlayOutcome(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	b := open(t, 1920, 1080)
	b.visit(s.Hub+"/overlay/"+p.user, http.StatusOK)
	says := func(b *tab, want string, priced bool) {
		t.Helper()
		testkit.Eventually(t, within, func() bool { return b.seen("overlay-outcome") == want && (b.seen("overlay-prices") != "") == priced })
	}
	shown := func(want string, priced bool) {
		t.Helper()
		says(b, want, priced)
		late := open(t, 1920, 1080) // was told nothing of it
		late.visit(s.Hub+"/overlay/"+p.user, http.StatusOK)
		late.state("live", within)
		says(late, want, priced)
		deaf := open(t, 1920, 1080) // has the routes alone
		deaf.first(`delete window.WebSocket; window.WebSocket = undefined`)
		deaf.visit(s.Hub+"/overlay/"+p.user, http.StatusOK)
		says(deaf, want, priced)
	}
	dispute := func(market string, on bool) {
		t.Helper()
		post(t, s.Hub+"/api/resolution/dispute", s.admin(), payload(obj{"marketId": market, "disputed": on, "reason": "doubted"})).is(http.StatusOK)
	}
	market := s.native(t, 5000)
	p.overlaid(t, obj{"marketId": market, "name": "Which way?"})
	says(b, "", true)
	dispute(market, true)
	shown("DISPUTED", true)
	dispute(market, false)
	says(b, "", true)
	s.finalize(t, market, "NO")
	shown("RESOLVED NO", false)
	dispute(market, true)
	shown("NO, DISPUTED", false)
	dispute(market, false)
	says(b, "RESOLVED NO", false)
	void := s.native(t, 5000)
	p.overlaid(t, obj{"marketId": void, "name": "Neither"})
	says(b, "", true)
	s.finalize(t, void, "INVALID")
	shown("VOID", false)
	b.clean("the overlay of an outcome")
}

// TestOverlayLooks: each theme, corner and scale, at the sizes of pictures and of phones.
func TestOverlayLooks(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market := s.native(t, 3150)
	p.overlaid(t, obj{
		"marketId": market, "name": "Will the gauge at Ostrava read above 6 m before the end of the month, as the forecast of Tuesday said?", "yesPct": 31.5,
		"annotation": "rain band moving east", "closesAt": stamp(time.Now().Add(90 * time.Minute)),
	})
	for query, size := range map[string][2]int64{
		"?theme=light&pos=tl": {1920, 1080}, "?theme=teletext&pos=br&scale=1.5": {1920, 1080}, "?theme=dark&scale=3": {1920, 1080}, "?scale=0.5&pos=tr": {1280, 720},
		"?scale=3": {phoneWidth, phoneHeight},
	} {
		b := open(t, size[0], size[1])
		b.visit(s.Hub+"/overlay/"+p.user+query, http.StatusOK)
		b.state("live", within)
		sees(t, b, within, "#overlay-yes", "31.5¢")
		b.fits(query)
		inside := ask(b, "measure the box", chromedp.Evaluate[bool](`(r => r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight)(document.getElementById("overlay-box").getBoundingClientRect())`))
		clear := ask(b, "look through", chromedp.Evaluate[string](`getComputedStyle(document.body).backgroundColor + getComputedStyle(document.documentElement).backgroundColor`))
		if !inside || clear != "rgba(0, 0, 0, 0)rgba(0, 0, 0, 0)" {
			t.Errorf("%s: inside %v, behind it %s", query, inside, clear)
		}
		b.shoot("overlay " + query)
		b.clean(query)
	}
	b := open(t, 1920, 1080)
	b.visit(s.Hub+"/overlay/"+p.user+"?hide=clock,price&theme=evil&scale=NaN&pos=x", http.StatusOK)
	b.state("live", within)
	if b.seen("overlay-clock") != "" || b.seen("overlay-prices") != "" || b.seen("overlay-name") == "" {
		t.Errorf("it hides %q and %q, and shows %q", b.seen("overlay-clock"), b.seen("overlay-prices"), b.seen("overlay-name"))
	}
	a := get(t, s.Hub+"/overlay/"+p.user).is(http.StatusOK)
	if a.header.Get("Set-Cookie") != "" || a.header.Get("X-Frame-Options") != "" || !strings.Contains(a.header.Get("Content-Security-Policy"), "frame-ancestors *") {
		t.Errorf("headers %v", a.header)
	}
}
