package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
)

const (
	networkPath = "/network"

	tapesShown    = 12
	stationsShown = 60

	titlesWithin = 300 * time.Millisecond
)

type networkPage struct {
	frame
	Stations     []stationPart
	MoreStations string
	Tapes        []federation.Tape
	Operators    []federation.Operator

	names  map[string]string // of stations, by origin
	titles map[string]string // of markets, by id
}

// stationPart is one station and how it is.
type stationPart struct {
	Name, URL, Host, About string
	Lanes                  string
	State, Class, Note     string
	Operators, Tapes       string
	Own                    bool
}

// Station names the station of an origin.
func (p networkPage) Station(origin string) string { return cmp.Or(p.names[origin], origin) }

// Market names a market. Partners may have tapes of markets that are not here.
func (p networkPage) Market(id string) string { return cmp.Or(p.titles[id], "Market "+id) }

// Also names the other stations of an operator.
func (p networkPage) Also(origins []string) string {
	names := make([]string, len(origins))
	for i, origin := range origins {
		names[i] = p.Station(origin)
	}
	return strings.Join(names, ", ")
}

// network is GET /network: what all stations show together.
func (s *site) network(c echo.Context) error {
	g := newGather(c.Request().Context(), partsWithin)
	active := askFor(g, "stations", s.Ledger.Stations.ListActiveStations, &stationv1.ListActiveStationsRequest{})
	heard := ask(g, "heard", s.Network.LastReads)
	tapes := ask(g, "tapes", func(ctx context.Context) ([]federation.Tape, error) {
		return s.Network.Tapes(ctx, federation.Wanted{}, tapesShown)
	})
	operators := ask(g, "operators", func(ctx context.Context) ([]federation.Operator, error) {
		return s.Network.Operators(ctx, federation.Wanted{}, federation.MaxOperators)
	})
	away := g.done()
	p := networkPage{
		frame: s.frame(c, "Network", "Partner stations with their forecasters and tapes.", networkPath),
		Tapes: tapes.Value, Operators: operators.Value, names: map[string]string{federation.Hub: "This station"},
	}
	p.Away, p.Wide, p.Here, p.Kind = away, true, "network", "website"
	p.titles = s.titlesOf(c.Request().Context(), p.Tapes)
	p.stations(s, active.Value.GetStations(), heard.Value)
	return s.renderParts(c, g, http.StatusOK, "network", p)
}

// stations lists this station and its active partners, each with its state and with how much of the page is its.
func (p *networkPage) stations(s *site, list []*stationv1.Station, heard map[string]time.Time) {
	operators, tapes := map[string]int64{}, map[string]int64{}
	for i := range p.Operators {
		operators[p.Operators[i].Origin]++
	}
	for i := range p.Tapes {
		tapes[p.Tapes[i].Origin]++
	}
	add := func(origin string, one stationPart) {
		one.Operators, one.Tapes = many(operators[origin], "forecaster"), many(tapes[origin], "tape")
		p.Stations = append(p.Stations, one)
	}
	add(federation.Hub, stationPart{
		Name: "This station", URL: "/", Host: hostOf(s.HubURL), Own: true, State: "Here", Class: "up",
		About: "Its forecasters and tapes are listed with those of its partners.",
	})
	for i, st := range list {
		p.names[st.GetStationId()] = st.GetName()
		if i >= stationsShown {
			p.MoreStations = many(int64(len(list)-stationsShown), "more station")
			continue
		}
		one := stationPart{Name: st.GetName(), URL: link(st.GetUrl()), Host: hostOf(st.GetUrl()), About: st.GetDescription()}
		var lanes []string
		for _, l := range st.GetLanes() {
			lanes = append(lanes, capital(l))
		}
		one.Lanes = strings.Join(lanes, ", ")
		at, was := heard[st.GetStationId()]
		switch {
		case p.Away["heard"]:
			one.State, one.Class, one.Note = "Active", "open", "The time of the last update is unknown."
		case st.GetTapesUrl() == "" && st.GetOperatorsUrl() == "":
			one.State, one.Class, one.Note = "Active", "open", "It publishes no data."
		case !was:
			one.State, one.Class, one.Note = "No data yet", "open", "No data has been received yet."
		case s.Now().Sub(at) > s.Keep:
			one.State, one.Class, one.Note = "Silent", "down", "Last update "+when(at)+"; its data is too old to show."
		default:
			one.State, one.Class, one.Note = "Active", "up", "Last update "+when(at)+"."
		}
		add(st.GetStationId(), one)
	}
}

// titlesOf returns the titles of the markets of tapes, as far as they are known within titlesWithin.
func (s *site) titlesOf(ctx context.Context, tapes []federation.Tape) map[string]string {
	g, found := newGather(ctx, titlesWithin), map[string]*part[*marketv1.Market]{}
	for _, t := range tapes {
		if found[t.MarketID] == nil {
			found[t.MarketID] = ask(g, t.MarketID, func(ctx context.Context) (*marketv1.Market, error) {
				return s.Ledger.Market(ctx, marketID(t.MarketID))
			})
		}
	}
	g.done()
	titles := map[string]string{}
	for id, market := range found {
		if title := market.Value.GetTitle(); title != id {
			titles[id] = title
		}
	}
	return titles
}

// lengthOf writes the length of a clip in minutes and seconds.
func lengthOf(seconds int64) string { return fmt.Sprintf("%d:%02d", seconds/60, seconds%60) }

// hostOf returns the host of an address, with its port unless that is the default.
func hostOf(raw string) string {
	_, host, _ := strings.Cut(federation.OriginOf(raw), "://")
	return host
}
