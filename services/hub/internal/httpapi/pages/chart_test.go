package pages

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
)

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

type point = *cataloguev1.HistoryPoint

// ago returns a price p at the given number of minutes before noon.
func ago(minutes int, p float64) point {
	return &cataloguev1.HistoryPoint{T: noon.Add(-time.Duration(minutes) * time.Minute).Unix(), P: p}
}

func called(minutes int, side protocol.Side, price int32) *signalv1.Signal {
	return &signalv1.Signal{
		Id: "0199f0f0-0000-7000-8000-000000000001", Handle: "mara_k", Direction: string(side), PriceBps: price, ScoreBasisBps: price,
		CreatedAt: timestamppb.New(noon.Add(-time.Duration(minutes) * time.Minute)),
	}
}

func drawn(i protocol.Interval, points ...point) chart {
	return newChart(chartInput{Points: points, Interval: i, Now: noon, Trading: true})
}

// TestChartInWords checks that fewer than two prices are stated in words.
func TestChartInWords(t *testing.T) {
	t.Parallel()
	const nothing = "No price history in this period."
	for name, c := range map[string]struct {
		points []point
		want   string
	}{
		"no points": {nil, nothing}, "only before": {[]point{ago(61, 0.5)}, nothing}, "only ahead": {[]point{ago(-2, 0.5)}, nothing},
		"no price": {[]point{{T: noon.Unix(), P: math.NaN()}}, nothing},
		"no time":  {[]point{{T: 0, P: 0.5}, {T: -5, P: 0.5}, {T: math.MaxInt64, P: 0.5}, {T: math.MinInt64, P: 0.5}}, nothing},
		"one":      {[]point{ago(30, 0.315)}, "Only one price in this period: YES 31.5¢ on 18 Sep 2026, 11:30 UTC."},
	} {
		if got := drawn(protocol.IntervalHour, c.points...); got.Words != c.want || len(got.Lines)+len(got.Dots)+len(got.YTicks) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	m := &marketv1.Market{YesBps: proto.Int32(4000), Outcomes: []string{"Over", "Under"}}
	if c := newChart(chartInput{Market: m, Side: protocol.No, Now: noon}); c.Words != nothing+" Under is at 60¢ now." {
		t.Error(c.Words)
	}
}

// TestChartOfReceipt checks that the chart of a call shows the price of the called side and the distance to the outcome.
func TestChartOfReceipt(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]distance{
		"won":     {position{"50%", "80%"}, "won", "0%", "50%", "80%", "0%"},
		"lost":    {position{"50%", "20%"}, "lost", "20%", "50%", "80%", "100%"},
		"void":    {position: position{"50%", "50%"}},
		"pending": {position: position{"50%", "50%"}},
	} {
		call := called(30, protocol.No, 4000)
		call.Status, call.ResolvedAt = status, timestamppb.New(noon)
		c := newChart(chartInput{
			Side: protocol.No, Points: []point{ago(60, 0.65), ago(30, 0.6), ago(1, 0.55)}, Own: call, Receipt: true, Now: noon, From: noon.Add(-time.Hour),
			Trading: true,
		})
		if *c.Distance != want || c.Low != "35¢" || c.High != "45¢" || c.Table[0].Price != "35¢" || len(c.Marks) != 1 || !c.Marks[0].Own {
			t.Errorf("%s: %+v, want %+v in %+v", status, *c.Distance, want, c)
		}
	}
}

func TestChartGeometry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		points []point
		lines  []string
		rows   string // labels of prices in cents
	}{
		{"a line up", []point{ago(60, 0), ago(30, 0.5), ago(0, 1)}, []string{"M0 1000L500 500L1000 0"}, "0¢ 25¢ 50¢ 75¢ 100¢"},
		{"out of order", []point{ago(0, 1), ago(60, 0), ago(30, 0.5)}, []string{"M0 1000L500 500L1000 0"}, "0¢ 25¢ 50¢ 75¢ 100¢"},
		{"beyond the ends", []point{ago(60, -7), ago(30, 0.5), ago(0, 9)}, []string{"M0 1000L500 500L1000 0"}, "0¢ 25¢ 50¢ 75¢ 100¢"},
		{"infinite", []point{ago(60, math.Inf(-1)), ago(0, math.Inf(1))}, []string{"M0 1000L1000 0"}, "0¢ 25¢ 50¢ 75¢ 100¢"},
		{"one second twice", []point{ago(60, 0.9), ago(60, 0), ago(0, 1)}, []string{"M0 1000L1000 0"}, "0¢ 25¢ 50¢ 75¢ 100¢"},
		{"flat", []point{ago(60, 0.5), ago(30, 0.5), ago(0, 0.5)}, []string{"M0 500L500 500L1000 500"}, "45¢ 47.5¢ 50¢ 52.5¢ 55¢"},
		{"flat at the bottom", []point{ago(60, 0), ago(0, 0)}, []string{"M0 1000L1000 1000"}, "0¢ 2¢ 4¢ 6¢ 8¢ 10¢"},
		{"flat at the top", []point{ago(60, 1), ago(0, 1)}, []string{"M0 0L1000 0"}, "90¢ 92¢ 94¢ 96¢ 98¢ 100¢"},
	} {
		got := drawn(protocol.IntervalHour, c.points...)
		var rows []string
		for _, r := range got.YTicks {
			rows = append(rows, r.Label)
		}
		if strings.Join(got.Lines, "|") != strings.Join(c.lines, "|") || strings.Join(rows, " ") != c.rows {
			t.Errorf("%s: %v with %v, want %v with %s", c.name, got.Lines, rows, c.lines, c.rows)
		}
		if len(got.Areas) != len(got.Lines) || !strings.HasSuffix(got.Areas[0], "V1000H0Z") {
			t.Errorf("%s: areas %v", c.name, got.Areas)
		}
	}
}

// TestChartGaps checks that a line is interrupted only where prices are missing.
func TestChartGaps(t *testing.T) {
	t.Parallel()
	every := func(step int, minutes ...int) []point {
		var out []point
		for i := 0; i+1 < len(minutes); i += 2 {
			for m := minutes[i]; m >= minutes[i+1]; m -= step {
				out = append(out, ago(m, 0.4))
			}
		}
		return out
	}
	for _, c := range []struct {
		name        string
		interval    protocol.Interval
		points      []point
		lines, dots int
	}{
		{"whole hour", protocol.IntervalHour, every(1, 60, 0), 1, 0},
		{"ten minutes of quiet are none", protocol.IntervalHour, every(1, 60, 40, 30, 0), 1, 0},
		{"twenty minutes missing", protocol.IntervalHour, every(1, 60, 40, 20, 0), 2, 0},
		{"two gaps and a lonely price", protocol.IntervalHour, every(1, 60, 50, 30, 30, 10, 0), 2, 1},
		{"a day of five minutes", protocol.IntervalDay, every(5, 1440, 0), 1, 0},
		{"an hour of the day missing", protocol.IntervalDay, every(5, 1440, 600, 540, 0), 2, 0},
		{"a day of snapshots", protocol.IntervalDay, every(15, 1440, 0), 1, 0},
		{"a week of hours", protocol.IntervalWeek, every(60, 10080, 0), 1, 0},
		{"a day of the week missing", protocol.IntervalWeek, every(60, 10080, 5000, 3500, 0), 2, 0},
		{"sparse all over", protocol.IntervalAll, every(7*1440, 100*1440, 0), 1, 0},
	} {
		if got := drawn(c.interval, c.points...); len(got.Lines) != c.lines || len(got.Dots) != c.dots {
			t.Errorf("%s: %d lines and %d dots, want %d and %d", c.name, len(got.Lines), len(got.Dots), c.lines, c.dots)
		}
	}
	held := newChart(chartInput{Points: []point{ago(60, 0.4), ago(30, 0.6)}, Interval: protocol.IntervalHour, Now: noon, Trading: true, Stepped: true})
	if len(held.Lines) != 1 || !strings.HasPrefix(held.Lines[0], "M0 ") || strings.Count(held.Lines[0], "H") != 2 || !strings.Contains(held.Lines[0], "H1000") || strings.Contains(held.Lines[0], "L") {
		t.Errorf("a stepped line is drawn as %v", held.Lines)
	}
}

func TestChartMarks(t *testing.T) {
	t.Parallel()
	calls := []*signalv1.Signal{called(0, protocol.No, 6000), called(15, protocol.Yes, 7000), called(45, protocol.Yes, 20_000), called(50, protocol.No, -3), called(61, protocol.Yes, 5000)}
	c := newChart(chartInput{Points: []point{ago(60, 0), ago(0, 1)}, Calls: calls, Interval: protocol.IntervalHour, Now: noon, Trading: true})
	var got []string
	for _, m := range c.Marks {
		got = append(got, m.X+","+m.Y+","+m.Class)
	}
	if want := "100%,60%,side-no 75%,30%,side-yes 25%,0%,side-yes 16.67%,0%,side-no"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if c.Marks[0].Up || !c.Marks[1].Up || c.Marks[1].Title != "@mara_k: YES at 70¢, 18 Sep 2026, 11:45 UTC" {
		t.Errorf("%+v", c.Marks[:2])
	}
	own := called(15, protocol.Yes, 7000)
	own.Id = "own"
	c = newChart(chartInput{Points: []point{ago(60, 0), ago(0, 1)}, Calls: append(calls, own), Own: own, Interval: protocol.IntervalHour, Now: noon})
	if last := c.Marks[len(c.Marks)-1]; !last.Own || last.ID != "own" || len(c.Marks) != 5 || c.Marks[0].Own {
		t.Errorf("the own call: %+v", c.Marks)
	}
	many := make([]*signalv1.Signal, 250)
	for i := range many {
		many[i] = called(i/10, protocol.Yes, 5000)
	}
	if c := newChart(chartInput{Points: []point{ago(60, 0), ago(0, 1)}, Calls: many, Interval: protocol.IntervalHour, Now: noon}); len(c.Marks) != maxMarks || c.Marks[0].X != "100%" {
		t.Errorf("%d marks", len(c.Marks))
	}
}

var lengths = regexp.MustCompile(`-?\d+(\.\d+)?(e[+-]\d+)?`)

// TestChartStaysWithin checks with random data that all positions are within the plot and that the size of a chart is bounded.
func TestChartStaysWithin(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	odd := []float64{0, 1, -1, 2, 0.5, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64}
	for round := range 200 {
		s := chartInput{
			Interval: []protocol.Interval{protocol.IntervalHour, protocol.IntervalDay, protocol.IntervalWeek, protocol.IntervalAll}[round%4], Now: noon,
			Stepped: r.IntN(3) == 0, Trading: r.IntN(2) == 0,
		}
		n := r.IntN(60)
		if round%50 == 0 {
			n = 30_000
		}
		for range n {
			p := &cataloguev1.HistoryPoint{T: noon.Unix() - r.Int64N(1<<uint(1+r.IntN(31))), P: r.Float64()}
			switch r.IntN(20) {
			case 0:
				p.P = odd[r.IntN(len(odd))]
			case 1:
				p.T = int64(r.Uint64())
			}
			s.Points = append(s.Points, p)
		}
		for range r.IntN(5) {
			s.Calls = append(s.Calls, called(r.IntN(100_000)-10, []protocol.Side{protocol.Yes, protocol.No}[r.IntN(2)], r.Int32N(20_000)-5000))
		}
		c := newChart(s)
		size := 0
		for _, d := range append(append([]string{}, c.Lines...), c.Areas...) {
			size += len(d)
			inside(t, d, plotSize)
		}
		if size > 200_000 {
			t.Errorf("a chart of %d points takes %d characters", n, size)
		}
		for _, p := range c.Dots {
			inside(t, p.X, 100)
			inside(t, p.Y, 100)
		}
		for _, m := range c.Marks {
			inside(t, m.X, 100)
			inside(t, m.Y, 100)
		}
		for _, ticks := range [][]chartTick{c.YTicks, c.XTicks} {
			if len(ticks) > maxTimeLabels+1 {
				t.Errorf("%d labels", len(ticks))
			}
			for _, tick := range ticks {
				inside(t, tick.At, 100)
			}
		}
	}
}

func inside(t *testing.T, text string, most float64) {
	t.Helper()
	if strings.ContainsAny(text, "aIN") { // NaN or Inf
		t.Fatalf("invalid length: %.80s", text)
	}
	for _, one := range lengths.FindAllString(text, -1) {
		if v, err := strconv.ParseFloat(one, 64); err != nil || v < 0 || v > most {
			t.Fatalf("%s is outside the plot: %.80s", one, text)
		}
	}
}

func TestTimeLabels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		span time.Duration
		want string
	}{
		{time.Minute, "11:59:20"},
		{time.Hour, "11:10"},
		{24 * time.Hour, "16:00"},
		{7 * 24 * time.Hour, "14 Sep"},
		{400 * 24 * time.Hour, "Jul 2026"},
		{56 * 365 * 24 * time.Hour, ""},
	} {
		ticks := timeTicks(axis{start: float64(noon.Add(-c.span).Unix()), end: float64(noon.Unix())})
		var labels []string
		for _, tick := range ticks {
			labels = append(labels, tick.Label)
		}
		if len(ticks) < 2 || len(ticks) > maxTimeLabels || !strings.Contains(strings.Join(labels, " "), c.want) {
			t.Errorf("%v: %v", c.span, labels)
		}
	}
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "$0", 999.4: "$999", 1000: "$1,000", 182000: "$182,000", 999_999: "$999,999", 1_234_567: "$1.23 M", 5e9: "$5.00 B", 7e12: "$7.00 T",
		1e15: "$999 T+", -1: "", math.Inf(1): "", 1e300: "$999 T+",
	} {
		if got := format.Amount(&v, "usd"); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
	v := 1500.0
	if format.Amount(nil, "usd") != "" || format.Amount(&v, "mana") != "1,500 mana" || format.Amount(&v, "") != "$1,500" {
		t.Error("wrong unit of a volume")
	}
	for raw, ok := range map[string]bool{"https://a.example/x": true, "http://a.example": true, "javascript:alert(1)": false, "//a.example": false, "ftp://a.example": false, "https:x": false, "": false, "https://%zz": false} {
		if (format.Link(raw) != "") != ok {
			t.Errorf("link %q", raw)
		}
	}
}
