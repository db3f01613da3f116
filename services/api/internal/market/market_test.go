package market

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

var noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

func TestNativePriceVectors(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		initial protocol.Bps
		yes, no int64
		want    protocol.Bps
	}{
		{5000, 0, 0, 5000},
		{5000, 3, 1, 5833},
		{2000, 1, 0, 2889},
		{9900, 1000, 0, 9900},
		{100, 0, 1000, 100},
		{5000, 1, 1, 5000},
		{101, 0, 1, 100}, // 89.8 is below the minimum
	} {
		if got := NativePrice(v.initial, v.yes, v.no); got != v.want {
			t.Errorf("initial %d, %d of %d: %d, want %d", v.initial, v.yes, v.yes+v.no, got, v.want)
		}
	}
}

func TestNativePriceMovesWithTheCrowd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		initial := protocol.Bps(rapid.IntRange(int(MinYes), int(MaxYes)).Draw(t, "initial"))
		yes, no := rapid.Int64Range(0, 1e9).Draw(t, "yes"), rapid.Int64Range(0, 1e9).Draw(t, "no")
		p := NativePrice(initial, yes, no)
		if p < MinYes || p > MaxYes {
			t.Fatalf("price %d is out of bounds", p)
		}
		if NativePrice(initial, yes+1, no) < p || NativePrice(initial, yes, no+1) > p {
			t.Fatalf("a call moved the price %d away from its side", p)
		}
	})
}

func TestReadVenueMarket(t *testing.T) {
	t.Parallel()
	base := Market{
		ID: "1", Provider: protocol.Polymarket, Status: protocol.MarketOpen, EndDate: ptr(noon.Add(time.Hour)),
		Yes: ptr(protocol.Bps(3000)), PricedAt: ptr(noon.Add(-LiveFor)), UpdatedAt: noon.Add(-time.Hour), FetchedAt: ptr(noon),
	}
	for _, c := range []struct {
		name        string
		change      func(*Market)
		pastEnd     bool
		provisional bool
		priced      bool
		airable     bool
	}{
		{"open", func(*Market) {}, true, false, true, true},
		{"price grown old", func(m *Market) { m.PricedAt = ptr(noon.Add(-LiveFor - time.Millisecond)) }, true, false, false, false},
		{"ending soon", func(m *Market) { m.EndDate = ptr(noon.Add(AirAhead)) }, true, false, true, false},
		{"no end", func(m *Market) { m.EndDate = nil }, true, false, true, false},
		{"past its end", func(m *Market) { m.EndDate = ptr(noon) }, true, true, true, false},
		{"past its end, allowed", func(m *Market) { m.EndDate = ptr(noon) }, false, false, true, false},
		{"closed", func(m *Market) { m.Status = protocol.MarketClosed }, true, true, true, false},
		{"result shown", func(m *Market) { m.Provisional = true }, true, true, true, false},
		{"disputed", func(m *Market) { m.Disputed = true }, true, true, true, false},
		{"settled", func(m *Market) { m.Status, m.Disputed, m.EndDate = protocol.MarketResolved, true, ptr(noon) }, true, false, true, false},
		{"unknown", func(m *Market) { m.Status = protocol.MarketUnknown }, true, false, true, false},
	} {
		m := base
		c.change(&m)
		got := m.Read(noon, c.pastEnd)
		if got.Provisional != c.provisional || (got.Yes != nil) != c.priced || got.Airable(noon) != c.airable {
			t.Errorf("%s: provisional %v, priced %v, airable %v", c.name, got.Provisional, got.Yes != nil, got.Airable(noon))
		}
		if (got.Yes == nil) != (got.PricedAt == nil) {
			t.Errorf("%s: price and its time part", c.name)
		}
		if got.Status != m.Status {
			t.Errorf("%s: status is %s", c.name, got.Status)
		}
	}
}

func TestReadNativeMarket(t *testing.T) {
	t.Parallel()
	m := Market{
		ID: "native-aaaaaaaaaaaa", Provider: protocol.Manual, Status: protocol.MarketOpen, EndDate: ptr(noon.Add(time.Hour)),
		InitialYes: ptr(protocol.Bps(5000)), CrowdYes: 3, CrowdNo: 1, PricedAt: ptr(noon.Add(-240 * time.Hour)), Yes: ptr(protocol.Bps(5000)),
	}
	got := m.Read(noon, false)
	if *got.Yes != 5833 || !got.PricedAt.Equal(noon) || got.Status != protocol.MarketOpen || got.Provisional || !got.Airable(noon) {
		t.Errorf("open native market: %+v", got)
	}
	got = m.Read(noon.Add(time.Hour), false)
	if got.Status != protocol.MarketClosed || !got.Provisional || got.Airable(noon) {
		t.Errorf("native market after its cutoff: %+v", got)
	}
	m.Status = protocol.MarketResolved
	if got := m.Read(noon.Add(time.Hour), false); got.Status != protocol.MarketResolved || got.Provisional {
		t.Errorf("resolved native market: %+v", got)
	}
}

func TestDraftBounds(t *testing.T) {
	t.Parallel()
	good := Draft{Question: strings.Repeat("ä", MinQuestion), CutoffAt: noon.Add(minAhead), Lane: protocol.LaneOther, InitialYes: MinYes, CreatedBy: "admin"}
	for _, c := range []struct {
		field  string // empty: accepted
		change func(*Draft)
	}{
		{"", func(*Draft) {}},
		{"", func(d *Draft) { d.Question = strings.Repeat("ä", MaxQuestion) }},
		{"", func(d *Draft) { d.Description = strings.Repeat("ä", MaxDescription-1) + "\n" }},
		{"", func(d *Draft) { d.CutoffAt = noon.AddDate(2, 0, 0) }},
		{"", func(d *Draft) { d.ResolvesBy = ptr(d.CutoffAt) }},
		{"", func(d *Draft) { d.InitialYes = MaxYes }},
		{"", func(d *Draft) { d.ResolutionSource = ptr("https://records.example/gauge") }},
		{"question", func(d *Draft) { d.Question = strings.Repeat("a", MinQuestion-1) }},
		{"question", func(d *Draft) { d.Question = strings.Repeat("ä", MaxQuestion+1) }},
		{"question", func(d *Draft) { d.Question = "a line\nand another" }},
		{"question", func(d *Draft) { d.Question = "nothing\x00 follows" }},
		{"question", func(d *Draft) { d.Question = "not a text \xff here" }},
		{"description", func(d *Draft) { d.Description = strings.Repeat("a", MaxDescription+1) }},
		{"description", func(d *Draft) { d.Description = "a\x00b" }},
		{"cutoffAt", func(d *Draft) { d.CutoffAt = noon.Add(minAhead - time.Millisecond) }},
		{"cutoffAt", func(d *Draft) { d.CutoffAt = noon.AddDate(2, 0, 0).Add(time.Millisecond) }},
		{"cutoffAt", func(d *Draft) { d.CutoffAt = time.Time{} }},
		{"resolvesBy", func(d *Draft) { d.ResolvesBy = ptr(d.CutoffAt.Add(-time.Millisecond)) }},
		{"resolvesBy", func(d *Draft) { d.ResolvesBy = ptr(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)) }},
		{"initialYesBps", func(d *Draft) { d.InitialYes = MinYes - 1 }},
		{"initialYesBps", func(d *Draft) { d.InitialYes = MaxYes + 1 }},
		{"resolutionSource", func(d *Draft) { d.ResolutionSource = ptr("") }},
		{"resolutionSource", func(d *Draft) { d.ResolutionSource = ptr("javascript:alert(1)") }},
		{"resolutionSource", func(d *Draft) { d.ResolutionSource = ptr("https://a.example/" + strings.Repeat("a", MaxSource)) }},
		{"lane", func(d *Draft) { d.Lane = "science" }},
		{"createdBy", func(d *Draft) { d.CreatedBy = "" }},
	} {
		d := good
		c.change(&d)
		err := d.validate(noon)
		var f *apperr.Fault
		switch {
		case c.field == "" && err != nil:
			t.Errorf("a valid draft was rejected: %v", err)
		case c.field != "" && (!errors.As(err, &f) || f.Kind != apperr.Invalid || f.Extra["field"] != c.field || f.Code != "invalid_"+protocol.Snake(c.field)):
			t.Errorf("draft with invalid %s: %v", c.field, err)
		}
	}
}

func TestNativeIDsAreWellFormedAndRise(t *testing.T) {
	t.Parallel()
	last := protocol.MarketID("")
	for range 1000 {
		id, err := newNativeID()
		if err != nil {
			t.Fatal(err)
		}
		key := id.NativeKey()
		if !id.IsNative() || len(key) < 10 || len(key) > 26 || strings.ToLower(key) != key || id <= last {
			t.Fatalf("id %q after %q", id, last)
		}
		last = id
	}
}

func plainClassify() Classify {
	return Classify{
		Lane:     func(string, []string) protocol.Lane { return protocol.LaneCulture },
		Category: func(l protocol.Lane, _ string, _ []string) string { return "of " + strings.ToLower(string(l)) },
	}
}

func TestCleanRecords(t *testing.T) {
	t.Parallel()
	yes, half := protocol.VerdictYes, "0.5"
	records := []Record{
		{ID: "20", FetchedAt: noon, Title: "old"},
		{ID: "20", FetchedAt: noon.Add(time.Second), Title: "new\x00 one\x1f", Description: "bad \xff text\n", Status: protocol.MarketOpen, Provisional: true, Verdict: &yes, Payout: &half},
		{ID: "10", FetchedAt: noon.Add(time.Microsecond), Status: protocol.MarketResolved, Verdict: &yes, Payout: &half, Lane: protocol.LaneMusic, VolumeUnit: "mana"},
		{ID: "11", FetchedAt: noon, Status: protocol.MarketClosed, Verdict: &yes, Yes: ptr(protocol.Bps(10001))},
		{ID: "12", FetchedAt: noon, Status: "strange", Provisional: true},
		{ID: "13", FetchedAt: noon, Status: protocol.MarketResolved, Verdict: ptr(protocol.Verdict("MAYBE"))},
		{ID: "14", FetchedAt: noon, EndDate: ptr(time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)), Title: strings.Repeat("ä", maxTitle+5)},
		{ID: "not ours", FetchedAt: noon},
		{ID: "native-aaaaaaaaaaaa", FetchedAt: noon},
		{ID: "15"}, // without a time of request
	}
	got := cleanRecords(records, plainClassify())
	byID := map[protocol.MarketID]Record{}
	order := ""
	for _, r := range got {
		byID[r.ID] = r
		order += string(r.ID) + " "
	}
	if order != "10 11 12 13 14 20 " {
		t.Fatalf("cleaned records: %s", order)
	}
	check := func(id protocol.MarketID, what string, ok bool) {
		t.Helper()
		if !ok {
			raw, _ := json.Marshal(byID[id])
			t.Errorf("record %s: %s: %s", id, what, raw)
		}
	}
	r := byID["20"]
	check("20", "the newest answer, printable", r.Title == "new one" && r.Description == "bad \uFFFD text\n")
	check("20", "an open market shows no result", r.Status == protocol.MarketOpen && !r.Provisional && r.Verdict == nil && r.Payout == nil)
	check("20", "lane from its title", r.Lane == protocol.LaneCulture && r.Category == "of culture" && r.VolumeUnit == "usd")
	r = byID["10"]
	check("10", "a final result is closed and provisional, with its verdict", r.Status == protocol.MarketClosed && r.Provisional && *r.Verdict == yes && *r.Payout == half)
	check("10", "lane of the venue", r.Lane == protocol.LaneMusic && r.Category == "of music" && r.VolumeUnit == "mana")
	check("10", "title and whole milliseconds", r.Title == "10" && r.FetchedAt.Equal(noon))
	r = byID["11"]
	check("11", "closed without a result is not final", r.Status == protocol.MarketClosed && !r.Provisional && r.Verdict == nil && r.Yes == nil)
	r = byID["12"]
	check("12", "an unexpected status is unknown", r.Status == protocol.MarketUnknown)
	r = byID["13"]
	check("13", "an unexpected verdict is dropped", r.Status == protocol.MarketClosed && r.Provisional && r.Verdict == nil)
	r = byID["14"]
	check("14", "bounds", r.EndDate == nil && strings.Count(r.Title, "ä") == maxTitle)
}

func TestExpiringSet(t *testing.T) {
	t.Parallel()
	m := make(expiringSet)
	m.put("1", noon.Add(-time.Second), noon)
	if !m.has("1", noon.Add(-time.Millisecond)) || m.has("1", noon) || len(m) != 0 {
		t.Error("an id did not expire at its time")
	}
	for i := range maxSetSize + 1 {
		m.put(protocol.MarketID(strings.Repeat("1", 1+i%20)+string(rune('a'+i%26))+protocol.IntKey(int64(i))), noon.Add(-time.Second), noon)
	}
	if len(m) > maxSetSize {
		t.Errorf("the set has %d ids", len(m))
	}
	// A full set deletes expired ids first.
	clear(m)
	for i := range maxSetSize {
		until := noon
		if i%4 == 0 {
			until = noon.Add(time.Minute)
		}
		m.put(protocol.MarketID(protocol.IntKey(int64(i))), noon.Add(-time.Second), until)
	}
	m.put("new", noon, noon.Add(time.Minute))
	if len(m) != maxSetSize/4+1 || !m.has(protocol.MarketID(protocol.IntKey(0)), noon) {
		t.Errorf("%d ids are left of a full set", len(m))
	}
}
