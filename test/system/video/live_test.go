package video

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/sdk/go/feed"
	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/feedclient"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestLivePage checks that the live page plays the stream of an operator, recovers after an interruption, and shows the
// overlay, calls and the number of viewers.
func TestLivePage(t *testing.T) {
	t.Parallel()
	s := system(t)
	o, stream, market := s.NewOperator(t), newStream(t), s.NewNativeMarket(t, 3150, nil)
	page, b := s.Hub+"/live/"+o.Handle, browser.Open(t, browser.Desktop)
	b.Visit(page, http.StatusOK)
	b.Await("#live-state", "Offline")
	b.Await("#live-none", "No market is shown.")
	b.RequireAccessible()

	setOverlay(t, o, stack.JSON{
		"marketId": market, "name": "Ostrava gauge above 6 m?", "yesPct": 31.5, "annotation": "rain band moving east",
	})
	broadcast(t, o, market, stream.URL)
	b.Await("#live-state", "Live")
	requirePlaying(t, b)
	b.Await("#live-signal", "Ostrava gauge above 6 m?", "31.5¢", "68.5¢", "rain band moving east")
	b.AwaitWithin(2*browser.Within, "#live-viewers", "1 watching") // the page reports its viewer every 20 s
	call := o.NewCall(t, market, "NO", 6850, nil)
	b.Await("#live-calls", "NO at 68.5¢", "Open, now", "Call it too")
	if n := b.Count(`#live-calls a[href="/receipts/` + call + `"]`); n != 1 {
		t.Errorf("the page has %d links to the receipt; want 1", n)
	}
	b.RequireAccessible()
	sendHeartbeat(t, o, market)

	stream.missing.Store(true)
	b.Await("#live-state", "Live, video interrupted")
	sendHeartbeat(t, o, market)
	stream.missing.Store(false)
	stack.Eventually(t, browser.Within, "the state Live on the page", func() bool { return b.Visible("live-state") == "Live" })
	requirePlaying(t, b)
	b.ForgetOutage()

	sendHeartbeat(t, o, market)
	phone := browser.Open(t, browser.Phone)
	phone.Visit(page, http.StatusOK)
	requirePlaying(t, phone)
	phone.RequireAccessible()
	sendHeartbeat(t, o, market)
	plain := browser.Open(t, browser.Phone)
	plain.DisableScripts()
	plain.Visit(page, http.StatusOK)
	plain.Shows("main", "Live", "Ostrava gauge above 6 m?", "31.5¢", "Sign in to follow")
	plain.Shows("#live-calls", "NO at 68.5¢", "Open, now", "Call it too")
	plain.RequireNoProblems()

	o.Send(t, "/api/streamer/heartbeat", http.StatusOK, stack.Bearer(o.Key), stack.JSON{"state": "offline"})
	b.Await("#live-state", "Ended")
	b.Await("#live-calls", "NO at 68.5¢")
	b.RequireNoProblems()
	b.Visit(s.Hub+"/live/nobody_of_that_name", http.StatusNotFound)
}

// TestBroadcastNamesTheSides checks that the live page and the studio show prices and calls with the names of the sides, as text.
// The names of the market on the overlay change with the market.
func TestBroadcastNamesTheSides(t *testing.T) {
	t.Parallel()
	s, o, stream := system(t), system(t).NewOperator(t), newStream(t)
	const yes, no = "<script>window.ran = 1</script> Rovers", "Slate City" // the ledger removes tags, and then decodes entities
	m := s.NewVenueMarket(t, "polymarket", 0.315, stack.JSON{"question": "Who wins?", "outcomes": []string{html.EscapeString(yes), no}})
	m.Read(t)
	plain := s.NewNativeMarket(t, 2500, nil)
	setOverlay(t, o, stack.JSON{"marketId": plain, "name": "Without names"})
	broadcast(t, o, plain, stream.URL)
	o.NewCall(t, plain, "NO", 7500, nil)
	b, studio := browser.Open(t, browser.Desktop), browser.Open(t, browser.Phone)
	b.Visit(s.Hub+"/live/"+o.Handle, http.StatusOK)
	b.Await("#live-signal", "YES", "25¢", "NO", "75¢")
	setOverlay(t, o, stack.JSON{"marketId": m.ID, "name": "Who wins?"})
	b.Await("#live-signal", yes, "31.5¢", no, "68.5¢")
	o.NewCall(t, m.ID, "YES", 3200, nil)
	b.Await("#live-calls", yes+" at 32¢", "NO at 75¢")
	studio.Visit(s.Hub+"/studio", http.StatusOK)
	studio.SignIn(o.Handle, "#studio")
	studio.Await("#studio-calls", yes+" at 32¢", "NO at 75¢")
	reader := browser.Open(t, browser.Phone)
	reader.DisableScripts()
	reader.Visit(s.Hub+"/live/"+o.Handle, http.StatusOK)
	reader.Shows("#live-signal", yes, no)
	for name, page := range map[string]*browser.Tab{"live page": b, "studio": studio} {
		page.RequireFits()
		if page.Count("main dt script, main li script") != 0 || browser.Eval[bool](page, `"ran" in window`) {
			t.Errorf("the name of a side became HTML on the %s", name)
		}
		page.RequireNoProblems()
	}
}

// TestLivePageAfterRestartOfTheEncoder checks that the page plays a stream again, without a reload, when the stream ended and
// restarts. It tests the native player of the browser and the JavaScript library.
func TestLivePageAfterRestartOfTheEncoder(t *testing.T) {
	t.Parallel()
	s := system(t)
	for player, script := range map[string]string{"native": "", "library": `HTMLMediaElement.prototype.canPlayType = () => ''`} {
		t.Run(player, func(t *testing.T) {
			t.Parallel()
			o, stream, market := s.NewOperator(t), newStream(t), s.NewNativeMarket(t, 3150, nil)
			b := browser.Open(t, browser.Desktop)
			b.RunFirst(script)
			broadcast(t, o, market, stream.URL)
			b.Visit(s.Hub+"/live/"+o.Handle, http.StatusOK)
			requirePlaying(t, b)
			browser.Eval[bool](b, `window.marked = true`)
			stream.Stop()
			b.AwaitWithin(40*time.Second, "#live-state", "Live, video interrupted")
			sendHeartbeat(t, o, market)
			before := stream.requests.Load()
			stack.Eventually(t, 20*time.Second, "two further playlists", func() bool { return stream.requests.Load() >= before+2 })
			if state := b.Visible("live-state"); state != "Live, video interrupted" {
				t.Errorf("the page shows the state %q after the end of the stream; want Live, video interrupted", state)
			}
			stream.Restart()
			stack.Eventually(t, browser.Within, "the state Live on the page", func() bool { return b.Visible("live-state") == "Live" })
			requirePlaying(t, b)
			if !browser.Eval[bool](b, `window.marked === true`) {
				t.Error("the page was reloaded; want it to continue without a reload")
			}
			b.ForgetOutage()
			b.RequireNoProblems()
		})
	}
}

// TestBestCallHasTheScoringPrice checks that the recap of a broadcast shows the best call with its scoring price, which is higher
// than the stated price, and with the score that the call has.
func TestBestCallHasTheScoringPrice(t *testing.T) {
	t.Parallel()
	s := system(t)
	o := s.NewOperator(t)
	market := s.NewVenueMarket(t, "kalshi", 0.70, nil)
	show := o.Send(t, "/api/streamer/heartbeat", http.StatusOK, stack.Bearer(o.Key), stack.JSON{}).Text("showId")
	call := o.File(t, stack.Call(market.ID, "YES", 1)).Require(http.StatusOK)
	basis := call.Int("scoreBasisBps")
	if basis < 6000 {
		t.Fatalf("the scoring price is %d; want about 7000, the price of the market", basis)
	}
	admin(t, s, "/api/admin/resolve-signals", stack.JSON{"marketId": market.ID, "outcome": "YES"})
	stack.Eventually(t, time.Minute, "the best call in the recap", func() bool {
		return read(t, s.Hub+"/api/streamer/recap?handle="+o.Handle+"&showId="+show).Member("recap.bestCall.signalId") == call.Text("id")
	})
	basis = read(t, s.Hub+"/api/signals/"+call.Text("id")).Int("scoreBasisBps") // the second quote can raise it
	read(t, s.Hub+"/api/streamer/recap?handle="+o.Handle+"&showId="+show).Expect(stack.JSON{
		"recap.bestCall.signalId": call.Text("id"), "recap.bestCall.oddsBps": basis, "recap.bestCall.score": (10_000 - basis) / 100,
	})
}

// TestChannelsOfABroadcast checks that each channel about a broadcast publishes changes with the values that the HTTP routes
// return.
func TestChannelsOfABroadcast(t *testing.T) {
	t.Parallel()
	s := system(t)
	o, market := s.NewOperator(t), s.NewNativeMarket(t, 5000, nil)
	operator, overlay, ofMarket := "operator:"+o.Handle, "overlay:"+o.Handle, "market:"+market
	l := feedclient.Listen(t, s.API, operator, overlay, "live", ofMarket)
	requireSnapshot(t, l, operator, `{"live":false,"showId":null,"signal":null,"approved":false}`)
	requireSnapshot(t, l, overlay, `{"marketId":null}`)
	requireSnapshot(t, l, ofMarket, `"viewers":1`) // the subscriber itself counts
	feedclient.Listen(t, s.API, ofMarket)
	awaitViewers(l, ofMarket, 2)
	o.SetStreamer(t, "approved")
	as := stack.Bearer(o.Key)
	o.Send(t, "/api/m/"+market+"/streams", http.StatusOK, as, stack.JSON{"url": "https://video.example/" + o.Handle + ".m3u8"})
	l.Event(ofMarket, "stream.bound")
	show := o.Send(t, "/api/streamer/heartbeat", http.StatusOK, as, stack.JSON{}).Text("showId")
	requireData(t, l.Event(operator, "operator.live"), true, show, `"handle":"`+o.Handle+`"`)
	setOverlay(t, o, stack.JSON{"marketId": market, "name": "Ostrava <b>6 m</b>"})
	requireData(t, l.Event(overlay, "overlay.updated"), false, `"marketId":"`+market+`"`, `"yesPct":50`)
	for _, id := range []string{"v", "w"} {
		view := stack.Body(stack.JSON{"viewerId": id})
		stack.Send(t, http.MethodPost, s.Hub+"/api/live/"+o.Handle+"/view", view).Require(http.StatusOK)
	}
	awaitViewers(l, ofMarket, 4) // two viewers of the broadcast and two subscribers of the channel
	call := o.NewCall(t, market, "YES", 5000, nil)
	read(t, s.Hub+"/api/streamer/receipts?handle="+o.Handle).Expect(stack.JSON{
		"showId": show, "receipts.0.signalId": call, "recap.topMarket.marketId": market,
	})
	later := feedclient.Listen(t, s.API, operator, overlay)
	requireSnapshot(t, later, operator, `"live":true`, show)
	requireSnapshot(t, later, overlay, `"name":"Ostrava <b>6 m</b>"`)
	o.Retry(t, http.MethodDelete, s.Hub+"/api/streamer/signal", as).Require(http.StatusOK)
	requireData(t, l.Event(overlay, "overlay.updated"), false, `{"marketId":null}`)
	o.Send(t, "/api/streamer/heartbeat", http.StatusOK, as, stack.JSON{"state": "offline"})
	requireData(t, l.Event(operator, "operator.offline"), true, show, `"durationS"`)
	stack.Eventually(t, 10*time.Second, "a list of broadcasts without the operator", func() bool {
		var list struct{ Live []struct{ Handle string } }
		read(t, s.Hub+"/api/streamers/live").Decode(&list)
		return !slices.Contains(list.Live, struct{ Handle string }{o.Handle})
	})
	stack.Eventually(t, browser.Within, "the stream in the record of the market", func() bool {
		return stack.Query[int](t, s, `SELECT streams FROM api.market_records WHERE market_id = $1`, market) == 1
	})
}

// requireSnapshot requires that the first snapshot of a channel contains the texts.
func requireSnapshot(t *testing.T, l *feedclient.Listener, channel string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if data := l.Snapshot(channel); !strings.Contains(data, text) {
			t.Errorf("the snapshot of %s is %s; want it to contain %s", channel, data, text)
		}
	}
}

// awaitViewers waits until the channel of a market reports n viewers.
func awaitViewers(l *feedclient.Listener, channel string, n int) {
	want := fmt.Sprintf(`{"viewers":%d}`, n)
	l.EventThat(channel, "viewers.updated", func(e *feed.Event) bool { return string(e.Data) == want })
}

// requireData requires that the data of an event contains the texts. numbered states whether the event must have a sequence
// number in the feed.
func requireData(t *testing.T, e *feed.Event, numbered bool, texts ...string) {
	t.Helper()
	if e.Numbered() != numbered {
		t.Errorf("event %s has the number %d; want a number in the feed: %t", e.Type, e.Seq, numbered)
	}
	for _, text := range texts {
		if !strings.Contains(string(e.Data), text) {
			t.Errorf("event %s has the data %s; want it to contain %s", e.Type, e.Data, text)
		}
	}
}
