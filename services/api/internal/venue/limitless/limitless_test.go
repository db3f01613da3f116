package limitless_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/limitless"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

var noon = venuetest.Noon

type bundle struct {
	*venuetest.Venue
	adapter *limitless.Adapter
}

func setup(t *testing.T, answers map[string]string) *bundle {
	t.Helper()
	b := &bundle{Venue: venuetest.New(t, "/api", answers)}
	var err error
	b.adapter, err = limitless.New(limitless.Config{URL: b.URL, RequestsPerSecond: 10_000}, b.Meter, venuetest.Now)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func slugOf(t testing.TB, raw string) string {
	t.Helper()
	var head struct{ Slug string }
	if err := json.Unmarshal([]byte(raw), &head); err != nil {
		t.Fatal(err)
	}
	return head.Slug
}

// one serves a single record and reads it back.
func one(t *testing.T, raw string) (venue.Market, error) {
	t.Helper()
	slug := slugOf(t, raw)
	return setup(t, map[string]string{"/markets/" + slug: raw}).adapter.Get(t.Context(), "lmt-"+slug)
}

// edit sets members of the ordinary open sample; nil takes one away.
func edit(t *testing.T, changes map[string]any) string {
	t.Helper()
	return venuetest.Edit(t, venuetest.Sample(t, "market_clob_open.json"), "", changes)
}

func TestSamplesGiveTheExpectedRecords(t *testing.T) {
	t.Parallel()
	for name, want := range venuetest.Expected(t, 13, 1) { // and the group
		m, err := one(t, venuetest.Sample(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := venuetest.Members(t, &m, "limitless"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", name, got, want)
		}
		if m.VolumeUnit != "usd" || m.Question == "" || !m.FetchedAt.Equal(noon) || m.Outcomes != [2]string{"Yes", "No"} {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestAGroupIsNoMarket(t *testing.T) {
	t.Parallel()
	if _, err := one(t, venuetest.Sample(t, "market_group.json")); !errors.Is(err, venue.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := one(t, edit(t, map[string]any{"markets": []any{map[string]any{}}})); !errors.Is(err, venue.ErrNotFound) {
		t.Errorf("by its children alone: %v", err)
	}
}

func TestIDsBothWays(t *testing.T) {
	t.Parallel()
	raw := venuetest.Sample(t, "market_clob_open.json")
	const slug = "zed-above-10-on-oct-31-1788264000000"
	b := setup(t, map[string]string{
		"/markets/" + slug: raw, "/markets/ZED-above-10-on-oct-31-1788264000000": raw, "/markets/zed": raw,
		"/markets/active": venuetest.Sample(t, "markets_active_page1.json"), "/markets/search": venuetest.Sample(t, "search.json"),
	})
	m, err := b.adapter.Get(t.Context(), "lmt-"+slug)
	if err != nil || m.ID != "lmt-"+slug || syntax.MarketID(m.ID).NativeKey() != slug {
		t.Fatalf("%+v %v", m, err)
	}
	if _, err := b.adapter.Get(t.Context(), "lmt-ZED-above-10-on-oct-31-1788264000000"); !errors.Is(err, venue.ErrNotFound) {
		t.Errorf("another case: %v", err)
	}
	if _, err := b.adapter.Get(t.Context(), "lmt-zed"); !errors.Is(err, venue.ErrNotFound) || b.Counted("venue_dropped_records_total", "another_market") != 2 {
		t.Errorf("another market: %v", err)
	}
	before := len(b.Paths())
	for _, id := range []string{
		"", "lmt-", slug, "LMT-" + slug, "kalshi-X", "manifold-x", "7100001", "lmt-active", "lmt-Active", "lmt-search", "lmt-categories",
		"lmt-0x6c9c60243300e2da782f43d62cc17d0e39734503", "lmt-0X6C9C60243300E2DA782F43D62CC17D0E39734503", "lmt-..", "lmt-../x", "lmt-a/b",
		"lmt-a%2fb", "lmt-a?b", "lmt-a#b", "lmt-a b", "lmt-a\x00", "lmt-ñ", "lmt--a", "lmt-" + strings.Repeat("a", 125),
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
	for _, slug := range []string{"active", "a/b", "", "..", "a b", "0x6c9c60243300e2da782f43d62cc17d0e39734503", strings.Repeat("a", 125)} {
		list := fmt.Sprintf(`{"data":[{"slug":"good","title":"t","status":"FUNDED"},{"slug":%q,"title":"t","status":"FUNDED"}]}`, slug)
		page, _, err := setup(t, map[string]string{"/markets/active": list}).adapter.List(t.Context(), "")
		if err != nil || len(page) != 1 {
			t.Errorf("slug %q: %d markets, %v", slug, len(page), err)
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
		{venuetest.Sample(t, "error_limit_too_big_400.json"), 400, venue.ErrUnavailable},
		{`{"message":"Too many requests"}`, 429, venue.ErrUnavailable},
		{`{"statusCode":500,"message":"Internal server error"}`, 500, venue.ErrUnavailable},
	} {
		b := setup(t, map[string]string{"/markets/x": c.body, "/markets/active": c.body, "/markets/x/historical-price": c.body})
		b.Fail(c.status)
		if _, err := b.adapter.Get(t.Context(), "lmt-x"); !errors.Is(err, c.get) {
			t.Errorf("get, %d: %v", c.status, err)
		}
		if c.status == 429 { // each of these waits for two more tries
			continue
		}
		if _, _, err := b.adapter.List(t.Context(), ""); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("list, %d: %v", c.status, err)
		}
		_, quote := b.adapter.Quote(t.Context(), []string{"lmt-x"})
		_, history := b.adapter.History(t.Context(), venue.Market{ID: "lmt-x"}, venue.Day)
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
		`{"slug":"y","title":"t","status":"FUNDED"}`:                      venue.ErrNotFound,    // another market
		`{"slug":"x","title":"t"}`:                                        venue.ErrUnavailable, // no state
		`{"slug":"x","status":"FUNDED"}`:                                  venue.ErrUnavailable, // no title
		`{"slug":"x","title":"t","status":7}`:                             venue.ErrUnavailable,
		`{"slug":"x","title":"t","status":"FUNDED","expired":"maybe"}`:    venue.ErrUnavailable,
		`{"slug":"x","title":"t","status":"FUNDED","marketType":"group"}`: venue.ErrNotFound,
		`[]`: venue.ErrUnavailable, `{`: venue.ErrUnavailable, `null`: venue.ErrUnavailable,
	} {
		b := setup(t, map[string]string{"/markets/x": body})
		if _, err := b.adapter.Get(t.Context(), "lmt-x"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", body, err, want)
		}
	}
}
