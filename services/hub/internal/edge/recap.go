package edge

import (
	"context"
	"errors"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

type sessionJSON struct {
	Handle    string  `json:"handle"`
	ShowID    *string `json:"showId"` // null: there was no session
	StartedAt *string `json:"startedAt"`
	EndedAt   *string `json:"endedAt"`
}

type receiptsJSON struct {
	sessionJSON
	Receipts []callJSON `json:"receipts"`
	Recap    *recapJSON `json:"recap"`
}

type sessionRecapJSON struct {
	sessionJSON
	Recap *recapJSON `json:"recap"`
}

type recapJSON struct {
	DurationS       int64                    `json:"durationS"`
	ViewersPeak     int64                    `json:"viewersPeak"`
	ViewersAvg      int64                    `json:"viewersAvg"`
	Calls           int64                    `json:"calls"`
	Won             int64                    `json:"won"`
	Lost            int64                    `json:"lost"`
	Void            int64                    `json:"void"`
	Pending         int64                    `json:"pending"`
	Score           int64                    `json:"score"`
	Clips           int64                    `json:"clips"`
	FollowersGained int64                    `json:"followersGained"`
	BestCall        *openapi.Recap_BestCall  `json:"bestCall"`
	TopMarket       *openapi.Recap_TopMarket `json:"topMarket"`
	EndedAt         *string                  `json:"endedAt"`
}

// receipts is GET /api/streamer/receipts?handle=: of the open session, else of the newest.
func (s *server) receipts(c echo.Context) error {
	handle, err := readHandle(c)
	if err != nil {
		return err
	}
	r, err := s.recapOf(c, handle, "")
	if err != nil {
		return err
	}
	out := receiptsJSON{sessionJSON: showSession(handle, r), Receipts: []callJSON{}, Recap: showRecap(r)}
	if r != nil {
		out.Receipts = s.showCalls(r.Calls)
	}
	return tagged(c, out)
}

func emptyReceipts(c echo.Context) any {
	handle, _ := handleQuery(c)
	return receiptsJSON{sessionJSON: sessionJSON{Handle: string(handle)}, Receipts: []callJSON{}}
}

// recap is GET /api/streamer/recap?handle=&showId=.
func (s *server) recap(c echo.Context) error {
	handle, err := readHandle(c)
	if err != nil {
		return err
	}
	showID := c.QueryParam("showId")
	if showID != "" {
		id, ok := parseUUID(showID)
		if !ok {
			return onair.ErrNoShow
		}
		showID = id
	}
	r, err := s.recapOf(c, handle, showID)
	if err != nil {
		return err
	}
	return tagged(c, sessionRecapJSON{sessionJSON: showSession(handle, r), Recap: showRecap(r)})
}

// recapOf is nil where there was no session; nor had one who is not there.
func (s *server) recapOf(c echo.Context, handle syntax.Handle, showID string) (*onair.Recap, error) {
	r, err := s.OnAir.Recap(c.Request().Context(), handle, showID)
	if showID == "" && errors.Is(err, operator.ErrUnknown) {
		return nil, nil
	}
	if err == nil && r != nil && r.Top != nil && r.Top.Title == "" {
		err = s.titleTop(c.Request().Context(), r.Top)
	}
	return r, err
}

// titleTop fills in the ledger's title of the market that the operator showed; its id if the ledger
// does not have the market. The name in the overlay is the operator's own text.
func (s *server) titleTop(ctx context.Context, t *onair.Top) error {
	m, err := s.readMarket(ctx, t.MarketID)
	if errors.Is(err, market.ErrNotFound) {
		t.Title = string(t.MarketID)
		return nil
	}
	t.Title = m.GetTitle()
	return err
}

func showSession(handle syntax.Handle, r *onair.Recap) sessionJSON {
	out := sessionJSON{Handle: string(handle)}
	if r != nil {
		out.ShowID, out.StartedAt, out.EndedAt = &r.Session.ID, orNull(syntax.Stamp(r.Session.StartedAt)), syntax.StampOrNull(r.Session.EndedAt)
	}
	return out
}

func showRecap(r *onair.Recap) *recapJSON {
	if r == nil {
		return nil
	}
	out := &recapJSON{
		DurationS: int64(r.Length / time.Second), ViewersPeak: r.Peak, ViewersAvg: r.Avg, Calls: r.Count, Won: r.Won, Lost: r.Lost,
		Void: r.Void, Pending: r.Pending, Score: r.Score, Clips: r.Clips, FollowersGained: r.Followers,
		EndedAt: syntax.StampOrNull(r.Session.EndedAt),
	}
	if b := r.Best; b != nil {
		out.BestCall = &openapi.Recap_BestCall{SignalID: b.SignalID, OddsBps: int64(int(b.Odds)), Score: int64(b.Score)}
	}
	if t := r.Top; t != nil {
		out.TopMarket = &openapi.Recap_TopMarket{MarketID: string(t.MarketID), Title: t.Title}
	}
	return out
}

// analytics is GET /api/streamer/analytics: the caller's own, or for an admin anybody's.
func (s *server) analytics(c echo.Context) error {
	who := callerOf(c)
	var handle syntax.Handle
	if who.Kind == caller.Admin {
		named, err := handleQuery(c)
		if err != nil {
			return err
		}
		handle = named
	} else {
		handle = who.Operator.Handle
		if named, err := handleQuery(c); err == nil && named != handle {
			return caller.ErrForbidden
		}
	}
	var a onair.Analytics
	read := func(ctx context.Context) (err error) {
		a, err = s.OnAir.Analytics(ctx, handle, onair.ParseWindow(c.QueryParam("window")))
		return err
	}
	var err error
	if who.Kind == caller.Admin { // who looks at what is somebody else's is written down
		err = s.audited(c, act{target: string(handle)}, read)
	} else {
		err = read(c.Request().Context())
	}
	if err != nil {
		return err
	}
	out := openapi.StreamerAnalytics{
		Handle: string(handle), Window: a.Window.Name, Sessions: a.Sessions, MinutesLive: int64(a.Live / time.Minute),
		ViewersPeak: a.Peak, ViewersAvg: a.Average(), ViewerMinutes: a.ViewerMinutes, Signals: a.Signals, Clips: a.Clips,
		ClipViews: a.ClipViews, FollowersGained: a.Followers, OverlaySets: a.OverlaySets,
		Series: make([]openapi.StreamerAnalytics_Series, 0, len(a.Series)),
	}
	for _, v := range a.Series {
		out.Series = append(out.Series, openapi.StreamerAnalytics_Series{T: v.At.Unix(), Viewers: v.Viewers})
	}
	return web.OK(c, out)
}
