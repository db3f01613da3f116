package kalshi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/kalshi"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

var noon = venuetest.Noon

type bundle struct {
	*venuetest.Venue
	adapter *kalshi.Adapter
}

func setup(t *testing.T, answers map[string]string) *bundle {
	t.Helper()
	b := &bundle{Venue: venuetest.New(t, "/trade-api/v2", answers)}
	var err error
	b.adapter, err = kalshi.New(kalshi.Config{URL: b.URL, RequestsPerSecond: 10_000}, b.Meter, venuetest.Now)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func tickerOf(t testing.TB, raw string) string {
	t.Helper()
	var head struct{ Market struct{ Ticker string } }
	if err := json.Unmarshal([]byte(raw), &head); err != nil {
		t.Fatal(err)
	}
	return head.Market.Ticker
}

// one serves a single record and reads it back.
func one(t *testing.T, raw string) (venue.Market, error) {
	t.Helper()
	ticker := tickerOf(t, raw)
	return setup(t, map[string]string{"/markets/" + ticker: raw}).adapter.Get(t.Context(), "kalshi-"+ticker)
}

// edit sets members of the ordinary open sample; nil takes one away.
func edit(t *testing.T, changes map[string]any) string {
	t.Helper()
	return venuetest.Edit(t, venuetest.Sample(t, "market_open.json"), "market", changes)
}

func TestSamplesGiveTheExpectedRecords(t *testing.T) {
	t.Parallel()
	for name, want := range venuetest.Expected(t, 17, 1) { // and the combination
		m, err := one(t, venuetest.Sample(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := venuetest.Members(t, &m, "kalshi"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", name, got, want)
		}
		if m.VolumeUnit != "contracts" || m.Question == "" || !m.FetchedAt.Equal(noon) || m.Outcomes != [2]string{"Yes", "No"} {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestACombinationIsLeftOut(t *testing.T) {
	t.Parallel()
	raw := venuetest.Sample(t, "market_combo_to_skip.json")
	if _, err := one(t, raw); !errors.Is(err, venue.ErrNotFound) {
		t.Errorf("by its collection: %v", err)
	}
	if _, err := one(t, strings.Replace(raw, `"mve_collection_ticker"`, `"mve_other"`, 1)); !errors.Is(err, venue.ErrNotFound) {
		t.Errorf("by its ticker alone: %v", err)
	}
	if m, err := one(t, edit(t, map[string]any{"is_provisional": true})); err != nil || m.Status != venue.Open || m.Provisional {
		t.Errorf("a listing that may be withdrawn: %+v %v", m, err)
	}
}

func TestIDsBothWays(t *testing.T) {
	t.Parallel()
	raw := venuetest.Sample(t, "market_open.json")
	b := setup(t, map[string]string{"/markets/KXRIVER-26OCT31-T4.5": raw})
	m, err := b.adapter.Get(t.Context(), "kalshi-KXRIVER-26OCT31-T4.5")
	if err != nil || m.ID != "kalshi-KXRIVER-26OCT31-T4.5" || syntax.MarketID(m.ID).NativeKey() != "KXRIVER-26OCT31-T4.5" {
		t.Fatalf("%+v %v", m, err)
	}
	before := len(b.Paths())
	for _, id := range []string{
		"", "kalshi-", "KXRIVER-26OCT31-T4.5", "Kalshi-KXRIVER-26OCT31-T4.5", "lmt-KXRIVER", "native-KXRIVER", "7100001",
		"kalshi-kxriver-26oct31-t4.5", "kalshi-KXRIVER-26OCT31-t4.5", "kalshi-candlesticks", "kalshi-trades", "kalshi-..", "kalshi-../events",
		"kalshi-A/B", "kalshi-A%2FB", "kalshi-A?x=1", "kalshi-A#B", "kalshi-A B", "kalshi-A\x00", "kalshi-Ä", "kalshi-" + strings.Repeat("A", 122),
	} {
		if _, err := b.adapter.Get(t.Context(), id); !errors.Is(err, venue.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
		if got, err := b.adapter.Quote(t.Context(), []string{id}); err != nil || len(got) != 0 {
			t.Errorf("quote of %q: %v %v", id, got, err)
		}
		if got, err := b.adapter.History(t.Context(), venue.Market{ID: id}, venue.Day); err != nil || len(got) != 0 {
			t.Errorf("history of %q: %v %v", id, got, err)
		}
	}
	if after := b.Paths(); len(after) != before {
		t.Errorf("ids of other forms left the house: %v", after[before:])
	}
	for _, ticker := range []string{"kxriver", "A/B", "", "..", "A B", strings.Repeat("A", 122)} {
		list := fmt.Sprintf(`{"events":[{"event_ticker":"KXA","markets":[{"ticker":"KXB","status":"active","close_time":"2027-01-01T00:00:00Z"},
			{"ticker":%q,"status":"active","close_time":"2027-01-01T00:00:00Z"}]}]}`, ticker)
		page, _, err := setup(t, map[string]string{"/events": list}).adapter.List(t.Context(), "")
		if err != nil || len(page) != 1 {
			t.Errorf("ticker %q: %d markets, %v", ticker, len(page), err)
		}
	}
}

func TestErrorAnswersAreFaults(t *testing.T) {
	t.Parallel()
	ticker := "KXRIVER-26OCT31-T4.5"
	for _, c := range []struct {
		file   string
		status int
		get    error
	}{
		{"error_not_found_404.json", 404, venue.ErrNotFound},
		{"error_bad_request_400.json", 400, venue.ErrUnavailable},
		{"error_rate_limited_429.json", 429, venue.ErrUnavailable},
		{"error_flat_500.json", 500, venue.ErrUnavailable},
	} {
		body := venuetest.Sample(t, c.file)
		b := setup(t, map[string]string{
			"/markets/" + ticker: body, "/historical/markets/" + ticker: body, "/events": body, "/markets": body,
		})
		b.Fail(c.status)
		if _, err := b.adapter.Get(t.Context(), "kalshi-"+ticker); !errors.Is(err, c.get) {
			t.Errorf("get, %d: %v", c.status, err)
		}
		if c.status != 429 { // each of these waits for two more tries
			if _, _, err := b.adapter.List(t.Context(), ""); !errors.Is(err, venue.ErrUnavailable) {
				t.Errorf("list, %d: %v", c.status, err)
			}
			if _, err := b.adapter.Quote(t.Context(), []string{"kalshi-" + ticker}); !errors.Is(err, venue.ErrUnavailable) {
				t.Errorf("quote, %d: %v", c.status, err)
			}
		}
		_, err := b.adapter.History(t.Context(), venue.Market{ID: "kalshi-" + ticker}, venue.Day)
		if c.status == 404 && err != nil || c.status != 404 && !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("history, %d: %v", c.status, err)
		}
	}
}

func TestNoIsNotTheSameAsNoAnswer(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]error{
		`{"market":{"ticker":"KXB","status":"active"}}`:                             venue.ErrNotFound,    // another market
		`{"market":{"ticker":"KXA"}}`:                                               venue.ErrUnavailable, // no state
		`{"market":{"ticker":"KXA","status":7}}`:                                    venue.ErrUnavailable,
		`{"market":{"ticker":"KXA","status":"active","yes_bid_dollars":[1]}}`:       venue.ErrUnavailable,
		`{"market":{"ticker":"KXA","status":"active","mve_collection_ticker":"C"}}`: venue.ErrNotFound,
		`{"market":null}`: venue.ErrUnavailable, `{}`: venue.ErrUnavailable, `[]`: venue.ErrUnavailable, `{`: venue.ErrUnavailable,
	} {
		b := setup(t, map[string]string{"/markets/KXA": body})
		if _, err := b.adapter.Get(t.Context(), "kalshi-KXA"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", body, err, want)
		}
	}
}
