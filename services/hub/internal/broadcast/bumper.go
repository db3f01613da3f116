package broadcast

import (
	"context"
	"errors"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

const (
	// bumpersAhead is the maximum time between now and the start of a planned bumper.
	bumpersAhead = time.Hour
	// BumperLength is the length of a bumper.
	BumperLength = 10 * time.Second
	// resolvedBack is the maximum age of a resolution that gets a bumper. maxResolved is the maximum number of these bumpers.
	resolvedBack = 24 * time.Hour
	maxResolved  = 50
)

// Bumper is a short announcement between two segments of the programme. The hub only lists bumpers; it does not render them.
type Bumper struct {
	ID           string
	Kind         string // next_up or resolution
	Title        string
	Text         string
	MarketID     protocol.MarketID
	Lane         protocol.Lane // empty: unknown
	ScheduledFor time.Time     // zero: at any time
	CreatedAt    time.Time
}

// Plan is a list of bumpers. It can be incomplete.
type Plan struct {
	Bumpers []Bumper
	Failed  error // errors of the programme or the resolutions; nil: the plan is complete
}

// Bumpers returns the bumpers of the next hour of the default programme and bumpers for the resolutions of the last 24 hours.
// The parameter verdict is a function that returns the verdict in a market.resolved event. Bumpers returns an error only if a
// source fails and there are no bumpers.
func (s *Service) Bumpers(ctx context.Context, verdict func(*feedv1.Event) string) (Plan, error) {
	var out Plan
	next, errNext := s.nextUp(ctx)
	done, errDone := s.resolutions(ctx, verdict)
	out.Bumpers = append(next, done...)
	if out.Failed = errors.Join(errNext, errDone); len(out.Bumpers) == 0 {
		return out, out.Failed
	}
	return out, nil
}

func (s *Service) nextUp(ctx context.Context) ([]Bumper, error) {
	p, err := s.programme(ctx)
	if err != nil || p == nil {
		return nil, err
	}
	now := s.Now()
	var out []Bumper
	for _, g := range p.GetSegments() {
		starts := ledgerclient.Time(g.GetStartsAt())
		if g.GetKind() != "bumper" || !starts.After(now) || starts.Sub(now) > bumpersAhead {
			continue
		}
		lane := program.ContentLane(g.GetCategory())
		b := Bumper{
			ID: g.GetSegmentId(), Kind: "next_up", Title: g.GetTitle(), Text: "Next on " + string(lane),
			MarketID: protocol.MarketID(g.GetMarketId()), Lane: lane, ScheduledFor: starts, CreatedAt: ledgerclient.Time(g.GetPlannedAt()),
		}
		if b.CreatedAt.IsZero() {
			b.CreatedAt = ledgerclient.Time(p.GetGeneratedAt())
		}
		out = append(out, b)
	}
	return out, degraded(p)
}

// degraded returns an error if the clock reports in p that a source failed. It returns nil if p is complete.
func degraded(p *programv1.Program) error {
	if p.GetDegraded() == "" {
		return nil
	}
	return program.ErrUnavailable.With("source", p.GetDegraded())
}

func (s *Service) resolutions(ctx context.Context, verdict func(*feedv1.Event) string) ([]Bumper, error) {
	p, err := s.Ledger.Feed.ListEvents(ctx, &feedv1.ListEventsRequest{Types: []string{eventTypes[KindResolved]}, Limit: maxResolved})
	if err != nil {
		return nil, err
	}
	since := s.Now().Add(-resolvedBack)
	var items []Item
	for _, e := range p.GetEvents() {
		if at := ledgerclient.Time(e.GetAt()); at.After(since) && e.GetMarketId() != "" {
			items = append(items, Item{Kind: KindResolved, At: at, Event: e})
		}
	}
	known, err := s.titles(ctx, items)
	var out []Bumper
	for i := range items {
		e, id := items[i].Event, items[i].marketID()
		b := Bumper{
			ID: e.GetId(), Kind: "resolution", Text: "Resolved " + verdict(e), MarketID: id, Title: string(id), CreatedAt: items[i].At,
		}
		if m, ok := known[string(id)]; ok {
			b.Title, b.Lane = m.Title, protocol.Lane(m.GetLane())
		}
		out = append(out, b)
	}
	return out, err
}
