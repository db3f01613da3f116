package pages

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// unlike is a script that returns the selectors whose elements are missing, have no size, or do not have the colour of the token.
// It reads the colour of a token from an element with that colour.
const unlike = `(wanted => {
  const probe = document.body.appendChild(document.createElement('i'));
  const out = wanted.filter(([selector, property, token]) => {
    probe.style.color = 'var(' + token + ')';
    const e = document.querySelector(selector);
    const box = e?.getBoundingClientRect();
    return !(box?.width > 0 && box.height > 0) || getComputedStyle(e)[property] !== getComputedStyle(probe).color;
  });
  probe.remove();
  return out.map(String);
})([
  ['.pill.side-no', 'color', '--no'], ['.side-box.side-yes b', 'color', '--yes'], ['.side-box.side-no b', 'color', '--no'],
  ['.result.lost b', 'color', '--lost'], ['.ticket.won .score b', 'color', '--won'], ['.ticket.lost .score b', 'color', '--lost'],
  ['.ticket.lost .status', 'color', '--lost'], ['.passport h1', 'color', '--ink'],
  ['.field-error', 'color', '--danger'], ['main', 'color', '--ink'], ['.panel', 'backgroundColor', '--paper'],
])`

// TestComponents checks the component page, which the tests of the pages write: in light and dark, it must fit the width,
// components must be visible, and sides, results and errors must have the colours of their tokens.
func TestComponents(t *testing.T) {
	t.Parallel()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(root, "services/hub/internal/httpapi/pages"))))
	t.Cleanup(server.Close)
	for _, size := range browser.PhoneAndDesktop {
		for _, theme := range []string{"light", "dark"} {
			b := browser.Open(t, size)
			b.ColorScheme(theme)
			b.Visit(server.URL+"/testdata/components.html", http.StatusOK)
			if got := browser.Eval[[]string](b, unlike); len(got) > 0 {
				t.Errorf("%s, %d px: unlike the tokens: %s", theme, size.Width, strings.Join(got, "; "))
			}
			b.RequireFits()
		}
	}
}
