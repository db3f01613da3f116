package pages

import (
	"math"
	"strconv"

	"github.com/signalcast/signalcast/pkg/skill"
)

// calibrationPlot is what somebody said beside what came: a dot for each bin of
// confidence, with a line between what the true share lies.
type calibrationPlot struct {
	Bins   []binMark
	Ticks  []chartTick // across, in percent of confidence
	Rows   []chartTick // up, in percent of wins
	Calls  string
	Plain  string
	Own    string // Brier scores
	Market string
	Label  string
	Closer bool // to what came than the prices were
}

type binMark struct {
	X, Y, Top, Bottom string // places in percent
	R                 string
	Range, Count      string
	Said, Came        string
	Between           string
}

// Radii of dots, by the share of calls.
const (
	leastDot = 4
	moreDot  = 5
)

// calibrationOf draws it; nil where no confidence was stated.
func calibrationOf(c *skill.Calibration) *calibrationPlot {
	if c == nil || c.Calls == 0 {
		return nil
	}
	p := &calibrationPlot{
		Calls: many(c.Calls, "decided call"), Own: brier(c.BrierBps), Market: brier(c.MarketBrierBps), Closer: c.BrierBps < c.MarketBrierBps,
		Plain: "Stated confidence was no closer to what came than the price.",
	}
	if p.Closer {
		p.Plain = "Stated confidence was closer to what came than the price."
	}
	for n := 0; n <= 100; n += 25 {
		p.Ticks = append(p.Ticks, chartTick{share(float64(n) / 100), digits(int64(n)) + "%"})
		p.Rows = append(p.Rows, chartTick{share(1 - float64(n)/100), digits(int64(n)) + "%"})
	}
	most := int64(1)
	for _, b := range c.Bins {
		most = max(most, b.Calls)
	}
	up := func(bps int) string { return share(1 - float64(bps)/wholePrice) }
	for _, b := range c.Bins {
		if b.Calls == 0 {
			continue
		}
		p.Bins = append(p.Bins, binMark{
			X: share(float64(b.ConfidenceBps) / wholePrice), Y: up(b.HitBps), Top: up(b.HighBps), Bottom: up(b.LowBps),
			R:     short(leastDot + moreDot*math.Sqrt(float64(b.Calls)/float64(most))),
			Range: digits(int64(b.From)) + "–" + digits(int64(b.To)) + "%", Count: grouped(b.Calls),
			Said: wholePercent(b.ConfidenceBps), Came: wholePercent(b.HitBps), Between: wholePercent(b.LowBps) + " to " + wholePercent(b.HighBps),
		})
	}
	p.Label = "Stated confidence beside what came, in " + many(int64(len(p.Bins)), "group") + " of calls; the table below has the numbers"
	return p
}

// brier writes a Brier score as people know it, 0 to 1.
func brier(bps int) string { return strconv.FormatFloat(float64(bps)/wholePrice, 'f', 3, 64) }

func wholePercent(bps int) string { return digits(int64((bps+50)/100)) + "%" }
