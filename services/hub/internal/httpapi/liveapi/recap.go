package liveapi

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// receiptJSON is openapi.SessionReceipt.
type receiptJSON struct {
	openapi.RecordCall
	Sides  *openapi.MarketSides `json:"sides,omitempty"`  // nil if they are Yes and No
	YesBps *int32               `json:"yesBps,omitempty"` // nil if the call is not pending or its market has no price
}

// receiptsJSON is openapi.SessionReceipts, except that the calls have the type receiptJSON.
type receiptsJSON struct {
	Handle    string         `json:"handle"`
	ShowID    *string        `json:"showId"` // null without a session
	StartedAt *string        `json:"startedAt"`
	EndedAt   *string        `json:"endedAt"`
	Receipts  []receiptJSON  `json:"receipts"`
	Recap     *openapi.Recap `json:"recap"`
}

// Receipts handles GET /api/streamer/receipts?handle=. It returns the calls of the open session, or of the newest session if none
// is open. If the markets cannot be read, the response is degraded and has neither names of sides nor prices.
func (s *Server) Receipts(c echo.Context, handle protocol.Handle) error {
	r, err := s.recapOf(c, handle, "")
	if err != nil {
		return err
	}
	shown, calls := showRecap(handle, r), []receiptJSON{}
	if r != nil {
		named, err := s.marketsOf(c.Request().Context(), r.Calls)
		if err != nil {
			httpx.Degrade(c, httpx.Source(err))
		}
		calls = view.List(view.ShowCalls(s.HubURL, r.Calls), func(call openapi.RecordCall) receiptJSON {
			m := named[call.MarketID]
			out := receiptJSON{call, view.ShowNamedSides(m), nil}
			if call.Status == string(protocol.Pending) {
				out.YesBps = view.OpenPrice(m)
			}
			return out
		})
	}
	return httpx.Tagged(c, receiptsJSON{shown.Handle, shown.ShowID, shown.StartedAt, shown.EndedAt, calls, shown.Recap})
}

// marketsPerRead is the number of markets in one request to the ledger.
const marketsPerRead = 100

// marketsOf returns the markets of calls, by market id.
func (s *Server) marketsOf(ctx context.Context, calls []*signalv1.Signal) (map[string]*marketv1.Market, error) {
	ids := view.List(calls, (*signalv1.Signal).GetMarketId)
	slices.Sort(ids)
	named := map[string]*marketv1.Market{}
	for part := range slices.Chunk(slices.Compact(ids), marketsPerRead) {
		r, err := s.Ledger.Markets.ListMarkets(ctx, &marketv1.ListMarketsRequest{Ids: part})
		if err != nil {
			return named, err
		}
		for _, m := range r.GetMarkets() {
			named[m.GetId()] = m
		}
	}
	return named, nil
}

// EmptyReceipts returns the response of Receipts while the sessions are unavailable. The response has no calls.
func EmptyReceipts(c echo.Context) any {
	handle, _ := request.HandleQuery(c)
	return receiptsJSON{Handle: string(handle), Receipts: []receiptJSON{}}
}

// Recap handles GET /api/streamer/recap?handle=&showId=, the statistics of one session.
func (s *Server) Recap(c echo.Context, handle protocol.Handle) error {
	showID := c.QueryParam("showId")
	if showID != "" {
		id, ok := request.ParseUUID(showID)
		if !ok {
			return livestream.ErrNoShow
		}
		showID = id
	}
	r, err := s.recapOf(c, handle, showID)
	return view.Tagged(c, showRecap(handle, r), err)
}

// recapOf returns the recap of the session with the id showID. If showID is empty, it returns the recap of the open session, or
// of the newest session if none is open. With an empty showID, the result is nil if the operator is unknown or has no session.
func (s *Server) recapOf(c echo.Context, handle protocol.Handle, showID string) (*livestream.Recap, error) {
	r, err := s.OnAir.Recap(c.Request().Context(), handle, showID)
	if showID == "" && errors.Is(err, operator.ErrUnknown) {
		return nil, nil
	}
	if err == nil && r != nil && r.Top != nil && r.Top.Title == "" {
		err = s.titleTop(c.Request().Context(), r.Top)
	}
	return r, err
}

// titleTop sets the title of the market that a session showed most. The title comes from the ledger; a market that the ledger
// does not have is shown by its id. The overlay name is not used, because the operator can write any text there.
func (s *Server) titleTop(ctx context.Context, t *livestream.Top) error {
	m, err := s.Ledger.Market(ctx, t.MarketID)
	if errors.Is(err, market.ErrNotFound) {
		t.Title = string(t.MarketID)
		return nil
	}
	t.Title = m.GetTitle()
	return err
}

// showRecap returns the JSON model of a recap. If r is nil, the model has only the handle.
func showRecap(handle protocol.Handle, r *livestream.Recap) openapi.SessionRecap {
	if r == nil {
		return openapi.SessionRecap{Handle: string(handle)}
	}
	out := openapi.Recap{
		DurationS: seconds(r.Length), ViewersPeak: r.Peak, ViewersAvg: r.Avg, Calls: r.Count, Won: r.Won, Lost: r.Lost,
		Void: r.Void, Pending: r.Pending, Score: r.Score, Clips: r.Clips, FollowersGained: r.Followers,
		EndedAt: protocol.StampOrNull(r.Session.EndedAt),
	}
	if b := r.Best; b != nil {
		out.BestCall = &openapi.Recap_BestCall{SignalID: b.SignalID, OddsBps: int64(b.Odds), Score: int64(b.Score)}
	}
	if t := r.Top; t != nil {
		out.TopMarket = &openapi.Recap_TopMarket{MarketID: string(t.MarketID), Title: t.Title}
	}
	return openapi.SessionRecap{
		Handle: string(handle), ShowID: &r.Session.ID, StartedAt: httpx.OrNull(protocol.Stamp(r.Session.StartedAt)),
		EndedAt: out.EndedAt, Recap: &out,
	}
}

// Analytics handles GET /api/streamer/analytics. Administrators can read the statistics of any operator. Other callers can read
// only their own statistics.
func (s *Server) Analytics(c echo.Context) error {
	who := request.Caller(c)
	handle, err := request.HandleQuery(c)
	if who.Kind != caller.Admin {
		if err == nil && handle != who.Operator.Handle {
			return caller.ErrForbidden.WithText("an operator can read only its own analytics; use your own handle or the admin secret")
		}
		handle, err = who.Operator.Handle, nil
	}
	if err != nil {
		return err
	}
	read := func(ctx context.Context) (livestream.Analytics, error) {
		return s.OnAir.Analytics(ctx, handle, livestream.ParseWindow(c.QueryParam("window")))
	}
	var a livestream.Analytics
	if who.Kind == caller.Admin { // reads of administrators are audited
		a, err = request.Audited(c, s.Audits, request.AdminAction{Target: string(handle)}, read)
	} else {
		a, err = read(c.Request().Context())
	}
	return view.OK(c, openapi.StreamerAnalytics{
		Handle: string(handle), Window: a.Window.Name, Sessions: a.Sessions, MinutesLive: int64(a.Live / time.Minute),
		ViewersPeak: a.Peak, ViewersAvg: a.Average(), ViewerMinutes: a.ViewerMinutes, Signals: a.Signals, Clips: a.Clips,
		ClipViews: a.ClipViews, FollowersGained: a.Followers, OverlaySets: a.OverlaySets,
		Series: view.List(a.Series, func(v livestream.Step) openapi.StreamerAnalytics_Series {
			return openapi.StreamerAnalytics_Series{T: v.At.Unix(), Viewers: v.Viewers}
		}),
	}, err)
}
