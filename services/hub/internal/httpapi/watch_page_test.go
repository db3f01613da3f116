package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/api/apitest"
)

// TestWatchForm watches a market from its page and from the list, lists the watched markets and removes one.
func TestWatchForm(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	page, watching := "/m/"+marketID, "/markets?watching=true"
	has(t, b.send("GET", page, ""), "!☆ Watch")
	want(t, b.send("GET", watching, ""), http.StatusSeeOther, "")
	has(t, b.send("GET", watching, "", b.bySession()), "Press the star of a market to watch it.", "noindex")
	has(t, b.send("GET", page, "", b.bySession()), "☆ Watch</button>", ` value="yes" aria-pressed="false">☆`)
	for _, form := range []struct {
		values url.Values
		status int
		header string
	}{
		{url.Values{"watch": {"yes"}}, http.StatusSeeOther, "Location: " + page},
		{url.Values{"watch": {"yes"}, "back": {"/markets?sort=endDate"}}, http.StatusSeeOther, "Location: /markets?sort=endDate"},
		{url.Values{"watch": {"yes"}, "back": {"https://evil.example/"}}, http.StatusSeeOther, "Location: " + page},
		{url.Values{"watch": {"maybe"}}, 400, ""},
		{url.Values{}, 400, ""},
	} {
		w := b.post(page+"/watch", form.values, b.bySession())
		if w.Code != form.status || form.header != "" && w.Header().Get("Location") != strings.TrimPrefix(form.header, "Location: ") {
			t.Errorf("%v: %d, %v", form.values, w.Code, w.Header())
		}
	}
	want(t, b.post("/m/404404/watch", url.Values{"watch": {"yes"}}, b.bySession()), 404, "")
	want(t, b.post(page+"/watch", url.Values{"watch": {"yes"}}, with("Origin", hubURL)), 401, "")
	has(t, b.send("GET", page, "", b.bySession()), "★ Watching</button>", ` value="no" aria-pressed="true">★`)
	has(t, b.send("GET", watching, "", b.bySession()), `<a class="t" href="`+page+`">`, ` formaction="`+page+`/watch" name="watch" value="no" aria-pressed="true" aria-label`, `>Watching</a>`)
	b.ledger.Exec(`INSERT INTO hub.watches (user_id, market_id, created_at)
		SELECT user_id, 'other-' || i, created_at + interval '1 minute' FROM hub.watches, generate_series(1, 100) AS i`)
	has(t, b.send("GET", watching, "", b.bySession()), "!★", ` rel="next" href="/markets?cursor=100&amp;watching=true">`)
	has(t, b.send("GET", watching+"&cursor=100", "", b.bySession()), `<a class="t" href="`+page+`">`, `<a href="/markets?watching=true">First page</a>`, "!rel=\"next\"")
	b.ledger.Exec(`DELETE FROM hub.watches WHERE market_id LIKE 'other-%'`)
	b.ledger.Fail(apitest.ErrDB, "ListMarkets")
	has(t, b.send("GET", watching, "", b.bySession()), "The list of markets is unavailable.")
	b.ledger.Fail(nil, "ListMarkets")
	want(t, b.post(page+"/watch", url.Values{"watch": {"no"}}, b.bySession()), http.StatusSeeOther, "")
	has(t, b.send("GET", watching, "", b.bySession()), "!★")
}
