package grpcapi

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Signals implements the gRPC services SignalService and SignalReadService.
type Signals struct {
	signalv1.UnimplementedSignalServiceServer
	signalv1.UnimplementedSignalReadServiceServer
	Service     *signal.Service
	EncodeError ErrorEncoder
	Now         func() time.Time
}

// ErrorEncoder encodes the error of one of several calls for the response. grpcx.Server.EncodeError implements it.
type ErrorEncoder func(ctx context.Context, method, requestID string, err error) []byte

// File files one call. Errors: invalid_market_id, not_found for an id that is not a UUID, and those of signal.Service.File.
func (f *Signals) File(ctx context.Context, r *signalv1.FileRequest) (*signalv1.FileResponse, error) {
	draft, err := draftOf(r.GetDraft())
	if err != nil {
		return nil, err
	}
	filed, err := f.Service.File(ctx, callerOf(r.GetCaller()), draft)
	return &signalv1.FileResponse{Id: filed.ID, Replayed: filed.Replayed, Filing: filingTo(filed)}, err
}

// maxCalls is the maximum number of calls in one FileMany request.
const maxCalls = 128

var errTooMany = apperr.New(apperr.Invalid, "invalid_body", "a request must have at most 128 calls")

// FileMany files several calls together. The response contains a result or an error for each call, in the order of the
// request. Error: invalid_body for more than maxCalls calls.
func (f *Signals) FileMany(ctx context.Context, r *signalv1.FileManyRequest) (*signalv1.FileManyResponse, error) {
	if len(r.GetCalls()) > maxCalls {
		return nil, errTooMany
	}
	answers := make([]*signalv1.FileAnswer, len(r.GetCalls()))
	calls, at := make([]signal.Call, 0, len(answers)), make([]int, 0, len(answers))
	for i, c := range r.GetCalls() {
		draft, err := draftOf(c.GetDraft())
		if err != nil {
			answers[i] = &signalv1.FileAnswer{Refusal: f.refusal(ctx, c, err)}
			continue
		}
		calls, at = append(calls, signal.Call{Caller: callerOf(c.GetCaller()), Draft: draft}), append(at, i)
	}
	for k, a := range f.Service.FileMany(ctx, calls) {
		i := at[k]
		answers[i] = &signalv1.FileAnswer{
			Id: a.Filed.ID, Replayed: a.Filed.Replayed, Alone: a.Alone, Refusal: f.refusal(ctx, r.GetCalls()[i], a.Err),
		}
		if a.Filed.ID != "" {
			answers[i].Filing = filingTo(a.Filed)
		}
	}
	return &signalv1.FileManyResponse{Answers: answers}, nil
}

func (f *Signals) refusal(ctx context.Context, c *signalv1.FileRequest, err error) []byte {
	return f.EncodeError(ctx, signalv1.SignalService_File_FullMethodName, c.GetRequestId(), err)
}

// AppendEvent adds an event to a call that the caller has filed. Errors: not_found, and those of signal.Service.AppendEvent.
func (f *Signals) AppendEvent(ctx context.Context, r *signalv1.AppendEventRequest) (*signalv1.AppendEventResponse, error) {
	if err := uuids(r.GetSignalId(), r.GetEventId()); err != nil {
		return nil, err
	}
	e, err := f.Service.AppendEvent(ctx, callerOf(r.GetCaller()), r.GetSignalId(), r.GetEventId(), r.GetType(), r.GetPayload())
	return &signalv1.AppendEventResponse{Event: eventTo(e)}, err
}

// RehearseFile is a dry run of File: it returns the call as File would store it, and stores nothing. Errors: those of File.
func (f *Signals) RehearseFile(ctx context.Context, r *signalv1.RehearseFileRequest) (*signalv1.RehearseFileResponse, error) {
	draft, err := draftOf(r.GetDraft())
	if err != nil {
		return nil, err
	}
	filed, record, err := f.Service.DryRunFile(ctx, callerOf(r.GetCaller()), draft)
	return &signalv1.RehearseFileResponse{Signal: recordTo(record), Filing: filingTo(filed)}, err
}

// RehearseEvent is a dry run of AppendEvent: it returns the event as AppendEvent would store it, and stores nothing. Errors:
// those of AppendEvent.
func (f *Signals) RehearseEvent(ctx context.Context, r *signalv1.RehearseEventRequest) (*signalv1.RehearseEventResponse, error) {
	if err := uuids(r.GetSignalId(), r.GetEventId()); err != nil {
		return nil, err
	}
	e, err := f.Service.DryRunEvent(ctx, callerOf(r.GetCaller()), r.GetSignalId(), r.GetEventId(), r.GetType(), r.GetPayload())
	return &signalv1.RehearseEventResponse{Event: eventTo(e)}, err
}

// GetSignal returns one call. Errors: not_found, db_unavailable.
func (f *Signals) GetSignal(ctx context.Context, r *signalv1.GetSignalRequest) (*signalv1.GetSignalResponse, error) {
	if err := uuids(r.GetId()); err != nil {
		return nil, err
	}
	s, err := f.Service.GetSignal(ctx, r.GetId())
	return &signalv1.GetSignalResponse{Signal: recordTo(s)}, err
}

// ListEvents returns the events of a call, oldest first. Errors: not_found, db_unavailable.
func (f *Signals) ListEvents(ctx context.Context, r *signalv1.ListEventsRequest) (*signalv1.ListEventsResponse, error) {
	if err := uuids(r.GetSignalId()); err != nil {
		return nil, err
	}
	events, err := f.Service.ListEvents(ctx, r.GetSignalId())
	return &signalv1.ListEventsResponse{Events: listOf(events, eventTo)}, err
}

// ListFeed returns the calls of one of the feeds recent, beat_crowd and open; an unknown name selects recent. Error:
// db_unavailable.
func (f *Signals) ListFeed(ctx context.Context, r *signalv1.ListFeedRequest) (*signalv1.ListFeedResponse, error) {
	list, err := f.Service.Feed(ctx, signal.ParseFeedType(r.GetType()), r.GetCategory(), int(r.GetLimit()))
	return &signalv1.ListFeedResponse{Signals: listOf(list, recordTo)}, err
}

// ListLedger returns a page of the calls on a market, with the number of calls on each side. The page has at most 500 calls,
// and 100 without a limit in the request. Error: db_unavailable.
func (f *Signals) ListLedger(ctx context.Context, r *signalv1.ListLedgerRequest) (*signalv1.ListLedgerResponse, error) {
	after, _ := protocol.DecodeCursor(r.GetCursor(), 1)
	limit := int(r.GetLimit())
	if limit < 1 {
		limit = 100
	}
	l, err := f.Service.ListLedger(ctx, r.GetMarketId(), min(limit, 500), after)
	return &signalv1.ListLedgerResponse{Yes: l.Yes, No: l.No, Signals: listOf(l.Signals, recordTo), NextCursor: l.Next}, err
}

// ListCallers returns the ids of operators with a call on a market, in the order of the ids. Errors: not_found for an invalid
// operator id, db_unavailable.
func (f *Signals) ListCallers(ctx context.Context, r *signalv1.ListCallersRequest) (*signalv1.ListCallersResponse, error) {
	after := cmp.Or(r.GetAfter(), uuid.Nil.String())
	if err := uuids(after); err != nil {
		return nil, err
	}
	ids, err := f.Service.ListCallers(ctx, r.GetMarketId(), after, min(max(int(r.GetLimit()), 1), maxOperators))
	return &signalv1.ListCallersResponse{OperatorIds: ids}, err
}

// CountCalls counts the calls of operators. Errors: not_found for an invalid operator id, db_unavailable.
func (f *Signals) CountCalls(ctx context.Context, r *signalv1.CountCallsRequest) (*signalv1.CountCallsResponse, error) {
	ids := r.GetOperatorIds()[:min(len(r.GetOperatorIds()), maxOperators)]
	if err := uuids(ids...); err != nil {
		return nil, err
	}
	counts, err := f.Service.CountCalls(ctx, ids)
	out := &signalv1.CountCallsResponse{}
	for _, id := range ids {
		out.Calls = append(out.Calls, counts[id])
	}
	return out, err
}

// ListClosingMarkets lists the calls of operators on open markets that close soon, and the given markets that do. Errors:
// not_found for an invalid operator id, db_unavailable.
func (f *Signals) ListClosingMarkets(ctx context.Context, r *signalv1.ListClosingMarketsRequest) (*signalv1.ListClosingMarketsResponse, error) {
	ids, markets := r.GetOperatorIds(), r.GetMarketIds()
	ids, markets = ids[:min(len(ids), maxOperators)], markets[:min(len(markets), maxOperators)]
	if err := uuids(ids...); err != nil {
		return nil, err
	}
	list, err := f.Service.ListClosingMarkets(ctx, ids, markets, f.Now(), r.GetBefore().AsTime())
	return &signalv1.ListClosingMarketsResponse{Closing: listOf(list, func(c signal.Closing) *signalv1.Closing {
		return &signalv1.Closing{MarketId: c.MarketID, OperatorId: c.Operator}
	})}, err
}

// GetCrowd returns the numbers of YES and NO calls by the operators who count as the crowd of a market, and the call of the
// given operator. Error: db_unavailable.
func (f *Signals) GetCrowd(ctx context.Context, r *signalv1.GetCrowdRequest) (*signalv1.GetCrowdResponse, error) {
	c, err := f.Service.Crowd(ctx, r.GetMarketId(), r.GetOperatorId())
	if err != nil {
		return nil, err
	}
	out := &signalv1.GetCrowdResponse{
		Yes: c.Yes, No: c.No, TopYesPercent: int32Of(c.TopYesPercent), TopSample: int32(c.TopSample),
		UpdatedAt: timestamppb.New(c.UpdatedAt),
	}
	if c.Own != nil {
		out.Own = recordTo(*c.Own)
	}
	return out, nil
}

func callerOf(c *operatorv1.Caller) signal.Caller {
	return signal.Caller{KeyHash: c.GetKeyHash(), OperatorID: c.GetOperatorId()}
}

func draftOf(d *signalv1.Draft) (signal.Draft, error) {
	id, err := protocol.ParseMarketID(d.GetMarketId())
	if err != nil {
		return signal.Draft{}, err
	}
	if err := uuids(d.GetId()); err != nil {
		return signal.Draft{}, err
	}
	side, _ := protocol.ParseSide(d.GetDirection())
	return signal.Draft{
		ID: d.GetId(), MarketID: id, Side: side, Price: protocol.Bps(d.GetPriceBps()),
		ChannelID: d.ChannelId, Confidence: wide[int](d.Confidence), CrowdYes: wide[protocol.Bps](d.CrowdYesBps),
		TimeToResolution: wide[int](d.TimeToResolution), Source: d.GetSource(), MediaAssetID: d.MediaAssetId,
		TextTake: d.TextTake, Reach: d.Reach, ClobToken: d.GetClobTokenId(), CrowdLean: wide[protocol.Bps](d.CrowdLeanBps),
		IdempotencyKey: d.IdempotencyKey, BodyHash: d.GetBodyHash(), MaxSlippage: wide[protocol.Bps](d.MaxSlippageBps),
		AllowUnverified: d.GetAllowUnverified(),
	}, nil
}

func filingTo(f signal.Filed) *signalv1.Filing {
	p := f.Prices
	return &signalv1.Filing{
		PriceBps: int32(p.Stated), ScoreBasisBps: int32(p.Basis), PriceVerified: p.Verified, Rated: p.Rated,
		MarketYesBps: int32Of(p.MarketYes), YesPriceBps: int32Of(p.Yes), NoPriceBps: int32Of(p.No), Warnings: f.Warnings,
	}
}

func recordTo(s signal.Record) *signalv1.Signal {
	return &signalv1.Signal{
		Id: s.ID, PublicId: s.PublicID, ProviderId: s.ProviderID, Handle: s.Handle, DisplayName: s.DisplayName,
		Tier: string(s.Tier), MarketId: s.MarketID, MarketTitle: s.MarketTitle, Lane: string(s.Lane),
		Direction: string(s.Side()), PriceBps: int32(s.PriceBps), CrowdYesBps: int32Of(s.CrowdYesBps),
		Confidence: int32Of(s.Confidence), TextTake: s.TextTake, Source: filled(s.Source),
		TimeToResolution: int32Of(s.TTR), CreatedAt: timestamppb.New(s.CreatedAt),
		Status: string(s.Status), Score: int32Of(s.Score), ResolvedAt: stampOf(s.ResolvedAt), Outcome: (*string)(s.Outcome),
		ClosePriceBps: int32Of(s.ClosePrice), ClvBps: int32Of(s.CLVBps), LiveYesBps: int32Of(s.LiveYes), MoveBps: int32Of(s.Move),
		ScoreBasisBps: int32(s.ScoredBps), PriceVerified: s.PriceVerified, Rated: s.Rated, Counted: s.Counted,
		MarketYesBps: int32Of(s.MarketYesBps),
		ClosesAt:     stampOf(s.ClosesAt), QuoteAt: stampOf(s.QuoteAt), ConfirmedAt: stampOf(s.ConfirmedAt), Reason: textOf(s.Reason), Unconfirmed: s.Unconfirmed,
	}
}

func eventTo(e signal.Event) *signalv1.Event {
	return &signalv1.Event{Id: e.ID, Type: e.Type, Payload: e.Payload, Actor: e.Actor, CreatedAt: timestamppb.New(e.CreatedAt)}
}
