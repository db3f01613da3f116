package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

const (
	networkPath = "/network"

	tapesShown    = 12
	stationsShown = 60

	titlesTimeout = 300 * time.Millisecond
)

type networkPage struct {
	site.Layout
	Stations     []stationPart
	MoreStations string
	Tapes        []federation.Tape
	Operators    []federation.Operator

	names   map[string]string           // of stations, by origin
	markets map[string]*marketv1.Market // by id
}

// stationPart is a station on the network page, with its status.
type stationPart struct {
	Name, URL, Host, About   string
	Lanes                    string
	State, Class, StatusNote string
	Operators, Tapes         string
	IsHub                    bool
}

// Station returns the name of the station with the given origin, or the origin if the station is unknown.
func (p networkPage) Station(origin string) string { return cmp.Or(p.names[origin], origin) }

// Market returns the title of a market, or its id if the title is unknown. Clips of partner stations may belong to markets that
// this hub does not have.
func (p networkPage) Market(id string) string { return cmp.Or(p.markets[id].GetTitle(), "Market "+id) }

// Side returns the name of a side, YES or NO, of a market. It returns the side itself if the market is unknown.
func (p networkPage) Side(id, side string) string { return view.SideName(p.markets[id], side) }

// OtherStations returns the names of the stations with the given origins, separated by commas. The page shows them for an
// operator who is on several stations.
func (p networkPage) OtherStations(origins []string) string {
	names := make([]string, len(origins))
	for i, origin := range origins {
		names[i] = p.Station(origin)
	}
	return strings.Join(names, ", ")
}

// network handles GET /network, the stations with their forecasters and clips.
func (s *server) network(c echo.Context) error {
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	active := site.CallPart(g, "stations", s.Ledger.Stations.ListActiveStations, &stationv1.ListActiveStationsRequest{})
	updates := site.ReadPart(g, "updates", s.Network.LastReads)
	tapes := site.ReadPart(g, "tapes", func(ctx context.Context) ([]federation.Tape, error) {
		return s.Network.Tapes(ctx, federation.Wanted{}, tapesShown)
	})
	operators := site.ReadPart(g, "operators", func(ctx context.Context) ([]federation.Operator, error) {
		return s.Network.Operators(ctx, federation.Wanted{}, federation.MaxOperators)
	})
	unavailable := g.Wait()
	p := networkPage{
		Layout: s.NewLayout(c, "Network", "Partner stations with their forecasters and clips.", networkPath),
		Tapes:  tapes.Value, Operators: operators.Value, names: map[string]string{federation.Hub: "This station"},
	}
	p.Unavailable, p.Wide, p.Nav, p.OGType = unavailable, true, "network", "website"
	p.markets = s.tapeMarkets(c.Request().Context(), p.Tapes)
	p.addStations(s, active.Value.GetStations(), updates.Value)
	return s.RenderParts(c, g, http.StatusOK, "network", p)
}

// addStations adds this station and at most stationsShown active partners, with their statuses. For each station, it counts the
// operators and clips that the page lists.
func (p *networkPage) addStations(s *server, list []*stationv1.Station, updates map[string]time.Time) {
	operators, tapes := map[string]int64{}, map[string]int64{}
	for i := range p.Operators {
		operators[p.Operators[i].Origin]++
	}
	for i := range p.Tapes {
		tapes[p.Tapes[i].Origin]++
	}
	add := func(origin string, one stationPart) {
		one.Operators, one.Tapes = format.CountOf(operators[origin], "forecaster"), format.CountOf(tapes[origin], "clip")
		p.Stations = append(p.Stations, one)
	}
	add(federation.Hub, stationPart{
		Name: "This station", URL: "/", Host: hostOf(s.HubURL), IsHub: true, State: "Active", Class: "up",
		About: "Forecasters and clips of this station are listed together with those of its partners.",
	})
	for i, st := range list {
		p.names[st.GetStationId()] = st.GetName()
		if i >= stationsShown {
			p.MoreStations = format.CountOf(int64(len(list)-stationsShown), "more active station")
			continue
		}
		one := stationPart{Name: st.GetName(), URL: format.Link(st.GetUrl()), Host: hostOf(st.GetUrl()), About: st.GetDescription()}
		var lanes []string
		for _, l := range st.GetLanes() {
			lanes = append(lanes, format.TitleCase(l))
		}
		one.Lanes = strings.Join(lanes, ", ")
		at, was := updates[st.GetStationId()]
		switch {
		case p.Unavailable["updates"]:
			one.State, one.Class, one.StatusNote = "Active", "open", "The time of the last update is unknown."
		case st.GetTapesUrl() == "" && st.GetOperatorsUrl() == "":
			one.State, one.Class, one.StatusNote = "Active", "open", "Publishes no data."
		case !was:
			one.State, one.Class, one.StatusNote = "No data yet", "open", "No data has been received yet."
		case s.Now().Sub(at) > s.Keep:
			one.State, one.Class, one.StatusNote = "No updates", "down", "Last update "+format.When(at)+". Its data is too old to show."
		default:
			one.State, one.Class, one.StatusNote = "Active", "up", "Last update "+format.When(at)+"."
		}
		add(st.GetStationId(), one)
	}
}

// tapeMarkets returns the markets to which clips (tapes) belong, by id. Markets that cannot be read within titlesTimeout are
// missing.
func (s *server) tapeMarkets(ctx context.Context, tapes []federation.Tape) map[string]*marketv1.Market {
	g, found := site.NewPartReader(ctx, titlesTimeout), map[string]*site.Part[*marketv1.Market]{}
	for _, t := range tapes {
		if t.MarketID != "" && found[t.MarketID] == nil {
			found[t.MarketID] = site.ReadPart(g, t.MarketID, func(ctx context.Context) (*marketv1.Market, error) {
				return s.Ledger.Market(ctx, protocol.MarketID(t.MarketID))
			})
		}
	}
	g.Wait()
	out := map[string]*marketv1.Market{}
	for id, m := range found {
		if m.Value.GetTitle() != id { // otherwise the market has no title yet
			out[id] = m.Value
		}
	}
	return out
}

// lengthOf formats a duration in seconds as minutes and seconds: 75 is 1:15.
func lengthOf(seconds int64) string { return fmt.Sprintf("%d:%02d", seconds/60, seconds%60) }

// hostOf returns the host of a URL, with the port unless it is the default port. It returns "" for an invalid URL.
func hostOf(raw string) string {
	_, host, _ := strings.Cut(federation.OriginOf(raw), "://")
	return host
}
