package pages

import (
	"cmp"
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/record"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
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

// Numbers of calls and of clips of a broadcast that its page lists. The script of the page has the same numbers.
const (
	shownCalls = 20
	shownClips = 10
)

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

// readLiveParts starts to read the parts of the page that depend on the state of the broadcast, and returns a function that adds
// them to the page. showID is the session of the recap; empty: none.
func (s *server) readLiveParts(
	g *site.PartReader, a identityclaim.Account, v site.Viewer, air *broadcastState, showID string,
) func(*livePage) {
	counts, other := &site.Part[follow.Counts]{}, v.Session.UserID != "" && v.Session.UserID != string(a.ID)
	if other {
		counts = site.ReadPart(g, "following", func(ctx context.Context) (follow.Counts, error) {
			return s.People.Follows.Counts(ctx, operator.ID(v.Session.UserID), a.Handle)
		})
	}
	open, calls := air.Session.Open(), &site.Part[[]*signalv1.Signal]{}
	if open {
		calls = site.ReadPart(g, "calls", func(ctx context.Context) ([]*signalv1.Signal, error) {
			return s.OnAir.Calls(ctx, air.Session, shownCalls)
		})
	}
	clips := site.ReadPart(g, "clips", func(ctx context.Context) ([]stream.Clip, error) {
		if !air.Session.Live() {
			return s.Clips.SessionClips(ctx, a.Handle, cmp.Or(showID, air.Session.ID), shownClips)
		}
		return s.Clips.Clips(ctx, cmp.Or(air.Overlay.MarketID, air.Session.MarketID), shownClips)
	})
	last, sum := &site.Part[recap]{}, &site.Part[*recordv1.GetOperatorRecordResponse]{}
	if !open || showID != "" {
		last = site.ReadPart(g, "recap", func(ctx context.Context) (recap, error) { return s.readRecap(ctx, a.Handle, showID) })
		sum = site.CallPart(g, "record", s.Ledger.Records.GetOperatorRecord, record.Request(a.Handle, 0, 0))
	}
	return func(p *livePage) {
		p.IsFollowing, p.CanFollow, p.calls = counts.Value.IsFollowing, other, calls.Value
		p.Clips = clipRowsOf(clips.Value)
		if open && showID == "" {
			return
		}
		p.Offline = &offlinePart{}
		p.Offline.addRecord(sum.Value)
		r := last.Value
		if r.Recap == nil {
			return
		}
		if !open && showID == "" {
			p.calls = r.Calls[:min(len(r.Calls), shownCalls)]
		}
		if r.Session.Aired && !r.Session.EndedAt.IsZero() {
			p.Offline.Last = &lastBroadcast{
				EndedAt: r.Session.EndedAt, Length: format.CountOf(max(1, int64(r.Length.Minutes())), "minute"),
				Peak: peakOf(r.Peak), Count: r.Count, Filed: format.Grouped(r.Count), Won: format.Grouped(r.Won),
				Lost: format.Grouped(r.Lost), Score: format.Signed(int(r.Score)),
				Calls: callsOf(r.Calls[:min(len(r.Calls), shownCalls)], nil), Plot: newViewerPlot(r.Session, r.viewers, r.Calls),
				URL: s.HubURL + recapPath(a.Handle, r.Session.ID),
			}
		}
	}
}

// liveCall is a call of a broadcast. Without a current price, it has no link.
type liveCall struct {
	callRow
	Now     string // current price of its side, while the market is open
	CallURL string // address where the visitor can call the same side
}

func liveCallsOf(list []*signalv1.Signal, named map[string]*marketv1.Market) []liveCall {
	rows := make([]liveCall, len(list))
	for i, row := range callsOf(list, named) {
		rows[i].callRow = row
		m := named[list[i].GetMarketId()]
		if view.OpenPrice(m) == nil {
			continue
		}
		if rows[i].Now = ownCallOf(m, list[i]).Now; rows[i].Now != "" {
			rows[i].CallURL = callPath(protocol.MarketID(m.GetId()), list[i].GetDirection())
		}
	}
	return rows
}

// clipRow is a clip in the list of a live page.
type clipRow struct {
	ID, URL, Handle, CreatedBy string
	Length                     int32 // seconds; 0: unknown
}

func clipRowsOf(list []stream.Clip) []clipRow {
	return view.List(list, func(clip stream.Clip) clipRow {
		row := clipRow{ID: clip.ID, URL: clip.URL, Handle: string(clip.Handle), CreatedBy: string(clip.CreatedBy)}
		if clip.Duration != nil {
			row.Length = *clip.Duration
		}
		return row
	})
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
