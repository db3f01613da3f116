package browser

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/test/system/stack"
)

// unavailable is the beginning of the problem that is recorded for a resource with status 503. The URL of the resource follows
// it.
const unavailable = "log network: Failed to load resource: the server responded with a status of 503 (Service Unavailable) "

// Problems returns the recorded problems and deletes them. Problems are calls of the function canary, violations of the content
// security policy, exceptions, dialogs, and warnings and errors of the console.
func (b *Tab) Problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	problems := b.problems
	b.problems = nil
	return problems
}

// Forget deletes the recorded problems that contain at least one of the texts.
func (b *Tab) Forget(texts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = slices.DeleteFunc(b.problems, func(problem string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(problem, text) })
	})
}

// ForgetOutage deletes the recorded problems about failed websocket connections and about resources that failed to load.
func (b *Tab) ForgetOutage() { b.Forget("WebSocket connection to", "Failed to load resource") }

// RequireNoProblems reports a test error for each recorded problem and deletes the problems. For a resource with status 503, it
// repeats the request, and reports a problem only if the new status is a 5xx status.
func (b *Tab) RequireNoProblems() {
	b.t.Helper()
	for _, problem := range b.Problems() {
		if url, ok := strings.CutPrefix(problem, unavailable); ok && stack.Get(b.t, url).Status < http.StatusInternalServerError {
			continue
		}
		b.t.Errorf("%s: %s", b.URL(), problem)
	}
}

// CanaryCalls returns the number of calls of the function canary among problems.
func CanaryCalls(problems []string) int {
	n := 0
	for _, problem := range problems {
		if strings.HasPrefix(problem, canaryCalled) {
			n++
		}
	}
	return n
}

// Requests returns the URLs that the pages of the tab have requested. It omits data URLs, and URLs whose host is in the
// parameter except.
func (b *Tab) Requests(except ...string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, raw := range b.requests {
		u, err := url.Parse(raw)
		if err != nil || u.Scheme != "data" && !slices.Contains(except, u.Host) {
			out = append(out, raw)
		}
	}
	return out
}

// RequireFits waits until the page is loaded, and reports a test error if the page is wider than the tab.
func (b *Tab) RequireFits() {
	b.t.Helper()
	stack.Eventually(b.t, Within, "the loaded page", func() bool {
		complete, err := TryEval[bool](b, `document.readyState === "complete" && document.body !== null`)
		return err == nil && complete
	})
	const excess = `Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - window.innerWidth`
	if n := Eval[float64](b, excess); n > 0 {
		b.t.Errorf("%s is %v pixels wider than the tab", b.URL(), n)
	}
}

// RequireAccessible reports a test error for each text with too little contrast in a light or dark color scheme, and for each
// accessibility error that the script withoutName finds. It also calls RequireFits and RequireNoProblems.
func (b *Tab) RequireAccessible() {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.ColorScheme(scheme)
		for _, text := range Eval[[]string](b, lowContrast) {
			b.t.Errorf("%s, %s: the contrast is too low: %s", b.URL(), scheme, text)
		}
	}
	for _, element := range Eval[[]string](b, withoutName) {
		b.t.Errorf("%s: accessibility: %s", b.URL(), element)
	}
	b.RequireFits()
	b.RequireNoProblems()
}

// RequireLinks requests each URL below base to which the page links, and reports a test error for each response with an error
// status. It skips the URLs in seen and adds the requested ones to seen.
func (b *Tab) RequireLinks(base string, seen map[string]bool) {
	b.t.Helper()
	const links = `[...document.querySelectorAll('a[href], link[rel=stylesheet], link[rel=icon]')].map(e => e.href)`
	for _, raw := range Eval[[]string](b, links) {
		address, _, _ := strings.Cut(raw, "#")
		if seen[address] || !strings.HasPrefix(address, base+"/") {
			continue
		}
		seen[address] = true
		if a := stack.NewClient().Retry(b.t, http.MethodGet, address); a.Status >= http.StatusBadRequest {
			b.t.Errorf("%s links to %s, which is answered %d", b.URL(), address, a.Status)
		}
	}
}

// lowContrast is a script that returns texts of a page, each with its contrast ratio. It returns a text if the contrast with
// the background is below level AA of WCAG 2.2 (1.4.3).
const lowContrast = `(() => {
	const parse = s => {
		let m = s.match(/^rgba?\(([^)]+)\)/);
		if (m) { const v = m[1].split(/[ ,\/]+/).map(Number); return [v[0], v[1], v[2], v[3] ?? 1]; }
		m = s.match(/^color\(srgb ([^)]+)\)/);
		if (m) { const v = m[1].split(/[ \/]+/).map(Number); return [255*v[0], 255*v[1], 255*v[2], v[3] ?? 1]; }
		return [0, 0, 0, 0];
	};
	const over = (a, b) => [0, 1, 2].map(i => a[i]*a[3] + b[i]*(1-a[3])).concat(1);
	const channel = x => (x /= 255) <= 0.04045 ? x/12.92 : ((x+0.055)/1.055)**2.4;
	const luminance = c => 0.2126*channel(c[0]) + 0.7152*channel(c[1]) + 0.0722*channel(c[2]);
	const groundOf = e => {
		const colors = [];
		for (; e; e = e.parentElement) colors.push(parse(getComputedStyle(e).backgroundColor));
		return colors.reduceRight((under, c) => over(c, under), [255, 255, 255, 1]);
	};
	const bad = [];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement, text = walk.currentNode.textContent.trim();
		if (!text || !e.getClientRects().length) continue;
		if (e.closest('.unseen, .unseen *, details:not([open]) > :not(summary), title')) continue;
		const style = getComputedStyle(e), svg = e.closest('svg'), ground = groundOf(svg ? svg.parentElement : e);
		const ink = over(parse(svg ? style.fill : style.color), ground);
		const [hi, lo] = [luminance(ink), luminance(ground)].sort((a, b) => b - a), ratio = (hi + 0.05)/(lo + 0.05);
		const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
		if (ratio < (large ? 3 : 4.5)) bad.push(text.slice(0, 30) + ' ' + ratio.toFixed(2));
	}
	return bad;
})()`

// withoutName is a script that returns descriptions of accessibility errors: pictures, sections, links and buttons without an
// accessible name, empty headings, headings that skip a level, and a number of h1 elements other than one.
const withoutName = `(() => {
	const bad = [], all = s => document.querySelectorAll(s), label = e => (e.getAttribute('aria-label') || '').trim();
	for (const e of all('svg')) {
		if (e.parentElement.closest('svg') || e.closest('[aria-hidden=true]') || e.getAttribute('role') && label(e)) continue;
		bad.push('a picture without a name: ' + e.outerHTML.slice(0, 80));
	}
	if (all('h1').length !== 1) bad.push(all('h1').length + ' first headings');
	let last = 0;
	for (const e of all('h1,h2,h3,h4')) {
		const level = Number(e.tagName[1]);
		if (level > last + 1) bad.push('a heading that skips a level: ' + e.textContent);
		last = level;
		if (!e.textContent.trim()) bad.push('an empty heading');
	}
	for (const e of all('section')) {
		if (label(e) || document.getElementById(e.getAttribute('aria-labelledby'))) continue;
		bad.push('a section without a name: ' + e.outerHTML.slice(0, 80));
	}
	for (const e of all('a[href], button')) {
		if (!e.textContent.trim() && !label(e)) bad.push('a link without a name: ' + e.outerHTML.slice(0, 80));
	}
	return bad;
})()`
