package venue_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// TestUnusableRecordIsNotFound checks that Get returns ErrNotFound for a record on which no call is possible, such as a
// group of markets.
func TestUnusableRecordIsNotFound(t *testing.T) {
	t.Parallel()
	combination := kalshiKit.sample(t, "market_combo_to_skip.json")
	for name, c := range map[string]struct {
		kit    kit
		answer string
	}{
		"a combination by its collection":   {kalshiKit, combination},
		"a combination by its ticker alone": {kalshiKit, strings.Replace(combination, `"mve_collection_ticker"`, `"mve_other"`, 1)},
		"a group":                           {limitlessKit, limitlessKit.sample(t, "market_group.json")},
		"a group by its children alone":     {limitlessKit, limitlessKit.edit(t, m{"markets": []any{m{}}})},
	} {
		_, err := c.kit.one(t, c.answer)
		check(t, name, err, market.ErrNotFound)
	}
}

func TestInvalidRecordsAreOmittedFromAPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kit              kit
		path, page, want string
		dropped          map[string]float64
		garbage          []string
	}{
		{
			polymarketKit, "/gamma/markets/keyset", fmt.Sprintf(`{"markets":[{"id":5},%s,{"id":"9","question":"q","closed":{}},%s]}`,
				polymarketKit.sample(t, "market_open.json"), polymarketKit.sample(t, "market_legacy_three_outcomes.json")), "7100001",
			map[string]float64{"undecodable": 2, "not_two_outcomes": 1},
			[]string{`{}`, `{"markets":null}`, `{"markets":{"id":[1]}}`, `{"markets":[{"id":5}]}`, `[]`, `{"markets":[`},
		},
		{
			kalshiKit, "/events", fmt.Sprintf(`{"events":[7,{"event_ticker":"../x"},{"event_ticker":"KXA","markets":[{"ticker":5},%s,%s]}]}`,
				open(protocol.Kalshi, "KXB"), open(protocol.Kalshi, "KXMVE-1")), "KXB",
			map[string]float64{"undecodable_event": 2, "undecodable": 1, "combination": 1},
			[]string{
				`{}`, `{"events":null}`, `{"events":{"a":1}}`, `{"events":[5]}`, `{"events":[{"event_ticker":"KXA","markets":[{"ticker":5}]}]}`, `[]`,
				`{"events":[`,
			},
		},
		{
			limitlessKit, "/markets/active", fmt.Sprintf(`{"data":[7,{"slug":5},%s,{"slug":"g","title":"t","status":"FUNDED","marketType":"group",
				"markets":[{"slug":5},%s,{"slug":"inner","title":"t","status":"FUNDED","marketType":"group"}]}]}`,
				open(protocol.Limitless, "good"), open(protocol.Limitless, "child")), "child good",
			map[string]float64{"undecodable": 4},
			[]string{
				`{}`, `{"data":null}`, `{"data":{"slug":1}}`, `{"data":[{"slug":5}]}`, `{"data":[],"totalMarketsCount":{}}`, `[]`, `{"data":[`,
			},
		},
		{
			manifoldKit, "/search-markets", `[7,{"id":5},` + open(protocol.Manifold, "good") + `,{"id":"x","question":"q","outcomeType":"BINARY"}]`, "good",
			map[string]float64{"undecodable": 3},
			[]string{`{}`, `null`, `{"markets":[]}`, `[{"id":5}]`, `[`},
		},
	} {
		b := c.kit.setup(t, map[string]string{c.path: c.page})
		page, _, err := b.ListOpen(t.Context(), "")
		if err != nil || c.kit.ids(page) != c.want {
			t.Errorf("markets on the page of %s: %s, %v", c.kit.provider, c.kit.ids(page), err)
		}
		for reason, n := range c.dropped {
			if got := b.Counted("venue_dropped_records_total", reason); got != n {
				t.Errorf("%s: %v records are counted as %s, want %v", c.kit.provider, got, reason, n)
			}
		}
		for _, garbage := range c.garbage {
			_, _, err := c.kit.setup(t, map[string]string{c.path: garbage}).ListOpen(t.Context(), "")
			check(t, string(c.kit.provider)+" "+garbage, err, market.ErrUnavailable)
		}
	}
}

// TestReadsOfOneMarketAgree checks that ListOpen, Quote and Get return the same market, apart from its quote.
func TestReadsOfOneMarketAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kit      kit
		key      string
		answers  map[string]string
		first    bool // read the market first with Get, because lists contain no details
		requests int
		complete func(*market.Record) bool
	}{
		{
			kalshiKit, river, map[string]string{
				"/events": kalshiKit.sample(t, "events_page2_last.json"), "/markets": kalshiKit.sample(t, "markets_page1.json"),
				"/markets/" + river:       kalshiKit.sample(t, "market_open.json"),
				"/events/KXRIVER-26OCT31": strings.Replace(kalshiKit.sample(t, "event_single_nested.json"), "KXLANTERN-27", "KXRIVER-26OCT31", 1),
			}, false, 3, // no request for the event, because the list contained it
			func(m *market.Record) bool { return m.Lane == "SCIENCE" },
		},
		{
			limitlessKit, "ada-quill-1787000000001",
			map[string]string{
				"/markets/active":                  limitlessKit.sample(t, "markets_active_page1.json"),
				"/markets/ada-quill-1787000000001": limitlessKit.sample(t, "market_group_child.json"),
			},
			false, 3,
			func(m *market.Record) bool { return m.EventKey != "" },
		},
		{
			manifoldKit, "q7invented01",
			map[string]string{
				"/search-markets":      manifoldKit.sample(t, "search_markets_open_binary.json"),
				"/market/q7invented01": manifoldKit.sample(t, "market_open_binary.json"),
			},
			true, 4,
			func(m *market.Record) bool { return m.Description != "" },
		},
	} {
		b, id := c.kit.setup(t, c.answers), protocol.MarketID(c.kit.prefix+c.key)
		if c.first {
			_, _ = b.Get(t.Context(), id)
		}
		listed, _, err1 := b.ListOpen(t.Context(), "")
		quoted, err2 := b.Quote(t.Context(), []protocol.MarketID{id})
		got, err3 := b.Get(t.Context(), id)
		i := slices.IndexFunc(listed, func(m market.Record) bool { return m.ID == id })
		if err := errors.Join(err1, err2, err3); err != nil || i < 0 || len(quoted) != 1 {
			t.Fatalf("reads of %s: %d %d %v", id, i, len(quoted), err)
		}
		for _, m := range []market.Record{listed[i], quoted[0]} {
			if m.Quote, m.Short = got.Quote, got.Short; !cmp.Equal(m, got) {
				t.Errorf("%s (-read individually +in a list):\n%s", id, cmp.Diff(got, m))
			}
		}
		if asked := b.Paths(); !c.complete(&got) || len(asked) != c.requests {
			t.Errorf("%+v after %v", got, asked)
		}
	}
}

func TestUnknownWordsAreCounted(t *testing.T) {
	t.Parallel()
	type words = map[[2]string]float64
	for _, c := range []struct {
		kit     kit
		edits   []m
		words   words   // numbers of counted unknown words, by field and word
		dropped float64 // number of dropped records, all with the reason not_binary
	}{
		{polymarketKit, []m{
			{"umaResolutionStatus": "reconsidered"}, {"umaResolutionStatus": "reconsidered"},
		}, words{{"umaResolutionStatus", "reconsidered"}: 2}, 0},
		{kalshiKit, []m{
			{"status": "reviewing"}, {"status": "reviewing"}, {"status": "finalized", "result": "split"},
		}, words{{"status", "reviewing"}: 2, {"result", "split"}: 1, {"category", "oddities"}: 3}, 0},
		{limitlessKit, []m{
			{"status": "FAILED"},
			{"status": "FAILED"},
			{"status": "CREATED"},
			{"status": "DRAFT"},
			{"marketType": "scalar"},
			{"tradeType": "rfq"},
			{"status": "RESOLVED", "winningOutcomeIndex": 3},
		}, words{{"status", "failed"}: 2, {"marketType", "scalar"}: 1, {"tradeType", "rfq"}: 1, {"winningOutcomeIndex", "3"}: 1}, 0},
		{manifoldKit, []m{
			{"outcomeType": "RANKED"},
			{"outcomeType": "RANKED"},
			{"mechanism": "dpm-2"},
			{"token": "GOLD"},
			{"isResolved": true, "resolution": "SPLIT"},
			{"outcomeType": "POLL"},
			{"token": "CASH"},
		}, words{{"outcomeType", "RANKED"}: 2, {"mechanism", "dpm-2"}: 1, {"token", "GOLD"}: 1, {"resolution", "SPLIT"}: 1}, 4},
	} {
		b := c.kit.setup(t, map[string]string{
			"/events/KXRIVER-26OCT31": `{"event":{"event_ticker":"KXRIVER-26OCT31","category":"Oddities"}}`,
		})
		for _, edit := range c.edits {
			answer := c.kit.edit(t, edit)
			key := c.kit.member([]byte(answer), c.kit.key)
			b.Set(c.kit.path+key, answer)
			if _, err := b.Get(t.Context(), protocol.MarketID(c.kit.prefix+key)); err != nil && !errors.Is(err, market.ErrNotFound) {
				t.Fatal(err)
			}
		}
		total := 0.0
		for word, n := range c.words {
			total += n
			if got := b.Counted("venue_unknown_words_total", string(c.kit.provider), word[0], word[1]); got != n {
				t.Errorf("%s: %v is counted %v times, want %v", c.kit.provider, word, got, n)
			}
		}
		all, dropped := b.Counted("venue_unknown_words_total"), b.Counted("venue_dropped_records_total")
		notBinary := b.Counted("venue_dropped_records_total", "not_binary")
		if all != total || dropped != c.dropped || notBinary != c.dropped {
			t.Errorf("%s: %v words counted, want %v; %v records dropped, %v as not_binary, want %v", c.kit.provider, all, total, dropped, notBinary, c.dropped)
		}
	}
}

// TestQuoteOfFewAndOfManyMarkets checks Quote for venues that cannot return several ids in one request. Few markets are read
// one by one, and many markets through the list of open markets.
func TestQuoteOfFewAndOfManyMarkets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kit     kit
		answers map[string]string
		few     string // keys, separated by spaces; the first one is requested twice
		found   string
		many    []string
		most    int // largest number of markets that are read one by one
		listed  string
	}{
		{
			limitlessKit,
			map[string]string{
				"/markets/" + zed: limitlessKit.sample(t, "market_clob_open.json"), "/markets/broken": `{`,
				"/markets/locked-question-1790000000004": limitlessKit.sample(t, "market_provisional_locked.json"),
				"/markets/active?limit=25&page=1":        limitlessKit.sample(t, "markets_active_page1.json"),
				"/markets/active?limit=25&page=2":        limitlessKit.sample(t, "markets_active_page2_last.json"),
			},
			zed + " locked-question-1790000000004 broken gone", "locked-question-1790000000004 " + zed,
			[]string{"ada-quill-1787000000001", "flagged-question-1790000000001"},
			25, "ada-quill-1787000000001 flagged-question-1790000000001",
		},
		{manifoldKit, map[string]string{
			"/market/q7invented01": manifoldKit.sample(t, "market_open_binary.json"), "/market/broken": `{`,
			"/market/q7invented05": manifoldKit.sample(t, "market_closed_not_resolved.json"),
			"/market/q7invented14": manifoldKit.sample(t, "market_poll.json"),
			"/search-markets":      manifoldKit.sample(t, "search_markets_open_binary.json"),
		}, "q7invented01 q7invented05 q7invented14 broken gone", "q7invented01 q7invented05", []string{"q7invented02"}, 40, "q7invented02"},
	} {
		b := c.kit.setup(t, c.answers)
		keys := strings.Fields(c.few)
		ids := []protocol.MarketID{"7", protocol.MarketID(c.kit.prefix + keys[0])}
		for _, key := range keys {
			ids = append(ids, protocol.MarketID(c.kit.prefix+key))
		}
		got, err := b.Quote(t.Context(), ids)
		if err != nil || c.kit.ids(got) != c.found || len(b.Paths()) != len(keys) {
			t.Errorf("%s after %v, %v", c.kit.ids(got), b.Paths(), err)
		}
		_, err = b.Quote(t.Context(), []protocol.MarketID{protocol.MarketID(c.kit.prefix + "broken")})
		check(t, "none answered for", err, market.ErrUnavailable)
		var many []protocol.MarketID
		for i := range c.most {
			many = append(many, protocol.MarketID(fmt.Sprint(c.kit.prefix, "m", i)))
		}
		for _, key := range c.many {
			many = append(many, protocol.MarketID(c.kit.prefix+key))
		}
		before := len(b.Paths())
		got, err = b.Quote(t.Context(), many)
		if err != nil || c.kit.ids(got) != c.listed || len(b.Paths()) != before+2 {
			t.Errorf("%s after %v, %v", c.kit.ids(got), b.Paths()[before:], err)
		}
	}
}
