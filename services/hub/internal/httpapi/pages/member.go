package pages

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// suggestedMarkets is the number of markets that the home page suggests.
const suggestedMarkets = 3

// memberPage is the home page of a visitor with a session.
type memberPage struct {
	site.Layout
	None      bool // the visitor has no calls
	Open      []openCall
	Results   []callRow
	News      []feedRow
	Watched   []marketRow
	Suggested []marketRow
}

// openCall is a call of the visitor on a market without an outcome.
type openCall struct {
	callRow
	Own *ownCall
}

// member handles GET / with a session: the calls of the visitor, what followed forecasters do, watched markets, and markets to call.
// Parts that cannot be read are missing.
func (s *server) member(c echo.Context, v site.Viewer) error {
	ctx, user := c.Request().Context(), operator.ID(v.Session.UserID)
	g := site.NewPartReader(ctx, site.PartsTimeout)
	_, open := callState("open")
	calls := s.ownCalls(g, "calls", v, open...)
	results := s.ownCalls(g, "results", v, string(protocol.Won), string(protocol.Lost), string(protocol.Void))
	news := site.ReadPart(g, "news", func(ctx context.Context) (*feedv1.ListEventsResponse, error) { return s.newsOf(ctx, user) })
	watched := site.ReadPart(g, "watched", func(ctx context.Context) ([]*marketv1.Market, error) {
		list, _, err := s.watchedMarkets(ctx, user, 0)
		return list, err
	})
	lanes := site.ReadPart(g, "lanes", func(ctx context.Context) ([]protocol.Lane, error) {
		if s.OnAir == nil { // lanes are stored with the profiles of streamers
			return nil, nil
		}
		return s.OnAir.ChosenLanes(ctx, protocol.Handle(v.Handle))
	})
	unavailable := g.Wait()
	list := append(slices.Clone(calls.Value.GetSignals()), results.Value.GetSignals()...)
	named := s.marketsOf(ctx, view.List(list, (*signalv1.Signal).GetMarketId)...)
	p := memberPage{
		Layout:  s.NewLayout(c, "", "Your calls, the forecasters that you follow, and markets to call.", homePath),
		None:    len(list) == 0 && !unavailable["calls"] && !unavailable["results"],
		Results: callsOf(results.Value.GetSignals(), named),
	}
	p.Unavailable, p.Wide, p.OGType = unavailable, true, "website"
	for i, row := range callsOf(calls.Value.GetSignals(), named) {
		one := openCall{callRow: row}
		if m := named[calls.Value.GetSignals()[i].GetMarketId()]; m != nil {
			one.Own = ownCallOf(m, calls.Value.GetSignals()[i])
		}
		p.Open = append(p.Open, one)
	}
	for _, e := range news.Value.GetEvents() {
		if row, ok := followingRow(e); ok {
			p.News = append(p.News, row)
		}
	}
	for _, m := range watched.Value[:min(len(watched.Value), homeRows)] {
		p.Watched = append(p.Watched, rowOf(m))
	}
	p.Suggested = s.suggestedFor(ctx, lanes.Value, list, named)
	return s.RenderParts(c, g, http.StatusOK, "member", p)
}

// ownCalls starts to read the newest calls of the visitor that have one of the statuses.
func (s *server) ownCalls(g *site.PartReader, name string, v site.Viewer, statuses ...string) *site.Part[*recordv1.ListCallsResponse] {
	return site.CallPart(g, name, s.Ledger.Records.ListCalls, &recordv1.ListCallsRequest{
		Handle: v.Handle, Limit: homeRows, Statuses: statuses, Own: true,
	})
}

// newsOf returns the newest events of the forecasters that an operator follows and has not muted.
func (s *server) newsOf(ctx context.Context, user operator.ID) (*feedv1.ListEventsResponse, error) {
	list, err := s.allFollowed(ctx, user)
	unmuted := unmutedOf(list)
	if err != nil || len(unmuted) == 0 {
		return nil, err
	}
	return s.Ledger.Feed.ListEvents(ctx, &feedv1.ListEventsRequest{Types: followingTypes, OperatorIds: unmuted, Limit: homeRows})
}

// suggestedFor returns open markets with a high volume that are not among the markets of the calls. They are from the chosen lanes, one
// of each lane first. Without a chosen lane, they are from the lane of most calls. If they cannot be read, there are none.
func (s *server) suggestedFor(
	ctx context.Context, lanes []protocol.Lane, calls []*signalv1.Signal, named map[string]*marketv1.Market,
) []marketRow {
	shown := map[string]bool{}
	for _, call := range calls {
		shown[call.GetMarketId()] = true
	}
	if len(lanes) == 0 {
		lanes = []protocol.Lane{laneOfMost(calls, named)}
	}
	g, found := site.NewPartReader(ctx, titlesTimeout), make([]*site.Part[*cataloguev1.FindMarketsResponse], 0, len(lanes))
	for _, lane := range lanes {
		found = append(found, site.CallPart(g, "suggested", s.Ledger.Catalogue.FindMarkets, &cataloguev1.FindMarketsRequest{
			Lane: string(lane), Sort: byVolume24h, Limit: int32(suggestedMarkets + len(shown)),
		}))
	}
	g.Wait()
	var rows []marketRow
	for range suggestedMarkets {
		for _, of := range found {
			for _, m := range of.Value.GetMarkets() {
				if len(rows) < suggestedMarkets && !shown[m.GetId()] {
					shown[m.GetId()] = true
					rows = append(rows, rowOf(m))
					break
				}
			}
		}
	}
	return rows
}

// laneOfMost returns the lane that most of the calls are from; "" without calls.
func laneOfMost(calls []*signalv1.Signal, named map[string]*marketv1.Market) (most protocol.Lane) {
	count := map[protocol.Lane]int{}
	for _, call := range calls {
		lane := protocol.LaneFilter(named[call.GetMarketId()].GetLane())
		if count[lane]++; count[lane] > count[most] {
			most = lane
		}
	}
	return most
}
