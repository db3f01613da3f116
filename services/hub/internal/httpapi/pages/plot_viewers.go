package pages

import (
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

// viewerPlot is a line that shows the viewers of a broadcast over time, with a marker for each call.
type viewerPlot struct {
	Words, Label   string // Words: the viewers in words, if there are fewer than two steps; Label: description for screen readers
	Line, Area     string // path data
	Marks          []viewerMark
	YTicks, XTicks []chartTick
	Table          []viewerRow
}

// viewerMark is a call of the broadcast.
type viewerMark struct {
	position
	ID, Class, Title string
}

// viewerRow is one step in the table of a viewerPlot.
type viewerRow struct{ At, Viewers string }

// newViewerPlot returns the plot of a session that has ended.
func newViewerPlot(session livestream.Session, viewers livestream.Audience, calls []*signalv1.Signal) (p viewerPlot) {
	var line []sample
	most := int64(1)
	for _, s := range viewers.Steps {
		line = append(line, sample{float64(max(s.At.Unix(), session.StartedAt.Unix())), float64(s.Viewers)})
		most = max(most, s.Viewers)
	}
	if len(line) < 2 {
		p.Words = "The broadcast was too short for a chart of its viewers."
		return p
	}
	x := axis{start: line[0].t, end: float64(session.EndedAt.Unix())}
	y := verticalAxis(0, float64(most), roundStep(float64(most), maxGridLines))
	count := format.CountOf(int64(len(calls)), "call")
	line = append(line, sample{x.end, line[len(line)-1].v})
	p.Line = linePath(line, x, y, true)
	p.Area = areaPath(p.Line, x.length(x.start), y.length(0))
	p.YTicks, p.XTicks = y.ticks(func(v int) string { return format.Digits(int64(v)) }), timeTicks(x)
	p.Label = "Viewers of the broadcast: at most " + format.Digits(most) + ", with " + count
	for i, row := range callsOf(calls, nil) {
		at := ledgerclient.Time(calls[i].GetCreatedAt()).Unix()
		now := sample{min(max(float64(at), x.start), x.end), 0}
		for _, s := range line {
			if s.t <= now.t {
				now.v = s.v
			}
		}
		p.Marks = append(p.Marks, viewerMark{now.position(x, y), row.ID, row.SideClass, row.Side + " at " + row.Price + ", " + row.ShortAt})
	}
	for _, i := range spread(len(line) - 1) {
		p.Table = append(p.Table, viewerRow{time.Unix(int64(line[i].t), 0).UTC().Format("15:04 UTC"), format.Digits(int64(line[i].v))})
	}
	return p
}
