package view

import (
	"math"

	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
)

// CoursePoint is the sum of points of an operator after a number of calls, with the band of luck from Low to High.
type CoursePoint struct {
	Calls     int64
	Points    float64
	Low, High float64
}

// CourseOf returns the points of an operator by call number, from before the first step, with the band of luck: the points of 95 of
// 100 forecasters who know no more than the prices.
//
// A call at the scoring price p earns 100 (1-p) points with the probability p, and otherwise costs 100 p points. The mean is 0 and
// the variance is 100² p (1-p). After several independent calls, the band is ±1.96 · 100 · √(Σ p (1-p)).
func CourseOf(r *recordv1.GetCourseResponse) []CoursePoint {
	start := float64(r.GetBefore())
	out := []CoursePoint{{Points: start, Low: start, High: start}}
	calls, variance := int64(0), int64(0)
	for _, p := range r.GetSteps() {
		calls, variance = calls+p.GetCalls(), variance+p.GetVariance()
		luck := 1.96 * math.Sqrt(float64(variance)) / 100 // the variance is that of prices in bps
		out = append(out, CoursePoint{calls, float64(p.GetScore()), start - luck, start + luck})
	}
	return out
}
