package pages

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

const (
	livePath    = "/live"
	liveShown   = 50
	recentAlone = 3                   // recent broadcasts if no forecaster is live
	recentSpan  = 30 * 24 * time.Hour // age of the oldest of the recent broadcasts
	nextShown   = 5
)

type liveListPage struct {
	site.Layout
	OnAir  []broadcastRow
	Recent []pastRow
	Next   []segmentRow
}

// pastRow is a broadcast that has ended.
type pastRow struct {
	Handle, Show, Peak, Title, URL string
	EndedAt                        time.Time
}

// segmentRow is a later segment of the programme.
type segmentRow struct {
	Lane, Title, URL, At, AtISO string
	starts                      time.Time
}

// liveList handles GET /live, the page with the live broadcasts, the broadcasts of the last 30 days and the next segments of the
// programme.
func (s *server) liveList(c echo.Context) error {
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	shows, recent := site.ReadPart(g, "live", s.broadcasts(liveShown)), site.ReadPart(g, "recent", s.recentBroadcasts)
	programme := &site.Part[*programv1.GetProgramResponse]{}
	if s.Programs != nil {
		programme = site.CallPart(g, "program", s.Programs.GetProgram, program.Query{Preset: "default", Limit: tvSegments}.Request())
	}
	unavailable := g.Wait()
	p := liveListPage{
		Layout: s.NewLayout(c, "Live", "Forecasters who are live now, the last broadcasts and the programme.", livePath),
		OnAir:  shows.Value, Recent: recent.Value, Next: nextSegments(programme.Value.GetProgram(), s.Now()),
	}
	s.addAvatars(c.Request().Context(), p.OnAir)
	if len(p.OnAir) == 0 && !unavailable["live"] {
		p.Recent = p.Recent[:min(len(p.Recent), recentAlone)]
	}
	p.Unavailable, p.Wide, p.Nav, p.OGType = unavailable, true, "live", "website"
	return s.RenderParts(c, g, http.StatusOK, "live_list", p)
}

// recentBroadcasts returns the newest ended broadcasts of approved operators.
func (s *server) recentBroadcasts(ctx context.Context) ([]pastRow, error) {
	if s.OnAir == nil {
		return nil, nil
	}
	list, err := s.OnAir.Recent(ctx, recentSpan)
	rows := []pastRow{}
	for _, past := range list {
		if past.Approved {
			rows = append(rows, pastRowOf(past))
		}
	}
	return rows, err
}

// peakOf describes the largest number of viewers of a broadcast.
func peakOf(viewers int64) string {
	if viewers == 0 {
		return "no viewers"
	}
	return "at most " + format.CountOf(viewers, "viewer")
}

func pastRowOf(past livestream.Past) pastRow {
	row := pastRow{Handle: string(past.Handle), Show: past.ShowID, Peak: peakOf(past.Peak), EndedAt: past.EndedAt}
	if past.Signal != nil {
		row.Title, row.URL = past.Signal.Name, site.MarketPath+string(past.Signal.MarketID)
	}
	return row
}

// nextSegments returns the next segment of each lane that begins after now, the earliest first, at most nextShown.
func nextSegments(p *programv1.Program, now time.Time) []segmentRow {
	var rows []segmentRow
	for _, lane := range p.GetLanes() {
		for _, seg := range program.Segments(p, lane) {
			starts := ledgerclient.Time(seg.GetStartsAt())
			if seg.GetKind() != "content" || !starts.After(now) {
				continue
			}
			row := segmentRow{
				Lane: format.TitleCase(lane.GetLabel()), Title: seg.GetTitle(), At: starts.UTC().Format("15:04 UTC"), AtISO: ledgerclient.Stamp(seg.GetStartsAt()),
				starts: starts,
			}
			if id := seg.GetMarketId(); id != "" {
				row.URL = site.MarketPath + id
			}
			rows = append(rows, row)
			break
		}
	}
	slices.SortStableFunc(rows, func(a, b segmentRow) int { return a.starts.Compare(b.starts) })
	return rows[:min(len(rows), nextShown)]
}
