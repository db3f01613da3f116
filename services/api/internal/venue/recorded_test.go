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

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// then is the moment at which recorded answers are read: just after those beside
// the repository were taken.
var then = time.Date(2026, 2, 6, 0, 0, 0, 0, time.UTC)

// folders are those with recorded answers: the one beside the repository, and
// those of VENUE_SIM_DATA.
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

// load reads every file below a folder. The first record with a key counts.
func load(t *testing.T, dir string) *collected {
	t.Helper()
	all, seen, files := &collected{books: map[string]json.RawMessage{}}, map[string]bool{}, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") {
			return err
		}
		raw := read(t, path)
		if files++; !json.Valid(raw) {
			t.Errorf("%s is no JSON", path)
			return nil
		}
		c := collect(raw)
		if len(c.records)+len(c.books)+len(c.histories) == 0 {
			t.Logf("no market in it: %s", path)
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
	t.Logf("%s: %d files, %d markets, %d order-book records, %d histories, %d values of another form",
		filepath.Base(dir), files, len(all.records), len(all.books), len(all.histories), all.odd)
	if files == 0 {
		t.Errorf("%s holds nothing", dir)
	}
	return all
}

// answers is the table of a host that plays what was collected. An order-book
// record whose market was not recorded gets one that has no word of the oracle.
func (c *collected) answers(t *testing.T) map[string]string {
	t.Helper()
	out, known, lists := map[string]string{}, map[string]bool{}, map[string][]json.RawMessage{}
	for _, name := range names {
		lists[name] = []json.RawMessage{}
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
		out[r.path()] = r.single()
		lists[r.provider] = append(lists[r.provider], r.raw)
	}
	for path, box := range map[string]any{
		"/gamma/markets/keyset":     map[string]any{"markets": lists["polymarket"]},
		"/kalshi/events":            map[string]any{"cursor": "", "events": c.events()},
		"/limitless/markets/active": map[string]any{"data": lists["limitless"], "totalMarketsCount": len(lists["limitless"])},
		"/manifold/search-markets":  lists["manifold"],
	} {
		raw, err := json.Marshal(box)
		if err != nil {
			t.Fatal(err)
		}
		out[path] = string(raw)
	}
	return out
}

// events gives the markets of Kalshi in their events.
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

// shell is a market of Polymarket around an order-book record.
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
	return record{"polymarket", fmt.Sprint(n), raw, o, nil}
}

// check says what is wrong with a market that was read from a record.
func (r record) check(m *venue.Market) (wrong []string) {
	say := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	final := m.Status == venue.Resolved
	say(m.ID != r.id(), "the id is %s", m.ID)
	say(final != (m.Outcome != "") || final != m.Settled, "%s with outcome %q, settled %v", m.Status, m.Outcome, m.Settled)
	say(final && m.Provisional || m.Disputed && !m.Provisional, "%s: provisional %v, disputed %v", m.Status, m.Provisional, m.Disputed)
	say(m.Outcome != "" && m.Outcome != "YES" && m.Outcome != "NO" && m.Outcome != "INVALID", "outcome %q", m.Outcome)
	say(m.Status != venue.Open && m.Status != venue.Closed && m.Status != venue.Unknown && !final, "status %q", m.Status)
	say(m.YesBps != nil && (*m.YesBps < 0 || *m.YesBps > 10_000), "%d bps", deref(m.YesBps))
	say(m.Question == "", "no question")
	say(!venuetest.ValidQuote(m.Quote) || m.Quote != nil && m.Status != venue.Open, "%s with quote %+v", m.Status, m.Quote)
	say(m.ClosedAt != nil && (m.Status == venue.Open || m.ClosedAt.After(then)), "%s closed at %v", m.Status, m.ClosedAt)
	if want, ok := r.price(); ok && !final {
		say(m.YesBps == nil || int64(*m.YesBps) != want, "%d bps, the record says %d", deref(m.YesBps), want)
	}
	return wrong
}

func deref(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}

// TestRecordedAnswersDecode: every record of every folder is a market, or is left
// out for a reason that is counted; none is resolved without an outcome, and every
// price is the one that was written. A list says of a market what it says alone.
func TestRecordedAnswersDecode(t *testing.T) {
	t.Parallel()
	for _, dir := range folders(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			c := load(t, dir)
			v := venuetest.NewPlain(t, c.answers(t))
			all := adapters(t, v.URL, tabled, v.Meter, func() time.Time { return then })
			alone, left := map[string]venue.Market{}, 0
			tally := map[string]map[string]int{}
			for _, r := range c.records {
				if tally[r.provider] == nil {
					tally[r.provider] = map[string]int{}
				}
				before := v.Counted("venue_dropped_records_total", r.provider)
				m, err := all[r.provider].Get(t.Context(), r.id())
				if err != nil {
					if tally[r.provider]["left out"]++; !errors.Is(err, venue.ErrNotFound) || v.Counted("venue_dropped_records_total", r.provider) != before+1 {
						t.Errorf("%s: neither read nor left out for a reason: %v", r.id(), err)
					}
					left++
					continue
				}
				for _, wrong := range r.check(&m) {
					t.Errorf("%s: %s", r.id(), wrong)
				}
				alone[m.ID] = m
				tally[r.provider][m.Status]++
				tally[r.provider][m.Outcome+"!"]++
			}
			c.compareLists(t, all, alone)
			c.readHistories(t, v, all["polymarket"])
			for _, r := range []string{"undecodable", "another_market", "stream_undecodable"} {
				if n := v.Counted("venue_dropped_records_total", r); n != 0 {
					t.Errorf("%v records are left out as %s", n, r)
				}
			}
			t.Logf("%v, %d left out", tally, left)
			if dir == venuetest.Root(t, "..", "shared", "venues", "recorded") {
				p, k := tally["polymarket"], tally["kalshi"]
				if c.odd != 0 || p["left out"] != 14 || p[venue.Resolved] < 250 || p[venue.Open] < 150 || k[venue.Open] != 238 || k[venue.Resolved] != 86 || k["INVALID!"] != 2 {
					t.Errorf("%d values of another form, %v", c.odd, tally)
				}
			}
		})
	}
}

// compareLists walks the lists and holds each market against what it was alone.
func (c *collected) compareLists(t *testing.T, all map[string]venue.Venue, alone map[string]venue.Market) {
	t.Helper()
	for _, name := range names {
		list, _, err := all[name].List(t.Context(), "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		listed := map[string]bool{}
		for _, m := range list {
			listed[m.ID] = true
			one, ok := alone[m.ID] // its group stands before its name in the list only
			if !ok || m.Status == venue.Open && (one.Status != m.Status || deref(one.YesBps) != deref(m.YesBps) || !strings.Contains(m.Question, one.Question)) {
				t.Errorf("%s is %s at %d in the list, %s at %d alone: %s, %s", m.ID, m.Status, deref(m.YesBps), one.Status, deref(one.YesBps), m.Question, one.Question)
			}
		}
		for _, r := range c.records {
			if m, ok := alone[r.id()]; ok && r.provider == name && m.Status == venue.Open && !listed[m.ID] {
				t.Errorf("%s is open and not in the list", m.ID)
			}
		}
	}
}

// readHistories reads recorded price histories as that of some market.
func (c *collected) readHistories(t *testing.T, v *venuetest.Venue, a venue.Venue) {
	t.Helper()
	for i, raw := range c.histories {
		var box struct{ History []map[string]json.RawMessage }
		if json.Unmarshal(raw, &box) != nil {
			continue // of many tokens at once, which no adapter asks for
		}
		v.Set("/clob/prices-history", string(raw))
		points, err := a.History(t.Context(), venue.Market{ID: "1", ClobTokenID: strings.Repeat("7", 70)}, venue.All)
		moments := map[string]bool{}
		for _, p := range box.History {
			// What lies after the request is left out; its own minute is not.
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
