package video

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestStudio checks the forms of the studio: an operator registers, is approved, selects a market for the overlay,
// binds a stream, broadcasts, and ends the broadcast.
func TestStudio(t *testing.T) {
	t.Parallel()
	s := system(t)
	o, stream := s.NewOperator(t), newStream(t)
	market := s.NewNativeMarket(t, 4200, stack.JSON{"question": "Will the studio of " + o.Handle + " be used?"})
	b := browser.Open(t, browser.Desktop)
	b.Visit(s.Hub+"/studio", http.StatusOK)
	b.SignIn(o.Handle, "#register-form")
	if at := b.URL(); at != s.Hub+"/studio" {
		t.Fatalf("the sign-in returns to %s; want the studio", at)
	}
	b.Await("#studio-state", "Not registered")
	requireDisabled(t, b, "#go-live", "You can go live after an administrator has approved")
	b.RequireAccessible()
	b.Fill("#register-form", map[string]string{"displayName": "Mara K", "bio": "Rivers do not read polls."})
	b.Click(`#register-form [value="SCIENCE"]`)
	b.Press("#register-form button", ".steps")
	b.Await("#studio-state", "Waiting for approval")
	o.SetStreamer(t, "approved")
	b.Visit(s.Hub+"/studio", http.StatusOK)
	b.Await("#studio-state", "Approved")
	b.Await(".steps [aria-current]", "Get a stream key")
	b.Fill("#find-form", map[string]string{"q": "studio of " + o.Handle})
	b.Click("#find-form button")
	b.Click("#found button")
	b.Await("#signal-now", "Will the studio of "+o.Handle)
	b.Fill("#signal-form", map[string]string{"name": "The studio is used?", "annotation": "it begins"})
	b.Click("#signal-form button")
	b.Await("#signal-now", "On your overlay: The studio is used?")
	read(t, s.Hub+"/api/streamer/signal?handle="+o.Handle).Expect(stack.JSON{
		"marketId": market, "name": "The studio is used?", "annotation": "it begins",
	})
	b.Fill("#bind-form", map[string]string{"url": "https://x.example/not-a-playlist"})
	b.Click("#bind-form button")
	b.Await("#studio-message", "playlist")
	b.Forget("status of 400")
	b.Fill("#bind-form", map[string]string{"url": stream.URL, "label": "night desk"})
	b.Click("#bind-form button")
	b.Await("#studio-message", "Stream connected.")
	b.Click("#go-live")
	b.Await("#studio-state", "Live")
	b.Await(".steps [aria-current]", "Make your first call on air")
	requireBroadcast(t, s, o, b, market)

	b.Click("#go-off")
	b.Await("#studio-state", "Approved")
	b.Await(".steps li:last-child", "Done", "1 call")
	b.Click("#signal-clear")
	b.Await("#signal-now", "No market on your overlay.")
	stack.Eventually(t, browser.Within, "the broadcast to end", func() bool {
		return read(t, s.Hub+"/api/streamer/stream/state?handle="+o.Handle).Text("state") == "ended"
	})
	b.Click("#bind-drop")
	b.Await("#studio-message", "Choose a market first.")
	b.RequireNoProblems()
	phone := browser.Open(t, browser.Phone)
	phone.Visit(s.Hub+"/studio", http.StatusOK)
	phone.SignIn(o.Handle, "#studio")
	phone.Await("#studio-state", "Approved")
	phone.RequireAccessible()
}

// mostPresses is the number of presses of buttons and links in which a person gets from the application to the recap of a broadcast.
// Typing and the pages of the identity provider do not count.
const mostPresses = 12

// TestBroadcastNeedsFewPresses does the job of a streamer at the size of a phone: a person applies, gets a stream key, connects an
// encoder, shows a market on the overlay, calls it on air, goes offline and opens the recap.
func TestBroadcastNeedsFewPresses(t *testing.T) {
	t.Parallel()
	s := system(t)
	o, b, presses := s.NewOperator(t), browser.Open(t, browser.Phone), 0
	market := s.NewNativeMarket(t, 4000, stack.JSON{"question": "Will the lamp of " + o.Handle + " burn?"})
	press := func(selector, appears string) {
		t.Helper()
		presses++
		b.Press(selector, appears)
	}
	click := func(selector string) {
		t.Helper()
		presses++
		b.Click(selector)
	}
	b.Visit(s.Hub+"/studio", http.StatusOK)
	b.SignIn(o.Handle, "#register-form")
	b.Await(".steps li:first-child", "Get a stream key")
	b.Fill("#register-form", map[string]string{"displayName": "Mara K"})
	press("#register-form button", ".steps")
	b.Await("#studio-state", "Waiting for approval")
	o.SetStreamer(t, "approved")
	b.AwaitWithin(2*browser.Within, ".steps [aria-current]", "Get a stream key") // the page shows the approval by itself
	press(`form[action="/dev/stream"] button`, "#ingest-key")
	click(`[data-copy="ingest-key"]`)
	encoder := run(t, "ffmpeg", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=5",
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "5", "-t", "300",
		"-f", "hls", "-hls_time", "1", "-hls_list_size", "6", "-method", "PUT", b.Text("#ingest-push"))
	b.AwaitWithin(2*browser.Within, ".steps [aria-current]", "Show a market on your overlay") // the encoder is connected
	b.Type("#find-text", "lamp of "+o.Handle+"\r")
	click("#found button")
	b.Await("#signal-now", "Will the lamp of "+o.Handle)
	overlay := browser.Open(t, browser.Desktop)
	overlay.Visit(s.Hub+"/overlay/"+o.Handle, http.StatusOK)
	overlay.Await("#overlay-name", "Will the lamp of "+o.Handle)
	b.Await(".steps [aria-current]", "Make your first call on air")
	press(`.steps a[href="/m/`+market+`"]`, "#call")
	click(".choice.side-yes")
	press("#call .row button", ".ticket")
	click(".me.account summary")
	press(`.me.account a[href="/studio"]`, ".steps")
	b.AwaitWithin(2*browser.Within, ".steps [aria-current]", "Share the recap")
	encoder.Stop(t.Context(), syscall.SIGTERM, 5*time.Second)
	click("#go-off")
	b.AwaitWithin(2*browser.Within, ".steps li:last-child", "Done", "1 call")
	press(`.steps li:last-child a`, ".live-page")
	b.Shows("main", "Will the lamp of "+o.Handle)
	b.Forget("/index.m3u8") // the encoder stopped before the broadcast ended
	b.ForgetOutage()
	b.RequireNoProblems()
	if presses > mostPresses {
		t.Errorf("the broadcast needs %d presses; want at most %d", presses, mostPresses)
	}
	t.Logf("the broadcast needs %d presses", presses)
}

// requireDisabled requires that a button is disabled and that the page shows the reason.
func requireDisabled(t *testing.T, b *browser.Tab, button, reason string) {
	t.Helper()
	if b.Count(button+":disabled") != 1 {
		t.Errorf("%s is enabled before the approval", button)
	}
	b.Shows("#studio", reason)
}

// requireBroadcast requires that a viewer sees the broadcast, and that the studio shows viewers and calls. The broadcast must
// continue after a reload of the studio.
func requireBroadcast(t *testing.T, s *stack.Stack, o *stack.Operator, b *browser.Tab, market string) {
	t.Helper()
	viewer := browser.Open(t, browser.Phone)
	viewer.Visit(s.Hub+"/live/"+o.Handle, http.StatusOK)
	viewer.Await("#live-state", "Live")
	requirePlaying(t, viewer)
	call := o.NewCall(t, market, "YES", 4200, nil)
	viewer.Await("#live-calls", "YES at 42¢")
	viewer.RequireNoProblems()
	b.AwaitWithin(2*browser.Within, "#studio-viewers", "1")
	b.AwaitWithin(2*browser.Within, "#studio-calls", "YES at 42¢")
	if n := b.Count(`#studio-calls a[href="/receipts/` + call + `"]`); n != 1 {
		t.Errorf("the studio has %d links to the receipt; want 1", n)
	}
	b.Visit(s.Hub+"/studio", http.StatusOK)
	b.Await("#studio-state", "Live")
	b.Await("#studio-beat", "s ago")
	b.RequireAccessible()
	b.Click("#cut")
	b.Await("#studio-message", "Clip created.") // the video is on another host
}

// TestStreamKeyByForm checks that an approved operator can create a stream of the video origin with a form of the studio, which
// shows the key once. Video that is pushed with the key must play on the live page. A viewer must be able to create and watch a
// clip there.
// TestSignalWithoutEncoder checks that the studio can send a test signal that the live page plays.
func TestSignalWithoutEncoder(t *testing.T) {
	t.Parallel()
	s := system(t)
	o, b := s.NewOperator(t), browser.Open(t, browser.Desktop)
	o.Send(t, "/api/streamer/register", http.StatusCreated, o.Session(t), stack.JSON{"displayName": "Mara K"})
	o.SetStreamer(t, "approved")
	setOverlay(t, o, stack.JSON{"marketId": s.NewNativeMarket(t, 5000, nil), "name": "Is it live?"})
	b.Visit(s.Hub+"/studio", http.StatusOK)
	b.SignIn(o.Handle, "#provision-label")
	b.Press(`form[action="/dev/stream"] button`, `#ingest-key`)
	b.Click("#test-signal")
	b.Await("#studio-message", "The test signal is on.")
	b.Click("#go-live")
	viewer := browser.Open(t, browser.Phone)
	viewer.Visit(s.Hub+"/live/"+o.Handle, http.StatusOK)
	viewer.AwaitWithin(2*browser.Within, "#live-state", "Live")
	requirePlaying(t, viewer)
	b.Click("#test-signal")
	b.AwaitWithin(2*browser.Within, "#studio-message", "The test signal has ended.")
	b.RequireAccessible()
	for _, tab := range []*browser.Tab{b, viewer} {
		tab.ForgetOutage() // requests for playlists that did not exist yet
		tab.RequireNoProblems()
	}
}

func TestStreamKeyByForm(t *testing.T) {
	t.Parallel()
	s := system(t)
	o, b := s.NewOperator(t), browser.Open(t, browser.Desktop)
	foreign := stack.Header("Origin", "https://evil.example")
	o.Do(t, http.MethodPost, s.Hub+"/dev/stream", stack.Form(nil), foreign).Require(http.StatusForbidden)
	b.Visit(s.Hub+"/studio", http.StatusOK)
	b.SignIn(o.Handle, "#provision-label")
	const button = `form[action="/dev/stream"] button`
	requireDisabled(t, b, button, "After an administrator has approved your application")
	o.Send(t, "/api/streamer/register", http.StatusCreated, o.Session(t), stack.JSON{"displayName": "Mara K"})
	o.SetStreamer(t, "approved")
	b.Visit(s.Hub+"/studio", http.StatusOK)
	b.Press(button, `#ingest-key`)
	if key, url := b.Text("#ingest-key"), b.Text("#ingest-url"); len(key) < 20 || url == "" {
		t.Errorf("the studio shows the stream key %q and the URL %q; want a key and the URL of the video origin", key, url)
	}
	b.RequireAccessible()
	push := b.Text("#ingest-push")
	market := s.NewNativeMarket(t, 5000, nil)
	setOverlay(t, o, stack.JSON{"marketId": market, "name": "Is it live?"})
	run(t, "ffmpeg", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=10",
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "10", "-t", "150",
		"-f", "hls", "-hls_time", "1", "-hls_list_size", "6", "-method", "PUT", push)
	b.Visit(s.Hub+"/live/"+o.Handle, http.StatusOK)
	b.AwaitWithin(2*browser.Within, "#live-state", "Live")
	requirePlaying(t, b)
	b.Click("#live-cut")
	b.Await("#live-cut-message", "Clip created.")
	b.AwaitWithin(2*browser.Within, "#live-clips li")
	if n := b.Count("#live-clips li"); n != 1 {
		t.Errorf("the page shows %d clips; want 1", n)
	}
	b.Click("#live-clips a[data-video]")
	requirePlaying(t, b)
	b.ForgetOutage() // requests for playlists that did not exist yet
	b.RequireNoProblems()
	b.Visit(s.Hub+"/studio", http.StatusOK)
	if b.Count("#ingest-key") != 0 {
		t.Error("the studio shows the stream key a second time")
	}
}
