package venue_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/manifold"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

const (
	nowMs  = 1791633600000 // venuetest.Noon
	hourMs = 3_600_000
)

func TestManifoldRulesOfState(t *testing.T) {
	t.Parallel()
	manifoldKit.check(t, func(m *market.Record) string {
		if m.EndDate == nil {
			return stateOf(m)
		}
		return stateOf(m) + " ends " + m.EndDate.Format(time.RFC3339)
	}, cases{
		"open":                        {m{}, "open ends 2026-10-31T23:59:00Z"},
		"no close time":               {m{"closeTime": nil}, "open"},
		"closes now":                  {m{"closeTime": nowMs}, "closed ends 2026-10-10T12:00:00Z"},
		"closes in a millisecond":     {m{"closeTime": nowMs + 1}, "open ends 2026-10-10T12:00:00Z"},
		"closed with a fraction":      {m{"closeTime": nowMs - 0.5}, "closed ends 2026-10-10T11:59:59Z"},
		"beyond year 9999":            {m{"closeTime": 4102444800000000}, "open"},
		"beyond all numbers":          {m{"closeTime": 1e300}, "open"},
		"first moment after it":       {m{"closeTime": 253402300800000}, "open"},
		"last moment of year 9999":    {m{"closeTime": 253402300799999}, "open ends 9999-12-31T23:59:59Z"},
		"before year 1":               {m{"closeTime": -1e300}, "closed"},
		"whole days":                  {m{"closeTime": 86400000}, "closed ends 1970-01-02T00:00:00Z"},
		"unreadable close time":       {m{"closeTime": "whenever"}, "unknown"},
		"not a number at all":         {m{"closeTime": "NaN"}, "unknown"},
		"a resolution that is undone": {m{"resolution": "YES", "resolutionTime": 1, "resolutionProbability": 1}, "open ends 2026-10-31T23:59:00Z"},
	})
}

func TestManifoldRulesOfOutcome(t *testing.T) {
	t.Parallel()
	old := float64(nowMs - hourMs)
	outcome := func(word, share, at any) m {
		return m{"isResolved": true, "resolution": word, "resolutionProbability": share, "resolutionTime": at, "closeTime": 1791590400000}
	}
	state := func(m *market.Record) string { return stateOf(m) + " " + closedAt(m) }
	manifoldKit.check(t, state, cases{
		"yes":                         {outcome("YES", 0.7, old), "resolved YES 1 2026-10-10T00:00:00Z"},
		"no":                          {outcome("NO", 0.7, old), "resolved NO 0 2026-10-10T00:00:00Z"},
		"yes in small letters":        {outcome("yes", nil, old), "resolved YES 1 2026-10-10T00:00:00Z"},
		"cancelled":                   {outcome("CANCEL", 0.7, old), "resolved INVALID 2026-10-10T00:00:00Z"},
		"a share":                     {outcome("MKT", 0.37, old), "resolved INVALID 0.37 2026-10-10T00:00:00Z"},
		"a share of one":              {outcome("MKT", 1, old), "resolved YES 1 2026-10-10T00:00:00Z"},
		"a share of nothing":          {outcome("MKT", 0, old), "resolved NO 0 2026-10-10T00:00:00Z"},
		"nearly nothing":              {outcome("MKT", 1.1102230246251565e-16, old), "resolved INVALID 0 2026-10-10T00:00:00Z"},
		"nearly one":                  {outcome("MKT", 0.99999999999999, old), "resolved INVALID 0.999999999999 2026-10-10T00:00:00Z"},
		"a missing share":             {outcome("MKT", nil, old), "closed provisional 2026-10-10T00:00:00Z"},
		"a share above one":           {outcome("MKT", 1.5, old), "closed provisional 2026-10-10T00:00:00Z"},
		"a share below zero":          {outcome("MKT", -0.5, old), "closed provisional 2026-10-10T00:00:00Z"},
		"no word":                     {outcome(nil, 0.5, old), "closed provisional 2026-10-10T00:00:00Z"},
		"an unknown result":           {outcome("CHOOSE_ONE", 0.5, old), "unknown 2026-10-10T00:00:00Z"},
		"a recent unknown result":     {outcome("CHOOSE_ONE", 0.5, float64(nowMs)), "unknown 2026-10-10T00:00:00Z"},
		"too recent by a millisecond": {outcome("YES", 0.7, old+1), "closed provisional 2026-10-10T00:00:00Z"},
		"recent, cancelled":           {outcome("CANCEL", 0.7, float64(nowMs)), "closed provisional 2026-10-10T00:00:00Z"},
		"in the future":               {outcome("YES", 0.7, float64(nowMs+hourMs)), "closed provisional 2026-10-10T00:00:00Z"},
		"unknown age":                 {outcome("YES", 0.7, nil), "closed provisional 2026-10-10T00:00:00Z"},
		"age out of range":            {outcome("YES", 0.7, 1e300), "closed provisional 2026-10-10T00:00:00Z"},
	})
	got, err := manifoldKit.one(t, manifoldKit.edit(t, m{"isResolved": true, "resolution": "YES", "resolutionTime": old, "closeTime": nil}))
	if err != nil || got.EndDate != nil || got.ClosedAt == nil || got.ClosedAt.UnixMilli() != int64(old) {
		t.Errorf("without a close time trading ended with the result: %+v %v", got, err)
	}
}

func TestManifoldWaitSetting(t *testing.T) {
	t.Parallel()
	h := manifoldKit.setup(t, map[string]string{"/market/q7invented18": manifoldKit.sample(t, "market_provisional_just_resolved.json")})
	for wait, want := range map[time.Duration]protocol.MarketStatus{
		10 * time.Minute: protocol.MarketResolved, 10*time.Minute + 1: protocol.MarketClosed,
	} {
		client, err := venue.NewClient(protocol.Manifold, h.URL+venuetest.Manifold, 1000, h.Meter, venuetest.Now)
		if err != nil {
			t.Fatal(err)
		}
		a := manifold.New(client, wait)
		if got, err := a.Get(t.Context(), "manifold-q7invented18"); err != nil || got.Status != want {
			t.Errorf("wait of %v: %s %v", wait, got.Status, err)
		}
	}
}

func TestManifoldPriceOfARecord(t *testing.T) {
	t.Parallel()
	price := func(p any) m { return m{"probability": p} }
	manifoldKit.check(t, priceOf, cases{
		"plain": {price(0.4034871), "4035"}, "half rounds up": {price(0.40345), "4035"}, "below half": {price(0.4034499), "4034"}, "text": {price("0.5"), "5000"},
		"tiny": {price(5e-5), "1"}, "nothing": {price(0), "0"}, "all": {price(1), "10000"}, "none": {price(nil), ""}, "above": {price(1.01), ""}, "below": {price(-0.01), ""}, "no number": {price("NaN"), ""},
	})
}

func TestManifoldTextsOfARecord(t *testing.T) {
	t.Parallel()
	for token, counted := range map[any]bool{"MANA": true, nil: true, "CASH": false, "GOLD": false} {
		got, err := manifoldKit.one(t, manifoldKit.edit(t, m{"token": token}))
		if err != nil || (got.Volume != nil) != counted || (got.Liquidity != nil) != counted || (got.Volume24h != nil) != counted || got.VolumeUnit != "mana" {
			t.Errorf("token %v: %v %v %v", token, got.Volume, got.Liquidity, err)
		}
	}
	for url, want := range map[string]string{
		"https://manifold.markets/u/x": "https://manifold.markets/u/x", "https://example.test/x": "", "javascript:x": "", "": "",
		"https://manifold.markets@example.test/": "", "https://x@manifold.markets/u": "",
	} {
		if got, err := manifoldKit.one(t, manifoldKit.edit(t, m{"url": url})); err != nil || got.URL != want {
			t.Errorf("page URL %s: %q %v", url, got.URL, err)
		}
	}
	topics := func(slugs ...string) m { return m{"groupSlugs": slugs} }
	manifoldKit.check(t, func(m *market.Record) string { return string(m.Lane) }, cases{
		"first of the broad": {topics("politics-default", "world-default"), "POLITICS"},
		"reversed order":     {topics("world-default", "politics-default"), "WORLD"},
		"narrow first":       {topics("world-default", "music", "politics-default"), "MUSIC"},
		"us politics":        {topics("oddities", "us-politics"), "POLITICS"},
		"nfl":                {topics("nfl"), "SPORT"}, "soccer": {topics("soccer"), "SPORT"}, "bitcoin": {topics("bitcoin"), "CRYPTO"},
		"technology": {topics("technology-default"), "TECH"}, "ai": {topics("ai"), "TECH"}, "space": {topics("space"), "SCIENCE"},
		"biology": {topics("biology"), "SCIENCE"}, "climate": {topics("climate"), "SCIENCE"}, "economics": {topics("economics-default"), "ECONOMY"},
		"finance": {topics("finance"), "ECONOMY"}, "stocks": {topics("stocks"), "ECONOMY"}, "movies": {topics("movies"), "ENTERTAINMENT"},
		"culture": {topics("culture-default"), "CULTURE"}, "geopolitics": {topics("geopolitics"), "WORLD"}, "none": {topics("oddities"), "OTHER"},
	})
}

func TestManifoldQuoteOfARecord(t *testing.T) {
	t.Parallel()
	manifoldKit.check(t, quoteOf, cases{
		"whole bps":   {m{"probability": 0.31}, "3100 6900"},
		"rounds up":   {m{"probability": 0.31001}, "3101 6900"},
		"nothing":     {m{"probability": 0}, ""},
		"certainty":   {m{"probability": 1}, ""},
		"nearly one":  {m{"probability": 0.99995}, ""},
		"missing":     {m{"probability": nil}, ""},
		"not one":     {m{"probability": "NaN"}, ""},
		"above one":   {m{"probability": 1.5}, ""},
		"below zero":  {m{"probability": -0.5}, ""},
		"in exponent": {m{"probability": 1e-4}, "1 9999"},
	})
}

func TestManifoldClosingTime(t *testing.T) {
	t.Parallel()
	at := func(ago time.Duration) int64 { return venuetest.Noon.Add(-ago).UnixMilli() }
	manifoldKit.check(t, closedAt, cases{
		"open":                      {m{"closeTime": at(-time.Hour)}, ""},
		"closed":                    {m{"closeTime": at(time.Hour)}, "2026-10-10T11:00:00Z"},
		"resolved after the close":  {m{"closeTime": at(3 * time.Hour), "isResolved": true, "resolution": "YES", "resolutionTime": at(2 * time.Hour)}, "2026-10-10T09:00:00Z"},
		"resolved before the close": {m{"closeTime": at(-time.Hour), "isResolved": true, "resolution": "YES", "resolutionTime": at(2 * time.Hour)}, "2026-10-10T10:00:00Z"},
		"resolved a moment ago":     {m{"closeTime": at(-time.Hour), "isResolved": true, "resolution": "YES", "resolutionTime": at(time.Second)}, "2026-10-10T11:59:59Z"},
		"without times":             {m{"closeTime": nil, "isResolved": true, "resolution": "YES", "resolutionTime": nil}, ""},
	})
}

// short returns the short record of a market with the given id and time of creation, as lists contain it.
func short(id string, created int64) string {
	return fmt.Sprintf(`{"id":%q,"question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false,"probability":0.5,"createdTime":%d}`, id, created)
}

const first = "/search-markets?contractType=BINARY&filter=open&limit=1000&sort=newest&term="

func TestManifoldListGoesBackInTime(t *testing.T) {
	t.Parallel()
	second := "/search-markets?beforeTime=1001&contractType=BINARY&filter=open&limit=1000&sort=newest&term="
	third := strings.Replace(second, "1001", "901", 1)
	b := manifoldKit.setup(t, map[string]string{
		first: "[" + short("c", 1200) + "," + short("b", 1000) + "]", second: "[" + short("b", 1000) + "," + short("twin", 1000) + "," + short("a", 900) + "]",
		third: "[" + short("a", 900) + "]",
	})
	var seen []string
	cursor := ""
	for range 5 {
		page, next, err := b.ListOpen(t.Context(), cursor)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, manifoldKit.ids(page))
		if cursor = next; next == "" {
			break
		}
	}
	if !slices.Equal(seen, []string{"b c", "a b twin", "a"}) || !slices.Equal(b.Paths(), []string{first, second, third}) {
		t.Errorf("%q by %v", seen, b.Paths())
	}
}

func TestManifoldListSamples(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"search_markets_open_binary.json": "q7invented01 q7invented02",
		"search_markets_empty.json":       "",
		"markets_page1.json":              "q7invented01 q7invented02", // a market with several answers is omitted
		"markets_page2_last.json":         "",                          // a resolved market and a poll are omitted
	} {
		page, _, err := manifoldKit.setup(t, map[string]string{"/search-markets": manifoldKit.sample(t, file)}).ListOpen(t.Context(), "")
		if err != nil || manifoldKit.ids(page) != want {
			t.Errorf("markets of %s: %s %v", file, manifoldKit.ids(page), err)
		}
	}
}

// TestManifoldAListGivesShortAnswers checks that Short is set for markets from lists, because lists contain no description
// and no topics.
func TestManifoldAListGivesShortAnswers(t *testing.T) {
	t.Parallel()
	const id = "manifold-q7invented01"
	b := manifoldKit.setup(t, map[string]string{
		"/search-markets":      manifoldKit.sample(t, "search_markets_open_binary.json"),
		"/market/q7invented01": manifoldKit.sample(t, "market_open_binary.json"),
	})
	find := func() market.Record {
		t.Helper()
		listed, _, err := b.ListOpen(t.Context(), "")
		i := slices.IndexFunc(listed, func(m market.Record) bool { return m.ID == id })
		if err != nil || i < 0 {
			t.Fatalf("index of the market in the list: %d %v", i, err)
		}
		return listed[i]
	}
	if m := find(); !m.Short || m.Description != "" || m.Tags != nil {
		t.Errorf("listed %+v", m)
	}
	if got, err := b.Get(t.Context(), id); err != nil || got.Short || got.Description == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	if m := find(); m.Short || m.Description == "" {
		t.Errorf("the details that were read are not cached: %+v", m)
	}
}

// TestManifoldRealQuestionsSurvive reads the resolved questions of this venue in the directory shared, if it exists. Ids,
// texts, prices and outcomes are real; the records have the form of the samples.
func TestManifoldRealQuestionsSurvive(t *testing.T) {
	t.Parallel()
	file, ok := shared(t, "..", "data", "resolved-questions.csv")
	if !ok {
		return
	}
	rows, err := csv.NewReader(bytes.NewReader(read(t, file))).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	answers, wanted := map[string]string{}, map[string][]string{}
	for _, row := range rows[1:] {
		if row[column["source"]] != "manifold" {
			continue
		}
		id, word := row[column["id"]], map[string]string{"1": "YES", "0": "NO"}[row[column["outcome_yes"]]]
		on, err := time.Parse(time.DateOnly, row[column["resolved_on"]])
		bps, err2 := strconv.Atoi(row[column["yes_bps"]])
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		raw, err := json.Marshal(map[string]any{
			"id": id, "question": row[column["question"]], "url": row[column["url"]], "outcomeType": "BINARY", "mechanism": "cpmm-1", "isResolved": true,
			"resolution": word, "resolutionTime": on.UnixMilli(), "probability": float64(bps) / 10_000, "textDescription": "", "token": "MANA",
		})
		if err != nil {
			t.Fatal(err)
		}
		answers["/market/"+id], wanted[id] = string(raw), []string{word, row[column["question"]], row[column["url"]]}
	}
	b := manifoldKit.setup(t, answers)
	for id, want := range wanted {
		m, err := b.Get(t.Context(), protocol.MarketID("manifold-"+id))
		if err != nil || inconsistent(&m, protocol.Manifold, id) != nil || string(*m.Verdict) != want[0] ||
			m.Title != want[1] || m.URL != want[2] || priceOf(&m) != map[string]string{"YES": "10000", "NO": "0"}[want[0]] {
			t.Errorf("question %s: %+v %v", id, m, err)
		}
	}
	t.Logf("%d questions", len(wanted))
	if len(wanted) < 100 {
		t.Errorf("%d questions", len(wanted))
	}
}
