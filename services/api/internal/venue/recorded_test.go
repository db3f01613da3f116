package venue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/history"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue/polymarket"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// then is the time at which the recorded answers are read. It is just after the answers in the directory shared were
// recorded.
var then = time.Date(2026, 2, 6, 0, 0, 0, 0, time.UTC)

// folders returns the directories with recorded answers: the directory shared, if it exists, and those in the environment
// variable VENUE_SIM_DATA.
func folders(t *testing.T) (out []string) {
	t.Helper()
	if dir, ok := shared(t, "recorded"); ok {
		out = append(out, dir)
	}
	for dir := range strings.SplitSeq(os.Getenv("VENUE_SIM_DATA"), ":") {
		if dir != "" {
			out = append(out, dir)
		}
	}
	return out
}

// load reads every JSON file below a directory. Of several records with the same key, it collects the first.
func load(t *testing.T, dir string) *collected {
	t.Helper()
	all, seen, files := &collected{books: map[string]json.RawMessage{}}, map[protocol.MarketID]bool{}, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") {
			return err
		}
		raw := read(t, path)
		if files++; !json.Valid(raw) {
			t.Errorf("%s is not JSON", path)
			return nil
		}
		c := collect(raw)
		if len(c.records)+len(c.books)+len(c.histories) == 0 {
			t.Logf("file without a market: %s", path)
		}
		for _, r := range c.records {
			if !seen[r.id()] {
				seen[r.id()] = true
				all.records = append(all.records, r)
			}
		}
		for key, raw := range c.books {
			all.books[key] = raw
		}
		all.histories, all.odd = append(all.histories, c.histories...), all.odd+c.odd
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d files, %d markets, %d order-book records, %d histories, %d values of an unknown form",
		filepath.Base(dir), files, len(all.records), len(all.books), len(all.histories), all.odd)
	if files == 0 {
		t.Errorf("%s contains no market", dir)
	}
	return all
}

// answers returns the answers of a test host, by path, that serves the collected records. For an order-book record whose
// market was not recorded, it adds a market without an oracle state.
func (c *collected) answers(t *testing.T) map[string]string {
	t.Helper()
	out, known, lists := map[string]string{}, map[string]bool{}, map[protocol.Provider][]json.RawMessage{}
	for _, k := range kits {
		lists[k.provider] = []json.RawMessage{}
	}
	for _, r := range c.records {
		known[fmt.Sprint(r.fields["conditionId"])] = true
	}
	n := 900_000_000
	for condition, book := range c.books {
		out["/clob/markets/"+condition] = string(book)
		if known[condition] {
			continue
		}
		n++
		c.records = append(c.records, shell(t, n, book))
	}
	for _, r := range c.records {
		out[r.base+r.path+r.of] = r.answer(r.raw)
		lists[r.provider] = append(lists[r.provider], r.raw)
	}
	for path, box := range map[string]any{
		"/gamma/markets/keyset":                 map[string]any{"markets": lists["polymarket"]},
		venuetest.Kalshi + "/events":            map[string]any{"cursor": "", "events": c.events()},
		venuetest.Limitless + "/markets/active": map[string]any{"data": lists["limitless"], "totalMarketsCount": len(lists["limitless"])},
		venuetest.Manifold + "/search-markets":  lists["manifold"],
	} {
		raw, err := json.Marshal(box)
		if err != nil {
			t.Fatal(err)
		}
		out[path] = string(raw)
	}
	return out
}

// events returns the collected markets of Kalshi, grouped by event as the venue lists them.
func (c *collected) events() []any {
	type event struct {
		Ticker   any               `json:"event_ticker"`
		Series   any               `json:"series_ticker"`
		Title    any               `json:"title"`
		Category any               `json:"category"`
		Markets  []json.RawMessage `json:"markets"`
	}
	byKey, out := map[any]*event{}, []any{}
	for _, r := range c.records {
		if r.provider != "kalshi" {
			continue
		}
		key := r.fields["event_ticker"]
		e := byKey[key]
		if e == nil {
			e = &event{Ticker: key, Series: r.event["series_ticker"], Title: r.event["title"], Category: r.event["category"]}
			byKey[key], out = e, append(out, e)
		}
		e.Markets = append(e.Markets, r.raw)
	}
	return out
}

// shell returns a record of a Polymarket market that fits a recorded order-book record. n makes its id unique.
func shell(t *testing.T, n int, book json.RawMessage) record {
	t.Helper()
	b, err := object(book)
	if err != nil {
		t.Fatal(err)
	}
	var labels, tokens, prices []string
	list, _ := b["tokens"].([]any)
	for _, one := range list {
		token, _ := one.(map[string]any)
		labels, tokens = append(labels, fmt.Sprint(token["outcome"])), append(tokens, fmt.Sprint(token["token_id"]))
		prices = append(prices, fmt.Sprint(token["price"]))
	}
	inner := func(list []string) string { raw, _ := json.Marshal(list); return string(raw) }
	fields := map[string]any{
		"id": fmt.Sprint(n), "conditionId": b["condition_id"], "question": b["question"], "slug": b["market_slug"], "closed": b["closed"],
		"outcomes": inner(labels), "outcomePrices": inner(prices), "clobTokenIds": inner(tokens), "enableOrderBook": b["enable_order_book"],
		"acceptingOrders": b["accepting_orders"], "endDate": b["end_date_iso"],
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	o, err := object(raw)
	if err != nil {
		t.Fatal(err)
	}
	return record{polymarketKit, fmt.Sprint(n), raw, o, nil}
}

// check returns the differences between a market that an adapter returned and the record from which it was read.
func (r record) check(m *market.Record) (wrong []string) {
	say := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	err := inconsistent(m, r.provider, r.id().NativeKey())
	say(err != nil, "%v", err)
	say(m.Title == "", "no title")
	say(m.ClosedAt != nil && (m.Status == protocol.MarketOpen || m.ClosedAt.After(then)), "%s closed at %v", m.Status, m.ClosedAt)
	if want, ok := r.price(); ok && m.Status != protocol.MarketResolved {
		say(m.Yes == nil || int64(*m.Yes) != want, "%s bps, the record says %d", priceOf(m), want)
	}
	return wrong
}

// TestRecordedAnswersDecode checks that the adapters return a market for every recorded record, or omit it with a counted
// reason. No market may be resolved without an outcome, and every price must be that of the record. A list must return the
// same markets as single reads.
func TestRecordedAnswersDecode(t *testing.T) {
	t.Parallel()
	_, present := shared(t, "recorded")
	for i, dir := range folders(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			c := load(t, dir)
			v := venuetest.NewHost(t, "", c.answers(t))
			all := venuetest.Adapters(t, v.URL, v.Meter, func() time.Time { return then })
			alone, left := map[protocol.MarketID]market.Record{}, 0
			tally := map[protocol.Provider]map[string]int{}
			for _, r := range c.records {
				if tally[r.provider] == nil {
					tally[r.provider] = map[string]int{}
				}
				before := v.Counted("venue_dropped_records_total", string(r.provider))
				m, err := all[r.provider].Get(t.Context(), r.id())
				if err != nil {
					if tally[r.provider]["omitted"]++; !errors.Is(err, market.ErrNotFound) || v.Counted("venue_dropped_records_total", string(r.provider)) != before+1 {
						t.Errorf("%s: neither read nor counted as omitted: %v", r.id(), err)
					}
					left++
					continue
				}
				for _, wrong := range r.check(&m) {
					t.Errorf("market %s: %s", r.id(), wrong)
				}
				alone[m.ID] = m
				tally[r.provider][string(m.Status)]++
				if m.Verdict != nil {
					tally[r.provider][string(*m.Verdict)]++
				}
			}
			c.compareLists(t, all, alone)
			c.readHistories(t, v, all["polymarket"].(*polymarket.Adapter))
			for _, r := range []string{"undecodable", "another_market", "stream_undecodable"} {
				if n := v.Counted("venue_dropped_records_total", r); n != 0 {
					t.Errorf("%v records are omitted as %s", n, r)
				}
			}
			t.Logf("%v, %d omitted", tally, left)
			if present && i == 0 {
				p, k := tally["polymarket"], tally["kalshi"]
				if c.odd != 0 || p["omitted"] != 14 || p["resolved"] < 250 || p["open"] < 150 || k["open"] != 238 || k["resolved"] != 86 || k["INVALID"] != 2 {
					t.Errorf("%d values of an unknown form, %v", c.odd, tally)
				}
			}
		})
	}
}

// compareLists reads the lists of open markets and compares each market with the result of its single read.
func (c *collected) compareLists(t *testing.T, all market.Venues, alone map[protocol.MarketID]market.Record) {
	t.Helper()
	for _, k := range kits {
		name := k.provider
		list, _, err := all[name].ListOpen(t.Context(), "")
		if err != nil {
			t.Errorf("list of %s: %v", name, err)
		}
		listed := map[protocol.MarketID]bool{}
		for _, m := range list {
			listed[m.ID] = true
			one, ok := alone[m.ID] // only in the list the title begins with the title of the group
			if !ok || m.Status == protocol.MarketOpen && (one.Status != m.Status || priceOf(&one) != priceOf(&m) || !strings.Contains(m.Title, one.Title)) {
				t.Errorf("%s is %s at %s in the list, but %s at %s in a single read: %s, %s", m.ID, m.Status, priceOf(&m), one.Status, priceOf(&one), m.Title, one.Title)
			}
		}
		for _, r := range c.records {
			if m, ok := alone[r.id()]; ok && r.provider == name && m.Status == protocol.MarketOpen && !listed[m.ID] {
				t.Errorf("%s is open but not in the list", m.ID)
			}
		}
	}
}

// readHistories reads the recorded price histories through the adapter, each as the history of one market.
func (c *collected) readHistories(t *testing.T, v *venuetest.Host, a *polymarket.Adapter) {
	t.Helper()
	for i, raw := range c.histories {
		var box struct{ History []map[string]json.RawMessage }
		if json.Unmarshal(raw, &box) != nil {
			continue // a history of many tokens at once, which no adapter requests
		}
		v.Set("/clob/prices-history", string(raw))
		points, err := a.History(t.Context(), history.Book{TokenID: strings.Repeat("7", 70)}, protocol.IntervalAll)
		moments := map[string]bool{}
		for _, p := range box.History {
			// Points after the time of the request are omitted, except those in the same minute.
			if at, err := strconv.ParseInt(string(p["t"]), 10, 64); err == nil && at <= then.Add(time.Minute).Unix() {
				moments[string(p["t"])] = true
			}
		}
		if err != nil || len(points) != len(moments) {
			t.Errorf("history %d: %d points of %d moments, %v", i, len(points), len(moments), err)
		}
		for n, p := range points {
			if p.P < 0 || p.P > 1 || n > 0 && p.T <= points[n-1].T {
				t.Errorf("history %d: point %d is %v", i, n, p)
			}
		}
		t.Logf("history %d: %d points of %d", i, len(points), len(box.History))
	}
}
