package grpcapi

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// maxPublished is the maximum number of entries in each list of a Publish request.
const maxPublished = 500

// Feed implements the gRPC services FeedService and FeedReadService.
type Feed struct {
	feedv1.UnimplementedFeedServiceServer
	feedv1.UnimplementedFeedReadServiceServer
	Store     feed.Store
	Ephemeral Publish // publishes each event without a number
}

// Publish sends an event without a number to the readers of all processes. The event can be lost.
type Publish func(ctx context.Context, e feed.Ephemeral)

// Publish stores the numbered events (facts), the channel states (copies) and the viewer counts of another service. It then
// sends the events without a number. Errors: invalid_request, not_found for an invalid id, db_unavailable.
func (f *Feed) Publish(ctx context.Context, r *feedv1.PublishRequest) (*feedv1.PublishResponse, error) {
	if max(len(r.GetFacts()), len(r.GetCopies()), len(r.GetNews()), len(r.GetWatching()), len(r.GetViewerReports()), len(r.GetTapes())) > maxPublished {
		return nil, feed.ErrFact
	}
	facts := make([]feed.Fact, 0, len(r.GetFacts()))
	for _, p := range r.GetFacts() {
		if err := uuids(p.GetId()); err != nil {
			return nil, err
		}
		fact := feed.Fact{
			ID: p.GetId(), Type: feed.Type(p.GetType()), At: timeOrZero(p.GetAt()), MarketID: p.GetMarketId(),
			Handle: p.GetHandle(), Topic: p.GetTopic(), Data: []byte(p.GetData()),
		}
		if err := fact.Check(); err != nil {
			return nil, err
		}
		facts = append(facts, fact)
	}
	copies := make([]feed.Copy, 0, len(r.GetCopies()))
	for _, p := range r.GetCopies() {
		channel, _ := feed.KnownChannel(p.GetChannel())
		c := feed.Copy{Channel: channel, At: timeOrZero(p.GetAt()), Data: []byte(p.GetData())}
		if err := c.Check(); err != nil {
			return nil, err
		}
		copies = append(copies, c)
	}
	ephemerals := make([]feed.Ephemeral, 0, len(r.GetNews()))
	for _, p := range r.GetNews() {
		channel, _ := feed.KnownChannel(p.GetChannel())
		e := feed.Ephemeral{Channel: channel, Type: feed.Type(p.GetType()), Subject: p.GetSubject(), At: p.GetAt().AsTime(), Data: []byte(p.GetData())}
		if err := e.Check(); err != nil {
			return nil, err
		}
		ephemerals = append(ephemerals, e)
	}
	watching := make([]feed.Watching, 0, len(r.GetWatching()))
	for _, p := range r.GetWatching() {
		w := feed.Watching{Handle: p.GetHandle(), Viewers: p.GetViewers(), At: timeOrZero(p.GetAt())}
		if err := w.Check(); err != nil {
			return nil, err
		}
		watching = append(watching, w)
	}
	reports := make([]feed.ViewerReport, 0, len(r.GetViewerReports()))
	for _, p := range r.GetViewerReports() {
		if err := uuids(p.GetId()); err != nil {
			return nil, err
		}
		report := feed.ViewerReport{ID: p.GetId(), Handle: p.GetHandle(), At: timeOrZero(p.GetAt()), ViewerSeconds: p.GetViewerSeconds()}
		if err := report.Check(); err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	tapes := make([]feed.Tapes, 0, len(r.GetTapes()))
	for _, p := range r.GetTapes() {
		id, err := protocol.ParseMarketID(p.GetMarketId())
		count := feed.Tapes{MarketID: id, Tapes: p.GetTapes(), At: p.GetAt().AsTime()}
		if err != nil || p.At == nil || count.Tapes < 0 {
			return nil, feed.ErrFact
		}
		tapes = append(tapes, count)
	}
	if len(tapes) > 0 {
		if err := f.Store.StoreTapes(ctx, tapes); err != nil {
			return nil, err
		}
	}
	if len(watching) > 0 {
		if err := f.Store.StoreViewers(ctx, watching); err != nil {
			return nil, err
		}
	}
	if len(reports) > 0 {
		if err := f.Store.StoreViewerReports(ctx, reports); err != nil {
			return nil, err
		}
	}
	if len(facts)+len(copies) > 0 {
		if err := f.Store.StoreFacts(ctx, facts, copies); err != nil {
			return nil, err
		}
	}
	for _, e := range ephemerals {
		f.Ephemeral(ctx, e)
	}
	return &feedv1.PublishResponse{}, nil
}

// maxEvents is the maximum number of events in one ListEvents response.
const maxEvents = 200

// maxNumbers is the maximum number of event numbers that one request with After searches.
const maxNumbers = 1000

// maxOperators is the maximum number of operators in one request.
const maxOperators = 1000

// ListEvents returns events, newest first. If Before is above 0, it returns only events with a lower number. If After is set, it
// returns events of the types with a higher number, oldest first and without handles; the data of a call then has only the id.
// Unknown types in the request match no events. Errors: not_found for an invalid operator id, invalid_request for too many of
// them, db_unavailable.
func (f *Feed) ListEvents(ctx context.Context, r *feedv1.ListEventsRequest) (*feedv1.ListEventsResponse, error) {
	q := feed.Query{
		Lane: protocol.LaneFilter(r.GetLane()).String(), Limit: min(max(int(r.GetLimit()), 1), maxEvents),
		From: max(r.GetBefore(), 0), Topic: feed.Channel(r.GetTopic()).Topic(), Operators: r.GetOperatorIds(),
	}
	if len(q.Operators) > maxOperators {
		return nil, feed.ErrFact.WithText("at most %d operator ids are allowed", maxOperators)
	}
	if err := uuids(q.Operators...); err != nil {
		return nil, err
	}
	for _, name := range r.GetTypes() {
		if t, ok := feed.ParseType(name); ok {
			q.Types = append(q.Types, t)
		}
	}
	if r.After != nil {
		p, err := f.Store.ListFeedBrief(ctx, q.Types, max(r.GetAfter(), 0), min(max(int(r.GetLimit()), 1), maxNumbers))
		return &feedv1.ListEventsResponse{Head: p.Head, Next: p.Next, Events: listOf(p.Events, feedEventTo)}, err
	}
	// The head is read first, so that the list contains every matching event up to it.
	head, err := f.Store.FeedHead(ctx)
	if err != nil {
		return nil, err
	}
	if len(q.Types) == 0 && len(r.GetTypes()) > 0 {
		return &feedv1.ListEventsResponse{Head: head, Next: head}, nil
	}
	p, err := f.Store.ListFeedEvents(ctx, q)
	return &feedv1.ListEventsResponse{Head: head, Next: p.Next, Events: listOf(p.Events, feedEventTo)}, err
}

func feedEventTo(e feed.Event) *feedv1.Event {
	return &feedv1.Event{
		Seq: e.Seq, Id: e.ID, Type: string(e.Type), At: timestamppb.New(e.At), Handle: e.Handle, MarketId: e.MarketID,
		Data: string(e.Data), OperatorId: e.Operator,
	}
}
