package limitless_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

const path = "/markets/x/historical-price"

func TestHistorySamples(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, question string
		want           []venue.Point
	}{
		"object":            {"historical_price_object.json", "", []venue.Point{{T: 1791547200, P: 0.24}, {T: 1791550800, P: 0.2475}, {T: 1791554400, P: 0.255}}},
		"yes and no":        {"historical_price_array_iso_time.json", "", []venue.Point{{T: 1791547200, P: 0.24}, {T: 1791550800, P: 0.255}}},
		"a child of many":   {"historical_price_array_group.json", "Invented Guild winner: Bo Reed", []venue.Point{{T: 1791547200, P: 0.6}, {T: 1791549000, P: 0.61}}},
		"a child by name":   {"historical_price_array_group.json", "Ada Quill", []venue.Point{{T: 1791547200, P: 0.19}, {T: 1791549000, P: 0.194}}},
		"none of the names": {"historical_price_array_group.json", "Somebody else", nil},
		"no data":           {"historical_price_empty.json", "", nil},
	} {
		b := setup(t, map[string]string{path: venuetest.Sample(t, c.file)})
		got, err := b.adapter.History(t.Context(), venue.Market{ID: "lmt-x", ClobTokenID: "7", Question: c.question}, venue.All)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v %v, want %v", name, got, err, c.want)
		}
	}
}

func TestHistoryRequests(t *testing.T) {
	t.Parallel()
	closed := noon.Add(-40 * 24 * time.Hour)
	b := setup(t, map[string]string{path: venuetest.Sample(t, "historical_price_empty.json")})
	for _, c := range []struct {
		closed *time.Time
		i      venue.Interval
		want   string
	}{
		{nil, venue.Hour, "?interval=1h"},
		{nil, venue.Day, "?interval=1d"},
		{nil, venue.Week, "?interval=1w"},
		{nil, venue.All, "?interval=all"},
		{&closed, venue.All, "?interval=all"},
		{&closed, venue.Week, "?from=2026-08-24T12%3A00%3A00Z&to=2026-08-31T12%3A00%3A00Z"},
	} {
		if _, err := b.adapter.History(t.Context(), venue.Market{ID: "lmt-x", ClosedAt: c.closed}, c.i); err != nil {
			t.Fatal(err)
		}
		if got := b.Paths(); got[len(got)-1] != path+c.want {
			t.Errorf("%s: %s", c.i, got[len(got)-1])
		}
	}
	if got, err := b.adapter.History(t.Context(), venue.Market{ID: "lmt-x"}, "2D"); err != nil || len(got) != 0 {
		t.Errorf("an unknown interval: %v %v", got, err)
	}
}

func TestHistoryOfOddPrices(t *testing.T) {
	t.Parallel()
	body := `{"title":"x","prices":[{"timestamp":1791547203000,"price":0.3},{"timestamp":1791547201000,"price":0.1},{"timestamp":"1791547201900","price":"0.2"},
		{"timestamp":1791547202000,"price":"NaN"},{"timestamp":1791547204000,"price":-0.2},{"timestamp":"soon","price":0.5},
		{"timestamp":99999999999000,"price":0.5},{"timestamp":1791547205000,"price":42.855},{"timestamp":1791547206000,"price":130}]}`
	for name, c := range map[string]struct {
		token string
		want  []venue.Point
	}{
		"order book": {"7", []venue.Point{{T: 1791547201, P: 0.2}, {T: 1791547203, P: 0.3}}},
		"pool":       {"", []venue.Point{{T: 1791547201, P: 0.002}, {T: 1791547203, P: 0.003}, {T: 1791547205, P: 0.4286}}},
	} {
		got, err := setup(t, map[string]string{path: body}).adapter.History(t.Context(), venue.Market{ID: "lmt-x", ClobTokenID: c.token}, venue.Day)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	pool := strings.ReplaceAll(body, `42.855`, `0.5`)
	pool = strings.ReplaceAll(pool, `130`, `1`)
	if got, err := setup(t, map[string]string{path: pool}).adapter.History(t.Context(), venue.Market{ID: "lmt-x"}, venue.Day); err != nil || len(got) != 4 || got[3].P != 1 {
		t.Errorf("a pool's line from 0 to 1: %v %v", got, err)
	}
	for _, garbage := range []string{`{}`, `{"prices":{"a":1}}`, `[{"title":"YES"}]`, `{"prices":[{"timestamp":{},"price":1}]}`, `[`, `null`, `7`} {
		if got, err := setup(t, map[string]string{path: garbage}).adapter.History(t.Context(), venue.Market{ID: "lmt-x"}, venue.Day); !errors.Is(err, venue.ErrUnavailable) {
			t.Errorf("%s: %v %v", garbage, got, err)
		}
	}
	for _, none := range []string{`[]`, `[{"title":"NO","prices":[{"timestamp":1791547201000,"price":0.5}]}]`} {
		if got, err := setup(t, map[string]string{path: none}).adapter.History(t.Context(), venue.Market{ID: "lmt-x"}, venue.Day); err != nil || len(got) != 0 {
			t.Errorf("%s: %v %v", none, got, err)
		}
	}
}
