package kalshi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

const (
	river      = "KXRIVER-26OCT31-T4.5"
	livePath   = "/series/KXRIVER/markets/" + river + "/candlesticks"
	batchPath  = "/markets/candlesticks"
	riverEvent = `{"event":{"event_ticker":"KXRIVER-26OCT31","series_ticker":"KXRIVER","category":"World"}}`
)

func TestHistorySamples(t *testing.T) {
	t.Parallel()
	live := []venue.Point{{T: 1791550800, P: 0.42}, {T: 1791554400, P: 0.42}, {T: 1791558000, P: 0.42}}
	old := time.Date(2026, 9, 30, 18, 19, 39, 0, time.UTC)
	for name, c := range map[string]struct {
		market  venue.Market
		i       venue.Interval
		answers map[string]string
		want    []venue.Point
	}{
		"live": {
			venue.Market{ID: "kalshi-" + river, EventKey: "KXRIVER-26OCT31"},
			venue.Week,
			map[string]string{"/events/KXRIVER-26OCT31": riverEvent, livePath: venuetest.Sample(t, "candlesticks_live.json")},
			live,
		},
		"live, series not known": {
			venue.Market{ID: "kalshi-" + river}, venue.Week, map[string]string{batchPath: venuetest.Sample(t, "candlesticks_batch.json")}, live[:2],
		},
		"no data": {
			venue.Market{ID: "kalshi-KXLANTERN-27-AQ"}, venue.Week, map[string]string{batchPath: venuetest.Sample(t, "candlesticks_empty.json")}, nil,
		},
		"no data among several": {
			venue.Market{ID: "kalshi-KXLANTERN-27-AQ"}, venue.Week, map[string]string{batchPath: venuetest.Sample(t, "candlesticks_batch.json")}, nil,
		},
		"archived, found after the live path": {
			venue.Market{ID: "kalshi-KXRIVER-26SEP30-T4.5", ClosedAt: &old},
			venue.All,
			map[string]string{"/historical/markets/KXRIVER-26SEP30-T4.5/candlesticks": venuetest.Sample(t, "candlesticks_historical.json")},
			// An ask of 1 is no offer: the second candle repeats the last trade.
			[]venue.Point{{T: 1790654400, P: 0.99}, {T: 1790740800, P: 0.99}},
		},
	} {
		got, err := setup(t, c.answers).adapter.History(t.Context(), c.market, c.i)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v %v, want %v", name, got, err, c.want)
		}
	}
}

func TestHistoryRequests(t *testing.T) {
	t.Parallel()
	closed := noon.Add(-40 * 24 * time.Hour)
	b := setup(t, map[string]string{
		"/events/KXRIVER-26OCT31": riverEvent, livePath: venuetest.Sample(t, "candlesticks_empty.json"),
		"/historical/cutoff": `{"market_settled_ts":"2026-07-12T00:00:00Z"}`,
	})
	for _, c := range []struct {
		closed *time.Time
		i      venue.Interval
		want   string
	}{
		{nil, venue.Hour, "?end_ts=1791633600&period_interval=1&start_ts=1791630000"},
		{nil, venue.Day, "?end_ts=1791633600&period_interval=1&start_ts=1791547200"},
		{nil, venue.Week, "?end_ts=1791633600&period_interval=60&start_ts=1791028800"},
		{nil, venue.All, "?end_ts=1791633600&period_interval=1440&start_ts=1622505600"},
		{&closed, venue.Week, "?end_ts=1788177600&period_interval=60&start_ts=1787572800"},
	} {
		m := venue.Market{ID: "kalshi-" + river, EventKey: "KXRIVER-26OCT31", ClosedAt: c.closed}
		if _, err := b.adapter.History(t.Context(), m, c.i); err != nil {
			t.Fatal(err)
		}
		if got := b.Paths(); got[len(got)-1] != livePath+c.want {
			t.Errorf("%s: %v", c.i, got[len(got)-1])
		}
	}
	if got, err := b.adapter.History(t.Context(), venue.Market{ID: "kalshi-" + river}, "2D"); err != nil || len(got) != 0 {
		t.Errorf("an unknown interval: %v %v", got, err)
	}
}

func TestCutoffTellsWhereToLookFirst(t *testing.T) {
	t.Parallel()
	before, after := time.Date(2026, 7, 11, 23, 59, 59, 0, time.UTC), time.Date(2026, 7, 12, 0, 0, 0, 0, time.UTC)
	archive := "/historical/markets/" + river + "/candlesticks"
	b := setup(t, map[string]string{"/historical/cutoff": venuetest.Sample(t, "historical_cutoff.json"), batchPath: venuetest.Sample(t, "candlesticks_batch.json"), archive: venuetest.Sample(t, "candlesticks_empty.json")})
	for range 2 {
		if got, err := b.adapter.History(t.Context(), venue.Market{ID: "kalshi-" + river, ClosedAt: &before}, venue.Day); err != nil || len(got) != 0 {
			t.Errorf("%v %v", got, err)
		}
	}
	if _, err := b.adapter.History(t.Context(), venue.Market{ID: "kalshi-" + river, ClosedAt: &after}, venue.Day); err != nil {
		t.Error(err)
	}
	var order []string
	for _, p := range b.Paths() {
		p, _, _ = strings.Cut(p, "?")
		order = append(order, p)
	}
	if want := []string{"/historical/cutoff", archive, archive, batchPath}; !slices.Equal(order, want) {
		t.Errorf("asked %v", order)
	}
	b.Unset(archive) // settled after the cutoff, though closed before it
	if _, err := b.adapter.History(t.Context(), venue.Market{ID: "kalshi-" + river, ClosedAt: &before}, venue.Day); err != nil {
		t.Error(err)
	}
	if got := b.Paths(); !strings.HasPrefix(got[len(got)-1], batchPath) {
		t.Errorf("asked %v", got)
	}
}

func TestHistoryOfOddCandles(t *testing.T) {
	t.Parallel()
	body := `{"candlesticks":[
		{"end_period_ts":1791600300,"price":{"close_dollars":"NaN","previous_dollars":"1.5"}},
		{"end_period_ts":1791600240,"price":{"close_dollars":"0.5000"}},
		{"end_period_ts":1791600240,"price":{"close_dollars":"0.6000"}},
		{"end_period_ts":1791600180,"price":null,"yes_bid":{"close_dollars":"0.2"},"yes_ask":{"close_dollars":"0.3001"}},
		{"end_period_ts":1791600120,"price":null,"yes_bid":{"close_dollars":"0.2"},"yes_ask":{"close_dollars":"0.3"}},
		{"end_period_ts":1791600060},
		{"end_period_ts":1000,"price":{"close_dollars":"0.7"}},
		{"end_period_ts":1791633630,"price":{"close_dollars":"0.9"}},
		{"end_period_ts":1791633720,"price":{"close_dollars":"0.1"}},
		{"end_period_ts":9223372036854775807,"price":{"close_dollars":"0.1"}}]}`
	got, err := setup(t, map[string]string{batchPath: body}).adapter.History(t.Context(), venue.Market{ID: "kalshi-" + river}, venue.Day)
	want := []venue.Point{
		{T: 1791600060, P: 0.7}, {T: 1791600120, P: 0.25}, {T: 1791600180, P: 0.25}, {T: 1791600240, P: 0.6}, {T: 1791600300, P: 0.6}, {T: 1791633600, P: 0.9},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v", got, err)
	}
	for _, garbage := range []string{`{}`, `{"candlesticks":{"a":1}}`, `{"candlesticks":[{"end_period_ts":"x"}]}`, `{"markets":[{"market_ticker":"KXOTHER","candlesticks":[]}]}`, `[`, `null`} {
		b := setup(t, map[string]string{batchPath: garbage})
		if got, err := b.adapter.History(t.Context(), venue.Market{ID: "kalshi-" + river}, venue.Day); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("%s: %v %v", garbage, got, err)
		}
	}
	if got, err := setup(t, nil).adapter.History(t.Context(), venue.Market{ID: "kalshi-" + river}, venue.Day); err != nil || len(got) != 0 {
		t.Errorf("a market of neither place: %v %v", got, err)
	}
}
