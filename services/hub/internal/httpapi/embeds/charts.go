package embeds

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/card"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/record"
	"github.com/signalcast/signalcast/services/hub/internal/share"
)

const (
	// chartTimeout is the time limit for reading the data of a chart. A card without its data has no chart.
	chartTimeout = 500 * time.Millisecond
	// chartPeriod is the precision of the current time in charts, so that pictures can be cached.
	chartPeriod = 5 * time.Minute
	maxLine     = 150 // number of points of a line
)

// addChart adds the chart to the card of an item, if its data can be read.
func (s *Server) addChart(ctx context.Context, t *item) {
	ctx, cancel := context.WithTimeout(ctx, chartTimeout)
	defer cancel()
	now := s.Now().Truncate(chartPeriod)
	switch t.kind {
	case share.Signal:
		side := protocol.Side(t.signal.GetDirection())
		from, to, interval := view.CallPeriod(t.signal, now)
		filed := ledgerclient.Time(t.signal.GetCreatedAt())
		if to.Before(filed) {
			to = filed
		}
		t.Chart = s.priceChart(ctx, t.signal.GetMarketId(), side, from, to, interval)
		if t.Chart == nil {
			return
		}
		t.Chart.Caption = "Price of " + t.side
		call := card.Point{X: float64(filed.Sub(from)) / float64(to.Sub(from)), Y: height(float64(t.signal.GetScoreBasisBps()))}
		t.Chart.Level = []card.Point{call, {X: 1, Y: call.Y}}
		t.Chart.Dots = []card.Dot{{Point: call, Radius: 11, Accent: true}}
		switch outcome := (card.Point{X: 1}); protocol.SignalStatus(t.signal.GetStatus()) {
		case protocol.Lost:
			outcome.Y = 1
			fallthrough
		case protocol.Won:
			t.Chart.Shade = []card.Point{call, {X: 1, Y: call.Y}, outcome, {X: call.X, Y: outcome.Y}}
			t.Chart.Dots = append(t.Chart.Dots, card.Dot{Point: outcome, Radius: 11, Accent: true})
			t.Chart.Caption += ", the call and the outcome"
		default:
			t.Chart.Caption += " and the call"
		}
	case share.Market:
		interval := protocol.IntervalWeek
		from := interval.Start(now)
		if t.Chart = s.priceChart(ctx, t.id, protocol.Yes, from, now, interval); t.Chart != nil {
			t.Chart.Caption = "Price of " + t.side + ", last 7 days"
		}
	case broadcast:
		t.Chart = s.audienceChart(ctx, t.show)
	case share.Operator:
		course, err := s.Ledger.Records.GetCourse(ctx, &recordv1.GetCourseRequest{Handle: t.id})
		if err == nil {
			t.Chart = courseChart(course)
		}
		skill, err := s.Ledger.Records.GetSkill(ctx, &recordv1.GetSkillRequest{Handle: t.id, Window: "all"})
		if r := record.ReportOf(skill.GetReport()); err == nil && r != nil && r.Calibration != nil {
			t.Lines = append(t.Lines, "Brier score "+view.Brier(r.Calibration.BrierBps)+", prices "+view.Brier(r.Calibration.MarketBrierBps))
		}
	}
}

// height returns the position of a price in a chart from 0¢ to 100¢.
func height(bps float64) float64 { return 1 - bps/float64(protocol.MaxBps) }

// priceChart returns the chart of the prices of a side, or nil if there are fewer than two.
func (s *Server) priceChart(
	ctx context.Context, market string, side protocol.Side, from, to time.Time, interval protocol.Interval,
) *card.Chart {
	r, err := s.Ledger.Catalogue.ListHistory(ctx, &cataloguev1.ListHistoryRequest{MarketId: market, Interval: string(interval)})
	prices := view.PricesOf(r.GetPoints(), side, from, to)
	if err != nil || len(prices) < 2 {
		return nil
	}
	c, span := &card.Chart{Top: "100¢", Bottom: "0¢"}, math.Max(1, to.Sub(from).Seconds())
	for i := range min(len(prices), maxLine) {
		p := prices[i*(len(prices)-1)/(min(len(prices), maxLine)-1)]
		c.Line = append(c.Line, card.Point{X: float64(p.At-from.Unix()) / span, Y: height(p.Bps)})
	}
	return c
}

// courseChart returns the chart of the points of an operator by call number, with the band of luck, or nil for fewer than two
// steps. The page of the operator has the same chart with its numbers.
func courseChart(r *recordv1.GetCourseResponse) *card.Chart {
	course := view.CourseOf(r)
	if len(course) < 3 {
		return nil
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range course {
		low, high = min(low, p.Points, p.Low), max(high, p.Points, p.High)
	}
	c := &card.Chart{Top: strconv.Itoa(int(math.Round(high))), Bottom: strconv.Itoa(int(math.Round(low))), Caption: "Points by call. Grey: luck alone"}
	at := func(p view.CoursePoint, v float64) card.Point {
		return card.Point{X: float64(p.Calls) / float64(course[len(course)-1].Calls), Y: (high - v) / max(high-low, 1)}
	}
	lower := make([]card.Point, len(course))
	for i, p := range course {
		c.Line, c.Band = append(c.Line, at(p, p.Points)), append(c.Band, at(p, p.High))
		lower[len(course)-1-i] = at(p, p.Low)
	}
	c.Band = append(c.Band, lower...)
	c.Dots = []card.Dot{{Point: c.Line[len(c.Line)-1], Radius: 8}}
	return c
}
