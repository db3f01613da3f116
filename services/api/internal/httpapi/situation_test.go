package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

// moved returns a move of a market: from 50 % by the given number of bps.
func moved(id, event string, by int, volume float64) movement.Move {
	m := &movement.Market{
		ID: protocol.MarketID(id), Provider: protocol.Polymarket, Title: "Market " + id, Outcome: "Yes", Lane: protocol.LaneScience,
		EventKey: event, EventTitle: map[bool]string{true: "Event " + event}[event != ""], Volume: &volume,
	}
	return movement.Move{Market: m, From: 5000, To: protocol.Bps(5000 + by)}
}

// TestSituationEvents checks that events are published when a situation begins, when one of its published members changes, and
// when it ends, and at no other time.
func TestSituationEvents(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 8, noRelay: true})
	var published httpapi.Situations
	read := func(moves ...movement.Move) (out []string) {
		t.Helper()
		slices.SortStableFunc(moves, func(a, b movement.Move) int { return max(b.Delta(), -b.Delta()) - max(a.Delta(), -a.Delta()) })
		var news []feed.Ephemeral
		news, published = b.server.SituationEvents(published, movement.Situations(moves))
		for _, e := range news {
			var r struct {
				ID, Headline string
				MarketCount  int
				EndedAt      *string
			}
			if err := json.Unmarshal(e.Data, &r); err != nil || e.Type != feed.SituationUpdated || e.Channel != feed.Wire || e.Subject == "" {
				t.Errorf("%+v: %v", e, err)
			}
			out = append(out, fmt.Sprintf("%s %s (%d) %v", r.ID, r.Headline, r.MarketCount, r.EndedAt != nil))
		}
		return out
	}
	want := func(step string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", step, got, want)
		}
	}
	flood := moved("1", "flood", -1400, 182000)
	want("the first reading", read(flood))
	want("the same moves", read(flood))
	want("more volume", read(moved("1", "flood", -1400, 182100)))
	want("one more point", read(moved("1", "flood", -1500, 182100)), "sit:24h:polymarket:flood Event flood falls 15 points (1) false")
	want("another market", read(moved("1", "flood", -1500, 182100), moved("2", "flood", -200, 5000)),
		"sit:24h:polymarket:flood Event flood falls 15 points (2) false")
	want("a second situation", read(moved("1", "flood", -1500, 182100), moved("2", "flood", -200, 5000), moved("3", "", 300, 5000)),
		"sit:24h:polymarket:3 Market 3 rises 3 points (1) false")
	want("the end of a situation", read(moved("3", "", 300, 5000)), "sit:24h:polymarket:flood Event flood falls 15 points (2) true")
	want("after the end", read(moved("3", "", 300, 5000)))
	want("the end of the other", read(), "sit:24h:polymarket:3 Market 3 rises 3 points (1) true")
	want("a new beginning", read(flood), "sit:24h:polymarket:flood Event flood falls 14 points (1) false")

	// The number of published situations is limited. A situation that was published stays until it ends.
	var many []movement.Move
	for i := range httpapi.MaxSituations + 5 {
		many = append(many, moved(fmt.Sprint(100+i), "", 2000+100*i, 5000))
	}
	many = append(many, flood)
	got := read(many...)
	if len(got) != httpapi.MaxSituations || strings.Contains(strings.Join(got, " "), "flood") {
		t.Errorf("%d of %d situations are published: %q", len(got), len(many), got)
	}
	want("the last one ends", read(many[:len(many)-1]...), "sit:24h:polymarket:flood Event flood falls 14 points (1) true")
}

// TestSituationRow checks that the data of a situation event has the JSON of GET /api/situations.
func TestSituationRow(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 8, noRelay: true})
	_, published := b.server.SituationEvents(nil, nil)
	news, _ := b.server.SituationEvents(published, movement.Situations([]movement.Move{moved("701122", "ostrava-flood", -1400, 1_830_000)}))
	if len(news) != 1 {
		t.Fatalf("%d events, want 1", len(news))
	}
	const row = `{"id":"sit:24h:polymarket:ostrava-flood","eventKey":"ostrava-flood","provider":"polymarket","headline":"Event ostrava-flood falls 14 points","lane":"SCIENCE",` +
		`"markets":[{"marketId":"polymarket:701122","title":"Market 701122","outcome":"Yes","fromProbability":0.5,"toProbability":0.36,"delta":-0.14,"volume":1830000,"url":"https://hub.example/m/701122"}],` +
		`"marketCount":1,"leadMarketId":"polymarket:701122","peakDelta":-0.14,"volume":1830000,"situationScore":13,"criticality":"Elevated","detectedAt":"0001-01-01T00:00:00.000Z",` +
		`"url":"https://hub.example/s/ostrava-flood","endedAt":null}`
	if got := string(news[0].Data); got != row {
		t.Errorf("%s\nwant %s", got, row)
	}
}
