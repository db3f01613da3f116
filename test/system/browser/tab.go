package browser

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/signalcast/signalcast/test/system/stack"
)

// Within is the time limit of one step in a page.
const Within = 30 * time.Second

// canaryCalled is the prefix of the problem that records a call of the function canary.
const canaryCalled = "canary called"

// Tab is a tab of the browser. Its methods fail the test if a step fails. Only the goroutine of the test may call them.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string
	requests []string // URLs
}

// do performs steps in the browser and fails the test if a step fails. The parameter what describes the steps in the failure
// message.
func (b *Tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := b.try(steps...); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

func (b *Tab) try(steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(b.ctx, Within)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

// Eval returns the value of a JavaScript expression in the page. If the value is a promise, Eval waits for it.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	out, err := TryEval[T](b, expression)
	if err != nil {
		b.t.Fatalf("evaluate %s: %v", expression, err)
	}
	return out
}

// TryEval evaluates a JavaScript expression like Eval, but returns an error instead of failing the test. Tests use it when the
// page may navigate away, which makes the evaluation fail.
func TryEval[T any](b *Tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, Within)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Visit opens a URL and fails the test unless the response has this status. If the status is 503 instead, Visit repeats the
// request for up to Within, because services shed requests on a loaded machine.
func (b *Tab) Visit(url string, status int64) {
	b.t.Helper()
	for end := time.Now().Add(Within); ; stack.Wait(b.t, 200*time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.ctx, Within)
		res, err := chromedp.RunResponse(ctx, chromedp.Navigate(url))
		cancel()
		switch {
		case err != nil || res == nil:
			b.t.Fatalf("open %s: no answer: %v", url, err)
		case res.Status == status:
			return
		case res.Status != http.StatusServiceUnavailable || time.Now().After(end):
			b.t.Fatalf("open %s: %d, want %d", url, res.Status, status)
		}
		b.Forget("status of 503")
	}
}

// VisitWhole opens a page repeatedly for up to 45 s, until no part of the page is missing. On a loaded machine the hub omits
// parts that are slow.
func (b *Tab) VisitWhole(url string) {
	b.t.Helper()
	stack.Eventually(b.t, 45*time.Second, "a complete page "+url, func() bool {
		b.Visit(url, http.StatusOK)
		return b.Count(".unavailable") == 0
	})
}

// URL returns the URL of the current page.
func (b *Tab) URL() string {
	b.t.Helper()
	return Eval[string](b, `location.href`)
}

// Press clicks a link or button that opens another page, and waits until that page displays an element. appears is the CSS
// selector of this element.
func (b *Tab) Press(selector, appears string) {
	b.t.Helper()
	Eval[bool](b, `window.previous = true`) // marks the current page, which may contain the element too
	click := chromedp.Click(chromedp.CSS(selector))
	if b.try(click) != nil { // the page may have been replaced during the search
		b.do("click "+selector, click)
	}
	stack.Eventually(b.t, Within, "a new page after a click on "+selector, func() bool {
		replaced, err := TryEval[bool](b, `window.previous === undefined`)
		return err == nil && replaced
	})
	b.awaitVisible(appears)
}

// awaitVisible waits until the page displays an element that the CSS selector matches. It reloads the page if the status of the
// page is 503.
func (b *Tab) awaitVisible(selector string) {
	b.t.Helper()
	stack.Eventually(b.t, Within, selector+" at "+b.URL(), func() bool {
		visible, err := TryEval[bool](b, all(selector)+`.some(e => e.getClientRects().length > 0)`)
		if err == nil && visible {
			return true
		}
		if status, err := TryEval[int](b, navigationStatus); err == nil && status == http.StatusServiceUnavailable {
			_ = b.try(chromedp.Reload())
			b.Forget("status of 503")
		}
		return false
	})
}

// navigationStatus is a script that returns the HTTP status of the current page.
const navigationStatus = `performance.getEntriesByType("navigation")[0]?.responseStatus ?? 0`

// Click clicks an element that does not open another page. Before the click, it waits until the element is visible. After the
// click, it waits for a visible element for each CSS selector in appear.
func (b *Tab) Click(selector string, appear ...string) {
	b.t.Helper()
	b.awaitVisible(selector)
	b.do("click "+selector, chromedp.Click(chromedp.CSS(selector)))
	for _, element := range appear {
		b.awaitVisible(element)
	}
}

// ClickIfShown clicks the first displayed element that a CSS selector matches, if there is one.
func (b *Tab) ClickIfShown(selector string) {
	b.t.Helper()
	Eval[bool](b, all(selector)+`.find(e => e.getClientRects().length)?.click() === undefined`)
}

// Type waits until an input element is visible and types text into it.
func (b *Tab) Type(selector, text string) {
	b.t.Helper()
	b.awaitVisible(selector)
	b.do("type into "+selector, chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Fill types values into the fields of a form. form is the CSS selector of the form, and fields contains the values by field
// name.
func (b *Tab) Fill(form string, fields map[string]string) {
	b.t.Helper()
	for name, text := range fields {
		selector := form + ` [name="` + name + `"]`
		Eval[string](b, all(selector)+`[0].value = ""`)
		b.Type(selector, text)
	}
}

// SignIn signs in on the pages of the development identity provider. It waits until the page after the sign-in displays an
// element. appears is the CSS selector of this element.
func (b *Tab) SignIn(handle, appears string) {
	b.t.Helper()
	b.Type("#user", handle)
	b.Press(`form.other button`, `form[action$="/dev/session"] button`)
	b.Press(`form[action$="/dev/session"] button`, appears)
}

// SignOut signs out through the menu of the page.
func (b *Tab) SignOut() {
	b.t.Helper()
	b.Click(`.me.account summary`, `.me.account form button`)
	b.Press(`.me.account form button`, `a.button`)
}

// all returns a JavaScript expression for the array of elements that a CSS selector matches.
func all(selector string) string {
	return `[...document.querySelectorAll(` + strconv.Quote(selector) + `)]`
}

// Count returns the number of elements that a CSS selector matches.
func (b *Tab) Count(selector string) int {
	b.t.Helper()
	return Eval[int](b, all(selector)+`.length`)
}

// Texts returns the text contents of all elements that a CSS selector matches.
func (b *Tab) Texts(selector string) []string {
	b.t.Helper()
	return Eval[[]string](b, all(selector)+`.map(e => e.textContent)`)
}

// Text waits for an element that the CSS selector matches and returns the displayed text of the first one.
func (b *Tab) Text(selector string) string {
	b.t.Helper()
	var found []string
	stack.Eventually(b.t, Within, selector+" at "+b.URL(), func() bool {
		var err error
		found, err = TryEval[[]string](b, all(selector)+`.slice(0, 1).map(e => e.innerText)`)
		return err == nil && len(found) == 1
	})
	return found[0]
}

// Value returns the value of the first input element that the CSS selector matches.
func (b *Tab) Value(selector string) string {
	b.t.Helper()
	return Eval[string](b, all(selector)+`[0].value`)
}

// Visible returns the text content of the element with this id, or an empty string if the element is not displayed.
func (b *Tab) Visible(id string) string {
	b.t.Helper()
	return Eval[string](b, all("#"+id)+`.filter(e => e.getClientRects().length).map(e => e.textContent).join("")`)
}

// Shows reports a test error for each text that an element does not display. It ignores case and differences in white space.
func (b *Tab) Shows(selector string, texts ...string) {
	b.t.Helper()
	shown := strings.Join(strings.Fields(b.Text(selector)), " ")
	for _, text := range texts {
		if !strings.Contains(strings.ToLower(shown), strings.ToLower(text)) {
			b.t.Errorf("%s does not show %q:\n%s", selector, text, shown)
		}
	}
}

// Await waits until the text of an element contains all texts. It fails the test after Within.
func (b *Tab) Await(selector string, texts ...string) {
	b.t.Helper()
	b.AwaitWithin(Within, selector, texts...)
}

// AwaitWithin waits like Await, with the time limit d.
func (b *Tab) AwaitWithin(d time.Duration, selector string, texts ...string) {
	b.t.Helper()
	for end := time.Now().Add(d); ; stack.Wait(b.t, 50*time.Millisecond) {
		shown, err := TryEval[string](b, all(selector)+`[0].textContent`)
		if err == nil && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(shown, text) }) {
			return
		}
		if time.Now().After(end) {
			b.RequireNoProblems()
			b.t.Fatalf("%s does not show %q within %v: %v\n%s", selector, texts, d, err, shown)
		}
	}
}

// ColorScheme makes the browser prefer a color scheme: "light" or "dark".
func (b *Tab) ColorScheme(name string) {
	b.t.Helper()
	b.do("prefer "+name, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return err
	}))
}

// DisableScripts disables the scripts of pages in this tab.
func (b *Tab) DisableScripts() {
	b.t.Helper()
	b.do("disable scripts", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		params := emulation.SetScriptExecutionDisabledParams{Value: true}
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, params)
		return err
	}))
}

// DisableCache makes each page of this tab load all its files again.
func (b *Tab) DisableCache() {
	b.t.Helper()
	b.do("disable the cache", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
		return err
	}))
}

// RunFirst adds a script that runs in every page that is opened later, before the scripts of the page.
func (b *Tab) RunFirst(script string) {
	b.t.Helper()
	b.do("add a script", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		params := page.AddScriptToEvaluateOnNewDocumentParams{Source: script}
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, params)
		return err
	}))
}

// SetCookie sets a cookie for the host of a URL.
func (b *Tab) SetCookie(address, name, value string) {
	b.t.Helper()
	b.do("set a cookie", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, network.SetCookie, network.SetCookieParams{URL: address, Name: name, Value: value})
		return err
	}))
}

// Screenshot returns an image of the whole page as PNG.
func (b *Tab) Screenshot() []byte {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, Within)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatalf("take a screenshot: %v", err)
	}
	return png
}

// FirstScreen returns an image of the visible part of the page as WebP. The parameter scale is the number of pixels of the image for
// each pixel of the page.
func (b *Tab) FirstScreen(size Size, scale float64) (webp []byte) {
	b.t.Helper()
	b.do("take a picture", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		quality := int64(55)
		out, err := cdp.Call(ctx, target, page.CaptureScreenshot, page.CaptureScreenshotParams{
			Format: page.CaptureScreenshotFormatWebp, Quality: &quality,
			Clip: &page.Viewport{Width: float64(size.Width), Height: float64(size.Height), Scale: scale},
		})
		if err == nil {
			webp = out.Data
		}
		return err
	}))
	return webp
}
