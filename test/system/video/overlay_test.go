package video

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/sdk/go/feed"
	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/feedclient"
	"github.com/signalcast/signalcast/test/system/stack"
)

// moveWithin is the maximum time between a price in the feed and its display on the overlay.
const moveWithin = time.Second

// openOverlay opens the overlay of an operator and waits until it has the state: "live", or "none" without a market.
func openOverlay(t *testing.T, s *stack.Stack, o *stack.Operator, size browser.Size, query, state string) *browser.Tab {
	t.Helper()
	b := browser.Open(t, size)
	b.Visit(s.Hub+"/overlay/"+o.Handle+query, http.StatusOK)
	awaitState(t, b, state)
	return b
}

func awaitState(t *testing.T, b *browser.Tab, state string) {
	t.Helper()
	stack.Eventually(t, browser.Within, "the overlay state "+state, func() bool {
		return browser.Eval[string](b, `document.getElementById("overlay").dataset.state`) == state
	})
}

// TestOverlay checks that the overlay is empty without a market, then shows the selected market with its changing price, and
// finally shows the outcome.
func TestOverlay(t *testing.T) {
	t.Parallel()
	s := system(t)
	o, m := s.NewOperator(t), s.NewVenueMarket(t, "polymarket", 0.4, stack.JSON{"question": "Will the overlay be read?"})
	o.NewCall(t, m.ID, "YES", 4000, nil)
	b := openOverlay(t, s, o, browser.Screen, "?theme=dark&pos=tr", "none")
	if text := b.Visible("overlay-box"); text != "" {
		t.Errorf("the overlay without a market shows %q; want nothing", text)
	}
	setOverlay(t, o, stack.JSON{
		"marketId": m.ID, "name": "Will the overlay be read?", "yesPct": 40, "annotation": "rain band moving east",
		"closesAt": stack.Stamp(time.Now().Add(50 * time.Hour)),
	})
	awaitState(t, b, "live")
	b.Await("#overlay-box", "@"+o.Handle, "Will the overlay be read?", "YES40¢", "NO60¢", "rain band moving east",
		"ends in 2 d 1 h")
	b.RequireNoProblems()
	requireMoves(t, s, b, m)

	other := s.NewNativeMarket(t, 2500, nil)
	setOverlay(t, o, stack.JSON{"marketId": other, "name": "Another one"})
	b.Await("#overlay-box", "Another one", "25¢")
	s.Finalize(t, other, "NO")
	b.Await("#overlay-box", "RESOLVED NO")
	o.Retry(t, http.MethodDelete, s.Hub+"/api/streamer/signal", stack.Bearer(o.Key)).Require(http.StatusOK)
	awaitState(t, b, "none")
	if text := b.Text("body"); strings.Contains(text, "Another") {
		t.Errorf("the overlay shows %q after its market was removed; want nothing", text)
	}
	b.RequireNoProblems()
}

// TestOverlayIgnoresSignalsOlderThanTheirRemoval checks the order of answers about the selected market (signal). The overlay
// must ignore an answer with a market if the answer is older than the removal of that market.
func TestOverlayIgnoresSignalsOlderThanTheirRemoval(t *testing.T) {
	t.Parallel()
	b := openOverlay(t, system(t), system(t).NewOperator(t), browser.Screen, "", "none")
	got := browser.Eval[string](b, `(async () => {
		const newer = (await import(document.getElementById('overlay').dataset.connection)).latest();
		const signal = { marketId: '1', updatedAt: '2026-01-01T00:00:02.000Z' };
		return [
			newer(signal), newer({ marketId: null }, { op: 'event', at: '2026-01-01T00:00:03.000Z' }), newer(signal),
			newer({ ...signal, updatedAt: '2026-01-01T00:00:04.000Z' }), newer({ marketId: null }), newer(null),
		].join();
	})()`)
	if want := "true,true,false,true,true,true"; got != want {
		t.Errorf("whether a signal, its removal, the old signal, a later signal, and two answers without a signal are newer: %s; want %s", got, want)
	}
}

// TestOverlayKeepsASignalThatItCannotConfirm checks that the overlay continues to show the selected market (signal) after the
// market disappears from the feed, while the route of the signal does not answer.
func TestOverlayKeepsASignalThatItCannotConfirm(t *testing.T) {
	s := system(t)
	o, market := s.NewOperator(t), s.NewNativeMarket(t, 5000, nil)
	setOverlay(t, o, stack.JSON{"marketId": market, "name": "Is it there?"})
	b := browser.Open(t, browser.Screen)
	b.RunFirst(`{
		window.sockets = []; window.reads = 0; window.failing = false;
		const { fetch, WebSocket } = window;
		window.WebSocket = class extends WebSocket { constructor(...of) { super(...of); sockets.push(this); } };
		window.fetch = (url, ...rest) => {
			if (!String(url).includes('/api/streamer/signal')) return fetch(url, ...rest);
			reads++;
			return failing ? Promise.reject(new Error('no answer')) : fetch(url, ...rest);
		};
	}`)
	b.Visit(s.Hub+"/overlay/"+o.Handle, http.StatusOK)
	b.Await("#overlay-box", "Is it there?")
	awaitState(t, b, "live")

	channel, deleted := "overlay:"+o.Handle, 0
	stack.Eventually(t, browser.Within, "a feed without the signal", func() bool { // the feed serves copies for a second
		deleted += stack.Query[int](t, s, `WITH deleted AS (DELETE FROM api.channel_copies WHERE channel = $1 RETURNING 1)
			SELECT count(*) FROM deleted`, channel)
		l := feedclient.Listen(t, s.API, channel)
		defer l.Close()
		return deleted > 0 && !strings.Contains(l.Snapshot(channel), market)
	})
	opened := browser.Eval[int](b, `(failing = true, sockets.at(-1).close(), sockets.length)`)
	stack.Eventually(t, browser.Within, "a new connection of the overlay", func() bool {
		return browser.Eval[int](b, `sockets.length`) > opened && browser.Eval[int](b, `sockets.at(-1).readyState`) == 1
	})
	asked := browser.Eval[int](b, `reads`)
	stack.Eventually(t, browser.Within, "two further requests to the route", func() bool { return browser.Eval[int](b, `reads`) > asked+1 })
	b.Shows("#overlay-box", "Is it there?")
	asked = browser.Eval[int](b, `(failing = false, reads)`)
	stack.Eventually(t, browser.Within, "a further request to the route", func() bool { return browser.Eval[int](b, `reads`) > asked })
	awaitState(t, b, "live")
	b.Shows("#overlay-box", "Is it there?")
}

// requireMoves requires that prices of the feed appear on the overlay within moveWithin.
func requireMoves(t *testing.T, s *stack.Stack, b *browser.Tab, m *stack.VenueMarket) {
	t.Helper()
	m.AwaitFollowed(t)
	channel := "market:" + m.ID
	l := feedclient.Listen(t, s.API, channel)
	for shown, yes := range map[string]float64{"61¢": 0.61, "35.5¢": 0.355, "80¢": 0.8} {
		m.Change(t, stack.JSON{"yesPrice": yes})
		l.EventThat(channel, "price.tick", func(e *feed.Event) bool {
			return strings.Contains(string(e.Data), fmt.Sprintf(`"yesBps":%d`, int(yes*10000+0.5)))
		})
		b.AwaitWithin(moveWithin, "#overlay-yes", shown)
	}
}

// TestOverlayOutcome checks that the overlay shows outcomes and disputes: in an open page, in a page that is opened later, and
// in a page without a websocket connection.
func TestOverlayOutcome(t *testing.T) {
	t.Parallel()
	s := system(t)
	o, market := s.NewOperator(t), s.NewNativeMarket(t, 5000, nil)
	setOverlay(t, o, stack.JSON{"marketId": market, "name": "Which way?"})
	b := openOverlay(t, s, o, browser.Screen, "", "live")
	polling := browser.Open(t, browser.Screen)
	polling.RunFirst(`delete window.WebSocket; window.WebSocket = undefined`)
	requireOutcome := func(b *browser.Tab, want string, price bool) {
		t.Helper()
		stack.Eventually(t, browser.Within, fmt.Sprintf("the outcome %q, price %t", want, price), func() bool {
			return b.Visible("overlay-outcome") == want && (b.Visible("overlay-prices") != "") == price
		})
	}
	requireEverywhere := func(want string, price bool) {
		t.Helper()
		requireOutcome(b, want, price)
		requireOutcome(openOverlay(t, s, o, browser.Screen, "", "live"), want, price)
		polling.Visit(s.Hub+"/overlay/"+o.Handle, http.StatusOK)
		requireOutcome(polling, want, price)
	}
	dispute := func(on bool) {
		t.Helper()
		admin(t, s, "/api/resolution/dispute", stack.JSON{"marketId": market, "disputed": on, "reason": "doubted"})
	}
	requireOutcome(b, "", true)
	dispute(true)
	requireEverywhere("DISPUTED", true)
	dispute(false)
	requireOutcome(b, "", true)
	s.Finalize(t, market, "NO")
	requireEverywhere("RESOLVED NO", false)
	dispute(true)
	requireEverywhere("NO, DISPUTED", false)
	dispute(false)
	requireOutcome(b, "RESOLVED NO", false)
	void := s.NewNativeMarket(t, 5000, nil)
	setOverlay(t, o, stack.JSON{"marketId": void, "name": "Neither"})
	requireOutcome(b, "", true)
	s.Finalize(t, void, "INVALID")
	requireEverywhere("VOID", false)
	b.RequireNoProblems()
}

// TestOverlayNamesTheSides checks that the overlay shows prices and the outcome with the names of the sides: as text, and with the
// prices within the box if a name is long. It tests a page with a websocket connection and one without.
func TestOverlayNamesTheSides(t *testing.T) {
	t.Parallel()
	s, o := system(t), system(t).NewOperator(t)
	const yes = "<script>window.ran = 1</script> Rovers" // the ledger removes tags, and then decodes entities
	no := strings.TrimSpace(strings.Repeat("Slate City ", 9))
	noShown := "Slate City Slate City Slate City Slate…"
	m := s.NewVenueMarket(t, "polymarket", 0.315, stack.JSON{"question": "Who wins?", "outcomes": []string{html.EscapeString(yes), no}})
	m.Read(t)
	setOverlay(t, o, stack.JSON{"marketId": m.ID, "name": "Who wins?"})
	b := openOverlay(t, s, o, browser.Screen, "", "live")
	polling := browser.Open(t, browser.Screen)
	polling.RunFirst(`delete window.WebSocket; window.WebSocket = undefined`)
	polling.Visit(s.Hub+"/overlay/"+o.Handle, http.StatusOK)
	for _, page := range []*browser.Tab{b, polling} {
		page.Await("#overlay-prices", yes+"31.5¢", noShown+"68.5¢")
		page.RequireFits()
		const inside = `document.getElementById("overlay-no").getBoundingClientRect().right <=
			document.getElementById("overlay-box").getBoundingClientRect().right`
		if !browser.Eval[bool](page, inside) {
			t.Error("a long name moves the price out of the box of the overlay")
		}
	}
	plain := s.NewNativeMarket(t, 2500, nil)
	setOverlay(t, o, stack.JSON{"marketId": plain, "name": "Without names"})
	b.Await("#overlay-prices", "YES25¢", "NO75¢")
	setOverlay(t, o, stack.JSON{"marketId": m.ID, "name": "Who wins?"})
	b.Await("#overlay-prices", yes+"31.5¢")
	admin(t, s, "/api/admin/resolve-signals", stack.JSON{"marketId": m.ID, "outcome": "YES"})
	for _, page := range []*browser.Tab{b, polling} {
		page.Await("#overlay-outcome", "RESOLVED "+yes)
		if page.Count("#overlay script") != 0 || browser.Eval[bool](page, `"ran" in window`) {
			t.Error("the name of a side became HTML")
		}
	}
	b.RequireNoProblems()
}

// TestOverlayThemes checks that the overlay is transparent and within the picture, with every theme, corner and scale.
func TestOverlayThemes(t *testing.T) {
	t.Parallel()
	s := system(t)
	o, market := s.NewOperator(t), s.NewNativeMarket(t, 3150, nil)
	setOverlay(t, o, stack.JSON{
		"marketId": market, "yesPct": 31.5, "annotation": "rain band moving east",
		"name":     "Will the gauge at Ostrava read above 6 m before the end of the month, as the forecast of Tuesday said?",
		"closesAt": stack.Stamp(time.Now().Add(90 * time.Minute)),
	})
	for query, size := range map[string]browser.Size{
		"?theme=light&pos=tl": browser.Screen, "?theme=teletext&pos=br&scale=1.5": browser.Screen,
		"?theme=dark&scale=3": browser.Screen,
		"?scale=0.5&pos=tr":   {Width: 1280, Height: 720}, "?scale=3": browser.Phone,
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			b := openOverlay(t, s, o, size, query, "live")
			b.Await("#overlay-yes", "31.5¢")
			b.RequireFits()
			const inside = `(r => r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight)(
				document.getElementById("overlay-box").getBoundingClientRect())`
			if !browser.Eval[bool](b, inside) {
				t.Error("the overlay extends beyond the picture")
			}
			const grounds = `[document.body, document.documentElement].map(e => getComputedStyle(e).backgroundColor).join(" ")`
			if got := browser.Eval[string](b, grounds); got != "rgba(0, 0, 0, 0) rgba(0, 0, 0, 0)" {
				t.Errorf("the background of the overlay is %q; want transparent", got)
			}
			b.RequireNoProblems()
		})
	}
	t.Run("hidden parts and wrong values", func(t *testing.T) {
		t.Parallel()
		b := openOverlay(t, s, o, browser.Screen, "?hide=clock,price&theme=evil&scale=NaN&pos=x", "live")
		if b.Visible("overlay-clock") != "" || b.Visible("overlay-prices") != "" || b.Visible("overlay-name") == "" {
			t.Errorf("the overlay shows clock %q, prices %q and name %q; want the name only",
				b.Visible("overlay-clock"), b.Visible("overlay-prices"), b.Visible("overlay-name"))
		}
	})
	h := read(t, s.Hub+"/overlay/"+o.Handle).Header
	policy := h.Get("Content-Security-Policy")
	if h.Get("Set-Cookie") != "" || h.Get("X-Frame-Options") != "" || !strings.Contains(policy, "frame-ancestors *") {
		t.Errorf("the headers of the overlay are %v; want no cookies and permission for any page to frame it", h)
	}
}
