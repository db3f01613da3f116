package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// decided sets the status of an operator as a streamer.
func (p *person) decided(t testing.TB, status string) {
	t.Helper()
	p.auth(t)
	post(t, p.s.Hub+"/api/admin/streamers", p.s.admin(), payload(obj{"handle": p.user, "status": status})).is(http.StatusOK)
}

// broadcast starts a broadcast of an approved operator from another host.
func (p *person) broadcast(t testing.TB, market, url string) {
	t.Helper()
	p.decided(t, "approved")
	post(t, p.s.Hub+"/api/m/"+market+"/streams", p.auth(t), payload(obj{"url": url, "label": "night desk"})).is(http.StatusOK)
	p.beat(t, market)
}

func (p *person) beat(t testing.TB, market string) *answer {
	t.Helper()
	return post(t, p.s.Hub+"/api/streamer/heartbeat", p.auth(t), payload(obj{"state": "live", "marketId": market})).is(http.StatusOK)
}

// plays waits until the picture of the page moves.
func (b *tab) plays(within time.Duration) {
	b.t.Helper()
	began := time.Now()
	first := 0.0
	testkit.Eventually(b.t, within, func() bool {
		now, err := glance(b, chromedp.Evaluate[float64](`(v => v.readyState >= 2 && !v.paused ? v.currentTime : 0)(document.querySelector("video"))`))
		if err != nil {
			return false
		}
		if first == 0 {
			first = now
		}
		return first > 0 && now > first
	})
	b.t.Logf("the picture moves after %v", time.Since(began))
}

// TestLivePage: offline, then a stream that plays, breaks off and comes back, with what
// its operator says and calls; then it has ended. It is read without scripts, too.
func TestLivePage(t *testing.T) {
	t.Parallel()
	s := up(t)
	p, f := s.person(t), newFilm(t)
	p.auth(t)
	address := s.Hub + "/live/" + p.user
	market := s.native(t, 3150)
	b := open(t, desktopWidth, desktopHeight)
	b.visit(address, http.StatusOK)
	sees(t, b, within, "#live-state", "Offline")
	sees(t, b, within, "#live-none", "No signal.")
	b.examine("live page offline")

	p.overlaid(t, obj{"marketId": market, "name": "Ostrava gauge above 6 m?", "yesPct": 31.5, "annotation": "rain band moving east"})
	p.broadcast(t, market, f.URL)
	sees(t, b, 20*time.Second, "#live-state", "Live")
	b.plays(30 * time.Second)
	sees(t, b, within, "#live-signal", "Ostrava gauge above 6 m?", "31.5¢", "68.5¢", "rain band moving east")
	sees(t, b, within, "#live-viewers", "1 watching")
	id := p.call(t, market, "NO", 6850)
	sees(t, b, within, "#live-calls", "NO at 68.5¢", "Open")
	if n := b.count(`#live-calls a[href="/receipts/` + id + `"]`); n != 1 {
		t.Errorf("%d ways to the receipt", n)
	}
	b.examine("live page")
	p.beat(t, market)

	f.gone.Store(true)
	sees(t, b, 30*time.Second, "#live-state", "Live, picture lost")
	b.shoot("live page broken")
	p.beat(t, market)
	f.gone.Store(false)
	sees(t, b, 30*time.Second, "#live-state", "Live")
	b.plays(30 * time.Second)
	b.quiet()

	phone := open(t, phoneWidth, phoneHeight)
	phone.visit(address, http.StatusOK)
	phone.plays(30 * time.Second)
	phone.examine("live page on a phone")
	quiet := open(t, phoneWidth, phoneHeight)
	quiet.scriptless()
	quiet.visit(address, http.StatusOK)
	shows(t, quiet, "main", "Live", "Ostrava gauge above 6 m?", "31.5¢", "Sign in")
	quiet.clean("the live page without scripts")

	post(t, s.Hub+"/api/streamer/heartbeat", p.auth(t), payload(obj{"state": "offline"})).is(http.StatusOK)
	sees(t, b, 20*time.Second, "#live-state", "Ended")
	sees(t, b, within, "#live-calls", "NO at 68.5¢")
	b.clean("the live page at its end")
	b.visit(s.Hub+"/live/nobody_of_that_name", http.StatusNotFound)
	b.forget("404")
}

// TestLivePageEncoderAgain: an encoder that ends its stream and starts again is seen
// again, by the browser's own player and by the library, without a reload.
func TestLivePageEncoderAgain(t *testing.T) {
	t.Parallel()
	s := up(t)
	p, f := s.person(t), newFilm(t)
	p.auth(t)
	market := s.native(t, 3150)
	p.broadcast(t, market, f.URL)
	for _, how := range []struct{ name, before string }{
		{"native", ""}, {"library", `HTMLMediaElement.prototype.canPlayType = () => ''`},
	} {
		b := open(t, desktopWidth, desktopHeight)
		b.first(how.before)
		f.again()
		p.beat(t, market)
		b.visit(s.Hub+"/live/"+p.user, http.StatusOK)
		b.plays(30 * time.Second)
		mark := ask(b, "mark the page", chromedp.Evaluate[float64](`window.mark = Math.random()`))
		f.stop()
		sees(t, b, 40*time.Second, "#live-state", "Live, picture lost")
		p.beat(t, market)
		// What was seen is not seen again while the playlist says that nothing follows.
		before := f.asked.Load()
		testkit.Eventually(t, 20*time.Second, func() bool { return f.asked.Load() >= before+2 })
		if word := b.seen("live-state"); word != "Live, picture lost" {
			t.Errorf("%s: %q behind the end", how.name, word)
		}
		f.again()
		testkit.Eventually(t, 30*time.Second, func() bool { return b.seen("live-state") == "Live" })
		b.plays(30 * time.Second)
		if ask(b, "read the mark", chromedp.Evaluate[float64](`window.mark`)) != mark {
			t.Errorf("%s: the page was loaded again", how.name)
		}
		b.quiet()
		b.clean(how.name)
	}
}

// first has a script run before those of each page that is visited.
func (b *tab) first(script string) {
	b.t.Helper()
	b.do("prepare the pages", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// onSchedule asks the page's own arithmetic about a programme at given times.
const onSchedule = `(async () => {
	const { onNow, countdown, lanesOf } = await import(document.getElementById('tv').dataset.when);
	const at = (s) => new Date(Date.UTC(2026, 8, 18, 12, 0, s)).toISOString();
	const seg = (id, kind, from, to) => ({ id, kind, segmentId: id + kind, title: id, startsAt: at(from), endDate: at(to) });
	const lane = { key: 'science', label: 'SCIENCE', segs: [seg('a', 'bumper', 0, 10), seg('a', 'content', 10, 610), seg('b', 'bumper', 610, 620), seg('b', 'content', 620, 1220)] };
	const told = (s) => { const t = Date.parse(at(s)), r = onNow(lane, t); return [r.now?.segmentId, countdown(r.now, t), r.next?.segmentId].join(' '); };
	const empty = { key: 'x', label: 'X', segs: [] };
	return [told(-5), told(0), told(9), told(10), told(609.9), told(610), told(615.5), told(620), told(9999), lanesOf({ lanes: [lane, empty] }, '').length, lanesOf({ lanes: [lane] }, 'science').length, lanesOf({ lanes: [lane] }, 'nowhere').length].join(', ');
})()`

// TestScreen: the screen shows what the clock says is on, one lane or all, and goes on by
// itself while the server is away.
func TestScreen(t *testing.T) {
	s := up(t)
	var now struct {
		Lanes []struct {
			Key, Label string
			Segs       []struct{ Title, Kind, StartsAt, EndDate string }
		}
	}
	eventually(t, func() bool {
		get(t, s.Hub+"/api/broadcast/program").is(http.StatusOK).into(&now)
		return len(now.Lanes) > 1
	}, "a programme of several lanes")
	b := open(t, 1920, 1080)
	b.visit(s.Hub+"/tv", http.StatusOK)
	for _, lane := range now.Lanes {
		sees(t, b, within, "#tv-lanes", lane.Label)
	}
	sees(t, b, within, "#tv-say", "LIVE")
	onAir := strings.ReplaceAll(b.seen("tv-title"), "NEXT · ", "")
	if body := string(get(t, s.Hub+"/api/broadcast/program").body); onAir == "" || !strings.Contains(body, strings.ReplaceAll(onAir, `"`, `\"`)) {
		t.Errorf("it shows %q", onAir)
	}
	b.fits("the screen")
	b.shoot("screen light")
	b.scheme("dark")
	b.shoot("screen dark")
	b.clean("the screen")
	told := ask(b, "ask the arithmetic", chromedp.Evaluate[string](onSchedule, chromedp.EvalAwaitPromise))
	if told != "  acontent, abumper 10 bcontent, abumper 1 bcontent, acontent  bcontent, acontent  bcontent, bbumper 10 , bbumper 5 , bcontent  , bcontent  , 1, 1, 1" {
		t.Errorf("what is on and what is next: %s", told)
	}

	mark := ask(b, "mark the page", chromedp.Evaluate[float64](`window.mark = Math.random()`))
	lanes := b.count("#tv-lanes li") // a new programme may have more lanes than the one read above
	pids := up(t).PIDs
	goOnHub, goOnAPI := testkit.Hang(t, pids["hub"]), testkit.Hang(t, pids["api"])
	sees(t, b, 10*time.Second, "#tv-say", "STALE")
	clock := b.seen("tv-clock")
	testkit.Eventually(t, 5*time.Second, func() bool { return b.seen("tv-clock") != clock })
	if title, left := b.seen("tv-title"), b.count("#tv-lanes li"); title == "" || left != lanes {
		t.Errorf("while the server is stopped the page shows the title %q and %d lanes, want a title and %d lanes", title, left, lanes)
	}
	b.shoot("screen stale")
	goOnAPI()
	goOnHub()
	sees(t, b, 10*time.Second, "#tv-say", "LIVE")
	if ask(b, "read the mark", chromedp.Evaluate[float64](`window.mark`)) != mark {
		t.Error("the page was loaded again")
	}
	b.quiet()
	b.clean("the screen through a cut")

	lane := now.Lanes[1]
	one := open(t, phoneWidth, phoneHeight)
	one.visit(s.Hub+"/tv?lane="+strings.ToUpper(lane.Key), http.StatusOK)
	sees(t, one, within, "#tv-kicker", lane.Label)
	testkit.Eventually(t, within, func() bool { return one.count("#tv-lanes li") == 1 })
	one.fits("one lane on a phone")
	one.shoot("screen phone")
	quiet := open(t, phoneWidth, phoneHeight)
	quiet.scriptless()
	quiet.visit(s.Hub+"/tv", http.StatusOK)
	shows(t, quiet, "main", lane.Label)
}

// TestScreenOfNoStation: a station that there is not is called that; nothing of another
// programme stands in its place, and it is not asked for again within a minute.
func TestScreenOfNoStation(t *testing.T) {
	t.Parallel()
	s := up(t)
	eventually(t, func() bool { return get(t, s.Hub+"/api/broadcast/spotlight").is(http.StatusOK).at("spotlight") != nil }, "something in the spotlight")
	for station, asks := range map[string]float64{"zzz": 1, "Z%20%3Cb%3E": 0} {
		b := open(t, 1920, 1080)
		b.first(`window.asked = { program: 0, spotlight: 0 }; const before = fetch;
			window.fetch = (url, ...more) => { for (const word in asked) if (String(url).includes('/' + word)) asked[word]++; return before(url, ...more); }`)
		b.visit(s.Hub+"/tv?station="+station, http.StatusOK)
		sees(t, b, within, "#tv-off", "There is no such station.")
		sees(t, b, within, "#tv-say", "LIVE")
		// As long as three looks at the programme would take, and more than four at the spotlight.
		began := ask(b, "read the time", chromedp.Evaluate[float64](`performance.now()`))
		testkit.Eventually(t, 60*time.Second, func() bool {
			return ask(b, "read the time", chromedp.Evaluate[float64](`performance.now()`)) > began+25000
		})
		if n := ask(b, "count", chromedp.Evaluate[float64](`asked.program`)); n != asks {
			t.Errorf("%s: asked for %v times, want %v", station, n, asks)
		}
		if n := ask(b, "count", chromedp.Evaluate[float64](`asked.spotlight`)); n != 0 || b.seen("tv-card") != "" || b.seen("tv-off") != "There is no such station." {
			t.Errorf("%s: %v looks at the spotlight, the card %q, %q", station, n, b.seen("tv-card"), b.seen("tv-off"))
		}
		b.fits("the screen of no station")
		b.forget("status of 404")
		b.clean("the screen of no station")
	}
}

// TestScreenShowsLive: a screen that hangs there already shows an operator who goes on the
// air, though the host of the picture was unknown when the screen began, and goes on with
// the programme when that is over.
func TestScreenShowsLive(t *testing.T) {
	t.Parallel()
	s := up(t)
	b := open(t, 1920, 1080)
	b.visit(s.Hub+"/tv", http.StatusOK)
	sees(t, b, within, "#tv-say", "LIVE")
	p, f := s.person(t), newFilm(t)
	market := s.native(t, 3150)
	p.overlaid(t, obj{"marketId": market, "name": "Ostrava gauge above 6 m?", "yesPct": 31.5})
	p.broadcast(t, market, f.URL)
	last := time.Now()
	testkit.Eventually(t, 100*time.Second, func() bool { // a market keeps the spotlight for a minute
		if time.Since(last) > 15*time.Second {
			last = time.Now()
			p.beat(t, market)
		}
		ctx, cancel := context.WithTimeout(b.ctx, within)
		defer cancel()
		stage, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.getElementById("tv")?.dataset.stage ?? ""`))
		return err == nil && stage == "picture" // between two pages there is nobody to ask
	})
	b.plays(30 * time.Second)
	sees(t, b, within, "#tv-kicker", "Live · @")
	b.fits("the screen with a picture")
	b.shoot("screen with a picture")
	b.quiet()
	b.forget("Content Security Policy") // of the host that it did not know
	b.clean("the screen with a picture")
}
