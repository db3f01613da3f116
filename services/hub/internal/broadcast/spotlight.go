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
	// minShowTime is the time that a spotlight is shown, so that it does not change with every request.
	minShowTime = time.Minute
	// bigMove is the minimum price move within an hour that qualifies a market for the spotlight and the feed, in basis points.
	bigMove = 500
	// finalStretch is the time before the end of a market during which its segment has priority.
	finalStretch = time.Hour
)

// Reason states why an item is in the spotlight.
type Reason string

// Reasons for the spotlight, highest priority first.
const (
	LiveOperator Reason = "live_operator" // a live operator who shows a market on the stream
	Takes        Reason = "takes"         // the market with the most takes within a day
	WireMove     Reason = "wire_move"     // the market with the largest price move within an hour
	FinalStretch Reason = "final_stretch" // the current segment, if its market ends within an hour
	OnClock      Reason = "clock"         // the current segment
)

// Spotlight is the item that the broadcast shows first: a market, with its live operator or segment. Fields that do not apply are
// empty.
type Spotlight struct {
	Reason    Reason
	ShowID    string // id of the live session
	MarketID  protocol.MarketID
	Title     string
	Yes       *int32 // price of YES in basis points when the spotlight was chosen
	Lane      protocol.Lane
	Handle    protocol.Handle
	HLSURL    string
	Viewers   int64
	SegmentID string
	StartedAt time.Time // start of the session or segment, else of the spotlight
	ExpiresAt time.Time
	ChosenAt  time.Time
}

// same reports whether s and o show the same item for the same reason.
func (s *Spotlight) same(o *Spotlight) bool {
	return s.Reason == o.Reason && s.MarketID == o.MarketID && s.ShowID == o.ShowID && s.SegmentID == o.SegmentID
}

// StoredSpotlight is the spotlight that all hubs share. Version 0 means that no spotlight is stored.
type StoredSpotlight struct {
	Spotlight
	Version int64
}

// Shown is the current spotlight, with the errors that occurred when it was chosen.
type Shown struct {
	Spotlight *Spotlight // nil: there is nothing to show
	Failed    error      // errors of sources that could not be read; nil: all were read
}

// Spotlight returns the current spotlight. If it has expired, the first hub that reads it chooses a new one for all hubs. The
// spotlight of a live operator expires early when the session ends. Error: db_unavailable. If there is no candidate, it also
// returns the errors of the sources.
func (s *Service) Spotlight(ctx context.Context) (Shown, error) {
	stored, err := s.Store.Spotlight(ctx)
	if err != nil {
		return Shown{}, err
	}
	now := s.Now()
	shows, failed := s.shows(ctx)
	if stored.Version != 0 && now.Before(stored.ExpiresAt) && (failed != nil || stillOn(&stored.Spotlight, shows)) {
		return Shown{Spotlight: &stored.Spotlight}, nil
	}
	best, errs := s.choose(ctx, shows, now)
	failed = errors.Join(failed, errs)
	if best == nil {
		return Shown{}, failed
	}
	best.ChosenAt = now
	if end := now.Add(minShowTime); best.ExpiresAt.IsZero() || best.ExpiresAt.After(end) {
		best.ExpiresAt = end
	}
	if best.StartedAt.IsZero() {
		best.StartedAt = now
		if stored.same(best) {
			best.StartedAt = stored.StartedAt
		}
	}
	if stored, err = s.Store.ReplaceSpotlight(ctx, *best, stored.Version); err != nil {
		return Shown{}, err
	}
	return Shown{Spotlight: &stored.Spotlight, Failed: failed}, nil
}

// shows returns the live shows of approved operators who show a market on their stream.
func (s *Service) shows(ctx context.Context) ([]livestream.Show, error) {
	list, err := s.Live(ctx)
	return slices.DeleteFunc(list, func(o livestream.Show) bool { return o.Signal == nil || !o.Approved }), err
}

// stillOn reports whether the session of the current spotlight is still live. It is true for a spotlight without a live operator.
func stillOn(current *Spotlight, shows []livestream.Show) bool {
	return current.Reason != LiveOperator || slices.ContainsFunc(shows, func(o livestream.Show) bool { return o.ShowID == current.ShowID })
}

// choose returns the candidate with the highest priority; nil if there is none. It skips sources that cannot be read and returns
// their errors joined.
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

// live returns a spotlight for the show with the most viewers. If several shows have that number, it selects the one that started
// first. It returns nil without shows.
func live(shows []livestream.Show) *Spotlight {
	if len(shows) == 0 {
		return nil
	}
	o := slices.MinFunc(shows, byViewers)
	return &Spotlight{
		Reason: LiveOperator, ShowID: o.ShowID, MarketID: o.Signal.MarketID, Handle: o.Handle, HLSURL: o.HLSURL,
		Viewers: o.Viewers, StartedAt: o.StartedAt,
	}
}

// byViewers orders shows: the one with the most viewers first, then the one that started first.
func byViewers(a, b livestream.Show) int {
	return cmp.Or(cmp.Compare(b.Viewers, a.Viewers), a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ShowID, b.ShowID))
}

// moved returns a spotlight for the first element of moves, which the ledger lists largest first. It returns nil if there is
// none, or if the move is smaller than bigMove.
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

// onAir returns a spotlight for the current segment whose market ends first, if it ends within finalStretch. Otherwise the
// spotlight is for the current segment of the first lane that has one. It returns nil without a current segment.
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

// describe sets the title, lane and price of best from its market in the ledger.
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
