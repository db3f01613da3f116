package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

const (
	phoneWidth, phoneHeight     = 390, 844
	desktopWidth, desktopHeight = 1280, 900
)

// sizes are a phone and a desk.
var sizes = map[string][2]int64{"phone": {phoneWidth, phoneHeight}, "desk": {desktopWidth, desktopHeight}}

// enter goes through the issuer's pages as this person; appears is on the page that
// the sign-in leads back to.
func (b *tab) enter(p *person, appears string) {
	b.t.Helper()
	b.do("name oneself", chromedp.WaitVisible(chromedp.CSS("#user")), chromedp.SendKeys(chromedp.CSS("#user"), p.user))
	b.press(`form.other button`, `form[action$="/dev/session"] button`)
	b.press(`form[action$="/dev/session"] button`, appears)
}

// fill writes into the fields of a form, which may hold something.
func (b *tab) fill(form string, fields map[string]string) {
	b.t.Helper()
	for name, text := range fields {
		selector := form + ` [name="` + name + `"]`
		ask(b, "empty "+name, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q).value = ""`, selector)))
		b.do("fill in "+name, chromedp.SendKeys(chromedp.CSS(selector), text))
	}
}

func (b *tab) at() string {
	b.t.Helper()
	return ask(b, "where", chromedp.Location())
}

func shows(t testing.TB, b *tab, selector string, words ...string) {
	t.Helper()
	text := strings.Join(strings.Fields(b.text(selector)), " ")
	for _, w := range words {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
			t.Errorf("it does not show %q:\n%s", w, text)
		}
	}
}

// sees waits until the page shows the words somewhere.
func sees(t *testing.T, b *tab, within time.Duration, selector string, words ...string) {
	t.Helper()
	for end := time.Now().Add(within); ; {
		text, err := glance(b, chromedp.Evaluate[string](`document.querySelector("`+selector+`").textContent`))
		if err == nil && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			return
		}
		if time.Now().After(end) {
			b.clean(selector)
			t.Fatalf("%s never shows %q: %v\n%s", selector, words, err, text)
		}
		<-time.After(50 * time.Millisecond)
	}
}

func texts(b *tab, selector string) []string {
	return ask(b, "read "+selector, chromedp.Evaluate[[]string](`[...document.querySelectorAll("`+selector+`")].map(e => e.textContent)`))
}

// count is how many elements there are.
func (b *tab) count(selector string) int {
	b.t.Helper()
	return int(ask(b, "count "+selector, chromedp.Evaluate[float64](`document.querySelectorAll(`+strconv.Quote(selector)+`).length`)))
}

// scheme makes the browser ask for light or dark.
func (b *tab) scheme(name string) {
	b.t.Helper()
	b.do("ask for "+name, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return err
	}))
}

// scriptless takes scripts from the pages that the tab loads.
func (b *tab) scriptless() {
	b.t.Helper()
	b.do("switch scripts off", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
}

// pale finds text that stands out too little from what is behind it (WCAG 2.2, AA).
const pale = `(() => {
	const parse = s => {
		let m = s.match(/^rgba?\(([^)]+)\)/); if (m) { const v = m[1].split(/[ ,\/]+/).map(Number); return [v[0], v[1], v[2], v[3] ?? 1]; }
		m = s.match(/^color\(srgb ([^)]+)\)/); if (m) { const v = m[1].split(/[ \/]+/).map(Number); return [255*v[0], 255*v[1], 255*v[2], v[3] ?? 1]; }
		return [0, 0, 0, 0];
	};
	const over = (a, b) => [0, 1, 2].map(i => a[i]*a[3] + b[i]*(1-a[3])).concat(1);
	const light = c => { const v = c.slice(0, 3).map(x => { x /= 255; return x <= 0.04045 ? x/12.92 : ((x+0.055)/1.055)**2.4; }); return 0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2]; };
	const behind = e => { const stack = []; for (; e; e = e.parentElement) stack.push(parse(getComputedStyle(e).backgroundColor)); return stack.reduceRight((under, c) => over(c, under), [255, 255, 255, 1]); };
	const bad = [];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement, text = walk.currentNode.textContent.trim();
		if (!text || !e.getClientRects().length || e.closest('.unseen, .unseen *, details:not([open]) > :not(summary), title')) continue;
		const style = getComputedStyle(e), ground = behind(e.closest('svg') ? e.closest('svg').parentElement : e);
		const ink = over(parse(e.closest('svg') ? style.fill : style.color), ground);
		const [hi, lo] = [light(ink), light(ground)].sort((a, b) => b - a), ratio = (hi + 0.05)/(lo + 0.05);
		const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
		if (ratio < (large ? 3 : 4.5)) bad.push(text.slice(0, 30) + ' ' + ratio.toFixed(2));
	}
	return bad;
})()`

// nameless finds pictures that say nothing to who does not see them, headings that are
// not one under the other, and the number of first headings when that is not one.
const nameless = `(() => {
	const bad = [...document.querySelectorAll('svg')].filter(e => !e.parentElement.closest('svg') && !e.closest('[aria-hidden=true]') && !(e.getAttribute('role') && (e.getAttribute('aria-label') || '').trim())).map(e => 'svg ' + e.outerHTML.slice(0, 80));
	const ones = document.querySelectorAll('h1').length; if (ones !== 1) bad.push(ones + ' first headings');
	let last = 0; for (const h of document.querySelectorAll('h1,h2,h3,h4')) { const n = Number(h.tagName[1]); if (n > last + 1) bad.push('heading ' + h.textContent); last = n; if (!h.textContent.trim()) bad.push('an empty heading'); }
	for (const s of document.querySelectorAll('section')) if (!s.getAttribute('aria-label') && !document.getElementById(s.getAttribute('aria-labelledby'))) bad.push('a section without a name: ' + s.outerHTML.slice(0, 80));
	for (const e of document.querySelectorAll('a[href], button')) if (!e.textContent.trim() && !e.getAttribute('aria-label')) bad.push('a link without words: ' + e.outerHTML.slice(0, 80));
	return bad;
})()`

// examine holds a page that is open to everything that pages promise.
func (b *tab) examine(where string) {
	b.t.Helper()
	for _, name := range []string{"light", "dark"} {
		b.scheme(name)
		for _, said := range ask(b, "look for pale text", chromedp.Evaluate[[]string](pale)) {
			b.t.Errorf("%s, %s: hard to read: %s", where, name, said)
		}
		b.shoot(where + " " + name)
	}
	for _, said := range ask(b, "look for names", chromedp.Evaluate[[]string](nameless)) {
		b.t.Errorf("%s: %s", where, said)
	}
	b.fits(where)
	b.clean(where)
}

// shoot keeps a picture of the tab where somebody wants to look at them.
func (b *tab) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("KEEP_PICTURES")
	if dir == "" {
		return
	}
	picture := ask(b, "take a picture", chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(dir, strings.NewReplacer("/", "_", " ", "-", "?", "-").Replace(name)+".png"), picture, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
