package postgres_test

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// feedLedger is a ledger in memory. It has events, the ids of the operators who called its only market (701122), the number of
// calls of each operator by id, and private notices.
type feedLedger struct {
	feedv1.FeedReadServiceClient
	events  []*feedv1.Event
	callers []string
	calls   map[string]int64
	notices []*operatorv1.Notice
}

func (l *feedLedger) add(kind string, by int, at time.Time, data string) {
	e := &feedv1.Event{Seq: int64(len(l.events) + 1), Type: kind, At: timestamppb.New(at), MarketId: "701122", Data: data}
	if by > 0 {
		e.OperatorId = string(person(by))
	}
	l.events = append(l.events, e)
}

func (l *feedLedger) ListEvents(_ context.Context, q *feedv1.ListEventsRequest, _ ...grpc.CallOption) (*feedv1.ListEventsResponse, error) {
	r := &feedv1.ListEventsResponse{Head: int64(len(l.events)), Next: int64(len(l.events))}
	if q.After == nil {
		return r, nil
	}
	for _, e := range l.events {
		if e.GetSeq() > q.GetAfter() && slices.Contains(q.GetTypes(), e.GetType()) {
			if r.Events = append(r.Events, e); len(r.Events) == int(q.GetLimit()) {
				r.Next = e.GetSeq()
				break
			}
		}
	}
	return r, nil
}

// callLedger answers the reads of calls from the data of a feedLedger.
type callLedger struct {
	signalv1.SignalReadServiceClient
	of *feedLedger
}

func (l callLedger) ListCallers(_ context.Context, q *signalv1.ListCallersRequest, _ ...grpc.CallOption) (*signalv1.ListCallersResponse, error) {
	i, _ := slices.BinarySearch(l.of.callers, q.GetAfter()+" ")
	list := l.of.callers[i:]
	return &signalv1.ListCallersResponse{OperatorIds: list[:min(len(list), int(q.GetLimit()))]}, nil
}

func (l callLedger) CountCalls(_ context.Context, q *signalv1.CountCallsRequest, _ ...grpc.CallOption) (*signalv1.CountCallsResponse, error) {
	r := &signalv1.CountCallsResponse{}
	for _, id := range q.GetOperatorIds() {
		r.Calls = append(r.Calls, l.of.calls[id])
	}
	return r, nil
}

func (l callLedger) ListClosingMarkets(_ context.Context, q *signalv1.ListClosingMarketsRequest, _ ...grpc.CallOption) (*signalv1.ListClosingMarketsResponse, error) {
	r := &signalv1.ListClosingMarketsResponse{}
	for _, id := range append([]string{""}, q.GetOperatorIds()...) {
		if id == "" && slices.Contains(q.GetMarketIds(), "701122") || slices.Contains(l.of.callers, id) {
			r.Closing = append(r.Closing, &signalv1.Closing{MarketId: "701122", OperatorId: id})
		}
	}
	return r, nil
}

// handleLedger answers the reads of operators. ListNotices returns the notices of a feedLedger. ListOperators knows each
// operator: the one whose id ends in 12 has the handle op_12.
type handleLedger struct {
	operatorv1.OperatorReadServiceClient
	of *feedLedger
}

func (l handleLedger) ListNotices(_ context.Context, q *operatorv1.ListNoticesRequest, _ ...grpc.CallOption) (*operatorv1.ListNoticesResponse, error) {
	r := &operatorv1.ListNoticesResponse{}
	for _, n := range l.of.notices {
		if n.GetId() > q.GetAfter() {
			r.Notices = append(r.Notices, n)
		}
	}
	return r, nil
}

func (handleLedger) ListOperators(_ context.Context, q *operatorv1.ListOperatorsRequest, _ ...grpc.CallOption) (*operatorv1.ListOperatorsResponse, error) {
	r := &operatorv1.ListOperatorsResponse{}
	for _, id := range q.GetIds() {
		r.Operators = append(r.Operators, &operatorv1.Operator{Id: id, Handle: "op_" + strings.TrimLeft(id[len(id)-12:], "0")})
	}
	return r, nil
}
