package polymarket_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/venue"
)

const path = "/clob/prices-history"

func TestHistorySamples(t *testing.T) {
	t.Parallel()
	closed := time.Date(2026, 9, 20, 6, 12, 29, 0, time.UTC)
	for _, c := range []struct {
		file   string
		market venue.Market
		n      int
		first  venue.Point
		last   venue.Point
	}{
		{"clob_prices_history_1d.json", venue.Market{}, 24, venue.Point{T: 1791547200, P: 0.6}, venue.Point{T: 1791554103, P: 0.6075}},
		{"clob_prices_history_1d.json", venue.Market{YesIndex: 1}, 24, venue.Point{T: 1791547200, P: 0.4}, venue.Point{T: 1791554103, P: 0.3925}},
		{"clob_prices_history_duplicate_times.json", venue.Market{}, 3, venue.Point{T: 1791547200, P: 0.612}, venue.Point{T: 1791547321, P: 0.6125}},
		{"clob_prices_history_resolved_window.json", venue.Market{ClosedAt: &closed}, 6, venue.Point{T: 1789862400, P: 0.88}, venue.Point{T: 1789880400, P: 0.9995}},
		{"clob_prices_history_empty.json", venue.Market{}, 0, venue.Point{}, venue.Point{}},
	} {
		b := setup(t, map[string]string{path: sample(t, c.file)})
		c.market.ClobTokenID = "77"
		got, err := b.adapter.History(t.Context(), c.market, venue.Day)
		if err != nil || len(got) != c.n {
			t.Errorf("%s: %d points, %v", c.file, len(got), err)
			continue
		}
		for i := range got[:max(len(got)-1, 0)] {
			if got[i].T >= got[i+1].T {
				t.Errorf("%s: times do not rise at %d", c.file, i)
			}
		}
		if c.n > 0 && (got[0] != c.first || got[c.n-1] != c.last) {
			t.Errorf("%s: from %v to %v", c.file, got[0], got[c.n-1])
		}
	}
}

func TestHistoryRequests(t *testing.T) {
	t.Parallel()
	closed := noon.Add(-40 * 24 * time.Hour)
	b := setup(t, map[string]string{path: `{"history":[]}`})
	for _, c := range []struct {
		m    venue.Market
		i    venue.Interval
		want string
	}{
		{venue.Market{}, venue.Hour, "fidelity=1&interval=1h&market=77"},
		{venue.Market{}, venue.Day, "fidelity=5&interval=1d&market=77"},
		{venue.Market{}, venue.Week, "fidelity=30&interval=1w&market=77"},
		{venue.Market{}, venue.All, "fidelity=720&interval=max&market=77"},
		{venue.Market{ClosedAt: &closed}, venue.All, "fidelity=720&interval=max&market=77"},
		{venue.Market{ClosedAt: &closed}, venue.Week, "endTs=1788177600&fidelity=30&market=77&startTs=1787572800"},
	} {
		c.m.ClobTokenID = "77"
		if _, err := b.adapter.History(t.Context(), c.m, c.i); err != nil {
			t.Fatal(err)
		}
		if got := b.last().Encode(); got != c.want {
			t.Errorf("%s: %s, want %s", c.i, got, c.want)
		}
	}
	asked := len(b.asked)
	for _, token := range []string{"", "abc", "../x", strings.Repeat("1", 81)} {
		if got, err := b.adapter.History(t.Context(), venue.Market{ClobTokenID: token}, venue.Day); err != nil || len(got) != 0 {
			t.Errorf("token %q: %v %v", token, got, err)
		}
	}
	if len(b.asked) != asked {
		t.Error("a token of another form left the house")
	}
}

func TestHistoryGarbageIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `{"history":{"t":"x"}}`, `{"history":[{"t":1.5,"p":"x"}]}`, `[`, `null`} {
		b := setup(t, map[string]string{path: body})
		if got, err := b.adapter.History(t.Context(), venue.Market{ClobTokenID: "77"}, venue.Day); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("%s: %v %v", body, got, err)
		}
	}
	b := setup(t, map[string]string{path: `{"history":[{"t":1791547200,"p":-0.2},{"t":1791547201,"p":"NaN"},{"t":1791547202,"p":1.2},{"t":1791547203,"p":5e-05},{"t":99999999999,"p":0.5}]}`})
	got, err := b.adapter.History(t.Context(), venue.Market{ClobTokenID: "77"}, venue.Day)
	if err != nil || len(got) != 1 || got[0] != (venue.Point{T: 1791547203, P: 0.0001}) {
		t.Errorf("%v %v", got, err)
	}
}
