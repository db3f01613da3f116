package memledger

import (
	"context"
	"slices"

	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
)

// events is the numbered record, whose service has a method of the name of another one.
type events struct {
	feedv1.UnimplementedFeedReadServiceServer
	ledger *Ledger
}

// ListEvents answers from what the test put there: the types that were asked for, below
// the number.
func (e events) ListEvents(ctx context.Context, r *feedv1.ListEventsRequest) (*feedv1.ListEventsResponse, error) {
	l := e.ledger
	return do(ctx, l, "ListFeed.Events", func() (*feedv1.ListEventsResponse, error) {
		l.LastEvents = r
		out := &feedv1.ListEventsResponse{}
		for _, one := range l.Happened {
			out.Head = max(out.Head, one.GetSeq())
			if len(out.Events) < int(r.GetLimit()) && (r.GetBefore() == 0 || one.GetSeq() < r.GetBefore()) && slices.Contains(r.GetTypes(), one.GetType()) {
				out.Events = append(out.Events, one)
			}
		}
		return out, nil
	})
}

// ListTaken answers what the test put there.
func (l *Ledger) ListTaken(ctx context.Context, r *wirev1.ListTakenRequest) (*wirev1.ListTakenResponse, error) {
	return do(ctx, l, "ListTaken", func() (*wirev1.ListTakenResponse, error) {
		return &wirev1.ListTakenResponse{Markets: l.Taken[:min(len(l.Taken), int(r.GetLimit()))], GeneratedAt: l.stamp()}, nil
	})
}

// ListMarkets gives those of the markets that are there.
func (l *Ledger) ListMarkets(ctx context.Context, r *marketv1.ListMarketsRequest) (*marketv1.ListMarketsResponse, error) {
	return do(ctx, l, "ListMarkets", func() (*marketv1.ListMarketsResponse, error) {
		out := &marketv1.ListMarketsResponse{}
		for _, id := range r.GetIds() {
			if m := l.Markets[id]; m != nil {
				out.Markets = append(out.Markets, m)
			}
		}
		return out, nil
	})
}

// GetInfluence answers what the test put there.
func (l *Ledger) GetInfluence(ctx context.Context, r *programv1.GetInfluenceRequest) (*programv1.GetInfluenceResponse, error) {
	return do(ctx, l, "GetInfluence", func() (*programv1.GetInfluenceResponse, error) {
		l.LastAirings = r
		if l.Influence == nil {
			return &programv1.GetInfluenceResponse{UpdatedAt: l.stamp()}, nil
		}
		return l.Influence, nil
	})
}
