package pages

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/protocol"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

// newShowCache returns the cache of the live broadcasts that pages of markets and forecasters link to.
func newShowCache(now func() time.Time) *cache.Cache[struct{}, []livestream.Show] {
	return cache.New(cache.Options[struct{}, []livestream.Show]{
		TTL: 5 * time.Second, Stale: 15 * time.Second, Values: true, Now: now,
	})
}

// liveNow returns the market of each live broadcast of an approved operator, by handle. Without a market, it is empty. If the
// broadcasts cannot be read, there are none.
func (s *server) liveNow(ctx context.Context) map[string]protocol.MarketID {
	if s.OnAir == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, titlesTimeout)
	defer cancel()
	shows, err := s.shows.Get(ctx, struct{}{}, func(ctx context.Context, _ []livestream.Show) ([]livestream.Show, error) {
		return s.OnAir.Live(ctx)
	})
	if err != nil {
		return nil
	}
	out := map[string]protocol.MarketID{}
	for _, show := range shows {
		if show.Approved {
			out[string(show.Handle)] = show.MarketID
		}
	}
	return out
}

// offlinePart is what the page of a broadcast shows while the operator is not live.
type offlinePart struct {
	Last                     *lastBroadcast // nil: none
	Calls, Won, Lost, Points string         // record of the operator; Calls is empty if it cannot be read
	IsFollowing, CanFollow   bool
	SignIn                   string
}

// lastBroadcast is the summary of the newest session.
type lastBroadcast struct {
	EndedAt                               time.Time
	Length, Peak, Filed, Won, Lost, Score string
	Calls                                 []callRow
	Plot                                  viewerPlot
	Count                                 int64
	URL                                   string // address of the recap, to share
}

// recapCalls is the number of calls of a broadcast that its recap lists.
const recapCalls = 20

// recap is a recap with the viewers over time.
type recap struct {
	*livestream.Recap
	viewers livestream.Audience
}

// readRecap returns the recap of a session, or of the newest session if showID is empty. It returns no steps for an open session.
// Errors: livestream.ErrNoShow, db_unavailable, those of the ledger.
func (s *server) readRecap(ctx context.Context, handle protocol.Handle, showID string) (out recap, err error) {
	out.Recap, err = s.OnAir.Recap(ctx, handle, showID)
	if err != nil || out.Recap == nil || out.Session.EndedAt.IsZero() {
		return out, err
	}
	out.viewers, err = s.OnAir.Audience(ctx, out.Session)
	return out, err
}

// readOffline starts to read the parts of the page of an operator who is not live, and returns a function that combines them.
// showID is the session of the recap; empty: the newest one.
func (s *server) readOffline(c echo.Context, g *site.PartReader, a identityclaim.Account, showID string) func() *offlinePart {
	v := s.Viewer(c)
	read := site.ReadPart(g, "recap", func(ctx context.Context) (recap, error) { return s.readRecap(ctx, a.Handle, showID) })
	sum := site.CallPart(g, "record", s.Ledger.Records.GetOperatorRecord, record.Request(a.Handle, 0, 0))
	counts, other := &site.Part[follow.Counts]{}, v.Session.UserID != "" && v.Session.UserID != string(a.ID)
	if other {
		counts = site.ReadPart(g, "following", func(ctx context.Context) (follow.Counts, error) {
			return s.People.Follows.Counts(ctx, operator.ID(v.Session.UserID), a.Handle)
		})
	}
	return func() *offlinePart {
		p := &offlinePart{IsFollowing: counts.Value.IsFollowing, CanFollow: other}
		p.addRecord(sum.Value)
		if r := read.Value; r.Recap != nil && r.Session.Aired && !r.Session.EndedAt.IsZero() {
			p.Last = &lastBroadcast{
				EndedAt: r.Session.EndedAt, Length: format.CountOf(max(1, int64(r.Length.Minutes())), "minute"),
				Peak: peakOf(r.Peak), Count: r.Count, Filed: format.Grouped(r.Count), Won: format.Grouped(r.Won),
				Lost: format.Grouped(r.Lost), Score: format.Signed(int(r.Score)),
				Calls: callsOf(r.Calls[:min(len(r.Calls), recapCalls)], nil), Plot: newViewerPlot(r.Session, r.viewers, r.Calls),
				URL: s.HubURL + recapPath(a.Handle, r.Session.ID),
			}
		}
		return p
	}
}

// recapPath returns the path of a session: its recap, or the live broadcast until it ends. Without a showID, it returns the path
// of the page of the operator.
func recapPath(handle protocol.Handle, showID string) string {
	if showID == "" {
		return site.LivePath + string(handle)
	}
	return site.LivePath + string(handle) + "?show=" + showID
}

func (p *offlinePart) addRecord(r *recordv1.GetOperatorRecordResponse) {
	if r == nil {
		return
	}
	sum := summaryOf(r, nil)
	p.Calls, p.Won, p.Lost, p.Points = sum.Total, sum.Won, sum.Lost, sum.Score
}
