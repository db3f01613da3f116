package pages

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/market"
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
	Interval market.Interval
	Now      time.Time
	Held     bool // a price stands until the next one: no gaps, and steps
	Trades   bool // the last price is the one of now
}

// price is one point, cleaned: Unix seconds and bps.
type price struct {
	t   int64
	bps float64
}

// plot draws a stretch. It takes any points: those that are no price or out of the
// stretch are left out, the others put in order.
func plot(s stretch) chart {
	points := s.clean()
	calls := s.within()
	c := chart{Empty: len(points)+len(calls) == 0, NoPrices: len(points) == 0}
	if c.Empty {
		return c
	}
	if s.Held && s.Trades && len(points) > 0 {
		if last := points[len(points)-1]; last.t < s.Now.Unix() {
			points = append(points, price{s.Now.Unix(), last.bps})
		}
	}
	x := s.times(points, calls)
	y := prices(points, calls)
	c.Rows, c.Columns = y.ticks(), x.ticks()
	c.words(points)
	for _, run := range s.runs(points) {
		if len(run) == 1 {
			c.Dots = append(c.Dots, place{x.percent(run[0].t), y.percent(run[0].bps)})
			continue
		}
		line := draw(thin(run, x), x, y, s.Held)
		c.Lines = append(c.Lines, line)
		c.Areas = append(c.Areas, line+"V"+strconv.Itoa(chartSide)+"H"+x.box(run[0].t)+"Z")
	}
	if len(points) > 0 {
		last := points[len(points)-1]
		c.Now = &place{x.percent(last.t), y.percent(last.bps)}
	}
	for _, call := range calls {
		c.Marks = append(c.Marks, markOf(call, x, y))
	}
	return c
}

// from is where the stretch begins; the zero time for all of it.
func (s *stretch) from() int64 {
	switch s.Interval {
	case market.Hour:
		return s.Now.Add(-time.Hour).Unix()
	case market.Week:
		return s.Now.AddDate(0, 0, -7).Unix()
	case market.All:
		return 0
	}
	return s.Now.AddDate(0, 0, -1).Unix()
}

// clean gives the prices of the stretch in the order of time, one a second.
func (s *stretch) clean() []price {
	from, to := s.from(), s.Now.Add(shortest).Unix()
	list := make([]price, 0, len(s.Points))
	for _, p := range s.Points {
		if t := p.GetT(); t <= 0 || t < from || t > to || math.IsNaN(p.GetP()) {
			continue
		}
		list = append(list, price{p.GetT(), math.Round(wholePrice * min(max(p.GetP(), 0), 1))})
	}
	slices.SortStableFunc(list, func(a, b price) int { return cmp.Compare(a.t, b.t) })
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
	from, to := s.from(), s.Now.Add(shortest).Unix()
	var out []*signalv1.Signal
	for _, call := range s.Calls {
		if t := call.GetCreatedAt().GetSeconds(); t >= from && t > 0 && t <= to && len(out) < chartMarks {
			out = append(out, call)
		}
	}
	return out
}

// times is the scale of time: from the first thing seen to now, or to the last
// thing seen where there is no now.
func (s *stretch) times(points []price, calls []*signalv1.Signal) timeScale {
	first, last := int64(math.MaxInt64), int64(0)
	see := func(t int64) { first, last = min(first, t), max(last, t) }
	for _, p := range points {
		see(p.t)
	}
	for _, call := range calls {
		see(call.GetCreatedAt().GetSeconds())
	}
	if s.Trades {
		see(s.Now.Unix())
	}
	if short := int64(shortest/time.Second) - (last - first); short > 0 {
		first -= (short + 1) / 2
		last += short / 2
	}
	return timeScale{first, last}
}

// steps between prices as venues give them.
func (s *stretch) step() int64 {
	switch s.Interval {
	case market.Hour:
		return 60
	case market.Week:
		return 3600
	case market.All:
		return 12 * 3600
	}
	return 300
}

// quiet is how long our own record of a price may be silent: one that stands
// still is noted anew every fifteen minutes.
const quiet = 16 * 60

// runs divides prices where some are missing.
func (s *stretch) runs(points []price) [][]price {
	if len(points) == 0 {
		return nil
	}
	if s.Held {
		return [][]price{points}
	}
	apart := make([]int64, 0, len(points))
	for i := 1; i < len(points); i++ {
		apart = append(apart, points[i].t-points[i-1].t)
	}
	slices.Sort(apart)
	gap := max(quiet, 3*s.step())
	if len(apart) > 0 {
		gap = max(gap, 4*apart[len(apart)/2])
	}
	var out [][]price
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
func thin(run []price, x timeScale) []price {
	if len(run) <= 4*chartSlots {
		return run
	}
	var out []price
	for begin := 0; begin < len(run); {
		slot := x.slot(run[begin].t)
		end, low, high := begin+1, begin, begin
		for ; end < len(run) && x.slot(run[end].t) == slot; end++ {
			if run[end].bps < run[low].bps {
				low = end
			}
			if run[end].bps > run[high].bps {
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

func draw(run []price, x timeScale, y priceScale, held bool) string {
	var b strings.Builder
	for i, p := range run {
		switch {
		case i == 0:
			b.WriteString("M" + x.box(p.t) + " " + y.box(p.bps))
		case held:
			b.WriteString("H" + x.box(p.t) + "V" + y.box(p.bps))
		default:
			b.WriteString("L" + x.box(p.t) + " " + y.box(p.bps))
		}
	}
	return b.String()
}

// words says in numbers what the line shows.
func (c *chart) words(points []price) {
	if len(points) == 0 {
		return
	}
	low, high := points[0].bps, points[0].bps
	for _, p := range points {
		low, high = min(low, p.bps), max(high, p.bps)
	}
	first, last := points[0].bps, points[len(points)-1].bps
	c.Low, c.High, c.Last = percent(int(low)), percent(int(high)), percent(int(last))
	c.Change, c.Way = pointsOf(int(last-first)), "flat"
	switch {
	case last > first:
		c.Way = "up"
	case last < first:
		c.Way = "down"
	}
}

// yesOf returns the price of YES that matches the scoring price of a call.
func yesOf(call *signalv1.Signal) int {
	p := min(max(int(call.GetScoreBasisBps()), 0), wholePrice)
	if call.GetDirection() == string(syntax.No) {
		return wholePrice - p
	}
	return p
}

func markOf(call *signalv1.Signal, x timeScale, y priceScale) chartMark {
	side, filed := call.GetDirection(), ledgerclient.Time(call.GetCreatedAt())
	return chartMark{
		place: place{x.percent(filed.Unix()), y.percent(float64(yesOf(call)))},
		ID:    call.GetId(), Class: sideClass(side), Up: side == string(syntax.Yes),
		Title: callerOf(call) + ": " + side + " at " + priceOf(call) + ", " + when(filed),
	}
}
