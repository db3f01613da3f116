package limitless_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/limitless"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

func ids(list []venue.Market) string {
	var out []string
	for _, m := range list {
		out = append(out, strings.TrimPrefix(m.ID, "lmt-"))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestListPages(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{
		"/markets/active?limit=25&page=1":  venuetest.Sample(t, "markets_active_page1.json"),
		"/markets/active?limit=25&page=2":  venuetest.Sample(t, "markets_active_page2_last.json"),
		"/markets/active":                  venuetest.Sample(t, "markets_active_empty_page.json"),
		"/markets/ada-quill-1787000000001": venuetest.Sample(t, "market_group_child.json"),
	})
	page, next, err := b.adapter.List(t.Context(), "")
	// The third child of the group is resolved.
	if err != nil || ids(page) != "ada-quill-1787000000001 bo-reed-1787000000002 dollarzed-above-dollar0216-on-oct-10-1300-utc-1791633000000 zed-above-10-on-oct-31-1788264000000" {
		t.Fatalf("%s, next %q, %v", ids(page), next, err)
	}
	page, next, err = b.adapter.List(t.Context(), next)
	if err != nil || ids(page) != "flagged-question-1790000000001 will-nandu-win-1790000000000" || next != "" {
		t.Fatalf("%s, next %q, %v", ids(page), next, err)
	}
	if page, next, err = b.adapter.List(t.Context(), "3:5"); err != nil || len(page) != 0 || next != "" {
		t.Errorf("past the end: %s, next %q, %v", ids(page), next, err)
	}
	child, err := b.adapter.Get(t.Context(), "lmt-ada-quill-1787000000001")
	if err != nil || child.Question != "Invented Guild winner: Ada Quill" || child.EventKey != "invented-guild-winner-1787000000000" || child.EventTitle != "Invented Guild winner" {
		t.Errorf("a child keeps what its group told: %+v %v", child, err)
	}
}

func TestReadsOfOneMarketAgree(t *testing.T) {
	t.Parallel()
	const slug = "ada-quill-1787000000001"
	b := setup(t, map[string]string{"/markets/active": venuetest.Sample(t, "markets_active_page1.json"), "/markets/" + slug: venuetest.Sample(t, "market_group_child.json")})
	listed, _, err1 := b.adapter.List(t.Context(), "")
	quoted, err2 := b.adapter.Quote(t.Context(), []string{"lmt-" + slug})
	got, err3 := b.adapter.Get(t.Context(), "lmt-"+slug)
	i := slices.IndexFunc(listed, func(m venue.Market) bool { return m.ID == "lmt-"+slug })
	if err := errors.Join(err1, err2, err3); err != nil || i < 0 || len(quoted) != 1 {
		t.Fatalf("%d %d %v", i, len(quoted), err)
	}
	show := func(m venue.Market) string {
		return fmt.Sprint(venuetest.Members(t, &m, ""), m.Question, m.Description, m.Tags, m.EventKey, m.ProofURL, m.ConditionID)
	}
	if show(listed[i]) != show(quoted[0]) || show(quoted[0]) != show(got) {
		t.Errorf("listed %s\nquoted %s\n   got %s", show(listed[i]), show(quoted[0]), show(got))
	}
}

func TestEveryWalkEnds(t *testing.T) {
	t.Parallel()
	walk := func(a *limitless.Adapter) (pages int) {
		cursor := ""
		for {
			_, next, err := a.List(t.Context(), cursor)
			if err != nil {
				t.Fatal(err)
			}
			if pages++; next == "" || pages > 5000 {
				return pages
			}
			cursor = next
		}
	}
	records := strings.Repeat(`,{"slug":"a","title":"t","status":"FUNDED"}`, 25)[1:]
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"the same full page, no total":   {`{"data":[` + records + `]}`, 400},
		"the same full page, a total":    {`{"data":[` + records + `],"totalMarketsCount":60}`, 3},
		"a total that is never reached":  {`{"data":[` + records + `],"totalMarketsCount":1000000}`, 400},
		"a short page, no total":         {`{"data":[{"slug":"a","title":"t","status":"FUNDED"}]}`, 1},
		"a short page, a total":          {`{"data":[{"slug":"a","title":"t","status":"FUNDED"}],"totalMarketsCount":"3"}`, 3},
		"an empty page with a total":     {`{"data":[],"totalMarketsCount":50}`, 1},
		"groups without a child to keep": {`{"data":[{"slug":"g","title":"t","status":"FUNDED","marketType":"group"}]}`, 1},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(c.body))
		}))
		a, err := limitless.New(limitless.Config{URL: srv.URL, RequestsPerSecond: 1e6}, venue.NewMeter(prometheus.NewRegistry()), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if n := walk(a); n != c.want {
			t.Errorf("%s: %d pages, want %d", name, n, c.want)
		}
		srv.Close()
	}
	for _, bad := range []string{"x", "2", "1:0", "0:5", "-2:5", "401:5", "2:", "2:x", "2:0", "2:-5"} {
		if _, _, err := setup(t, nil).adapter.List(t.Context(), bad); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
}

func TestOneBadRecordDoesNotSpoilAPage(t *testing.T) {
	t.Parallel()
	good := `{"slug":"good","title":"t","status":"FUNDED"}`
	group := `{"slug":"g","title":"t","status":"FUNDED","marketType":"group","markets":[{"slug":5},{"slug":"child","title":"t","status":"FUNDED"},{"slug":"inner","title":"t","status":"FUNDED","marketType":"group"}]}`
	b := setup(t, map[string]string{"/markets/active": fmt.Sprintf(`{"data":[7,{"slug":5},%s,%s]}`, good, group)})
	page, _, err := b.adapter.List(t.Context(), "")
	if err != nil || ids(page) != "child good" || b.Counted("venue_dropped_records_total", "undecodable") != 4 {
		t.Errorf("%s, %v", ids(page), err)
	}
	for _, garbage := range []string{`{}`, `{"data":null}`, `{"data":{"slug":1}}`, `{"data":[{"slug":5}]}`, `{"data":[],"totalMarketsCount":{}}`, `[]`, `{"data":[`} {
		if _, _, err := setup(t, map[string]string{"/markets/active": garbage}).adapter.List(t.Context(), ""); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("%s: %v", garbage, err)
		}
	}
}

func TestQuoteReadsFewOneByOneAndManyByAWalk(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{
		"/markets/zed-above-10-on-oct-31-1788264000000": venuetest.Sample(t, "market_clob_open.json"),
		"/markets/locked-question-1790000000004":        venuetest.Sample(t, "market_provisional_locked.json"),
		"/markets/broken":                               `{`,
		"/markets/active?limit=25&page=1":               venuetest.Sample(t, "markets_active_page1.json"),
		"/markets/active?limit=25&page=2":               venuetest.Sample(t, "markets_active_page2_last.json"),
	})
	few := []string{"lmt-zed-above-10-on-oct-31-1788264000000", "lmt-locked-question-1790000000004", "lmt-broken", "lmt-gone", "lmt-zed-above-10-on-oct-31-1788264000000", "7"}
	got, err := b.adapter.Quote(t.Context(), few)
	if err != nil || ids(got) != "locked-question-1790000000004 zed-above-10-on-oct-31-1788264000000" || len(b.Paths()) != 4 {
		t.Errorf("%s after %v, %v", ids(got), b.Paths(), err)
	}
	if _, err = b.adapter.Quote(t.Context(), []string{"lmt-broken"}); !errors.Is(err, venue.ErrUnavailable) {
		t.Errorf("none answered for: %v", err)
	}
	many := []string{"lmt-ada-quill-1787000000001", "lmt-flagged-question-1790000000001"}
	for i := range 30 {
		many = append(many, "lmt-m"+strconv.Itoa(i))
	}
	before := len(b.Paths())
	got, err = b.adapter.Quote(t.Context(), many)
	if err != nil || ids(got) != "ada-quill-1787000000001 flagged-question-1790000000001" || len(b.Paths()) != before+2 {
		t.Errorf("%s after %v, %v", ids(got), b.Paths()[before:], err)
	}
	var all, children []string
	for i := range 30 {
		all = append(all, "lmt-c"+strconv.Itoa(i))
		children = append(children, fmt.Sprintf(`{"slug":"c%d","title":"t","status":"FUNDED"}`, i))
	}
	full := setup(t, map[string]string{"/markets/active": `{"totalMarketsCount":99,"data":[{"slug":"g","title":"t","status":"FUNDED","markets":[` + strings.Join(children, ",") + `]}]}`})
	if got, err = full.adapter.Quote(t.Context(), all); err != nil || len(got) != 30 || len(full.Paths()) != 1 {
		t.Errorf("a walk goes no further than needed: %d markets after %v, %v", len(got), full.Paths(), err)
	}
	b.Unset("/markets/active?limit=25&page=2")
	if _, err = b.adapter.Quote(t.Context(), many); !errors.Is(err, venue.ErrUnavailable) {
		t.Errorf("a walk that breaks off: %v", err)
	}
	before = len(b.Paths())
	if _, err = b.adapter.Quote(market.WithPurpose(t.Context(), market.ForConfirm), many); err != nil || len(b.Paths()) != before+len(many) {
		t.Errorf("second quotes: %d requests for %d markets, %v", len(b.Paths())-before, len(many), err)
	}
}
