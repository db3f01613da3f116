package grpcapi

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/skill"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/record"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Records implements the gRPC service RecordService.
type Records struct {
	recordv1.UnimplementedRecordServiceServer
	Service *record.Service
	Boards  *board.Service
	Now     func() time.Time
}

// GetOperatorRecord returns the record of the operator with the requested handle. If the handle is empty, the requested id
// identifies the operator. Errors: not_found, db_unavailable.
func (f *Records) GetOperatorRecord(ctx context.Context, r *recordv1.GetOperatorRecordRequest) (*recordv1.GetOperatorRecordResponse, error) {
	if r.GetHandle() == "" {
		if err := uuids(r.GetId()); err != nil {
			return nil, err
		}
	}
	got, err := f.Service.Record(ctx, r.GetHandle(), r.GetId(), int(r.GetRecent()), int(r.GetMoments()))
	if err != nil {
		return nil, err
	}
	out := &recordv1.GetOperatorRecordResponse{
		Operator: operatorTo(got.Operator), Stats: statsTo(got.Stats), Rank: got.Rank, Field: got.Field,
		BroadcastScore: int32(got.Broadcast), Recent: listOf(got.Recent, recordTo), Moments: listOf(got.Moments, momentTo),
	}
	if b := got.Best; b != nil {
		out.Best = &recordv1.Best{SignalId: b.SignalID, MarketId: b.MarketID, MarketTitle: b.MarketTitle, OddsBps: int32(b.Odds)}
	}
	return out, nil
}

// ListOperators returns the highest-ranked operators, up to the limit of the request. Error: db_unavailable.
func (f *Records) ListOperators(ctx context.Context, r *recordv1.ListOperatorsRequest) (*recordv1.ListOperatorsResponse, error) {
	list, err := f.Service.Ranked(ctx, bound(r.GetLimit(), record.MaxRanked, record.MaxRanked))
	show := func(o record.Ranked) *recordv1.Ranked {
		return &recordv1.Ranked{Rank: o.Rank, Operator: operatorTo(o.Operator), Stats: statsTo(o.Stats)}
	}
	return &recordv1.ListOperatorsResponse{UpdatedAt: timestamppb.New(f.Now()), Operators: listOf(list, show)}, err
}

// GetSkill returns the measured skill of an operator within a window, in one lane or in all lanes. The report is absent if no
// call is counted. Errors: not_found, db_unavailable.
func (f *Records) GetSkill(ctx context.Context, r *recordv1.GetSkillRequest) (*recordv1.GetSkillResponse, error) {
	got, err := f.Service.Skill(ctx, r.GetHandle(), r.GetLane(), r.GetWindow())
	if err != nil {
		return nil, err
	}
	lane := func(l record.LaneReport) *recordv1.LaneReport {
		return &recordv1.LaneReport{Lane: l.Lane, Report: reportTo(&l.Report)}
	}
	out := &recordv1.GetSkillResponse{
		Operator: operatorTo(got.Operator), Version: skill.Version, UpdatedAt: timestamppb.New(f.Now()), Lanes: listOf(got.Lanes, lane),
	}
	if got.Report != nil {
		out.Report = reportTo(got.Report)
	}
	return out, nil
}

// ListCalls returns a page of the calls of an operator, newest first. Errors: not_found, db_unavailable.
func (f *Records) ListCalls(ctx context.Context, r *recordv1.ListCallsRequest) (*recordv1.ListCallsResponse, error) {
	after, _ := protocol.DecodeCursor(r.GetCursor(), 1)
	q := signal.CallQuery{
		Handle: r.GetHandle(), Limit: bound(r.GetLimit(), record.DefaultCalls, record.MaxCalls), After: after, Own: r.GetOwn(),
	}
	for _, status := range r.GetStatuses() {
		q.Statuses = append(q.Statuses, protocol.SignalStatus(status))
	}
	p, err := f.Service.Calls(ctx, q)
	return &recordv1.ListCallsResponse{Signals: listOf(p.Signals, recordTo), NextCursor: p.Next}, err
}

// GetCourse returns the score of an operator over time. Errors: not_found, db_unavailable.
func (f *Records) GetCourse(ctx context.Context, r *recordv1.GetCourseRequest) (*recordv1.GetCourseResponse, error) {
	c, err := f.Service.ScoreHistory(ctx, r.GetHandle())
	show := func(p record.Step) *recordv1.Step {
		return &recordv1.Step{At: timestamppb.New(p.At), Score: p.Score, Calls: p.Calls, Variance: p.Variance}
	}
	return &recordv1.GetCourseResponse{Before: c.Before, Whole: c.Whole, Steps: listOf(c.Steps, show)}, err
}

func statsTo(s record.Stats) *recordv1.Stats {
	return &recordv1.Stats{
		Total: s.Total, Won: s.Won, Lost: s.Lost, Void: s.Void, Score: s.Score, Accuracy: int32(resolution.Accuracy(s.Won, s.Lost)),
		Streak: s.Streak, AvgClvBps: int32Of(s.AvgCLV),
	}
}

func momentTo(m record.Moment) *recordv1.Moment {
	return &recordv1.Moment{
		Id: m.ID, Tier: m.Tier, SignalId: m.SignalID, MarketId: m.MarketID, MarketTitle: m.MarketTitle, Direction: string(m.Side),
		OddsBps: int32(m.Odds), Score: int32(m.Score), MintedAt: timestamppb.New(m.MintedAt),
	}
}

func reportTo(r *skill.Report) *recordv1.Report {
	out := &recordv1.Report{
		Calls: r.Calls, Wins: r.Wins, PriceBps: int32(r.PriceBps), EdgeBps: int32(r.EdgeBps), LowBps: int32(r.LowBps), HighBps: int32(r.HighBps),
		Above: r.Above, Below: r.Below, TwoSided: r.TwoSided, Needed: r.Needed, NeededSure: r.NeededSure,
	}
	c := r.Calibration
	if c == nil {
		return out
	}
	out.Calibration = &recordv1.Calibration{
		Calls: c.Calls, BrierBps: int32(c.BrierBps), MarketBrierBps: int32(c.MarketBrierBps), ReliabilityBps: int32(c.ReliabilityBps),
		ResolutionBps: int32(c.ResolutionBps), UncertaintyBps: int32(c.UncertaintyBps), WithinBps: int32(c.WithinBps),
		Bins: listOf(c.Bins, binTo),
	}
	return out
}

func binTo(b skill.Bin) *recordv1.Bin {
	return &recordv1.Bin{
		From: int32(b.From), To: int32(b.To), Calls: b.Calls, Wins: b.Wins, ConfidenceBps: int32(b.ConfidenceBps),
		HitBps: int32(b.HitBps), LowBps: int32(b.LowBps), HighBps: int32(b.HighBps),
	}
}

// GetPulse returns the totals of all calls, operators and markets, and the number of calls in each of the last weeks. Error:
// db_unavailable.
func (f *Records) GetPulse(ctx context.Context, _ *recordv1.GetPulseRequest) (*recordv1.GetPulseResponse, error) {
	t, err := f.Boards.Pulse(ctx)
	if err != nil {
		return nil, err
	}
	series, err := f.Boards.PulseSeries(ctx)
	if err != nil {
		return nil, err
	}
	prices, err := f.Boards.PulsePrices(ctx)
	if err != nil {
		return nil, err
	}
	out := &recordv1.GetPulseResponse{
		Signals: t.Signals, IndependentSignals: t.Independent, HouseSignals: t.House, AutomatedSignals: t.Automated,
		Last7: t.Last7, Prev7: t.Prev7, IndependentOperators: t.IndependentOperators, IndependentActive28: t.IndependentActive28,
		HouseOperators: t.HouseOperators, Registered: t.Registered, Markets: t.Markets, Won: t.Won, Lost: t.Lost, Open: t.Open,
		ClvCount: t.CLVCount, BeatLine: t.BeatLine, Resolutions28: series.Resolutions28, GeneratedAt: timestamppb.New(f.Now()),
	}
	out.Prices = listOf(prices, func(p board.PriceRange) *recordv1.PriceRange {
		return &recordv1.PriceRange{Calls: p.Calls, Wins: p.Wins, PriceBps: int32(p.Price)}
	})
	if series.LastIndependent != nil {
		out.LastIndependentWeek = protocol.Day(*series.LastIndependent)
	}
	for _, w := range series.Weeks {
		out.Weeks = append(out.Weeks, &recordv1.Week{
			Start: protocol.Day(w.Start), Independent: w.Independent, House: w.House, Automated: w.Automated, ActiveIndependent: w.ActiveIndependent,
		})
	}
	return out, nil
}
