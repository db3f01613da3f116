package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Browser is one Chromium with a new profile.
type Browser struct{ ctx context.Context }

func executable(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("chromium is missing; type: sudo apt-get update && sudo apt-get install -y chromium")
	return ""
}

// Start runs a browser until the test ends. Its requests reach this machine only, from many addresses.
func Start(t testing.TB) *Browser {
	t.Helper()
	path, p := executable(t), newProxy(t)
	profile, err := os.MkdirTemp("", "signalcast-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(profile) }) // the browser may still be writing
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(),
		chromedp.Flag("proxy-server", "http://"+p.addr), chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoFirstRun, chromedp.NoSandbox, chromedp.Headless,
		chromedp.DisableGPU, chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.WSURLReadTimeout(time.Minute))
	t.Cleanup(cancelAlloc)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return &Browser{ctx}
}

// Tab is a page that shares no cookies with others.
type Tab struct {
	ctx context.Context

	mu         sync.Mutex
	violations []string
	canaries   int
}

// NewTab opens a tab until the test ends.
func (b *Browser) NewTab(t testing.TB) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	tab := &Tab{ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, tab.record); err != nil {
		t.Fatal(err)
	}
	err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, runtime.AddBinding, runtime.AddBindingParams{Name: "canary"}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, log.Enable, cdp.Empty{})
		return err
	}), chromedp.EmulateViewport(1280, 800))
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func (t *Tab) record(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	add := func(form string, args ...any) { t.violations = append(t.violations, fmt.Sprintf(form, args...)) }
	switch e := event.(type) {
	case *runtime.EventBindingCalled:
		t.canaries++
		add("canary called with %s", e.Payload)
	case *page.EventJavascriptDialogOpening:
		add("dialog: %s", e.Message)
	case *runtime.EventExceptionThrown:
		add("exception: %s", e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceSecurity || strings.Contains(e.Entry.Text, "Content Security Policy") {
			add("policy violation: %s", e.Entry.Text)
		}
	}
}

// Violations returns what was recorded since the last call, and how often the canary was called.
func (t *Tab) Violations() (violations []string, canaries int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	violations, canaries = t.violations, t.canaries
	t.violations, t.canaries = nil, 0
	return violations, canaries
}

// loadWithin is the time in which a page must load.
const loadWithin = 30 * time.Second

// Visit opens an address and returns its status.
func (t *Tab) Visit(address string) (int64, error) {
	ctx, cancel := context.WithTimeout(t.ctx, loadWithin)
	defer cancel()
	res, err := chromedp.RunResponse(ctx, chromedp.Navigate(address))
	if err != nil || res == nil {
		return 0, fmt.Errorf("open %s: %w", address, err)
	}
	return res.Status, nil
}

// Text returns the text of the first element that a CSS selector matches; empty if there is none.
func (t *Tab) Text(selector string) (string, error) {
	ctx, cancel := context.WithTimeout(t.ctx, loadWithin)
	defer cancel()
	script := "[...document.querySelectorAll(`" + selector + "`)].slice(0, 1).map(e => e.textContent)"
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](script))
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

// Run evaluates an expression for its effect.
func (t *Tab) Run(expression string) error {
	ctx, cancel := context.WithTimeout(t.ctx, loadWithin)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[int]("("+expression+", 1)"))
	return err
}
