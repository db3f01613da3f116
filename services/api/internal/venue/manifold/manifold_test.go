package manifold_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/manifold"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

var noon = venuetest.Noon

type bundle struct {
	*venuetest.Venue
	adapter *manifold.Adapter
}

func setup(t *testing.T, answers map[string]string) *bundle {
	t.Helper()
	b := &bundle{Venue: venuetest.New(t, "/v0", answers)}
	var err error
	b.adapter, err = manifold.New(manifold.Config{URL: b.URL, RequestsPerSecond: 10_000}, b.Meter, venuetest.Now)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func idOf(t testing.TB, raw string) string {
	t.Helper()
	var head struct{ ID string }
	if err := json.Unmarshal([]byte(raw), &head); err != nil {
		t.Fatal(err)
	}
	return head.ID
}

// one serves a single record and reads it back.
func one(t *testing.T, raw string) (venue.Market, error) {
	t.Helper()
	id := idOf(t, raw)
	return setup(t, map[string]string{"/market/" + id: raw}).adapter.Get(t.Context(), "manifold-"+id)
}

// edit sets members of the ordinary open sample; nil takes one away.
func edit(t *testing.T, changes map[string]any) string {
	t.Helper()
	return venuetest.Edit(t, venuetest.Sample(t, "market_open_binary.json"), "", changes)
}

func TestSamplesGiveTheExpectedRecords(t *testing.T) {
	t.Parallel()
	for name, want := range venuetest.Expected(t, 16, 3) { // and three answers of bare probabilities
		m, err := one(t, venuetest.Sample(t, name))
		if want["skip"] != nil {
			if !errors.Is(err, venue.ErrNotFound) {
				t.Errorf("%s: %v, want it left out", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := venuetest.Members(t, &m, "manifold"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", name, got, want)
		}
		if m.VolumeUnit != "mana" || m.Question == "" || m.Description == "" || !m.FetchedAt.Equal(noon) || m.ProofURL == "" {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestIDsBothWays(t *testing.T) {
	t.Parallel()
	raw := venuetest.Sample(t, "market_open_mixed_case_id.json")
	b := setup(t, map[string]string{"/market/AbCdEfGh12InventedXY": raw, "/market/abcdefgh12inventedxy": raw, "/market/other": raw})
	m, err := b.adapter.Get(t.Context(), "manifold-AbCdEfGh12InventedXY")
	if err != nil || m.ID != "manifold-AbCdEfGh12InventedXY" || syntax.MarketID(m.ID).NativeKey() != "AbCdEfGh12InventedXY" {
		t.Fatalf("%+v %v", m, err)
	}
	if _, err := b.adapter.Get(t.Context(), "manifold-abcdefgh12inventedxy"); !errors.Is(err, venue.ErrNotFound) {
		t.Errorf("another case: %v", err)
	}
	if _, err := b.adapter.Get(t.Context(), "manifold-other"); !errors.Is(err, venue.ErrNotFound) || b.Counted("venue_dropped_records_total", "another_market") != 2 {
		t.Errorf("another market: %v", err)
	}
	before := len(b.Paths())
	for _, id := range []string{
		"", "manifold-", "q7invented01", "Manifold-q7invented01", "kalshi-X", "lmt-x", "7100001", "manifold-..", "manifold-../bets", "manifold-a/prob",
		"manifold-a%2fprob", "manifold-a?b", "manifold-a#b", "manifold-a b", "manifold-a\x00", "manifold-é", "manifold--a", "manifold-" + strings.Repeat("a", 120),
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
	for _, id := range []string{"a/b", "", "..", "a b", strings.Repeat("a", 120)} {
		list := fmt.Sprintf(`[{"id":"good","question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false},
			{"id":%q,"question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false}]`, id)
		page, _, err := setup(t, map[string]string{"/search-markets": list}).adapter.List(t.Context(), "")
		if err != nil || len(page) != 1 {
			t.Errorf("id %q: %d markets, %v", id, len(page), err)
		}
	}
}

func TestErrorAnswersAreFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body   string
		status int
		get    error
	}{
		{venuetest.Sample(t, "error_not_found_404.json"), 404, venue.ErrNotFound},
		{venuetest.Sample(t, "error_validation_400.json"), 400, venue.ErrUnavailable},
		{venuetest.Sample(t, "error_offset_400.json"), 400, venue.ErrUnavailable},
		{`{"message":"Too many requests"}`, 429, venue.ErrUnavailable},
		{`{"message":"Internal server error"}`, 500, venue.ErrUnavailable},
		{venuetest.Sample(t, "error_busy_503.json"), 503, venue.ErrUnavailable},
	} {
		b := setup(t, map[string]string{"/market/x": c.body, "/search-markets": c.body, "/bets": c.body})
		b.Fail(c.status)
		if _, err := b.adapter.Get(t.Context(), "manifold-x"); !errors.Is(err, c.get) {
			t.Errorf("get, %d: %v", c.status, err)
		}
		if c.status == 429 || c.status == 503 { // each of these waits for two more tries
			continue
		}
		if _, _, err := b.adapter.List(t.Context(), ""); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("list, %d: %v", c.status, err)
		}
		_, quote := b.adapter.Quote(t.Context(), []string{"manifold-x"})
		_, history := b.adapter.History(t.Context(), venue.Market{ID: "manifold-x"}, venue.Day)
		for what, err := range map[string]error{"quote": quote, "history": history} {
			if c.status == 404 && err != nil || c.status != 404 && !errors.Is(err, venue.ErrUnavailable) {
				t.Errorf("%s, %d: %v", what, c.status, err)
			}
		}
	}
}

func TestNoIsNotTheSameAsNoAnswer(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]error{
		`{"id":"y","question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false}`:   venue.ErrNotFound,    // another market
		`{"id":"x","question":"q","outcomeType":"BINARY","mechanism":"cpmm-1"}`:                      venue.ErrUnavailable, // no state
		`{"id":"x","question":"q","mechanism":"cpmm-1","isResolved":false}`:                          venue.ErrUnavailable, // no kind
		`{"id":"x","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false}`:                  venue.ErrUnavailable, // no question
		`{"id":"x","question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":"maybe"}`: venue.ErrUnavailable,
		`{"id":"x","question":"q","outcomeType":"STONK","mechanism":"cpmm-1","isResolved":false}`:    venue.ErrNotFound,
		`{"id":"x","question":"q","outcomeType":"BINARY","mechanism":"dpm-2","isResolved":false}`:    venue.ErrNotFound,
		`[]`: venue.ErrUnavailable, `{`: venue.ErrUnavailable, `null`: venue.ErrUnavailable,
	} {
		b := setup(t, map[string]string{"/market/x": body})
		if _, err := b.adapter.Get(t.Context(), "manifold-x"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", body, err, want)
		}
	}
	if _, err := manifold.New(manifold.Config{URL: "http://x", RequestsPerSecond: 1, Wait: -1}, nil, time.Now); err == nil {
		t.Error("a wait below 0 was accepted")
	}
}
