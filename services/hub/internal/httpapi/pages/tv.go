package pages

import (
	"context"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"rsc.io/qr"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

const (
	tvPath          = "/tv"
	tvSegments      = 400
	stationNotFound = "Station not found."
)

type tvPage struct {
	Title, Description, URL   string
	Theme                     string // light or dark; empty: the theme of the system
	Heading, Clock, EmptyText string
	Programme, Lane           string // URL of the programme JSON, empty: none; key of the only lane that is shown, empty: all
	Station                   bool   // the page shows the programme of a partner station
	Origins                   string
	Rows                      []tvRow
	Stage                     tvRow
	Stream                    string    // of the live broadcast on the stage; empty: the stage is a market
	Market                    *tvMarket // of the stage; nil: none
}

// tvMarket has the chart, the newest calls and the address of the market on the stage.
type tvMarket struct {
	Side, Address string // name of the side YES; address without the scheme
	Chart         chart
	Calls         []callRow
	QRSize        int
	QRPath        template.HTMLAttr
}

// tvCalls is the number of calls on the market of the stage.
const tvCalls = 3

// stationPattern matches the id of a partner station.
var stationPattern = regexp.MustCompile(`^[a-z0-9-]{3,32}$`)

// tvRow is a lane of the programme with its current and next segment, as formatted texts.
type tvRow struct {
	Key, Label, Title, Yes, No, Next string
	MarketID                         string
	YesName, NoName, Price           string // names of the sides; price of YES, with its name unless it is YES
}

// tv handles GET /tv, the page that shows the programme on a screen without input devices.
func (s *server) tv(c echo.Context) error {
	p := tvPage{
		Title: "Programme · Signalcast", Description: "Markets that are on now and next on Signalcast.", URL: s.HubURL + tvPath,
		Theme:   site.Theme(c),
		Heading: "On now", Clock: s.Now().UTC().Format("15:04:05 UTC"), EmptyText: "Nothing is on right now.",
		Programme: "/api/broadcast/program?limit=400", Lane: laneParam(c.QueryParam("lane")),
	}
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	api := ""
	station := c.QueryParam("station")
	p.Station = station != ""
	switch {
	case stationPattern.MatchString(station) && s.APIURL != "":
		p.Programme, p.Heading = s.APIURL+"/api/v1/stations/"+station+"/program", "Station "+station
		api = " " + federation.OriginOf(s.APIURL)
	case p.Station:
		p.Programme, p.Heading, p.EmptyText = "", "Station", stationNotFound
	case s.Programs != nil:
		read := site.CallPart(g, "program", s.Programs.GetProgram, program.Query{Preset: "default", Limit: tvSegments}.Request())
		g.Wait()
		p.Rows = programmeRows(read.Value.GetProgram(), p.Lane, s.Now())
		if p.Lane != "" && read.Value != nil && !hasLane(read.Value.GetProgram(), p.Lane) {
			p.Heading = "There is no lane called " + p.Lane + ". All lanes are shown."
		}
	}
	g.Wait()
	if len(p.Rows) > 0 {
		p.Stage = p.Rows[0]
	}
	shows := s.liveShows(c.Request().Context())
	if !p.Station {
		s.addLive(c.Request().Context(), &p, shows)
	}
	p.Market = s.tvMarketOf(c.Request().Context(), p.Stage.MarketID)
	streams := make([]string, 0, len(shows))
	for i := range shows {
		streams = append(streams, shows[i].HLSURL)
	}
	origins := s.videoOrigins(streams...)
	p.Origins = strings.Join(origins, " ")
	h := c.Response().Header()
	h.Set("Content-Security-Policy", s.videoPolicy(origins)+api)
	h.Set("Cache-Control", "no-store") // a restarted screen must show what is on now
	return s.RenderParts(c, g, http.StatusOK, "tv", p)
}

// liveShows returns the approved live broadcasts, which the programme may show, most viewers first.
func (s *server) liveShows(ctx context.Context) []livestream.Show {
	if s.OnAir == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, site.PartsTimeout)
	defer cancel()
	shows, _ := site.RecoverPanic(ctx, s.OnAir.Live) // after an error, the script reads the current stream and reloads the page
	return slices.DeleteFunc(slices.Clone(shows), func(one livestream.Show) bool { return !one.Approved })
}

// addLive sets the stage to the first broadcast with a market, as the script does when it has read the spotlight. The layout of the page
// then does not change.
func (s *server) addLive(ctx context.Context, p *tvPage, shows []livestream.Show) {
	i := slices.IndexFunc(shows, func(one livestream.Show) bool { return one.Signal != nil && one.HLSURL != "" })
	if i < 0 {
		return
	}
	id := string(shows[i].Signal.MarketID)
	p.Stream, p.Stage = shows[i].HLSURL, tvRow{
		Label: "Live · @" + string(shows[i].Handle) + " · " + strconv.FormatInt(shows[i].Viewers, 10) + " watching",
		Title: shows[i].Signal.Name, MarketID: id,
	}
	if m := s.sidesOf(ctx, id); m != nil && m.YesBps != nil {
		yes := format.ClampPrice(m.GetYesBps())
		p.Stage.Yes, p.Stage.No = format.Cents(yes), format.Cents(maxPrice-yes)
		p.Stage.YesName, p.Stage.NoName = view.SideName(m, string(protocol.Yes)), view.SideName(m, string(protocol.No))
	}
}

// tvMarketOf returns the market with the given id. Parts that cannot be read in time are empty. It returns nil if the market cannot
// be read.
func (s *server) tvMarketOf(ctx context.Context, id string) *tvMarket {
	if id == "" {
		return nil
	}
	g := site.NewPartReader(ctx, site.PartsTimeout)
	history := site.CallPart(g, "history", s.Ledger.Catalogue.ListHistory, &cataloguev1.ListHistoryRequest{
		MarketId: id, Interval: string(protocol.IntervalDay),
	})
	calls := site.CallPart(g, "calls", s.Ledger.Signals.ListLedger, &signalv1.ListLedgerRequest{MarketId: id, Limit: tvCalls})
	m := s.sidesOf(ctx, id)
	g.Wait()
	address := s.HubURL + "/m/" + id
	code, err := qr.Encode(address, qr.M)
	if m == nil || err != nil {
		return nil
	}
	_, short, _ := strings.Cut(address, "://")
	return &tvMarket{
		Side: view.SideName(m, string(protocol.Yes)), Address: short, Calls: callsOf(calls.Value.GetSignals(), map[string]*marketv1.Market{id: m}),
		Chart: newChart(chartInput{
			Market: m, Points: history.Value.GetPoints(), Calls: calls.Value.GetSignals(), Interval: protocol.IntervalDay, Now: s.Now(),
			Stepped: m.GetProvider() == string(protocol.Manual), Trading: true,
		}),
		QRSize: code.Size + 2*qrBorder, QRPath: qrPath(code),
	}
}

// hasLane reports whether a lane of the programme has the key or label wanted.
func hasLane(p *programv1.Program, wanted string) bool {
	return slices.ContainsFunc(p.GetLanes(), func(l *programv1.Lane) bool { return isLane(l.GetKey(), l.GetLabel(), wanted) })
}

func isLane(key, label, wanted string) bool {
	return strings.EqualFold(key, wanted) || strings.EqualFold(label, wanted)
}

// laneParam returns the lane key in the query in lower case; "" for all lanes or an invalid key.
func laneParam(raw string) string {
	lane := strings.ToLower(raw)
	if len(lane) > 32 || strings.Trim(lane, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return lane
}

// programmeRows returns the lanes that have a current segment. If wanted is the key or label of one of them, it returns only that
// lane.
func programmeRows(p *programv1.Program, wanted string, now time.Time) []tvRow {
	var all []tvRow
	for _, lane := range p.GetLanes() {
		row := tvRow{Key: lane.GetKey(), Label: format.TitleCase(lane.GetLabel())}
		for _, seg := range program.Segments(p, lane) {
			starts := ledgerclient.Time(seg.GetStartsAt())
			switch {
			case seg.GetKind() == "content" && starts.After(now) && row.Next == "" && row.Title != "":
				row.Next = seg.GetTitle() + ", " + starts.UTC().Format("15:04 UTC")
			case row.Title == "" && ledgerclient.Time(seg.GetEndsAt()).After(now) && !starts.After(now):
				row.Title, row.MarketID = seg.GetTitle(), seg.GetMarketId()
				if seg.YesPrice != nil {
					yes := int(*seg.YesPrice*100 + 0.5)
					row.Yes, row.No = format.Cents(yes), format.Cents(10000-yes)
					m := &marketv1.Market{Outcomes: seg.GetOutcomes()}
					row.YesName, row.NoName = view.SideName(m, string(protocol.Yes)), view.SideName(m, string(protocol.No))
					if row.Price = row.Yes; row.YesName != string(protocol.Yes) {
						row.Price = row.YesName + " " + row.Yes
					}
				}
			}
		}
		if row.Title == "" {
			continue
		}
		if wanted != "" && isLane(row.Key, row.Label, wanted) {
			return []tvRow{row}
		}
		all = append(all, row)
	}
	return all
}
