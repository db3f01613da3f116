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
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

// Sizes and limits of a price chart. minPeriod is the minimum length of its time axis.
const (
	plotSize   = 1000 // width and height of the SVG view box of lines; it is scaled to the plot
	maxColumns = 360  // number of columns; downsample keeps the first, lowest, highest and last price of each
	maxMarks   = 100
	maxPrice   = 10_000 // 100%, in bps
	minPeriod  = time.Minute
)

// maxTableRows is the maximum number of prices in the table of a chart. If there are more, the table has a selection.
const maxTableRows = 12

// chart is the price of a side over time. Lines are SVG paths in a view box that is scaled to the plot. Markers and labels have
// positions in percent, so that scaling does not distort them.
type chart struct {
	Words    string     // the price in words, if there are fewer than two prices; all other fields are then empty
	Label    string     // description for screen readers
	Lines    []string   // path data
	Areas    []string   // areas under the lines, as path data
	Dots     []position // prices without neighbours
	Now      position   // the last price
	Marks    []callMark
	Distance *distance   // nil: the chart shows no single call
	YTicks   []chartTick // labels of prices, the lowest first
	XTicks   []chartTick // labels of times
	Low      string
	High     string
	Last     string
	Change   string // price change over the period, with its sign
	Table    []priceRow
}

// position is a point of the plot in percent.
type position struct{ X, Y string }

type chartTick struct{ At, Label string }

// priceRow is one price in the table of a chart.
type priceRow struct{ At, AtISO, Price string }

// callMark marks a call in a chart, at the time of filing and the price of the charted side.
type callMark struct {
	position
	ID, Class, Title string
	Up               bool
	Own              bool // the call is highlighted
}

// distance shows the points of a call: a line at its scoring price, from filing to the end of the chart, and for a won or lost call
// the area between the price and the outcome.
type distance struct {
	position                            // the call
	Class                        string // won, lost; otherwise empty, as are the fields below
	Top, Width, Height, OutcomeY string // in percent
}

// chartInput is the data from which newChart draws a chart.
type chartInput struct {
	Market   *marketv1.Market // nil: the sides are called YES and NO
	Side     protocol.Side    // the side whose price is shown; empty: YES
	Points   []*cataloguev1.HistoryPoint
	Calls    []*signalv1.Signal // newest first
	Own      *signalv1.Signal   // the call that is highlighted; nil: none
	Receipt  bool               // the chart shows the result of the call Own
	Interval protocol.Interval
	From     time.Time // start of the period; zero: that of Interval
	Now      time.Time // end of the period
	Stepped  bool      // a price is valid until the next one: no gaps, and a step line
	Trading  bool      // the market is open, so the last price is current
}

// sample is one point of a line: a Unix time t, and a value v, which is a price in bps or a number of points.
type sample struct{ t, v float64 }

func (r sample) time() float64  { return r.t }
func (r sample) value() float64 { return r.v }

// position returns the point of the sample in the plot, in percent.
func (r sample) position(x, y axis) position { return position{x.percent(r.t), y.percent(r.v)} }

// newChart returns the chart of the data in s. Prices and calls outside the period are left out. The prices are sorted by time.
func newChart(s chartInput) chart {
	points, calls := s.prices(), s.calls()
	if now := s.nowSeconds(); s.Stepped && s.Trading && len(points) > 0 && points[len(points)-1].t < now {
		points = append(points, sample{now, points[len(points)-1].v})
	}
	if len(points) < 2 {
		return chart{Words: s.words(points)}
	}
	all := slices.Clone(points)
	for _, call := range calls {
		all = append(all, s.sampleOf(call))
	}
	outcome, decided := s.outcome()
	if decided {
		all = append(all, outcome)
	}
	x, y := s.timeAxis(all), priceAxis(all)
	c := chart{YTicks: y.ticks(format.Cents[int]), XTicks: timeTicks(x), Now: points[len(points)-1].position(x, y)}
	c.summarize(points)
	c.Label = "Price of " + s.sideName() + ": low " + c.Low + ", high " + c.High + ", last " + c.Last
	for _, run := range s.segments(points) {
		if len(run) == 1 {
			c.Dots = append(c.Dots, run[0].position(x, y))
			continue
		}
		line := linePath(downsample(run, x), x, y, s.Stepped)
		c.Lines = append(c.Lines, line)
		c.Areas = append(c.Areas, areaPath(line, x.length(run[0].t), strconv.Itoa(plotSize)))
	}
	for _, call := range calls {
		c.Marks = append(c.Marks, s.markOf(call, s.sampleOf(call).position(x, y)))
	}
	if s.Receipt {
		from := s.sampleOf(s.Own)
		c.Distance = &distance{position: from.position(x, y)}
		if decided {
			d := c.Distance
			d.Class, d.OutcomeY, d.Top = s.Own.GetStatus(), y.percent(outcome.v), y.percent(max(from.v, outcome.v))
			d.Width = percentAttr(1 - x.fraction(from.t))
			d.Height = percentAttr(math.Abs(y.fraction(from.v) - y.fraction(outcome.v)))
		}
	}
	return c
}

// words returns a text for a chart with fewer than two prices.
func (s *chartInput) words(points []sample) string {
	switch {
	case len(points) == 1:
		return "Only one price in this period: " + s.sideName() + " " + format.Cents(int(points[0].v)) + " on " +
			format.When(time.Unix(int64(points[0].t), 0)) + "."
	case s.Market != nil && s.Market.YesBps != nil:
		now := s.valueOf(float64(format.ClampPrice(s.Market.GetYesBps())))
		return "No price history in this period. " + s.sideName() + " is at " + format.Cents(int(now)) + " now."
	}
	return "No price history in this period."
}

func (s *chartInput) sideName() string {
	return view.SideName(s.Market, string(cmp.Or(s.Side, protocol.Yes)))
}

// valueOf returns the price of the charted side for a price of YES, both in bps.
func (s *chartInput) valueOf(yes float64) float64 {
	if s.Side == protocol.No {
		return maxPrice - yes
	}
	return yes
}

// outcome returns the value of the called side after the result of the call of a receipt, 0 or 100¢. decided is false for other
// charts and for a call that is neither won nor lost.
func (s *chartInput) outcome() (at sample, decided bool) {
	if !s.Receipt {
		return sample{}, false
	}
	at.t = float64(s.Own.GetResolvedAt().GetSeconds())
	switch protocol.SignalStatus(s.Own.GetStatus()) {
	case protocol.Won:
		at.v = maxPrice
	case protocol.Lost:
	default:
		return sample{}, false
	}
	return at, true
}

func (s *chartInput) nowSeconds() float64 { return float64(s.Now.Unix()) }

// start returns the start of the period.
func (s *chartInput) start() time.Time {
	if s.From.IsZero() {
		return s.Interval.Start(s.Now)
	}
	return s.From
}

// inPeriod reports whether a Unix time is within the period that the chart shows, or at most minPeriod after s.Now.
func (s *chartInput) inPeriod(t int64) bool {
	return t > 0 && t >= s.start().Unix() && t <= s.Now.Add(minPeriod).Unix()
}

// prices returns the prices of the period.
func (s *chartInput) prices() []sample {
	return view.List(view.PricesOf(s.Points, s.Side, s.start(), s.Now.Add(minPeriod)), func(p view.Price) sample {
		return sample{float64(p.At), p.Bps}
	})
}

// calls returns the newest calls of the period, at most maxMarks. The highlighted call is the last one, so that no mark covers it.
func (s *chartInput) calls() []*signalv1.Signal {
	var out []*signalv1.Signal
	for _, call := range s.Calls {
		if s.inPeriod(call.GetCreatedAt().GetSeconds()) && len(out) < maxMarks && call.GetId() != s.Own.GetId() {
			out = append(out, call)
		}
	}
	if s.Own != nil && s.inPeriod(s.Own.GetCreatedAt().GetSeconds()) {
		out = append(out, s.Own)
	}
	return out
}

// timeAxis returns the time axis in Unix seconds, from the first to the last sample. If the market is open, the axis includes the
// current time. The axis has a length of at least minPeriod.
func (s *chartInput) timeAxis(list []sample) axis {
	first, last := bounds(list, sample.time)
	if s.Trading {
		first, last = min(first, s.nowSeconds()), max(last, s.nowSeconds())
	}
	if missing := minPeriod.Seconds() - (last - first); missing > 0 {
		first -= math.Ceil(missing / 2)
		last += math.Floor(missing / 2)
	}
	return axis{start: first, end: last}
}

// sampleInterval returns the time between two prices that a venue reports, in seconds.
func (s *chartInput) sampleInterval() float64 {
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

// maxQuoteInterval is the maximum time in seconds between stored prices. An unchanged price is stored again every fifteen
// minutes.
const maxQuoteInterval = 16 * 60

// segments splits the prices wherever two neighbours are too far apart in time. A gap is longer than maxQuoteInterval, three
// sample intervals, and four times the median distance. Stepped charts have no gaps.
func (s *chartInput) segments(points []sample) [][]sample {
	if len(points) == 0 {
		return nil
	}
	if s.Stepped {
		return [][]sample{points}
	}
	apart := make([]float64, 0, len(points))
	for i := 1; i < len(points); i++ {
		apart = append(apart, points[i].t-points[i-1].t)
	}
	slices.Sort(apart)
	gap := max(maxQuoteInterval, 3*s.sampleInterval())
	if len(apart) > 0 {
		gap = max(gap, 4*apart[len(apart)/2])
	}
	var out [][]sample
	begin := 0
	for i := 1; i <= len(points); i++ {
		if i == len(points) || points[i].t-points[i-1].t > gap {
			out = append(out, points[begin:i])
			begin = i
		}
	}
	return out
}

// downsample returns the samples for a line. If there are more than 4*maxColumns samples, it keeps at most four for each column:
// the first, lowest, highest and last. The drawn line looks the same.
func downsample(run []sample, x axis) []sample {
	if len(run) <= 4*maxColumns {
		return run
	}
	var out []sample
	for begin := 0; begin < len(run); {
		slot := x.column(run[begin].t)
		end, low, high := begin+1, begin, begin
		for ; end < len(run) && x.column(run[end].t) == slot; end++ {
			if run[end].v < run[low].v {
				low = end
			}
			if run[end].v > run[high].v {
				high = end
			}
		}
		keep := []int{begin, min(low, high), max(low, high), end - 1}
		for _, i := range slices.Compact(keep) {
			out = append(out, run[i])
		}
		begin = end
	}
	return out
}

// linePath returns the SVG path of a line through the samples of run. A stepped line stays at each value until the next sample.
func linePath(run []sample, x, y axis, stepped bool) string {
	var b strings.Builder
	for i, p := range run {
		switch {
		case i == 0:
			b.WriteString("M" + x.length(p.t) + " " + y.length(p.v))
		case stepped:
			b.WriteString("H" + x.length(p.t) + "V" + y.length(p.v))
		default:
			b.WriteString("L" + x.length(p.t) + " " + y.length(p.v))
		}
	}
	return b.String()
}

// areaPath returns the SVG path of the area between a line and the vertical position bottom. left is the horizontal position at
// which the line starts.
func areaPath(line, left, bottom string) string { return line + "V" + bottom + "H" + left + "Z" }

// summarize formats the lowest, the highest and the last price and the change over the period, and fills the table of prices. There
// must be at least two samples.
func (c *chart) summarize(points []sample) {
	low, high := bounds(points, sample.value)
	first, last := points[0].v, points[len(points)-1].v
	c.Low, c.High, c.Last = format.Cents(int(low)), format.Cents(int(high)), format.Cents(int(last))
	c.Change = format.PointsOf(int(last-first)) + "¢"
	for _, i := range spread(len(points)) {
		at := time.Unix(int64(points[i].t), 0)
		c.Table = append(c.Table, priceRow{format.When(at), protocol.Stamp(at), format.Cents(int(points[i].v))})
	}
}

// sampleOf returns the point of a call in a chart: the time of filing, and the price of the charted side that corresponds to the
// scoring price.
func (s *chartInput) sampleOf(call *signalv1.Signal) sample {
	p := format.ClampPrice(call.GetScoreBasisBps())
	if call.GetDirection() == string(protocol.No) {
		p = maxPrice - p
	}
	return sample{float64(call.GetCreatedAt().GetSeconds()), s.valueOf(float64(p))}
}

func (s *chartInput) markOf(call *signalv1.Signal, at position) callMark {
	side, filed := call.GetDirection(), ledgerclient.Time(call.GetCreatedAt())
	return callMark{
		position: at, ID: call.GetId(), Class: format.SideClass(side), Up: side == string(protocol.Yes),
		Own:   s.Own != nil && call.GetId() == s.Own.GetId(),
		Title: format.CallerName(call) + ": " + view.SideName(s.Market, side) + " at " + format.PriceOf(call) + ", " + format.When(filed),
	}
}
