package venue_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// open returns the JSON record of an open market of a venue with the given key.
func open(p protocol.Provider, id string) string {
	return fmt.Sprintf(map[protocol.Provider]string{
		"kalshi":    `{"ticker":%q,"status":"active","close_time":"2027-01-01T00:00:00Z"}`,
		"limitless": `{"slug":%q,"title":"t","status":"FUNDED"}`,
		"manifold":  `{"id":%q,"question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false}`,
	}[p], id)
}

// TestIDs checks which ids the adapter of each venue accepts. An id of an invalid form gives ErrNotFound without a request.
func TestIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kit        kit
		sample     string
		others     []string // other keys for which the venue returns the same market
		foreign    []string
		list, page string // path of a list and format of its answer
		listed     []string
	}{
		{
			kalshiKit, "market_open.json", nil,
			[]string{
				"", "kalshi-", river, "Kalshi-" + river, "lmt-KXRIVER", "native-KXRIVER", "7100001", "kalshi-kxriver-26oct31-t4.5",
				"kalshi-KXRIVER-26OCT31-t4.5", "kalshi-candlesticks", "kalshi-trades", "kalshi-..", "kalshi-../events", "kalshi-A/B", "kalshi-A%2FB",
				"kalshi-A?x=1", "kalshi-A#B", "kalshi-A B", "kalshi-A\x00", "kalshi-Ä", "kalshi-" + strings.Repeat("A", 122),
			},
			"/events", `{"events":[{"event_ticker":"KXA","markets":[%s,%s]}]}`,
			[]string{"kxriver", "A/B", "", "..", "A B", strings.Repeat("A", 122)},
		},
		{
			limitlessKit, "market_clob_open.json",
			[]string{"ZED-above-10-on-oct-31-1788264000000", "zed"},
			[]string{
				"", "lmt-", zed, "LMT-" + zed, "kalshi-X", "manifold-x", "7100001", "lmt-active", "lmt-Active", "lmt-search", "lmt-categories",
				"lmt-0x6c9c60243300e2da782f43d62cc17d0e39734503", "lmt-0X6C9C60243300E2DA782F43D62CC17D0E39734503", "lmt-..", "lmt-../x", "lmt-a/b",
				"lmt-a%2fb", "lmt-a?b", "lmt-a#b", "lmt-a b", "lmt-a\x00", "lmt-ñ", "lmt--a", "lmt-" + strings.Repeat("a", 125),
			},
			"/markets/active", `{"data":[%s,%s]}`,
			[]string{"active", "a/b", "", "..", "a b", "0x6c9c60243300e2da782f43d62cc17d0e39734503", strings.Repeat("a", 125)},
		},
		{
			manifoldKit, "market_open_mixed_case_id.json",
			[]string{"abcdefgh12inventedxy", "other"},
			[]string{
				"", "manifold-", "q7invented01", "Manifold-q7invented01", "kalshi-X", "lmt-x", "7100001", "manifold-..", "manifold-../bets",
				"manifold-a/prob", "manifold-a%2fprob", "manifold-a?b", "manifold-a#b", "manifold-a b", "manifold-a\x00", "manifold-é", "manifold--a",
				"manifold-" + strings.Repeat("a", 120),
			},
			"/search-markets", `[%s,%s]`,
			[]string{"a/b", "", "..", "a b", strings.Repeat("a", 120)},
		},
	} {
		t.Run(string(c.kit.provider), func(t *testing.T) {
			t.Parallel()
			raw := c.kit.sample(t, c.sample)
			key := c.kit.member([]byte(raw), c.kit.key)
			answers := map[string]string{c.kit.path + key: raw}
			for _, other := range c.others {
				answers[c.kit.path+other] = raw
			}
			b := c.kit.setup(t, answers)
			m, err := b.Get(t.Context(), protocol.MarketID(c.kit.prefix+key))
			if err != nil || string(m.ID) != c.kit.prefix+key || m.ID.NativeKey() != key {
				t.Fatalf("read of an open market: %+v %v", m, err)
			}
			for i, other := range c.others {
				_, err := b.Get(t.Context(), protocol.MarketID(c.kit.prefix+other))
				if !errors.Is(err, market.ErrNotFound) || b.Counted("venue_dropped_records_total", "another_market") != float64(i+1) {
					t.Errorf("another market for %q: %v", other, err)
				}
			}
			before := len(b.Paths())
			for _, id := range c.foreign {
				_, get := b.Get(t.Context(), protocol.MarketID(id))
				quotes, quote := b.Quote(t.Context(), []protocol.MarketID{protocol.MarketID(id)})
				if !errors.Is(get, market.ErrNotFound) || quote != nil || len(quotes) > 0 {
					t.Errorf("%q: %v, quote %v %v", id, get, quotes, quote)
				}
			}
			if after := b.Paths(); len(after) != before {
				t.Errorf("requests for invalid ids: %v", after[before:])
			}
			for _, bad := range c.listed {
				p := c.kit.provider
				b := c.kit.setup(t, map[string]string{c.list: fmt.Sprintf(c.page, open(p, key), open(p, bad))})
				if page, _, err := b.ListOpen(t.Context(), ""); err != nil || len(page) != 1 {
					t.Errorf("%q in a list: %d markets, %v", bad, len(page), err)
				}
			}
		})
	}
}

// TestErrorAnswersAreFaults checks that status 404 means that there is no such market. Every other error answer must give
// ErrUnavailable.
func TestErrorAnswersAreFaults(t *testing.T) {
	t.Parallel()
	const many, internal = `{"message":"Too many requests"}`, `{"statusCode":500,"message":"Internal server error"}`
	for _, c := range []struct {
		provider protocol.Provider
		id       string
		quote404 error // expected error of Quote for many markets; nil if it omits missing markets
		answers  map[int][]string
	}{
		{"kalshi", "kalshi-KXRIVER-26OCT31-T4.5", market.ErrUnavailable, map[int][]string{
			404: {"error_not_found_404.json"}, 400: {"error_bad_request_400.json"}, 429: {"error_rate_limited_429.json"}, 500: {"error_flat_500.json"},
		}},
		{"limitless", "lmt-x", nil, map[int][]string{
			404: {"error_not_found_404.json"}, 400: {"error_limit_too_big_400.json"}, 429: {many}, 500: {internal},
		}},
		{"manifold", "manifold-x", nil, map[int][]string{
			404: {"error_not_found_404.json"}, 400: {"error_validation_400.json", "error_offset_400.json"}, 429: {many}, 500: {internal},
			503: {"error_busy_503.json"},
		}},
	} {
		for status, bodies := range c.answers {
			for _, body := range bodies {
				t.Run(fmt.Sprint(c.provider, " ", status, " ", body), func(t *testing.T) {
					t.Parallel()
					if strings.HasSuffix(body, ".json") {
						body = venuetest.Sample(t, c.provider, body)
					}
					srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
						w.Header().Set("Content-Type", "application/json")
						w.WriteHeader(status)
						_, _ = w.Write([]byte(body))
					}))
					defer srv.Close()
					a := venuetest.Adapters(t, srv.URL, venue.NewMeter(prometheus.NewRegistry()), venuetest.Now)[c.provider]
					var missing, quote error = market.ErrUnavailable, market.ErrUnavailable
					if status == 404 {
						missing, quote = market.ErrNotFound, c.quote404
					}
					_, err := a.Get(t.Context(), protocol.MarketID(c.id))
					check(t, "get", err, missing)
					if status == 429 || status == 503 { // the client retries twice with a delay after these statuses
						return
					}
					_, _, err = a.ListOpen(t.Context(), "")
					check(t, "list", err, market.ErrUnavailable)
					_, err = a.Quote(t.Context(), []protocol.MarketID{protocol.MarketID(c.id)})
					check(t, "quote", err, quote)
				})
			}
		}
	}
}

func check(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// TestNoIsNotTheSameAsNoAnswer checks that an answer about another market gives ErrNotFound, and that an unreadable answer
// gives ErrUnavailable.
func TestNoIsNotTheSameAsNoAnswer(t *testing.T) {
	t.Parallel()
	no, none := market.ErrNotFound, market.ErrUnavailable
	for _, c := range []struct {
		kit     kit
		key     string
		answers map[string]error
	}{
		{polymarketKit, "7", map[string]error{
			`{"id":"8","question":"q","closed":false,"outcomes":"[\"Yes\",\"No\"]"}`:    no, // another market
			`{"id":"7","question":"q","closed":"maybe","outcomes":"[\"Yes\",\"No\"]"}`:  none,
			`{"id":"7","question":"q","outcomes":"[\"Yes\",\"No\"]"}`:                   none, // no state
			`{"id":"7","question":"q","closed":false,"outcomes":"[\"A\",\"B\",\"C\"]"}`: no,
			`[]`: none, `{`: none, `null`: none,
		}},
		{kalshiKit, "KXA", map[string]error{
			`{"market":` + open("kalshi", "KXB") + `}`:                                  no, // another market
			`{"market":{"ticker":"KXA"}}`:                                               none,
			`{"market":{"ticker":"KXA","status":7}}`:                                    none,
			`{"market":{"ticker":"KXA","status":"active","yes_bid_dollars":[1]}}`:       none,
			`{"market":{"ticker":"KXA","status":"active","mve_collection_ticker":"C"}}`: no,
			`{"market":null}`: none, `{}`: none, `[]`: none, `{`: none,
		}},
		{limitlessKit, "x", map[string]error{
			open("limitless", "y"):                                            no, // another market
			`{"slug":"x","title":"t"}`:                                        none,
			`{"slug":"x","status":"FUNDED"}`:                                  none,
			`{"slug":"x","title":"t","status":7}`:                             none,
			`{"slug":"x","title":"t","status":"FUNDED","expired":"maybe"}`:    none,
			`{"slug":"x","title":"t","status":"FUNDED","marketType":"group"}`: no,
			`[]`: none, `{`: none, `null`: none,
		}},
		{manifoldKit, "x", map[string]error{
			open("manifold", "y"): no, // another market
			`{"id":"x","question":"q","outcomeType":"BINARY","mechanism":"cpmm-1"}`:     none,
			`{"id":"x","question":"q","mechanism":"cpmm-1","isResolved":false}`:         none,
			`{"id":"x","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false}`: none,
			strings.Replace(open("manifold", "x"), "false", `"maybe"`, 1):               none,
			strings.Replace(open("manifold", "x"), "BINARY", "STONK", 1):                no,
			strings.Replace(open("manifold", "x"), "cpmm-1", "dpm-2", 1):                no,
			`[]`: none, `{`: none, `null`: none,
		}},
	} {
		for body, want := range c.answers {
			t.Run(string(c.kit.provider)+" "+body, func(t *testing.T) {
				t.Parallel()
				b := c.kit.setup(t, map[string]string{c.kit.path + c.key: body})
				_, err := b.Get(t.Context(), protocol.MarketID(c.kit.prefix+c.key))
				check(t, "get", err, want)
			})
		}
	}
}

// TestEveryListEnds checks that reading all pages of open markets ends for any answers of the venue, and that an invalid
// cursor is rejected.
func TestEveryListEnds(t *testing.T) {
	t.Parallel()
	event := `{"events":[{"event_ticker":"KXA","markets":[` + open("kalshi", "KXB") + `]}],"cursor":%q}`
	keyset := func(next string) string {
		return fmt.Sprintf(`{"markets":[{"id":"7","question":"q","closed":false,"outcomes":"[]"}],"next_cursor":%q}`, next)
	}
	full := strings.Repeat(","+open("limitless", "a"), 25)[1:]
	made := func(at int64) string {
		return "[" + strings.Replace(open("manifold", "a"), "}", fmt.Sprintf(`,"createdTime":%d}`, at), 1) + "]"
	}
	for _, c := range []struct {
		provider protocol.Provider
		name     string
		body     func(turn int64) string
		want     int
	}{
		{"polymarket", "a cursor that repeats", func(int64) string { return keyset("again") }, 2},
		{"polymarket", "a list without end", func(n int64) string { return keyset(fmt.Sprint("c", n)) }, 1000},
		{"polymarket", "an empty page", func(int64) string { return `{"markets":[],"next_cursor":"more"}` }, 1},
		{"kalshi", "a cursor that repeats", func(int64) string { return fmt.Sprintf(event, "again") }, 2},
		{"kalshi", "a list without end", func(n int64) string { return fmt.Sprintf(event, fmt.Sprint("c", n)) }, 1000},
		{"kalshi", "an empty page", func(int64) string { return `{"events":[],"cursor":"more"}` }, 1},
		{"kalshi", "events without a market", func(int64) string { return `{"events":[{"event_ticker":"KXA"}],"cursor":"again"}` }, 2},
		{"kalshi", "no cursor", func(int64) string { return `{"events":[{"event_ticker":"KXA"}]}` }, 1},
		{"limitless", "the same full page, no total", func(int64) string { return `{"data":[` + full + `]}` }, 400},
		{"limitless", "the same full page, a total", func(int64) string { return `{"data":[` + full + `],"totalMarketsCount":60}` }, 3},
		{"limitless", "a total that is never reached", func(int64) string { return `{"data":[` + full + `],"totalMarketsCount":1000000}` }, 400},
		{"limitless", "a short page, no total", func(int64) string { return `{"data":[` + open("limitless", "a") + `]}` }, 1},
		{"limitless", "a short page, a total", func(int64) string {
			return `{"data":[` + open("limitless", "a") + `],"totalMarketsCount":"3"}`
		}, 3},
		{"limitless", "an empty page with a total", func(int64) string { return `{"data":[],"totalMarketsCount":50}` }, 1},
		{"limitless", "groups without a usable child", func(int64) string {
			return `{"data":[{"slug":"g","title":"t","status":"FUNDED","marketType":"group"}]}`
		}, 1},
		{"manifold", "the same page repeated", func(int64) string { return made(1000) }, 2},
		{"manifold", "an empty page", func(int64) string { return "[]" }, 1},
		{"manifold", "no times", func(int64) string { return "[" + open("manifold", "a") + "]" }, 1},
		{"manifold", "increasing times", func(n int64) string { return made(1000 + n) }, 2},
		{"manifold", "a list without end", func(n int64) string { return made(1e12 - n) }, 200},
		{"manifold", "unusable markets without end", func(n int64) string { return strings.Replace(made(1e12-n), "BINARY", "POLL", 1) }, 200},
		{"manifold", "creation time zero", func(int64) string { return made(0) }, 1},
		{"manifold", "negative creation time", func(int64) string { return made(-5) }, 1},
	} {
		t.Run(string(c.provider)+" "+c.name, func(t *testing.T) {
			t.Parallel()
			turn := int64(0)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				turn++
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(c.body(turn)))
			}))
			defer srv.Close()
			a := venuetest.Adapters(t, srv.URL, venue.NewMeter(prometheus.NewRegistry()), time.Now)[c.provider]
			pages, cursor := 0, ""
			for pages == 0 || cursor != "" && pages <= 5000 {
				var err error
				if _, cursor, err = a.ListOpen(t.Context(), cursor); err != nil {
					t.Fatal(err)
				}
				pages++
			}
			if pages != c.want {
				t.Errorf("%d pages, want %d", pages, c.want)
			}
		})
	}
	for provider, cursors := range map[protocol.Provider][]string{
		"polymarket": {"x", "1", "0:c", "-1:c", "1000:c", "1:"},
		"kalshi":     {"x", "1", "0:c", "-1:c", "1000:c", "1:"},
		"limitless":  {"x", "2", "1:0", "0:5", "-2:5", "401:5", "2:", "2:x", "2:0", "2:-5"},
		"manifold":   {"x", "1", "0:5", "-1:5", "200:5", "1:", "1:x", "1:0", "1:-5", "1:9223372036854775807"},
	} {
		b := kitOf(provider).setup(t, nil)
		for _, cursor := range cursors {
			_, _, err := b.ListOpen(t.Context(), cursor)
			check(t, string(provider)+" cursor "+cursor, err, market.ErrUnavailable)
		}
	}
}
