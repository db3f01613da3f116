package manifold_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/manifold"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

type m = map[string]any

const (
	nowMs  = 1791633600000 // noon
	hourMs = 3_600_000
)

func TestRulesOfState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes m
		status  string
		end     string // empty: none
	}{
		"open":                        {m{}, "open", "2026-10-31T23:59:00Z"},
		"no close time":               {m{"closeTime": nil}, "open", ""},
		"closes now":                  {m{"closeTime": nowMs}, "closed", "2026-10-10T12:00:00Z"},
		"closes in a thousandth":      {m{"closeTime": nowMs + 1}, "open", "2026-10-10T12:00:00Z"},
		"closed with a fraction":      {m{"closeTime": nowMs - 0.5}, "closed", "2026-10-10T11:59:59Z"},
		"beyond year 9999":            {m{"closeTime": 4102444800000000}, "open", ""},
		"beyond all numbers":          {m{"closeTime": 1e300}, "open", ""},
		"first moment after it":       {m{"closeTime": 253402300800000}, "open", ""},
		"last moment of year 9999":    {m{"closeTime": 253402300799999}, "open", "9999-12-31T23:59:59Z"},
		"before all years":            {m{"closeTime": -1e300}, "closed", ""},
		"long ago, no seconds":        {m{"closeTime": 86400000}, "closed", "1970-01-02T00:00:00Z"},
		"unreadable close time":       {m{"closeTime": "whenever"}, "unknown", ""},
		"not a number at all":         {m{"closeTime": "NaN"}, "unknown", ""},
		"a resolution that is undone": {m{"resolution": "YES", "resolutionTime": 1, "resolutionProbability": 1}, "open", "2026-10-31T23:59:00Z"},
	} {
		got, err := one(t, edit(t, c.changes))
		end := ""
		if got.EndDate != nil {
			end = got.EndDate.Format(time.RFC3339)
		}
		if err != nil || got.Status != c.status || end != c.end || got.Provisional || got.Disputed || got.Outcome != "" || got.Settled || got.Payout != nil {
			t.Errorf("%s: %+v ends %s %v", name, got, end, err)
		}
	}
}

func TestRulesOfOutcome(t *testing.T) {
	t.Parallel()
	old := float64(nowMs - hourMs)
	for name, c := range map[string]struct {
		word, share, at         any
		status, outcome, payout string
	}{
		"yes":                      {"YES", 0.7, old, "resolved", "YES", "1"},
		"no":                       {"NO", 0.7, old, "resolved", "NO", "0"},
		"yes in small letters":     {"yes", nil, old, "resolved", "YES", "1"},
		"cancelled":                {"CANCEL", 0.7, old, "resolved", "INVALID", ""},
		"a share":                  {"MKT", 0.37, old, "resolved", "INVALID", "0.37"},
		"a share of one":           {"MKT", 1, old, "resolved", "YES", "1"},
		"a share of nothing":       {"MKT", 0, old, "resolved", "NO", "0"},
		"nearly nothing":           {"MKT", 1.1102230246251565e-16, old, "resolved", "INVALID", "0"},
		"nearly one":               {"MKT", 0.99999999999999, old, "resolved", "INVALID", "0.999999999999"},
		"a share not told":         {"MKT", nil, old, "closed", "", ""},
		"a share above one":        {"MKT", 1.5, old, "closed", "", ""},
		"a share below zero":       {"MKT", -0.5, old, "closed", "", ""},
		"no word":                  {nil, 0.5, old, "closed", "", ""},
		"a new word":               {"CHOOSE_ONE", 0.5, old, "unknown", "", ""},
		"a new word, fresh":        {"CHOOSE_ONE", 0.5, float64(nowMs), "unknown", "", ""},
		"fresh by a thousandth":    {"YES", 0.7, old + 1, "closed", "", ""},
		"fresh, cancelled":         {"CANCEL", 0.7, float64(nowMs), "closed", "", ""},
		"in the future":            {"YES", 0.7, float64(nowMs + hourMs), "closed", "", ""},
		"of an age that is hidden": {"YES", 0.7, nil, "closed", "", ""},
		"of an age beyond holding": {"YES", 0.7, 1e300, "closed", "", ""},
	} {
		got, err := one(t, edit(t, m{"isResolved": true, "resolution": c.word, "resolutionProbability": c.share, "resolutionTime": c.at, "closeTime": 1791590400000}))
		payout := ""
		if got.Payout != nil {
			payout = *got.Payout
		}
		if err != nil || got.Status != c.status || got.Outcome != c.outcome || payout != c.payout || got.Disputed ||
			got.Settled != (c.outcome != "") || got.Provisional != (c.status == "closed") || got.ClosedAt == nil || !got.ClosedAt.Equal(*got.EndDate) {
			t.Errorf("%s: %s %q payout %q settled %v provisional %v %v", name, got.Status, got.Outcome, payout, got.Settled, got.Provisional, err)
		}
	}
	got, err := one(t, edit(t, m{"isResolved": true, "resolution": "YES", "resolutionTime": old, "closeTime": nil}))
	if err != nil || got.EndDate != nil || got.ClosedAt == nil || got.ClosedAt.UnixMilli() != int64(old) {
		t.Errorf("without a close time trading ended with the result: %+v %v", got, err)
	}
}

func TestTheWaitIsASetting(t *testing.T) {
	t.Parallel()
	f := venuetest.New(t, "/v0", map[string]string{"/market/q7invented18": venuetest.Sample(t, "market_provisional_just_resolved.json")})
	for wait, want := range map[time.Duration]string{10 * time.Minute: venue.Resolved, 10*time.Minute + 1: venue.Closed, 0: venue.Closed} {
		a, err := manifold.New(manifold.Config{URL: f.URL, RequestsPerSecond: 1000, Wait: wait}, f.Meter, venuetest.Now)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.Get(t.Context(), "manifold-q7invented18"); err != nil || got.Status != want {
			t.Errorf("%v: %s %v", wait, got.Status, err)
		}
	}
}

func TestPriceOfARecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		probability any
		want        int // -1: none
	}{
		"plain": {0.4034871, 4035}, "half rounds up": {0.40345, 4035}, "below half": {0.4034499, 4034}, "text": {"0.5", 5000},
		"tiny": {5e-5, 1}, "nothing": {0, 0}, "all": {1, 10000}, "none": {nil, -1}, "above": {1.01, -1}, "below": {-0.01, -1}, "no number": {"NaN", -1},
	} {
		got, err := one(t, edit(t, m{"probability": c.probability}))
		price := -1
		if got.YesBps != nil {
			price = *got.YesBps
		}
		if err != nil || price != c.want {
			t.Errorf("%s: %d %v, want %d", name, price, err, c.want)
		}
	}
}

func TestUnknownWordsAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for _, changes := range []m{
		{"outcomeType": "RANKED"},
		{"outcomeType": "RANKED"},
		{"mechanism": "dpm-2"},
		{"token": "GOLD"},
		{"isResolved": true, "resolution": "SPLIT"},
		{"outcomeType": "POLL"},
		{"token": "CASH"},
	} {
		b.Set("/market/q7invented01", edit(t, changes))
		_, _ = b.adapter.Get(t.Context(), "manifold-q7invented01")
	}
	const name = "venue_unknown_words_total"
	if b.Counted(name, "manifold", "outcomeType", "RANKED") != 2 || b.Counted(name, "mechanism", "dpm-2") != 1 || b.Counted(name, "token", "GOLD") != 1 ||
		b.Counted(name, "resolution", "SPLIT") != 1 || b.Counted(name) != 5 || b.Counted("venue_dropped_records_total", "not_binary") != 4 {
		t.Errorf("%v words counted", b.Counted(name))
	}
}

func TestWordsOfARecord(t *testing.T) {
	t.Parallel()
	for token, counted := range map[any]bool{"MANA": true, nil: true, "CASH": false, "GOLD": false} {
		got, err := one(t, edit(t, m{"token": token}))
		if err != nil || (got.Volume != nil) != counted || (got.Liquidity != nil) != counted || (got.Volume24h != nil) != counted || got.VolumeUnit != "mana" {
			t.Errorf("%v: %v %v %v", token, got.Volume, got.Liquidity, err)
		}
	}
	for url, want := range map[string]string{
		"https://manifold.markets/u/x": "https://manifold.markets/u/x", "https://example.test/x": "", "javascript:x": "", "": "",
		"https://manifold.markets@example.test/": "", "https://x@manifold.markets/u": "",
	} {
		if got, err := one(t, edit(t, m{"url": url})); err != nil || got.ProofURL != want {
			t.Errorf("%s: %q %v", url, got.ProofURL, err)
		}
	}
	type topics = []string
	for name, c := range map[string]struct {
		slugs topics
		want  string
	}{
		"first of the broad": {topics{"politics-default", "world-default"}, "POLITICS"},
		"the other way":      {topics{"world-default", "politics-default"}, "WORLD"},
		"narrow first":       {topics{"world-default", "music", "politics-default"}, "MUSIC"},
		"us politics":        {topics{"oddities", "us-politics"}, "POLITICS"},
		"nfl":                {topics{"nfl"}, "SPORT"}, "soccer": {topics{"soccer"}, "SPORT"}, "bitcoin": {topics{"bitcoin"}, "CRYPTO"},
		"technology": {topics{"technology-default"}, "TECH"}, "ai": {topics{"ai"}, "TECH"}, "space": {topics{"space"}, "SCIENCE"},
		"biology": {topics{"biology"}, "SCIENCE"}, "climate": {topics{"climate"}, "SCIENCE"}, "economics": {topics{"economics-default"}, "ECONOMY"},
		"finance": {topics{"finance"}, "ECONOMY"}, "stocks": {topics{"stocks"}, "ECONOMY"}, "movies": {topics{"movies"}, "ENTERTAINMENT"},
		"culture": {topics{"culture-default"}, "CULTURE"}, "geopolitics": {topics{"geopolitics"}, "WORLD"}, "none": {topics{"oddities"}, "OTHER"},
	} {
		if got, err := one(t, edit(t, m{"groupSlugs": c.slugs})); err != nil || got.VenueLane != c.want {
			t.Errorf("%s: %s %v, want %s", name, got.VenueLane, err, c.want)
		}
	}
}
