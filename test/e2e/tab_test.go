package e2e

import (
	"fmt"
	"strings"
	"testing"

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
