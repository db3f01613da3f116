package browser

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
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

	"github.com/signalcast/signalcast/test/system/stack"
)

// Size is the size of a tab in CSS pixels.
type Size struct{ Width, Height int64 }

// Sizes of a phone, a desktop window and a television.
var (
	Phone   = Size{390, 844}
	Desktop = Size{1280, 900}
	Screen  = Size{1920, 1080}
)

// PhoneAndDesktop lists the sizes in which tests open pages for people.
var PhoneAndDesktop = []Size{Phone, Desktop}

// String returns the size as "390x844".
func (s Size) String() string { return fmt.Sprintf("%dx%d", s.Width, s.Height) }

// chromium returns the browser that the tests of this binary share. The first call starts it.
var chromium = sync.OnceValues(start)

// start starts a browser that runs until stack.Main ends, and returns its context. The browser uses a proxy that sends requests
// from many IP addresses and connects only to this machine.
func start() (context.Context, error) {
	path, err := executable()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "signalcast-chromium-")
	if err != nil {
		return nil, err
	}
	p := newProxy()
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(),
		chromedp.Flag("proxy-server", "http://"+p.addr), chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoFirstRun, chromedp.NoSandbox, chromedp.Headless,
		chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("autoplay-policy", "no-user-gesture-required"),
		chromedp.Flag("ignore-certificate-errors-spki-list", testCertificate()),
		chromedp.WSURLReadTimeout(time.Minute))
	ctx, cancel := chromedp.NewContext(alloc)
	stack.AtEnd(func() {
		cancel()
		cancelAlloc()
		p.close()
		_ = os.RemoveAll(profile) // the browser may still write files
	})
	if err := chromedp.Do(ctx); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return ctx, nil
}

func executable() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("chromium is missing; type: sudo apt-get update && sudo apt-get install -y chromium")
}

// testCertificate returns the SHA-256 hash, in base64, of the public key that TLS servers of package httptest use. The browser
// accepts certificates with this key, so that pages can load videos from test servers.
func testCertificate() string {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	sum := sha256.Sum256(s.Certificate().RawSubjectPublicKeyInfo)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Open opens a browser tab of the given size that shares no cookies with other tabs. The tab is closed when the test ends.
func Open(t testing.TB, size Size) *Tab {
	t.Helper()
	browser, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &Tab{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil { // opens the tab, which exists until this context ends
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, b.record); err != nil {
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
	}), chromedp.EmulateViewport(size.Width, size.Height))
	return b
}

// abandonedSocket is part of a console message that the method record ignores. The message appears when a page closes a
// websocket before its handshake ends, for example on a loaded machine.
const abandonedSocket = "WebSocket is closed before the connection is established"

// record stores an event of the browser as a problem or as a request of the tab, or ignores it.
func (b *Tab) record(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	add := func(form string, args ...any) { b.problems = append(b.problems, fmt.Sprintf(form, args...)) }
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventBindingCalled:
		add("%s with %s", canaryCalled, e.Payload)
	case *page.EventJavascriptDialogOpening:
		add("dialog: %s", e.Message)
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			text += " " + thrown.Description
		}
		add("exception: %s", text)
	case *runtime.EventConsoleAPICalled:
		switch e.Type {
		case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert:
			add("console %s: %v", e.Type, e.Args)
		}
	case *log.EventEntryAdded:
		if strings.Contains(e.Entry.Text, abandonedSocket) {
			return
		}
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning || e.Entry.Source == log.EntrySourceSecurity {
			add("log %s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	}
}
