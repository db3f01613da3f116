package broadcast

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

const (
	// holdFor is how long a choice stands, so that the spotlight does not flicker.
	holdFor = time.Minute
	// bigMove is how far a market must move within an hour to be shown for it, in bps.
	bigMove = 500
	// finalStretch is how long before its end a market is in its final stretch.
	finalStretch = time.Hour
)

// Reason is the rung of the ladder that something stands on.
type Reason string

// The ladder, the highest rung first.
const (
	LiveOperator Reason = "live_operator" // live, with an overlay signal
	Takes        Reason = "takes"         // the most takes of a day
	WireMove     Reason = "wire_move"     // the largest move of an hour
	FinalStretch Reason = "final_stretch" // on the air, and its market ends within the hour
	OnClock      Reason = "clock"         // on the air
)

// Spotlight is what is shown first. Members that do not apply are empty.
type Spotlight struct {
	Reason    Reason
	ShowID    string // of the live session
	MarketID  protocol.MarketID
	Title     string
	Yes       *int32 // bps, when it was chosen
	Lane      protocol.Lane
	Handle    protocol.Handle
	HLSURL    string
	Viewers   int64
	SegmentID string
	StartedAt time.Time // of the session or the segment; else since it is shown
	ExpiresAt time.Time
	ChosenAt  time.Time
}

// same reports what goes on being shown.
func (s *Spotlight) same(o *Spotlight) bool {
	return s.Reason == o.Reason && s.MarketID == o.MarketID && s.ShowID == o.ShowID && s.SegmentID == o.SegmentID
}

// Held is a spotlight as it stands for all hubs. The zero version is none.
type Held struct {
	Spotlight
	Version int64
}

// Shown is the spotlight as of now.
type Shown struct {
	Spotlight *Spotlight // nil: there is nothing to show
	Failed    error      // of a rung that could not be looked at; nil: none
}

// Spotlight gives what is shown first. The first hub that finds its time over chooses
// anew, for all. A live operator is let go at once when the show is over. Fault:
// db_unavailable; that of a source when nothing was found below it.
func (s *Service) Spotlight(ctx context.Context) (Shown, error) {
	held, err := s.Store.Spotlight(ctx)
	if err != nil {
		return Shown{}, err
	}
	now := s.Now()
	shows, failed := s.shows(ctx)
	if held.Version != 0 && now.Before(held.ExpiresAt) && (failed != nil || stillOn(&held.Spotlight, shows)) {
		return Shown{Spotlight: &held.Spotlight}, nil
	}
	best, errs := s.choose(ctx, shows, now)
	failed = errors.Join(failed, errs)
	if best == nil {
		return Shown{}, failed
	}
	best.ChosenAt = now
	if end := now.Add(holdFor); best.ExpiresAt.IsZero() || best.ExpiresAt.After(end) {
		best.ExpiresAt = end
	}
	if best.StartedAt.IsZero() {
		best.StartedAt = now
		if held.same(best) {
			best.StartedAt = held.StartedAt
		}
	}
	if held, err = s.Store.HoldSpotlight(ctx, *best, held.Version); err != nil {
		return Shown{}, err
	}
	return Shown{Spotlight: &held.Spotlight, Failed: failed}, nil
}

// shows lists the approved operators who are live with an overlay signal.
func (s *Service) shows(ctx context.Context) ([]livestream.Show, error) {
	list, err := s.Live(ctx)
	return slices.DeleteFunc(list, func(o livestream.Show) bool { return o.Signal == nil || !o.Approved }), err
}

// stillOn reports that what is shown is not over: the id of a show is shown while it is
// live and no longer.
func stillOn(held *Spotlight, shows []livestream.Show) bool {
	return held.Reason != LiveOperator || slices.ContainsFunc(shows, func(o livestream.Show) bool { return o.ShowID == held.ShowID })
}

// choose goes down the ladder. A rung that cannot be looked at is passed over.
func (s *Service) choose(ctx context.Context, shows []livestream.Show, now time.Time) (*Spotlight, error) {
	var failed []error
	note := func(err error) {
		if err != nil {
			failed = append(failed, err)
		}
	}
	best := live(shows)
	if best == nil {
		taken, err := s.Ledger.Wire.ListTaken(ctx, &wirev1.ListTakenRequest{Limit: 1})
		if note(err); len(taken.GetMarkets()) > 0 {
			best = &Spotlight{Reason: Takes, MarketID: protocol.MarketID(taken.GetMarkets()[0].GetMarketId())}
		}
	}
	if best == nil {
		moves, err := s.Ledger.Wire.ListMoves(ctx, &wirev1.ListMovesRequest{Window: string(protocol.Window1h), Limit: 1})
		note(err)
		best = moved(moves.GetMoves())
	}
	if best == nil {
		p, err := s.programme(ctx)
		note(err)
		best = onAir(p, now)
	}
	if best != nil {
		note(s.describe(ctx, best))
	}
	return best, errors.Join(failed...)
}

// live returns the show with the most viewers, of equal ones the longest.
func live(shows []livestream.Show) *Spotlight {
	if len(shows) == 0 {
		return nil
	}
	o := slices.MinFunc(shows, func(a, b livestream.Show) int {
		return cmp.Or(cmp.Compare(b.Viewers, a.Viewers), a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ShowID, b.ShowID))
	})
	return &Spotlight{
		Reason: LiveOperator, ShowID: o.ShowID, MarketID: o.Signal.MarketID, Handle: o.Handle, HLSURL: o.HLSURL,
		Viewers: o.Viewers, StartedAt: o.StartedAt,
	}
}

// moved returns the first of the moves if it is a big one.
func moved(moves []*wirev1.Move) *Spotlight {
	if len(moves) == 0 || !isBig(moves[0]) {
		return nil
	}
	m := moves[0]
	yes := m.GetToBps()
	return &Spotlight{
		Reason: WireMove, MarketID: protocol.MarketID(m.GetMarketId()), Title: m.GetTitle(), Yes: &yes, Lane: protocol.Lane(m.GetLane()),
	}
}

// isBig reports whether a market moved by at least bigMove in either direction.
func isBig(m *wirev1.Move) bool {
	d := m.GetToBps() - m.GetFromBps()
	return d >= bigMove || d <= -bigMove
}

// onAir is the segment on the air whose market ends first within the hour, else that of
// the first lane.
func onAir(p *programv1.Program, now time.Time) *Spotlight {
	var first, last *programv1.Segment
	for _, lane := range p.GetLanes() {
		for _, g := range program.Segments(p, lane) {
			if now.Before(ledgerclient.Time(g.GetStartsAt())) || !now.Before(ledgerclient.Time(g.GetEndsAt())) {
				continue
			}
			if first == nil {
				first = g
			}
			end := ledgerclient.Time(g.GetMarketEndDate())
			if left := end.Sub(now); !end.IsZero() && left > 0 && left <= finalStretch &&
				(last == nil || end.Before(ledgerclient.Time(last.GetMarketEndDate()))) {
				last = g
			}
		}
	}
	reason, g := FinalStretch, last
	if g == nil {
		reason, g = OnClock, first
	}
	if g == nil {
		return nil
	}
	return &Spotlight{
		Reason: reason, MarketID: protocol.MarketID(g.GetMarketId()), Title: g.GetTitle(), Lane: program.ContentLane(g.GetCategory()),
		SegmentID: g.GetSegmentId(), StartedAt: ledgerclient.Time(g.GetStartsAt()), ExpiresAt: ledgerclient.Time(g.GetEndsAt()),
	}
}

// describe fills in what the ledger knows of the market.
func (s *Service) describe(ctx context.Context, best *Spotlight) error {
	r, err := s.Ledger.Markets.ListMarkets(ctx, &marketv1.ListMarketsRequest{Ids: []string{string(best.MarketID)}})
	for _, m := range r.GetMarkets() {
		best.Title, best.Lane = m.GetTitle(), protocol.Lane(m.GetLane())
		if m.YesBps != nil {
			best.Yes = m.YesBps
		}
	}
	return err
}
