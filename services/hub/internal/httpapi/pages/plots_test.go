package pages

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/skill"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
)

// percentOf parses a position in percent. It fails the test if the position is outside the plot.
func percentOf(t *testing.T, place string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.TrimSuffix(place, "%"), 64)
	if err != nil || !strings.HasSuffix(place, "%") || v < 0 || v > 100.01 {
		t.Fatalf("invalid position %q", place)
	}
	return v
}

// TestSpans checks that confidence intervals and their dots are within the plot, and that rounding does not change the sign of a
// bound.
func TestSpans(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		low := random.IntN(20_001) - 10_000
		high := low + random.IntN(10_001-low)
		r := &skill.Report{Calls: 1, LowBps: low, HighBps: high, EdgeBps: low + random.IntN(high-low+1)}
		p := skillOf(r)
		left, width, dot := percentOf(t, p.Left), percentOf(t, p.Width), percentOf(t, p.Dot)
		if dot < left-0.01 || dot > left+width+0.01 {
			t.Fatalf("%+v: %s at %s, %s wide", r, p.Dot, p.Left, p.Width)
		}
		if (left > 50) != (low > 0) && low != 0 && left != 50 {
			t.Fatalf("%+v begins at %s", r, p.Left)
		}
		for bps, text := range map[int]string{low: p.Low, high: p.High} {
			if sign := format.PointsOf(bps)[:1]; sign != text[:1] && bps != 0 {
				t.Fatalf("%d bps is %s", bps, text)
			}
		}
	}
	for bps, want := range map[int]string{2: "+0.02", -3: "−0.1", -502: "−5.1", 509: "+5", 500: "+5", 0: "0"} {
		if got := format.PointsOf(roundOutward(bps, -1)); got != want {
			t.Errorf("%d as a lower bound: %s, want %s", bps, got, want)
		}
	}
	if got := luckText(0.0004); got != "1 in 2,500" {
		t.Error(got)
	}
	if skillOf(nil) != nil || skillOf(&skill.Report{}) != nil {
		t.Error("a report without calls has a skill section")
	}
}

// TestCourse checks the line of points by call number. It is within the plot, ends at the current points, and has a zero line if
// zero is in range. The band of luck grows with the variance of the calls.
func TestCourse(t *testing.T) {
	t.Parallel()
	if c := newCoursePlot(&recordv1.GetCourseResponse{Whole: true}); c.End != "" || c.Words != "" {
		t.Errorf("a course without steps is not empty: %+v", c)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		c := &recordv1.GetCourseResponse{Whole: random.IntN(2) == 0}
		if !c.Whole {
			c.Before = random.Int64N(20_001) - 10_000
		}
		score := c.Before
		for range 2 + random.IntN(119) {
			score += random.Int64N(200) - 100
			c.Steps = append(c.Steps, &recordv1.Step{Score: score, Calls: 1 + random.Int64N(80), Variance: random.Int64N(25_000_000)})
		}
		p := newCoursePlot(c)
		for _, path := range []string{p.Line, p.Area, p.Band} {
			for _, word := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("MHVLZ ", r) }) {
				if v, err := strconv.ParseFloat(word, 64); err != nil || v < -0.01 || v > plotSize+0.01 {
					t.Fatalf("%s in %s", word, path)
				}
			}
		}
		percentOf(t, p.Now.Y)
		if p.Now.X != "100%" || p.End != format.Signed(int(score)) || len(p.YTicks) < 2 || len(p.YTicks) > 8 || len(p.XTicks) > maxTimeLabels ||
			(p.Note == "") != c.Whole || len(p.Table) > maxTableRows || p.Table[len(p.Table)-1].Points != p.End {
			t.Fatalf("%+v", p)
		}
	}
	two := &recordv1.GetCourseResponse{Whole: true, Steps: []*recordv1.Step{
		{Score: 50, Calls: 1, Variance: 25_000_000}, {Score: 0, Calls: 3, Variance: 75_000_000},
	}}
	p := newCoursePlot(two) // four calls at 50¢: the standard deviation is 100 points
	if p.Luck != "±196" || p.Trend != "flat" || p.Zero != "50%" || p.Line != "M0 500H250V375H1000V500" ||
		p.Label != "Points by call: lowest 0, highest +50, now 0, luck alone ±196" {
		t.Errorf("%+v", p)
	}
	two.Steps = two.Steps[:1]
	if p := newCoursePlot(two); p.Words != "1 counted call, +50 points." || p.Line != "" {
		t.Errorf("%+v", p)
	}
}

// TestBins checks the positions of the groups in the calibration plot, and that no group is hidden.
func TestBins(t *testing.T) {
	t.Parallel()
	var s skill.Sample
	for i := range 100 {
		if err := s.AddTally(skill.Tally{Price: 5000, Confidence: i + 1, Calls: int64(1 + i%3), Wins: int64(i % 2)}); err != nil {
			t.Fatal(err)
		}
	}
	r, _ := s.Report()
	p := calibrationOf(r.Calibration)
	if len(p.Dots) != 10 || p.Dots[0].Name != "1–10%" || p.Dots[9].Name != "91–100%" {
		t.Fatalf("%+v", p.Dots)
	}
	last := -1.0
	for _, b := range p.Dots {
		x, top, y, bottom := percentOf(t, b.X), percentOf(t, b.Top), percentOf(t, b.Y), percentOf(t, b.Bottom)
		if x <= last || top > y || y > bottom {
			t.Errorf("%+v", b)
		}
		last = x
	}
	if calibrationOf(nil) != nil {
		t.Error("a report without confidence has a calibration plot")
	}
}

// TestPrices checks the plot of prices and outcomes: the area of a dot is proportional to the number of calls.
func TestPrices(t *testing.T) {
	t.Parallel()
	p := pricesOf([]*recordv1.PriceRange{{Calls: 25, Wins: 5, PriceBps: 500}, {Calls: 100, Wins: 90, PriceBps: 9500}})
	if p.Text != "The share of won calls differs from the price by 7¢ on average, over 125 counted calls." || p.Dots[0].Name != "0–10¢" ||
		p.Dots[0].R != "6" || p.Dots[1].R != "12" || p.Dots[1].X != "95%" || p.Dots[1].Y != "10%" || pricesOf(nil) != nil {
		t.Errorf("%+v", p)
	}
}

// TestWeeks checks that the bar of an empty week has the number 0, and that the layers of a bar are stacked.
func TestWeeks(t *testing.T) {
	t.Parallel()
	weeks := []*recordv1.Week{{Start: "2026-09-07"}, {Start: "2026-09-14", House: 30, Automated: 70}, {Start: "<b>"}}
	p := weeksOf(weeks, "Calls", layer{"house", func(w *recordv1.Week) int64 { return w.GetHouse() }}, layer{"bots", func(w *recordv1.Week) int64 { return w.GetAutomated() }})
	if len(p.Bars) != 3 || p.Bars[0].Count != "0" || len(p.Bars[0].Parts) != 0 || len(p.Bars[1].Parts) != 2 || !p.Bars[2].Running || p.Bars[1].Running || p.Bars[2].Name != "<b>" {
		t.Fatalf("%+v", p)
	}
	lower, upper := p.Bars[1].Parts[0], p.Bars[1].Parts[1]
	if percentOf(t, lower.Y)+percentOf(t, lower.Height) != 100 || percentOf(t, upper.Y)+percentOf(t, upper.Height) != percentOf(t, lower.Y) || percentOf(t, upper.Y) != 12 {
		t.Errorf("%+v %+v", lower, upper)
	}
	if empty := weeksOf(nil, "Calls"); len(empty.Bars) != 0 || empty.Label != "Calls in 0 weeks: 0, at most 0 in one week" {
		t.Errorf("%+v", empty)
	}
	for n, want := range map[int64]string{999: "999", 1000: "1k", 1550: "1.5k", 12_345: "12.3k", 2_500_000: "2.5M"} {
		if got := compact(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
}
