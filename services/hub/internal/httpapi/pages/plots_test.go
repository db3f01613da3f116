package pages

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

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

// TestCourse checks the line of points over time. It is within the plot, ends at the current points, and has a zero line if zero
// is in range.
func TestCourse(t *testing.T) {
	t.Parallel()
	if !newCoursePlot(&recordv1.GetCourseResponse{Whole: true}, noon).Empty {
		t.Error("a course without steps is not empty")
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		c := &recordv1.GetCourseResponse{Whole: random.IntN(2) == 0}
		if !c.Whole {
			c.Before = random.Int64N(20_001) - 10_000
		}
		score, at := c.Before, noon.AddDate(-1, 0, 0)
		for range 1 + random.IntN(130) {
			score += random.Int64N(200) - 100
			at = at.Add(time.Duration(random.IntN(3)) * time.Hour)
			c.Steps = append(c.Steps, &recordv1.Step{At: timestamppb.New(at), Score: score, Calls: 1})
		}
		p := newCoursePlot(c, noon)
		for _, path := range []string{p.Line, p.Area} {
			for _, word := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("MHVZ ", r) }) {
				if v, err := strconv.ParseFloat(word, 64); err != nil || v < -0.01 || v > plotSize+0.01 {
					t.Fatalf("%s in %s", word, path)
				}
			}
		}
		percentOf(t, p.Now.X)
		percentOf(t, p.Now.Y)
		if p.End != format.Signed(int(score)) || len(p.YTicks) < 2 || len(p.YTicks) > 8 || (p.Note == "") != c.Whole {
			t.Fatalf("%+v", p)
		}
	}
	one := newCoursePlot(&recordv1.GetCourseResponse{
		Whole: true, Steps: []*recordv1.Step{{At: timestamppb.New(noon), Score: -40, Calls: 1}},
	}, noon)
	if one.Trend != "down" || one.Zero == "" || !strings.HasPrefix(one.Line, "M0 0") {
		t.Errorf("%+v", one)
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
	if len(p.Bins) != 10 || p.Bins[0].From != 1 || p.Bins[0].To != 10 || p.Bins[9].From != 91 || p.Bins[9].To != 100 {
		t.Fatalf("%+v", p.Bins)
	}
	last := -1.0
	for _, b := range p.Bins {
		x, top, y, bottom := percentOf(t, b.X), percentOf(t, b.Top), percentOf(t, b.Y), percentOf(t, b.Bottom)
		if x <= last || top > y || y > bottom {
			t.Errorf("%+v", b)
		}
		last = x
	}
	if calibrationOf(nil) != nil || brier(1980) != "0.198" || brier(10_000) != "1.000" || brier(0) != "0.000" {
		t.Error("a report without confidence has a calibration plot")
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
