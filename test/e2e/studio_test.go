package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestStudio: somebody registers, is approved, finds a market and puts it on the overlay,
// binds a stream, goes on the air, calls, cuts, and goes off it, with the keyboard's own
// forms and nothing else.
func TestStudio(t *testing.T) {
	t.Parallel()
	s := up(t)
	p, f := s.person(t), newFilm(t)
	market := s.native(t, 4200, obj{"question": "Will the studio of " + p.user + " be used?"})
	b := open(t, desktopWidth, desktopHeight)
	b.visit(s.Hub+"/studio", http.StatusOK)
	b.enter(p, "#register-form")
	if at := b.at(); at != s.Hub+"/studio" {
		t.Fatalf("the sign-in leads to %s", at)
	}
	sees(t, b, within, "#studio-state", "Not registered")
	b.examine("studio of somebody new")
	b.fill("#register-form", map[string]string{"displayName": "Mara K", "bio": "Rivers do not read polls.", "lanes": "science"})
	b.click("#register-form button")
	sees(t, b, within, "#studio-state", "Waiting for approval")
	p.decided(t, "approved")
	b.visit(s.Hub+"/studio", http.StatusOK)
	sees(t, b, within, "#studio-state", "Approved")

	markets := s.Hub + "/api/polymarket/markets?limit=1"
	eventually(t, func() bool { return len(get(t, markets).is(http.StatusOK).list("markets")) > 0 }, "a market to be found")
	known := get(t, markets).is(http.StatusOK).str("markets.0.name")
	b.fill("#find-form", map[string]string{"q": strings.Join(strings.Fields(known)[:3], " ")})
	b.click("#find-form button")
	testkit.Eventually(t, within, func() bool { return b.count("#found li") > 0 })
	b.click("#found button")
	if id := ask(b, "read the market", chromedp.Value(chromedp.CSS("#signal-market"))); get(t, s.Hub+"/api/m/"+id).status != http.StatusOK {
		t.Errorf("the market %q was chosen", id)
	}
	b.fill("#signal-form", map[string]string{"marketId": market, "name": "The studio is used?", "annotation": "it begins"})
	b.click("#signal-form button")
	sees(t, b, within, "#signal-now", "On your overlay: The studio is used?")
	get(t, s.Hub+"/api/streamer/signal?handle="+p.user).is(http.StatusOK).has(obj{"marketId": market, "name": "The studio is used?", "annotation": "it begins"})
	b.fill("#bind-form", map[string]string{"url": "https://x.example/not-a-playlist"})
	b.click("#bind-form button")
	sees(t, b, within, "#studio-said", "playlist")
	b.forget("status of 400")
	b.fill("#bind-form", map[string]string{"url": f.URL, "label": "night desk"})
	b.click("#bind-form button")
	sees(t, b, within, "#studio-said", "The stream is bound.")
	b.click("#go-live")
	sees(t, b, within, "#studio-state", "On the air")
	s.watchStudio(t, p, b, market)

	b.click("#go-off")
	sees(t, b, within, "#studio-state", "Approved")
	b.click("#signal-clear")
	sees(t, b, within, "#signal-now", "Nothing is on your overlay.")
	testkit.Eventually(t, within, func() bool {
		return get(t, s.Hub+"/api/streamer/stream/state?handle="+p.user).is(http.StatusOK).str("state") == "ended"
	})
	b.click("#bind-drop")
	sees(t, b, within, "#studio-said", "Choose a market first.")
	b.clean("the studio")
	phone := open(t, phoneWidth, phoneHeight)
	phone.visit(s.Hub+"/studio", http.StatusOK)
	phone.enter(p, "#studio")
	sees(t, phone, within, "#studio-state", "Approved")
	phone.examine("studio on a phone")
}

// watchStudio is a broadcast, seen by who makes it and by who watches.
func (s *stack) watchStudio(t *testing.T, p *person, b *tab, market string) {
	t.Helper()
	viewer := open(t, phoneWidth, phoneHeight)
	viewer.visit(s.Hub+"/live/"+p.user, http.StatusOK)
	sees(t, viewer, 30*time.Second, "#live-state", "Live")
	viewer.plays(30 * time.Second)
	id := p.call(t, market, "YES", 4200)
	sees(t, viewer, within, "#live-calls", "YES at 42¢")
	viewer.clean("the live page of the studio")
	sees(t, b, 60*time.Second, "#studio-viewers", "1")
	sees(t, b, 60*time.Second, "#studio-calls", "YES at 42¢")
	if n := b.count(`#studio-calls a[href="/receipts/` + id + `"]`); n != 1 {
		t.Errorf("%d ways to the receipt", n)
	}
	// Loaded again, the page keeps the broadcast up.
	b.visit(s.Hub+"/studio", http.StatusOK)
	sees(t, b, within, "#studio-state", "On the air")
	testkit.Eventually(t, within, func() bool { return strings.HasSuffix(b.seen("studio-beat"), "s ago") })
	b.examine("studio on the air")
	b.click("#cut")
	sees(t, b, within, "#studio-said", "There is no video here to cut from") // its video is on a host of its own
	b.forget("status of 409")
}

// click presses what changes the page without another one.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do("click "+selector, chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
}

// TestStreamKeyByForm: a stream is provisioned with the token of the sign-in, from a page
// of ours, for who is approved; the key is shown once.
func TestStreamKeyByForm(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	a := post(t, s.Hub+"/dev/stream", with("Content-Type", "application/x-www-form-urlencoded"), with("Origin", "https://evil.example"))
	if a.status != http.StatusForbidden {
		t.Errorf("another site's form: %d", a.status)
	}
	b := open(t, desktopWidth, desktopHeight)
	b.visit(s.Hub+"/studio", http.StatusOK)
	b.enter(p, "#provision-label")
	b.press(`form[action="/dev/stream"] button`, `#studio [role="alert"]`)
	shows(t, b, `#studio`, "not approved yet")
	b.forget("status of 403")
	post(t, s.Hub+"/api/streamer/register", p.auth(t), payload(obj{"displayName": "Mara K"}))
	p.decided(t, "approved")
	b.press(`form[action="/dev/stream"] button`, `#ingest-key`)
	key := b.text("#ingest-key")
	if len(key) < 20 || b.text("#ingest-url") == "" {
		t.Errorf("the key %q for %q", key, b.text("#ingest-url"))
	}
	b.examine("a stream key")
	s.pushed(t, p, b, b.text("#ingest-push"))
	b.visit(s.Hub+"/studio", http.StatusOK)
	if b.count("#ingest-key") != 0 {
		t.Error("the key is shown twice")
	}
}

// pushed sends a picture to the origin with the key of the studio: the live page plays it,
// and who is signed in cuts a clip and watches it.
func (s *stack) pushed(t *testing.T, p *person, b *tab, to string) {
	t.Helper()
	market := s.native(t, 5000)
	p.overlaid(t, obj{"marketId": market, "name": "Is it live?"})
	program(t, "ffmpeg", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=10", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p",
		"-g", "10", "-t", "150", "-f", "hls", "-hls_time", "1", "-hls_list_size", "6", "-method", "PUT", to)
	b.visit(s.Hub+"/live/"+p.user, http.StatusOK)
	sees(t, b, 60*time.Second, "#live-state", "Live")
	b.plays(30 * time.Second)
	b.click("#live-cut")
	sees(t, b, within, "#live-cut-said", "Cut.")
	testkit.Eventually(t, 60*time.Second, func() bool { return b.count("#live-clips li") == 1 })
	b.shoot("live page of our own origin")
	b.click("#live-clips button")
	b.plays(30 * time.Second)
	b.quiet() // playlists that were not there yet
	b.clean("the live page of our own origin")
}
