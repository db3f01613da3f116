package manifold_test

import (
	"slices"
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// Lists carry no description and no topics.
func TestAListGivesShortAnswers(t *testing.T) {
	t.Parallel()
	const id = "manifold-q7invented01"
	b := setup(t, map[string]string{"/search-markets": venuetest.Sample(t, "search_markets_open_binary.json"), "/market/q7invented01": venuetest.Sample(t, "market_open_binary.json")})
	find := func() venue.Market {
		t.Helper()
		listed, _, err := b.adapter.List(t.Context(), "")
		i := slices.IndexFunc(listed, func(m venue.Market) bool { return m.ID == id })
		if err != nil || i < 0 {
			t.Fatalf("%d %v", i, err)
		}
		return listed[i]
	}
	if m := find(); !m.Short || m.Description != "" || m.Tags != nil {
		t.Errorf("listed %+v", m)
	}
	if got, err := b.adapter.Get(t.Context(), id); err != nil || got.Short || got.Description == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	if m := find(); m.Short || m.Description == "" {
		t.Errorf("what was read is not remembered: %+v", m)
	}
}
