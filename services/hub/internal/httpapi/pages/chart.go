package pages

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// Bounds of a chart.
const (
	chartSide  = 1000 // of the box that lines are drawn in; it is stretched to fit
	chartSlots = 360  // columns of which each keeps its first, lowest, highest and last price
	chartMarks = 100
	wholePrice = 10_000 // bps
	shortest   = time.Minute
)

// chart is the price of YES over time as it is drawn: lines in a box of its own,
// and everything that must keep its shape at a place in percent.
type chart struct {
	Empty    bool // neither prices nor calls
	NoPrices bool
	Lines    []string // path data
	Areas    []string // the same down to the ground
	Dots     []place  // prices that stand alone
	Now      *place   // the last price
	Marks    []chartMark
	Rows     []chartTick // of prices, the lowest first
	Columns  []chartTick // of times
	Low      string
	High     string
	Last     string
	Change   string // over the stretch, with its sign
	Way      string // up, down, flat
}

// place is a point in percent of the plot.
type place struct{ X, Y string }

type chartTick struct{ At, Label string }

// chartMark is a call: when it was filed and at which price of YES.
type chartMark struct {
	place
	ID, Class, Title string
	Up               bool
}

// stretch is what a chart is drawn of.
type stretch struct {
	Points   []*cataloguev1.HistoryPoint
	Calls    []*signalv1.Signal // newest first
	Interval protocol.Interval
	Now      time.Time
	Held     bool // a price stands until the next one: no gaps, and steps
	Trades   bool // the last price is the one of now
}

// reading is one point of a line: a time in Unix seconds, and a price in bps or a score.
type reading struct{ t, v float64 }

func (r reading) time() float64  { return r.t }
func (r reading) value() float64 { return r.v }

// on returns where a reading is in a plot.
func (r reading) on(x, y axis) place { return place{x.percent(r.t), y.percent(r.v)} }

// plot draws a stretch. It takes any points: those that are no price or out of the
// stretch are left out, the others put in order.
func plot(s stretch) chart {
	points, calls := s.clean(), s.within()
	c := chart{Empty: len(points)+len(calls) == 0, NoPrices: len(points) == 0}
	if c.Empty {
		return c
	}
	if now := s.now(); s.Held && s.Trades && len(points) > 0 && points[len(points)-1].t < now {
		points = append(points, reading{now, points[len(points)-1].v})
	}
	all := slices.Clone(points)
	for _, call := range calls {
		all = append(all, readingOf(call))
	}
	x, y := s.times(all), prices(all)
	c.Rows, c.Columns = y.ticks(percent[int]), timeTicks(x)
	c.words(points)
	for _, run := range s.runs(points) {
		if len(run) == 1 {
			c.Dots = append(c.Dots, run[0].on(x, y))
			continue
		}
		line := draw(thin(run, x), x, y, s.Held)
		c.Lines = append(c.Lines, line)
		c.Areas = append(c.Areas, under(line, x.box(run[0].t), strconv.Itoa(chartSide)))
	}
	if len(points) > 0 {
		last := points[len(points)-1].on(x, y)
		c.Now = &last
	}
	for _, call := range calls {
		c.Marks = append(c.Marks, markOf(call, readingOf(call).on(x, y)))
	}
	return c
}

func (s *stretch) now() float64 { return float64(s.Now.Unix()) }

// has reports whether a time in Unix seconds is within the stretch.
func (s *stretch) has(t int64) bool {
	return t > 0 && t >= s.Interval.Start(s.Now).Unix() && t <= s.Now.Add(shortest).Unix()
}

// clean gives the prices of the stretch in the order of time, one a second.
func (s *stretch) clean() []reading {
	list := make([]reading, 0, len(s.Points))
	for _, p := range s.Points {
		if s.has(p.GetT()) && !math.IsNaN(p.GetP()) {
			list = append(list, reading{float64(p.GetT()), math.Round(wholePrice * min(max(p.GetP(), 0), 1))})
		}
	}
	slices.SortStableFunc(list, func(a, b reading) int { return cmp.Compare(a.t, b.t) })
	out := list[:0]
	for i, p := range list {
		if i+1 == len(list) || list[i+1].t != p.t { // of one second the last that was told
			out = append(out, p)
		}
	}
	return out
}

// within gives the newest calls of the stretch.
func (s *stretch) within() []*signalv1.Signal {
	var out []*signalv1.Signal
	for _, call := range s.Calls {
		if s.has(call.GetCreatedAt().GetSeconds()) && len(out) < chartMarks {
			out = append(out, call)
		}
	}
	return out
}

// times is the axis of time: from the first thing seen to now, or to the last
// thing seen where there is no now.
func (s *stretch) times(list []reading) axis {
	first, last := bounds(list, reading.time)
	if s.Trades {
		first, last = min(first, s.now()), max(last, s.now())
	}
	if missing := shortest.Seconds() - (last - first); missing > 0 {
		first -= math.Ceil(missing / 2)
		last += math.Floor(missing / 2)
	}
	return axis{start: first, end: last}
}

// steps between prices as venues give them.
func (s *stretch) step() float64 {
	switch s.Interval {
	case protocol.IntervalHour:
		return 60
	case protocol.IntervalWeek:
		return 3600
	case protocol.IntervalAll:
		return 12 * 3600
	}
	return 300
}

// quiet is how long our own record of a price may be silent: one that stands
// still is noted anew every fifteen minutes.
const quiet = 16 * 60

// runs divides prices where some are missing.
func (s *stretch) runs(points []reading) [][]reading {
	if len(points) == 0 {
		return nil
	}
	if s.Held {
		return [][]reading{points}
	}
	apart := make([]float64, 0, len(points))
	for i := 1; i < len(points); i++ {
		apart = append(apart, points[i].t-points[i-1].t)
	}
	slices.Sort(apart)
	gap := max(quiet, 3*s.step())
	if len(apart) > 0 {
		gap = max(gap, 4*apart[len(apart)/2])
	}
	var out [][]reading
	begin := 0
	for i := 1; i <= len(points); i++ {
		if i == len(points) || points[i].t-points[i-1].t > gap {
			out = append(out, points[begin:i])
			begin = i
		}
	}
	return out
}

// thin leaves of each column what can be seen of it.
func thin(run []reading, x axis) []reading {
	if len(run) <= 4*chartSlots {
		return run
	}
	var out []reading
	for begin := 0; begin < len(run); {
		slot := x.slot(run[begin].t)
		end, low, high := begin+1, begin, begin
		for ; end < len(run) && x.slot(run[end].t) == slot; end++ {
			if run[end].v < run[low].v {
				low = end
			}
			if run[end].v > run[high].v {
				high = end
			}
		}
		kept := []int{begin, min(low, high), max(low, high), end - 1}
		for _, i := range slices.Compact(kept) {
			out = append(out, run[i])
		}
		begin = end
	}
	return out
}

// draw returns the path of a line, with steps where a value holds until the next one.
func draw(run []reading, x, y axis, held bool) string {
	var b strings.Builder
	for i, p := range run {
		switch {
		case i == 0:
			b.WriteString("M" + x.box(p.t) + " " + y.box(p.v))
		case held:
			b.WriteString("H" + x.box(p.t) + "V" + y.box(p.v))
		default:
			b.WriteString("L" + x.box(p.t) + " " + y.box(p.v))
		}
	}
	return b.String()
}

// under returns the path of the area between a line and the ground.
func under(line, left, ground string) string { return line + "V" + ground + "H" + left + "Z" }

// words says in numbers what the line shows.
func (c *chart) words(points []reading) {
	if len(points) == 0 {
		return
	}
	low, high := bounds(points, reading.value)
	first, last := points[0].v, points[len(points)-1].v
	c.Low, c.High, c.Last = percent(int(low)), percent(int(high)), percent(int(last))
	c.Change, c.Way = pointsOf(int(last-first)), wayOf(int64(last-first))
}

// readingOf returns the price of YES that matches the scoring price of a call, when it was filed.
func readingOf(call *signalv1.Signal) reading {
	p := bounded(call.GetScoreBasisBps())
	if call.GetDirection() == string(protocol.No) {
		p = wholePrice - p
	}
	return reading{float64(call.GetCreatedAt().GetSeconds()), float64(p)}
}

func markOf(call *signalv1.Signal, at place) chartMark {
	side, filed := call.GetDirection(), ledgerclient.Time(call.GetCreatedAt())
	return chartMark{
		place: at, ID: call.GetId(), Class: sideClass(side), Up: side == string(protocol.Yes),
		Title: callerOf(call) + ": " + side + " at " + priceOf(call) + ", " + when(filed),
	}
}

// coursePlot is a score over time, drawn as a step line.
type coursePlot struct {
	Empty          bool
	Line, Area     string // path data
	Zero           string // where the line of zero is
	Rows, Columns  []chartTick
	Now            place
	Low, High, End string
	Way            string // up, down, flat
	Note           string // what is not in it
	Label          string
}

// courseOf draws how a score changed, up to now.
func courseOf(c *recordv1.GetCourseResponse, now time.Time) coursePlot {
	if len(c.GetSteps()) == 0 {
		return coursePlot{Empty: true}
	}
	line := []reading{{v: float64(c.GetBefore())}}
	for _, p := range c.GetSteps() {
		line = append(line, reading{float64(p.GetAt().GetSeconds()), float64(p.GetScore())})
	}
	newest := line[len(line)-1]
	x := axis{start: line[1].t, end: max(newest.t, float64(now.Unix()))}
	x.start = min(x.start, x.end-shortest.Seconds())
	line[0].t, newest.t = x.start, x.end
	low, high := bounds(line, reading.value)
	y := scores(line)
	path := draw(line, x, y, true) + "H" + x.box(x.end)
	ground := y.box(min(max(0, y.end), y.start))
	out := coursePlot{
		Line: path, Area: under(path, x.box(x.start), ground), Rows: y.ticks(signed), Columns: timeTicks(x),
		Now: newest.on(x, y), Low: signed(int(low)), High: signed(int(high)),
		End: signed(int(newest.v)), Way: wayOf(int64(newest.v) - c.GetBefore()),
	}
	if y.end <= 0 && y.start >= 0 {
		out.Zero = y.percent(0)
	}
	if !c.GetWhole() {
		out.Note = "Starts at " + signed(int(c.GetBefore())) + ", with the newest 10,000 calls."
	}
	out.Label = "Points over time: lowest " + out.Low + ", highest " + out.High + ", now " + out.End
	return out
}
