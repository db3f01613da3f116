package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Browser is a Chromium with a profile of its own.
type Browser struct {
	ctx context.Context
	end func()
}

// Open starts one. Close ends it.
func Open(ctx context.Context) (*Browser, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, fmt.Errorf("chromium is missing; type: sudo apt-get update && sudo apt-get install -y chromium")
	}
	profile, err := os.MkdirTemp("", "signalcast-chromium-")
	if err != nil {
		return nil, err
	}
	through, err := newProxy()
	if err != nil {
		return nil, err
	}
	alloc, cancelAlloc := chromedp.NewExecAllocator(ctx,
		chromedp.Flag("proxy-server", "http://"+through.addr), chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoFirstRun, chromedp.NoSandbox, chromedp.Headless, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.WSURLReadTimeout(time.Minute))
	tabs, cancel := chromedp.NewContext(alloc)
	b := &Browser{ctx: tabs, end: func() {
		cancel()
		cancelAlloc()
		through.close()
		_ = os.RemoveAll(profile)
	}}
	if err := chromedp.Do(tabs); err != nil {
		b.end()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return b, nil
}

// Close ends the browser and removes its profile.
func (b *Browser) Close() { b.end() }

// Tab is a page without the cookies of any other.
type Tab struct {
	ctx context.Context
	end func()

	mu    sync.Mutex
	heard []string
	fired int
}

// Open gives a tab. Close ends it.
func (b *Browser) Open() (*Tab, error) {
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t := &Tab{ctx: ctx, end: cancel}
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		return nil, err
	}
	if err := chromedp.Listen(ctx, t.hear); err != nil {
		cancel()
		return nil, err
	}
	err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, runtime.AddBinding, runtime.AddBindingParams{Name: "canary"}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, log.Enable, cdp.Empty{})
		return err
	}), chromedp.EmulateViewport(1280, 800))
	if err != nil {
		cancel()
	}
	return t, err
}

// Close ends the tab.
func (t *Tab) Close() { t.end() }

func (t *Tab) hear(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	note := func(form string, args ...any) { t.heard = append(t.heard, fmt.Sprintf(form, args...)) }
	switch e := event.(type) {
	case *runtime.EventBindingCalled:
		t.fired++
		note("the canary was called: %s", e.Payload)
	case *page.EventJavascriptDialogOpening:
		note("a dialog: %s", e.Message)
	case *runtime.EventExceptionThrown:
		note("an exception: %s", e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceSecurity || strings.Contains(e.Entry.Text, "Content Security Policy") {
			note("a broken policy: %s", e.Entry.Text)
		}
	}
}

// Heard gives what was heard since it was asked last, and how often the canary was
// called.
func (t *Tab) Heard() (said []string, fired int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	said, fired = t.heard, t.fired
	t.heard, t.fired = nil, 0
	return said, fired
}

// patience is how long a page may take.
const patience = 30 * time.Second

// Visit loads an address and gives its status.
func (t *Tab) Visit(address string) (int64, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	res, err := chromedp.RunResponse(ctx, chromedp.Navigate(address))
	if err != nil || res == nil {
		return 0, fmt.Errorf("open %s: %w", address, err)
	}
	return res.Status, nil
}

// Text is the text of the first element that fits; ok is false where there is none.
func (t *Tab) Text(selector string) (text string, ok bool, err error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll(`+"`"+selector+"`"+`)].slice(0, 1).map(e => e.textContent)`))
	if err != nil || len(found) == 0 {
		return "", false, err
	}
	return found[0], true, nil
}

// Run evaluates an expression for its effect.
func (t *Tab) Run(expression string) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[int]("("+expression+", 1)"))
	return err
}
