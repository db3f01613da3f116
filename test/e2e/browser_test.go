package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is one headless Chromium for all tests of a run.
var browser struct {
	once sync.Once
	ctx  context.Context
	end  func()
	err  error
}

// chromium finds the program.
func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("chromium is missing; type: sudo apt-get update && sudo apt-get install -y chromium")
}

func openBrowser() (context.Context, func(), error) {
	path, err := chromium()
	if err != nil {
		return nil, nil, err
	}
	profile, err := os.MkdirTemp("", "signalcast-chromium-")
	if err != nil {
		return nil, nil, err
	}
	opts := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoFirstRun, chromedp.NoSandbox, chromedp.Headless, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("autoplay-policy", "no-user-gesture-required"),
		chromedp.WSURLReadTimeout(time.Minute),
	}
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(alloc)
	end := func() {
		cancel()
		cancelAlloc()
		_ = os.RemoveAll(profile)
	}
	if err := chromedp.Do(ctx); err != nil {
		end()
		return nil, nil, fmt.Errorf("start %s: %w", path, err)
	}
	return ctx, end, nil
}

func closeBrowser() {
	if browser.end != nil {
		browser.end()
	}
}

// tab is a page in a browser context of its own: no other tab's cookies.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu    sync.Mutex
	wrong []string
	asks  map[network.RequestID]string // methods of what the page asked
	urls  []string                     // and its addresses
}

// open gives a tab of that size. Whatever a page logs as a mistake, a violated
// policy, a dialog or the canary, fails the test.
func open(t testing.TB, width, height int64) *tab {
	t.Helper()
	browser.once.Do(func() { browser.ctx, browser.end, browser.err = openBrowser() })
	if browser.err != nil {
		t.Fatal(browser.err)
	}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, asks: map[network.RequestID]string{}}
	if err := chromedp.Do(ctx); err != nil { // makes the tab, which lives as long as this context
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	b.do("prepare a tab", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, runtime.AddBinding, runtime.AddBindingParams{Name: "canary"}); err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, target, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, log.Enable, cdp.Empty{})
		return err
	}), chromedp.EmulateViewport(width, height))
	return b
}

// hear takes what the browser tells about the page.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if e.RedirectResponse != nil {
			b.told(e.RequestID, e.RedirectResponse)
		}
		b.asks[e.RequestID] = e.Request.Method
		b.urls = append(b.urls, e.Request.URL)
	case *network.EventResponseReceived:
		b.told(e.RequestID, e.Response)
	case *runtime.EventBindingCalled:
		b.wrong = append(b.wrong, "THE CANARY FIRED: "+e.Payload)
	case *page.EventJavascriptDialogOpening:
		b.wrong = append(b.wrong, "a dialog: "+e.Message)
	case *runtime.EventExceptionThrown:
		said := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			said += " " + thrown.Description
		}
		b.wrong = append(b.wrong, "exception: "+said)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			b.wrong = append(b.wrong, fmt.Sprintf("console %s: %v", e.Type, e.Args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning || e.Entry.Source == log.EntrySourceSecurity {
			b.wrong = append(b.wrong, fmt.Sprintf("log %s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	}
}

// told holds an answer to the page against the description, by its status and kind.
func (b *tab) told(id network.RequestID, r *network.Response) {
	if u, err := url.Parse(r.URL); err == nil {
		coverage.header("a page", b.asks[id], u, int(r.Status), r.MimeType)
	}
}

// within is the time that a step in a page may take.
const within = 30 * time.Second

// do runs steps and demands that they work.
func (b *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// ask runs an action that has a result.
func ask[T any](b *tab, what string, action chromedp.Action[T]) T {
	b.t.Helper()
	out, err := glance(b, action)
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
	return out
}

// glance asks a page that may be giving way to another one: between two pages there is
// nobody to ask.
func glance[T any](b *tab, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	return chromedp.Run(ctx, action)
}

// press clicks what leads to a page and waits for what has to appear there.
func (b *tab) press(selector, appears string) {
	b.t.Helper()
	// What appears may stand on the page before, too: it is the next page that counts.
	ask(b, "mark the page", chromedp.Evaluate[bool](`window.before = true`))
	click := func() error {
		ctx, cancel := context.WithTimeout(b.ctx, within/2)
		defer cancel()
		return chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector)))
	}
	err := click()
	if err != nil { // the browser may have looked in a document that was just replaced
		err = click()
	}
	if err != nil {
		b.t.Fatalf("press %s: %v", selector, err)
	}
	eventually(b.t, func() bool {
		next, err := glance(b, chromedp.Evaluate[bool](`window.before === undefined`))
		return err == nil && next
	}, "the page after "+selector)
	b.do("wait for "+appears, chromedp.WaitVisible(chromedp.CSS(appears)))
}

// unfold clicks what opens without another page, and waits for what has to appear.
func (b *tab) unfold(selector, appears string) {
	b.t.Helper()
	b.do("unfold "+selector, chromedp.Click(chromedp.CSS(selector)), chromedp.WaitVisible(chromedp.CSS(appears)))
}

// visit loads an address and demands its status; a page that says "one moment" is
// loaded again.
func (b *tab) visit(url string, status int64) {
	b.t.Helper()
	end := time.Now().Add(patience)
	for {
		ctx, cancel := context.WithTimeout(b.ctx, within)
		res, err := chromedp.RunResponse(ctx, chromedp.Navigate(url))
		cancel()
		switch {
		case err != nil:
			b.t.Fatalf("%s: %v", url, err)
		case res != nil && res.Status == status:
			return
		case res == nil || res.Status != 503 || time.Now().After(end):
			b.t.Fatalf("%s: %+v, want %d", url, res, status)
		}
		b.forget("status of 503")
		asked.Add(1)
		<-time.After(200 * time.Millisecond)
	}
}

// forget drops what was heard of that kind.
func (b *tab) forget(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = slices.DeleteFunc(b.wrong, func(w string) bool { return strings.Contains(w, text) })
}

// text is what a person sees of an element. A page that is just being built gives its
// elements other numbers when it is done: then it is read again.
func (b *tab) text(selector string) string {
	b.t.Helper()
	for end := time.Now().Add(within); ; {
		ctx, cancel := context.WithTimeout(b.ctx, within)
		out, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector)))
		cancel()
		if err == nil {
			return out
		}
		if !strings.Contains(err.Error(), "No node with given id") || time.Now().After(end) {
			b.t.Fatalf("read %s: %v", selector, err)
		}
	}
}

// unavailable begins the log entry of a resource that was answered 503; its address follows.
const unavailable = "log network: Failed to load resource: the server responded with a status of 503 (Service Unavailable) "

// clean fails for everything that the browser logged. A resource that was unavailable is requested again, as send does for
// other answers: only one that stays unavailable is a mistake.
func (b *tab) clean(where string) {
	b.t.Helper()
	b.mu.Lock()
	wrong := b.wrong
	b.wrong = nil
	b.mu.Unlock()
	for _, w := range wrong {
		if url, ok := strings.CutPrefix(w, unavailable); ok {
			asked.Add(1)
			if a := get(b.t, url); a.status < http.StatusInternalServerError {
				continue
			}
		}
		b.t.Errorf("%s: %s", where, w)
	}
}

// fits demands that nothing stands out at the side.
func (b *tab) fits(where string) {
	b.t.Helper()
	const unread = -1e9 // a page that is just being read has no body yet
	over := float64(unread)
	eventually(b.t, func() bool {
		over = ask(b, "measure", chromedp.Evaluate[float64](`document.readyState !== "complete" || !document.body ? -1e9 :
			Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - window.innerWidth`))
		return over != unread
	}, where+", read to its end")
	if over > 0 {
		b.t.Errorf("%s: %v pixels too wide", where, over)
	}
}

// heard tells whether something of that kind was heard so far.
func (b *tab) heard(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong {
		if strings.Contains(w, text) {
			return true
		}
	}
	return false
}
