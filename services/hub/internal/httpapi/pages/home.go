package pages

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

const (
	homePath       = "/"
	homeRows       = 6 // calls, price moves and resolutions of the home page
	homeRanks      = 5
	homeBroadcasts = 6
)

type homePage struct {
	site.Layout
	OnAir                 []broadcastRow
	Calls, Moves, Results []feedRow
	CallRows              int   // maximum number of calls in the list
	Head                  int64 // the script of the list adds the calls whose event numbers are above it
	Ranks                 []boardRow
}

// broadcastRow is a live broadcast on the home page.
type broadcastRow struct {
	Handle, Show, Viewers string
	Avatar                site.Avatar // only on the page of broadcasts
	Title, URL            string      // of the market that the operator discusses; empty: none
	Since                 time.Time
}

// home handles GET /. Without a session, the page explains the service and shows the latest activity. Parts that cannot be read within
// site.PartsTimeout are missing.
func (s *server) home(c echo.Context) error {
	if v := s.Viewer(c); v.Session.UserID != "" {
		return s.member(c, v)
	}
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	shows := site.ReadPart(g, "live", s.broadcasts(homeBroadcasts))
	calls := s.newestEvents(g, "calls", "signal.created")
	results := s.newestEvents(g, "resolutions", "market.resolved")
	moves := site.CallPart(g, "moves", s.Ledger.Wire.ListMoves, &wirev1.ListMovesRequest{
		Window: string(protocol.Window24h), Limit: homeRows,
	})
	best := board.ParseQuery("", "", "", board.ByEdge)
	ranks := site.CallPart(g, "board", s.Ledger.Boards.ListBroadcast, best.Request(homeRanks))
	unavailable := g.Wait()
	p := homePage{
		Layout: s.NewLayout(c, "", "Public calls on prediction markets, scored against the market price.", homePath),
		OnAir:  shows.Value, Calls: feedRows(calls.Value), Results: feedRows(results.Value),
		CallRows: homeRows, Head: calls.Value.GetHead(),
	}
	p.Unavailable, p.Wide, p.OGType, p.Feed = unavailable, true, "website", atomFile
	for _, m := range moves.Value.GetMoves() {
		p.Moves = append(p.Moves, moveRow(m))
	}
	p.Ranks, _ = boardRows(ranks.Value.GetRows())
	s.allowSocket(c)
	return s.RenderParts(c, g, http.StatusOK, "home", p)
}

// newestEvents starts to read the newest events of one type.
func (s *server) newestEvents(g *site.PartReader, name, eventType string) *site.Part[*feedv1.ListEventsResponse] {
	return site.CallPart(g, name, s.Ledger.Feed.ListEvents, &feedv1.ListEventsRequest{Types: []string{eventType}, Limit: homeRows})
}

// broadcasts returns a function that reads the first live broadcasts of approved operators, at most the given number.
func (s *server) broadcasts(most int) func(context.Context) ([]broadcastRow, error) {
	return func(ctx context.Context) ([]broadcastRow, error) {
		if s.OnAir == nil {
			return nil, nil
		}
		shows, err := s.OnAir.Live(ctx)
		rows := []broadcastRow{}
		for _, show := range shows {
			if show.Approved && len(rows) < most {
				rows = append(rows, broadcastRowOf(show))
			}
		}
		return rows, err
	}
}

func broadcastRowOf(show livestream.Show) broadcastRow {
	row := broadcastRow{Handle: string(show.Handle), Show: show.ShowID, Viewers: format.CountOf(show.Viewers, "viewer"), Since: show.StartedAt}
	if show.Signal != nil {
		row.Title, row.URL = show.Signal.Name, site.MarketPath+string(show.Signal.MarketID)
	}
	return row
}
