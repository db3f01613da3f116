package pages

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	"github.com/signalcast/signalcast/services/hub/internal/network"
)

const (
	networkPath = "/network"

	partStations  = "stations"
	partHeard     = "heard"
	partTapes     = "tapes"
	partOperators = "operators"

	tapesShown    = 12
	stationsShown = 60

	titlesWithin = 300 * time.Millisecond
)

type networkPage struct {
	frame
	Stations                               []stationPart
	StationsAway, TapesAway, OperatorsAway bool
	MoreStations                           string
	Tapes                                  []tapePart
	Operators                              []operatorPart
}

// stationPart is one station and how it is.
type stationPart struct {
	Name, URL, Host, About string
	Lanes                  string
	State, Class, Note     string
	Operators, Tapes       string
	Own                    bool
}

type tapePart struct {
	Handle, Href, Station string
	Own, Boosted          bool
	URL, MarketID, Title  string
	Stance, StanceClass   string
	Length, Views, At     string
	AtISO                 string
}

type operatorPart struct {
	Place, Name, Handle, Href, Station, Also string
	Own                                      bool
	Tier                                     string
	Score, Way, Right, Record                string
}

// network is GET /network: what all stations show together.
func (s *site) network(c echo.Context) error {
	var (
		stations  *stationv1.ListActiveStationsResponse
		heard     map[string]time.Time
		tapes     []network.Tape
		operators []network.Operator
	)
	g := newGather(c.Request().Context())
	ask(g, partStations, &stations, func(ctx context.Context) (*stationv1.ListActiveStationsResponse, error) {
		return s.Ledger.Stations.ListActiveStations(ctx, &stationv1.ListActiveStationsRequest{})
	})
	ask(g, partHeard, &heard, s.Heard.Heard)
	ask(g, partTapes, &tapes, func(ctx context.Context) ([]network.Tape, error) {
		return s.Network.Tapes(ctx, network.Wanted{}, tapesShown)
	})
	ask(g, partOperators, &operators, func(ctx context.Context) ([]network.Operator, error) {
		return s.Network.Operators(ctx, network.Wanted{}, network.MaxOperators)
	})
	g.done()
	p := networkPage{
		frame:        s.frame(c, "Network", "The stations of this network, and what they show together.", networkPath),
		StationsAway: g.missing(partStations), TapesAway: g.missing(partTapes), OperatorsAway: g.missing(partOperators),
	}
	p.Wide, p.Here, p.Kind = true, "network", "website"
	names := map[string]string{network.Hub: "This station"}
	for _, st := range stations.GetStations() {
		names[st.GetStationId()] = st.GetName()
	}
	titles := s.titlesOf(c.Request().Context(), tapes)
	p.stations(s, stations.GetStations(), heard, g)
	p.count(stations.GetStations(), tapes, operators)
	for i := range tapes {
		p.Tapes = append(p.Tapes, tapeOf(&tapes[i], names, titles))
	}
	for i := range operators {
		p.Operators = append(p.Operators, operatorOf(i, &operators[i], names))
	}
	s.lessThanWhole(c, g)
	return s.render(c, http.StatusOK, "network", p)
}

// stations lists ours and the active partners with what is known of how they are.
func (p *networkPage) stations(s *site, list []*stationv1.Station, heard map[string]time.Time, g *gather) {
	p.Stations = []stationPart{{
		Name: "This station", URL: "/", Host: hostOf(s.HubURL), Own: true, State: "Here", Class: "up",
		About: "Where you are. Its operators and tapes are shown beside those of its partners.",
	}}
	if n := len(list); n > stationsShown {
		p.MoreStations, list = many(int64(n-stationsShown), "more station"), list[:stationsShown]
	}
	for _, st := range list {
		one := stationPart{Name: st.GetName(), URL: link(st.GetUrl()), Host: hostOf(st.GetUrl()), About: st.GetDescription()}
		var lanes []string
		for _, l := range st.GetLanes() {
			lanes = append(lanes, laneWord(syntax.Lane(l)))
		}
		one.Lanes = strings.Join(lanes, ", ")
		at, was := heard[st.GetStationId()]
		switch {
		case g.missing(partHeard):
			one.State, one.Class, one.Note = "Active", "open", "When it was read last is not known right now."
		case st.GetTapesUrl() == "" && st.GetOperatorsUrl() == "":
			one.State, one.Class, one.Note = "Active", "open", "It offers no rows to read."
		case !was:
			one.State, one.Class, one.Note = "Not read yet", "open", "Nothing of it could be read so far."
		case s.Now().Sub(at) > s.Keep:
			one.State, one.Class, one.Note = "Silent", "down", "Read last "+when(at)+"; its rows are not shown any more."
		default:
			one.State, one.Class, one.Note = "Active", "up", "Read last "+when(at)+"."
		}
		p.Stations = append(p.Stations, one)
	}
}

// count tells how much of what is shown is each station's.
func (p *networkPage) count(list []*stationv1.Station, tapes []network.Tape, operators []network.Operator) {
	of := map[string]*[2]int64{network.Hub: {}}
	for i := range list {
		of[list[i].GetStationId()] = &[2]int64{}
	}
	for i := range operators {
		if n := of[operators[i].Origin]; n != nil {
			n[0]++
		}
	}
	for i := range tapes {
		if n := of[tapes[i].Origin]; n != nil {
			n[1]++
		}
	}
	for i := range p.Stations {
		origin := network.Hub
		if i > 0 {
			origin = list[i-1].GetStationId()
		}
		p.Stations[i].Operators, p.Stations[i].Tapes = many(of[origin][0], "operator"), many(of[origin][1], "tape")
	}
}

func tapeOf(t *network.Tape, names, titles map[string]string) tapePart {
	p := tapePart{
		Handle: t.Handle, Href: link(t.Href), Station: orName(names, t.Origin), Own: t.Origin == network.Hub, Boosted: t.Boosted, URL: link(t.URL),
		MarketID: t.MarketID, Views: many(t.Views, "view"), At: t.CreatedAt.UTC().Format("2 Jan, 15:04 UTC"), AtISO: syntax.Stamp(t.CreatedAt),
	}
	if p.Own {
		p.Href = personPath + t.Handle
	}
	if p.Title = titles[t.MarketID]; p.Title == "" {
		p.Title = "Market " + t.MarketID
	}
	if t.Stance != nil {
		p.Stance, p.StanceClass = *t.Stance, sideClass(*t.Stance)
	}
	if t.DurationS != nil {
		p.Length = lengthOf(*t.DurationS)
	}
	return p
}

// titlesOf are the titles of the markets that tapes are about, as far as they are known
// soon: a partner may speak of markets that are not here.
func (s *site) titlesOf(ctx context.Context, tapes []network.Tape) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, titlesWithin)
	defer cancel()
	var mu sync.Mutex
	var wait sync.WaitGroup
	titles, asked := map[string]string{}, map[string]bool{}
	for _, t := range tapes {
		if asked[t.MarketID] {
			continue
		}
		asked[t.MarketID] = true
		wait.Go(func() {
			m, err := safely(ctx, func(ctx context.Context) (*marketv1.Market, error) { return s.readMarket(ctx, t.MarketID) })
			if err == nil && m.GetTitle() != t.MarketID {
				mu.Lock()
				defer mu.Unlock()
				titles[t.MarketID] = m.GetTitle()
			}
		})
	}
	wait.Wait()
	return titles
}

func lengthOf(seconds int64) string {
	text := digits(seconds % 60)
	if len(text) == 1 {
		text = "0" + text
	}
	return digits(seconds/60) + ":" + text
}

func operatorOf(i int, o *network.Operator, names map[string]string) operatorPart {
	p := operatorPart{
		Place: digits(int64(i + 1)), Name: o.DisplayName, Handle: o.Handle, Href: link(o.Href), Station: orName(names, o.Origin), Own: o.Origin == network.Hub,
		Score: signed(int(o.Score)), Way: wayOf(o.Score), Right: "–", Record: grouped(o.Won) + "–" + grouped(o.Lost),
	}
	if p.Name == "" {
		p.Name = "@" + p.Handle
	}
	if p.Own {
		p.Href = personPath + o.Handle
	}
	if o.Tier == string(syntax.House) {
		p.Tier = tierWords[syntax.House].word
	}
	if o.Resolved > 0 {
		p.Right = digits(o.Accuracy) + "%"
	}
	also := make([]string, 0, len(o.AlsoOn))
	for _, origin := range o.AlsoOn {
		also = append(also, orName(names, origin))
	}
	p.Also = strings.Join(also, ", ")
	return p
}

func orName(names map[string]string, origin string) string {
	if n := names[origin]; n != "" {
		return n
	}
	return origin
}

// hostOf is what people know of an address.
func hostOf(raw string) string {
	_, host, _ := strings.Cut(network.OriginOf(raw), "://")
	return host
}
