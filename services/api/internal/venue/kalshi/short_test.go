package kalshi_test

import (
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// A market whose event cannot be read is a market, and says that it may be more.
func TestWithoutItsEventAnAnswerIsShort(t *testing.T) {
	t.Parallel()
	const id, ticker = "kalshi-KXRIVER-26OCT31-T4.5", "KXRIVER-26OCT31-T4.5"
	event := strings.Replace(venuetest.Sample(t, "event_single_nested.json"), "KXLANTERN-27", "KXRIVER-26OCT31", 1)
	b := setup(t, map[string]string{"/markets": venuetest.Sample(t, "markets_page1.json"), "/markets/" + ticker: venuetest.Sample(t, "market_open.json"), "/events/KXRIVER-26OCT31": "{"})
	got, err := b.adapter.Get(t.Context(), id)
	if err != nil || !got.Short || got.EventTitle != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	quoted, err := b.adapter.Quote(t.Context(), []string{id})
	if err != nil || len(quoted) != 1 || !quoted[0].Short {
		t.Errorf("quoted %+v, %v", quoted, err)
	}
	b.Set("/events/KXRIVER-26OCT31", event)
	quoted, err = b.adapter.Quote(t.Context(), []string{id})
	if err != nil || len(quoted) != 1 || quoted[0].Short || quoted[0].EventTitle == "" {
		t.Errorf("quoted with its event %+v, %v", quoted, err)
	}
	if got, err = b.adapter.Get(t.Context(), id); err != nil || got.Short {
		t.Errorf("got with its event %+v, %v", got, err)
	}
}

// Where the tags of the series decide the lane and cannot be read, it is a guess.
func TestWithoutItsSeriesTheLaneIsAGuess(t *testing.T) {
	t.Parallel()
	const id, ticker = "kalshi-KXRIVER-26OCT31-T4.5", "KXRIVER-26OCT31-T4.5"
	b := setup(t, map[string]string{
		"/markets/" + ticker:      venuetest.Sample(t, "market_open.json"),
		"/events/KXRIVER-26OCT31": `{"event":{"event_ticker":"KXRIVER-26OCT31","series_ticker":"KXSONG","title":"Song","category":"Entertainment"}}`,
		"/series/KXSONG":          "{",
	})
	got, err := b.adapter.Get(t.Context(), id)
	if err != nil || !got.Short || got.VenueLane != "OTHER" || got.Lane != "ENTERTAINMENT" {
		t.Errorf("got %+v, %v", got, err)
	}
	b.Set("/series/KXSONG", `{"series":{"tags":["Music"]}}`)
	if got, err = b.adapter.Get(t.Context(), id); err != nil || got.Short || got.VenueLane != "MUSIC" {
		t.Errorf("got with its series %+v, %v", got, err)
	}
}
