package pages

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

const (
	tvPath     = "/tv"
	tvSegments = 400
	noStation  = "Station not found."
)

type tvPage struct {
	Title, Description, URL string
	Heading, Clock, Off     string
	Programme, Lane         string // address of the programme, empty: there is none; the one lane that is shown, empty: all
	Station                 bool   // the programme of a partner station
	Origins                 string
	Rows                    []tvRow
	Stage                   tvRow
}

// aStation is the id of a partner station.
var aStation = regexp.MustCompile(`^[a-z0-9-]{3,32}$`)

// tvRow is a lane: what it has on, and what comes next.
type tvRow struct {
	Key, Label, Title, Yes, No, Next string
}

// tv is GET /tv: the programme for a screen without input devices.
func (s *site) tv(c echo.Context) error {
	p := tvPage{
		Title: "Programme · Signalcast", Description: "Now and next on Signalcast.", URL: s.HubURL + tvPath,
		Heading: "On now", Clock: s.Now().UTC().Format("15:04:05 UTC"), Off: "Nothing is on right now.",
		Programme: "/api/broadcast/program?limit=400", Lane: laneWanted(c.QueryParam("lane")),
	}
	g := newGather(c.Request().Context(), partsWithin)
	api := ""
	station := c.QueryParam("station")
	p.Station = station != ""
	if aStation.MatchString(station) && s.APIURL != "" {
		p.Programme, p.Heading = s.APIURL+"/api/v1/stations/"+station+"/program", "Station "+station
		api = " " + federation.OriginOf(s.APIURL)
	} else if p.Station {
		p.Programme, p.Heading, p.Off = "", "Station", noStation
	} else if s.Programs != nil {
		read := askFor(g, "program", s.Programs.GetProgram, program.Query{Preset: "default", Limit: tvSegments}.Request())
		g.done()
		p.Rows = rowsOnAir(read.Value.GetProgram(), p.Lane, s.Now())
	}
	g.done()
	if len(p.Rows) > 0 {
		p.Stage = p.Rows[0]
	}
	origins := s.videoOrigins(s.onScreen(c.Request().Context())...)
	p.Origins = strings.Join(origins, " ")
	h := c.Response().Header()
	h.Set("Content-Security-Policy", s.watching(origins)+api)
	h.Set("Cache-Control", "no-store") // a screen that begins anew begins with what is on now
	return s.renderParts(c, g, http.StatusOK, "tv", p)
}

// onScreen returns the addresses of the streams that the programme may show now.
func (s *site) onScreen(ctx context.Context) []string {
	if s.OnAir == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, partsWithin)
	defer cancel()
	shows, _ := safely(ctx, s.OnAir.Live) // after an error its script finds out which stream is on, and loads the page again
	var out []string
	for i := range shows {
		if shows[i].Approved {
			out = append(out, shows[i].HLSURL)
		}
	}
	return out
}

// laneWanted is the key of a lane as the address names it; empty: all lanes.
func laneWanted(raw string) string {
	lane := strings.ToLower(raw)
	if len(lane) > 32 || strings.Trim(lane, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return lane
}

// rowsOnAir are the lanes that have something on; one lane alone where it is among them.
func rowsOnAir(p *programv1.Program, wanted string, now time.Time) []tvRow {
	var all []tvRow
	for _, lane := range p.GetLanes() {
		row := tvRow{Key: lane.GetKey(), Label: lane.GetLabel()}
		for _, seg := range program.Segments(p, lane) {
			starts := ledgerclient.Time(seg.GetStartsAt())
			switch {
			case seg.GetKind() == "content" && starts.After(now) && row.Next == "" && row.Title != "":
				row.Next = seg.GetTitle()
			case row.Title == "" && ledgerclient.Time(seg.GetEndsAt()).After(now) && !starts.After(now):
				row.Title = seg.GetTitle()
				if seg.YesPrice != nil {
					yes := int(*seg.YesPrice*100 + 0.5)
					row.Yes, row.No = cents(yes), cents(10000-yes)
				}
			}
		}
		if row.Title == "" {
			continue
		}
		if wanted != "" && (strings.EqualFold(row.Key, wanted) || strings.EqualFold(row.Label, wanted)) {
			return []tvRow{row}
		}
		all = append(all, row)
	}
	return all
}
