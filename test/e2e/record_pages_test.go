package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net/http"
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

	"github.com/signalcast/signalcast/pkg/testkit"
)

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

// leads asks every address of ours that the page links to.
func (b *tab) leads(seen map[string]bool) {
	b.t.Helper()
	hub := up(b.t).Hub
	list := ask(b, "read the links", chromedp.Evaluate[[]string](`[...document.querySelectorAll('a[href], link[rel=stylesheet], link[rel=icon]')].map(e => e.href)`))
	for _, raw := range list {
		address, _, _ := strings.Cut(raw, "#")
		if seen[address] || !strings.HasPrefix(address, hub+"/") {
			continue
		}
		seen[address] = true
		if a := get(b.t, address); a.status >= 400 {
			b.t.Errorf("%s answers %d", address, a.status)
		}
	}
}

const hostileName = `"><img src=x onerror=canary(1)><b>Ann`

// recordHolder is somebody with a call of every kind, more than a page shows, and words
// that are no words.
func recordHolder(t *testing.T, s *stack) (p *person, first string) {
	t.Helper()
	p = s.person(t)
	post(t, s.Hub+"/api/streamer/profile", p.auth(t), payload(obj{"displayName": hostileName, "bio": "Rivers do not read polls.\n<script>canary(2)</script>"})).is(http.StatusOK)
	var ended []string
	for i := range 28 {
		price := []int{900, 3000, 5500, 7000}[i%4]
		market := s.venue(t, float64(price)/10_000, obj{"spread": 0, "tags": []string{[]string{"Science", "Music", "Sports"}[i%3]}})
		get(t, s.Hub+"/api/m/"+market).is(http.StatusOK) // an operator's calls have 20 reads of a venue a minute
		id := p.call(t, market, "YES", price, obj{"confidence": 10 + 3*i, "textTake": `<img src=x onerror=canary(3)> The dam opened at noon.`})
		switch {
		case i == 0:
			first = id
			s.turn(t, market, obj{"state": "resolved", "outcome": "YES"})
		case i%9 == 8:
			s.turn(t, market, obj{"state": "resolved", "outcome": "INVALID"})
		case i < 24:
			s.turn(t, market, obj{"state": "resolved", "outcome": []string{"NO", "YES", "YES"}[i%3]})
		default:
			continue
		}
		ended = append(ended, id)
	}
	s.settled(t, ended...)
	return p, first
}

// settled scans until calls on markets that their venue resolved have their results.
func (s *stack) settled(t *testing.T, ids ...string) {
	t.Helper()
	eventually(t, func() bool {
		s.scan(t)
		return !slices.ContainsFunc(ids, func(id string) bool { return s.signal(t, id).str("status") == "pending" })
	}, "the results")
}

// TestRecordPage: the record of somebody on one page, on a phone and on a desk, in light
// and dark, with and without scripts; every way from it leads somewhere.
func TestRecordPage(t *testing.T) {
	t.Parallel()
	s := up(t)
	p, first := recordHolder(t, s)
	page, seen := "/u/"+p.user, map[string]bool{}
	testkit.Eventually(t, 60*time.Second, func() bool { // results are numbered, and what was read before has its time
		a := get(t, s.Hub+"/api/operator/"+p.user+"/skill").is(http.StatusOK)
		body := string(get(t, s.Hub+page).body)
		return a.at("report") != nil && same(a.at("report.calls"), 22) && strings.Contains(body, "these 22 decided calls") && strings.Contains(body, "Score over time")
	})
	for _, size := range bothSizes {
		b, where := open(t, size[0], size[1]), fmt.Sprint(page, " at ", size[0])
		b.whole(page)
		shows(t, b, "main", hostileName, "@"+p.user, "Independent", "Skill or luck?", "edge", "decided calls", "Score over time", "Said and came",
			"Edge by lane", "Science", "Moments", "Epic", "won at 9¢", "The dam opened at noon", "22", "record verify", "Won", "Lost", "Void", "Open")
		b.examine(where)
		b.leads(seen)
		b.press(`a[rel="next"]`, `#calls`)
		shows(t, b, "#calls", "Older calls", "From the newest")
		if n := b.count(".calls-of li"); n != 3 {
			t.Errorf("%d calls on the second page", n)
		}
		b.press(`.best a`, `article.ticket`)
		if at := b.at(); at != s.Hub+"/receipts/"+first {
			t.Errorf("the best call is %s", at)
		}
		b.press(`.facts a[href="`+page+`"]`, `.r-head`) // and back
		quiet := open(t, size[0], size[1])
		quiet.scriptless()
		quiet.whole(page)
		shows(t, quiet, "main", "Skill or luck?", "Score over time", "More calls")
		quiet.clean(where + " without scripts")
		missing := open(t, size[0], size[1])
		missing.visit(s.Hub+"/u/nobody_of_that_name", http.StatusNotFound)
		shows(t, missing, "main", "404", "Nothing here")
	}
	newcomer := s.person(t)
	get(t, s.Hub+"/api/dev/whoami", newcomer.login()).is(http.StatusOK)
	b := open(t, phoneWidth, phoneHeight)
	b.whole("/u/" + newcomer.user)
	shows(t, b, "main", "has not called anything yet")
	b.examine("somebody without a call")
	newcomer.call(t, s.native(t, 5000), "NO", 5000)
	eventually(t, func() bool {
		b.whole("/u/" + newcomer.user)
		return strings.Contains(b.text("main"), "is decided yet")
	}, "an open call")
	b.examine("somebody with an open call")
	shownEverywhere(t, s, p, first)
}

// shownEverywhere: the frame, the card, the embed and the lines of the record say the
// same of somebody as the atom does.
func shownEverywhere(t *testing.T, s *stack, p *person, first string) {
	t.Helper()
	var atom *answer
	testkit.Eventually(t, 10*time.Second, func() bool {
		atom = get(t, s.Hub+"/api/operator/"+p.user).is(http.StatusOK)
		return same(atom.at("stats.resolvedCalls"), 22)
	})
	embed := get(t, s.Hub+"/api/embed/operator/"+p.user).is(http.StatusOK)
	embed.has(obj{"rank": atom.at("rank"), "score": atom.at("stats.score"), "accuracy": atom.at("stats.accuracy"), "live": atom.at("live"), "liveSignal": atom.at("liveSignal")})
	mine, theirs := embed.list("recentCalls"), atom.list("recentCalls")
	if fmt.Sprint(mine) != fmt.Sprint(theirs) || len(mine) != 10 {
		t.Errorf("the embed has %v, the atom %v", mine, theirs)
	}
	minted := map[string]string{}
	for _, m := range atom.list("moments") {
		minted[m.(map[string]any)["signalId"].(string)] = m.(map[string]any)["tier"].(string)
	}
	written := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(get(t, s.Hub+"/api/operator/"+p.user+"/record").is(http.StatusOK).body))
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		var line struct{ ID, Moment string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Moment != "" {
			written[line.ID] = line.Moment
		}
	}
	if fmt.Sprint(minted) != fmt.Sprint(written) || minted[first] != "EPIC" {
		t.Errorf("moments: %v minted, %v written", minted, written)
	}
	card := s.Hub + "/api/card/operator/" + p.user
	svg := xml.NewDecoder(bytes.NewReader(get(t, card+".svg").is(http.StatusOK).body))
	for {
		if _, err := svg.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if img, err := png.Decode(bytes.NewReader(get(t, card+".png").is(http.StatusOK).body)); err != nil || img.Bounds().Dx() != 1200 {
		t.Errorf("the card: %v", err)
	}
	b := open(t, 420, 220)
	b.visit(s.Hub+"/operator/"+p.user+"/embed", http.StatusOK)
	shows(t, b, "main", hostileName, "28", "Score", "%")
	b.fits("the frame")
	b.shoot("frame")
	b.clean("the frame")
	for _, kind := range []string{".svg", ".png"} {
		b.visit(card+kind, http.StatusOK)
		b.shoot("card" + kind)
	}
}

// TestNetworkPages: boards, stations and the pulse on a phone and on a desk.
func TestNetworkPages(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market := s.venue(t, 0.2)
	id := p.call(t, market, "YES", 2000)
	s.turn(t, market, obj{"state": "resolved", "outcome": "YES"})
	s.settled(t, id)
	for _, board := range []string{"/board?order=edge", "/board"} {
		eventually(t, func() bool {
			return strings.Contains(string(get(t, s.Hub+board).is(http.StatusOK).body), `href="/u/`+p.user+`"`)
		}, p.user+" on "+board)
	}
	seen := map[string]bool{}
	for _, size := range bothSizes {
		b := open(t, size[0], size[1])
		for path, words := range map[string][]string{
			"/board":                              {"Board", "People", "By broadcast score", "Points", "@" + p.user},
			"/board?order=edge":                   {"By the lower end of the edge", "Lower end", "@" + p.user},
			"/board?operators=house&lane=culture": {"Nobody is on this board yet"},
			"/network":                            {"This station", "Operators of all stations", "Tapes"},
			"/pulse":                              {"North star", "Calls of people, by week", "House and machines", "Decided"},
		} {
			b.whole(path)
			shows(t, b, "main", words...)
			b.examine(fmt.Sprint(path, " at ", size[0]))
			b.leads(seen)
		}
		b.whole("/pulse")
		if n := b.count(".weeks .plot g"); n != 32 {
			t.Errorf("%d weeks are drawn", n)
		}
		for _, name := range []string{"Board", "Network", "Pulse", "Markets"} {
			b.press(`header nav a[href="/`+strings.ToLower(name)+`"]`, `header nav a[href="/`+strings.ToLower(name)+`"][aria-current]`)
		}
		b.whole("/board?order=edge")
		b.press(`.ranks tbody tr:first-child a`, `.r-head`)
		quiet := open(t, size[0], size[1])
		quiet.scriptless()
		for _, path := range []string{"/board?order=edge", "/network", "/pulse"} {
			quiet.whole(path)
			if n := quiet.count("main svg[role=img], main table"); n == 0 {
				t.Errorf("%s shows nothing without scripts", path)
			}
		}
		quiet.clean("the network without scripts at " + strconv.FormatInt(size[0], 10))
	}
	headersOfPages(t, s, "/board", "/board?order=edge", "/network", "/pulse", "/u/"+p.user)
}
