package broadcast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/program"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

const (
	// bumpersAhead is the maximum time between now and the start of a planned bumper.
	bumpersAhead = time.Hour
	// BumperLength is the length of a bumper.
	BumperLength = 10 * time.Second
	// resolvedBack is the maximum age of a resolution that gets a bumper. maxResolved is the maximum number of these bumpers.
	resolvedBack = 24 * time.Hour
	maxResolved  = 50
	// maxRecords is the maximum number of live operators whose record gets a bumper.
	maxRecords = 10
)

// Bumper is a short announcement between two segments of the programme. The hub only lists bumpers; it does not render them.
type Bumper struct {
	ID           string
	Kind         string // next_up, resolution, record or ident
	Title        string
	Text         string
	MarketID     protocol.MarketID // empty: none
	Handle       protocol.Handle   // live operator: of the record, or with the market on the stream; empty: none
	Lane         protocol.Lane     // empty: unknown
	ScheduledFor time.Time         // zero: at any time
	CreatedAt    time.Time
}

// Plan is a list of bumpers. It can be incomplete.
type Plan struct {
	Bumpers []Bumper
	Failed  error // errors of the sources; nil: the plan is complete
}

// Bumpers returns the bumpers of the next hour of the default programme, one that identifies the station at the next full hour,
// bumpers for the records of the live operators with the most viewers, and bumpers for the resolutions of the last 24 hours.
// The parameter verdict is a function that returns the verdict in a market.resolved event. Bumpers returns an error only if a
// source fails and there are no bumpers.
func (s *Service) Bumpers(ctx context.Context, verdict func(*feedv1.Event) string) (Plan, error) {
	var out Plan
	shows, errShows := s.approved(ctx)
	next, errNext := s.nextUp(ctx, shows)
	records, errRecords := s.records(ctx, shows)
	done, errDone := s.resolutions(ctx, verdict)
	out.Bumpers = slices.Concat(next, records, done)
	if out.Failed = errors.Join(errShows, errNext, errRecords, errDone); len(out.Bumpers) == 0 {
		return out, out.Failed
	}
	return out, nil
}

// approved returns the shows of live approved operators, the one with the most viewers first.
func (s *Service) approved(ctx context.Context) ([]livestream.Show, error) {
	list, err := s.Live(ctx)
	list = slices.DeleteFunc(list, func(o livestream.Show) bool { return !o.Approved })
	slices.SortFunc(list, byViewers)
	return list, err
}

// nextUp returns a bumper for each bumper segment of the next hour, and one for the next full hour. A bumper has the handle of
// the first of shows with its market on the stream.
func (s *Service) nextUp(ctx context.Context, shows []livestream.Show) ([]Bumper, error) {
	p, err := s.programme(ctx)
	if err != nil || p == nil {
		return nil, err
	}
	now := s.Now()
	hour := now.UTC().Truncate(time.Hour).Add(time.Hour)
	out := []Bumper{{
		ID: "ident:" + protocol.Stamp(hour), Kind: "ident", Title: "Signalcast", Text: "Forecasts with a public record",
		ScheduledFor: hour, CreatedAt: hour.Add(-bumpersAhead),
	}}
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
		if i := slices.IndexFunc(shows, func(o livestream.Show) bool {
			return o.Signal != nil && o.Signal.MarketID == b.MarketID
		}); i >= 0 {
			b.Handle = shows[i].Handle
		}
		if b.CreatedAt.IsZero() {
			b.CreatedAt = ledgerclient.Time(p.GetGeneratedAt())
		}
		out = append(out, b)
	}
	return out, degraded(p)
}

// records returns a bumper for the record of each operator of the first shows that has a won or lost call.
func (s *Service) records(ctx context.Context, shows []livestream.Show) ([]Bumper, error) {
	var out []Bumper
	for _, o := range shows[:min(len(shows), maxRecords)] {
		r, err := s.Ledger.Records.GetOperatorRecord(ctx, record.Request(o.Handle, 0, 0))
		if err != nil {
			return out, err
		}
		st := r.GetStats()
		if record.Resolved(st) == 0 {
			continue
		}
		out = append(out, Bumper{
			ID: "record:" + o.ShowID, Kind: "record", Title: r.GetOperator().GetDisplayName(), Handle: o.Handle,
			Text: fmt.Sprintf("%d of %d calls won, %+d points", st.GetWon(), record.Resolved(st), st.GetScore()), CreatedAt: o.StartedAt,
		})
	}
	return out, nil
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
