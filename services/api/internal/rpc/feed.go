package rpc

import (
	"context"

	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// Taker keeps what other services tell the feed.
type Taker interface {
	// TakeFacts takes each fact once, by its id, and keeps copies: all or none.
	TakeFacts(ctx context.Context, facts []feed.Fact, copies []feed.Copy) error
	// TakeViewers keeps how many watch whom.
	TakeViewers(ctx context.Context, list []feed.Watching) error
}

// Crier hands on what has no number.
type Crier interface {
	Publish(ctx context.Context, e feed.Ephemeral)
}

// maxPublished is what one call may bring of each kind.
const maxPublished = 500

// Feed serves FeedService.
type Feed struct {
	feedv1.UnimplementedFeedServiceServer
	taker Taker
	crier Crier
}

// NewFeed wires the face.
func NewFeed(taker Taker, crier Crier) *Feed { return &Feed{taker: taker, crier: crier} }

// Publish takes what a service has to tell. Faults: invalid_request, db_unavailable.
func (f *Feed) Publish(ctx context.Context, r *feedv1.PublishRequest) (*feedv1.PublishResponse, error) {
	if max(len(r.GetFacts()), len(r.GetCopies()), len(r.GetNews()), len(r.GetWatching())) > maxPublished {
		return nil, feed.ErrFact
	}
	facts := make([]feed.Fact, 0, len(r.GetFacts()))
	for _, p := range r.GetFacts() {
		if err := uuids(p.GetId()); err != nil {
			return nil, err
		}
		fact := feed.Fact{
			ID: p.GetId(), Type: feed.Type(p.GetType()), At: p.GetAt().AsTime(), MarketID: p.GetMarketId(),
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
		c := feed.Copy{Channel: channel, At: p.GetAt().AsTime(), Data: []byte(p.GetData())}
		if err := c.Check(); err != nil {
			return nil, err
		}
		copies = append(copies, c)
	}
	news := make([]feed.Ephemeral, 0, len(r.GetNews()))
	for _, p := range r.GetNews() {
		channel, _ := feed.KnownChannel(p.GetChannel())
		e := feed.Ephemeral{Channel: channel, Type: feed.Type(p.GetType()), Subject: p.GetSubject(), At: p.GetAt().AsTime(), Data: []byte(p.GetData())}
		if err := e.Check(); err != nil {
			return nil, err
		}
		news = append(news, e)
	}
	watching := make([]feed.Watching, 0, len(r.GetWatching()))
	for _, p := range r.GetWatching() {
		w := feed.Watching{Handle: p.GetHandle(), Viewers: p.GetViewers(), At: p.GetAt().AsTime()}
		if err := w.Check(); err != nil {
			return nil, err
		}
		watching = append(watching, w)
	}
	if len(watching) > 0 {
		if err := f.taker.TakeViewers(ctx, watching); err != nil {
			return nil, err
		}
	}
	if len(facts)+len(copies) > 0 {
		if err := f.taker.TakeFacts(ctx, facts, copies); err != nil {
			return nil, err
		}
	}
	for _, e := range news {
		f.crier.Publish(ctx, e)
	}
	return &feedv1.PublishResponse{}, nil
}
