package manifold_test

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
	"github.com/signalcast/signalcast/services/api/internal/venue/manifold"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

func ids(list []venue.Market) string {
	var out []string
	for _, m := range list {
		out = append(out, strings.TrimPrefix(m.ID, "manifold-"))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// short is a short record that was made at a moment.
func short(id string, created int64) string {
	return fmt.Sprintf(`{"id":%q,"question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false,"probability":0.5,"createdTime":%d}`, id, created)
}

const first = "/search-markets?contractType=BINARY&filter=open&limit=1000&sort=newest&term="

func TestListWalksBackInTime(t *testing.T) {
	t.Parallel()
	second := "/search-markets?beforeTime=1001&contractType=BINARY&filter=open&limit=1000&sort=newest&term="
	third := strings.Replace(second, "1001", "901", 1)
	b := setup(t, map[string]string{
		first: "[" + short("c", 1200) + "," + short("b", 1000) + "]", second: "[" + short("b", 1000) + "," + short("twin", 1000) + "," + short("a", 900) + "]",
		third: "[" + short("a", 900) + "]",
	})
	var seen []string
	cursor := ""
	for range 5 {
		page, next, err := b.adapter.List(t.Context(), cursor)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, ids(page))
		if cursor = next; next == "" {
			break
		}
	}
	if !slices.Equal(seen, []string{"b c", "a b twin", "a"}) || !slices.Equal(b.Paths(), []string{first, second, third}) {
		t.Errorf("%q by %v", seen, b.Paths())
	}
}

func TestListSamples(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"search_markets_open_binary.json": "q7invented01 q7invented02",
		"search_markets_empty.json":       "",
		"markets_page1.json":              "q7invented01 q7invented02", // one with several answers is left out
		"markets_page2_last.json":         "",                          // resolved, and a poll
	} {
		page, _, err := setup(t, map[string]string{"/search-markets": venuetest.Sample(t, file)}).adapter.List(t.Context(), "")
		if err != nil || ids(page) != want {
			t.Errorf("%s: %s %v", file, ids(page), err)
		}
	}
}

func TestReadsOfOneMarketAgree(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"/search-markets": venuetest.Sample(t, "search_markets_open_binary.json"), "/market/q7invented01": venuetest.Sample(t, "market_open_binary.json")})
	quoted, err1 := b.adapter.Quote(t.Context(), []string{"manifold-q7invented01"})
	listed, _, err2 := b.adapter.List(t.Context(), "")
	got, err3 := b.adapter.Get(t.Context(), "manifold-q7invented01")
	i := slices.IndexFunc(listed, func(m venue.Market) bool { return m.ID == "manifold-q7invented01" })
	if err := errors.Join(err1, err2, err3); err != nil || i < 0 || len(quoted) != 1 {
		t.Fatalf("%d %d %v", i, len(quoted), err)
	}
	show := func(m venue.Market) string {
		return fmt.Sprint(venuetest.Members(t, &m, ""), m.Question, m.Description, m.Tags, m.ProofURL, m.Slug)
	}
	if show(listed[i]) != show(quoted[0]) || show(quoted[0]) != show(got) || got.Description == "" {
		t.Errorf("listed %s\nquoted %s\n   got %s", show(listed[i]), show(quoted[0]), show(got))
	}
}

func TestEveryWalkEnds(t *testing.T) {
	t.Parallel()
	turn := int64(0)
	for name, c := range map[string]struct {
		body func() string
		want int
	}{
		"the same page for ever":    {func() string { return "[" + short("a", 1000) + "]" }, 2},
		"an empty page":             {func() string { return "[]" }, 1},
		"no times":                  {func() string { return "[" + strings.Replace(short("a", 1), "createdTime", "x", 1) + "]" }, 1},
		"times that rise":           {func() string { turn++; return "[" + short("a", 1000+turn) + "]" }, 2},
		"a list without end":        {func() string { turn--; return "[" + short("a", 1e12+turn) + "]" }, 200},
		"nothing of use, no end":    {func() string { turn--; return "[" + strings.Replace(short("a", 1e12+turn), "BINARY", "POLL", 1) + "]" }, 200},
		"the moment of time zero":   {func() string { return "[" + short("a", 0) + "]" }, 1},
		"a moment before all times": {func() string { return "[" + short("a", -5) + "]" }, 1},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(c.body()))
		}))
		a, err := manifold.New(manifold.Config{URL: srv.URL, RequestsPerSecond: 1e6}, venue.NewMeter(prometheus.NewRegistry()), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		pages, cursor := 0, ""
		for {
			_, next, err := a.List(t.Context(), cursor)
			if err != nil {
				t.Fatal(err)
			}
			if pages++; next == "" || pages > 5000 {
				break
			}
			cursor = next
		}
		if pages != c.want {
			t.Errorf("%s: %d pages, want %d", name, pages, c.want)
		}
		srv.Close()
	}
	for _, bad := range []string{"x", "1", "0:5", "-1:5", "200:5", "1:", "1:x", "1:0", "1:-5", "1:9223372036854775807"} {
		if _, _, err := setup(t, nil).adapter.List(t.Context(), bad); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
}

func TestOneBadRecordDoesNotSpoilAPage(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"/search-markets": `[7,{"id":5},` + short("good", 1000) + `,{"id":"x","question":"q","outcomeType":"BINARY"}]`})
	page, _, err := b.adapter.List(t.Context(), "")
	if err != nil || ids(page) != "good" || b.Counted("venue_dropped_records_total", "undecodable") != 3 {
		t.Errorf("%s, %v", ids(page), err)
	}
	for _, garbage := range []string{`{}`, `null`, `{"markets":[]}`, `[{"id":5}]`, `[`} {
		if _, _, err := setup(t, map[string]string{"/search-markets": garbage}).adapter.List(t.Context(), ""); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("%s: %v", garbage, err)
		}
	}
}

func TestQuoteReadsFewOneByOneAndManyByAWalk(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{
		"/market/q7invented01": venuetest.Sample(t, "market_open_binary.json"), "/market/q7invented05": venuetest.Sample(t, "market_closed_not_resolved.json"),
		"/market/broken": `{`, "/market/q7invented14": venuetest.Sample(t, "market_poll.json"),
		"/search-markets": venuetest.Sample(t, "search_markets_open_binary.json"),
	})
	few := []string{"manifold-q7invented01", "manifold-q7invented05", "manifold-q7invented14", "manifold-broken", "manifold-gone", "manifold-q7invented01", "7"}
	got, err := b.adapter.Quote(t.Context(), few)
	if err != nil || ids(got) != "q7invented01 q7invented05" || len(b.Paths()) != 5 {
		t.Errorf("%s after %v, %v", ids(got), b.Paths(), err)
	}
	if _, err = b.adapter.Quote(t.Context(), []string{"manifold-broken"}); !errors.Is(err, venue.ErrUnavailable) {
		t.Errorf("none answered for: %v", err)
	}
	many := []string{"manifold-q7invented02"}
	for i := range 50 {
		many = append(many, "manifold-m"+strconv.Itoa(i))
	}
	before := len(b.Paths())
	got, err = b.adapter.Quote(t.Context(), many)
	if err != nil || ids(got) != "q7invented02" || len(b.Paths()) != before+2 {
		t.Errorf("%s after %v, %v", ids(got), b.Paths()[before:], err)
	}
	var all, records []string
	for i := range 50 {
		all = append(all, "manifold-c"+strconv.Itoa(i))
		records = append(records, short("c"+strconv.Itoa(i), int64(5000-i)))
	}
	full := setup(t, map[string]string{"/search-markets": "[" + strings.Join(records, ",") + "]"})
	if got, err = full.adapter.Quote(t.Context(), all); err != nil || len(got) != 50 || len(full.Paths()) != 1 {
		t.Errorf("a walk goes no further than needed: %d markets after %v, %v", len(got), full.Paths(), err)
	}
	b.Set("/search-markets", `{}`)
	if _, err = b.adapter.Quote(t.Context(), many); !errors.Is(err, venue.ErrUnavailable) {
		t.Errorf("a walk that breaks off: %v", err)
	}
	before = len(b.Paths())
	if _, err = b.adapter.Quote(market.WithPurpose(t.Context(), market.ForConfirm), many); err != nil || len(b.Paths()) != before+len(many) {
		t.Errorf("second quotes: %d requests for %d markets, %v", len(b.Paths())-before, len(many), err)
	}
}
