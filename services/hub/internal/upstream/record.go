package upstream

import (
	"context"
	"time"

	"google.golang.org/grpc"

	recordv1 "github.com/signalcast/signalcast/proto/record/v1"

	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/record"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// Records is the ledger's keeper of records.
type Records struct {
	read recordv1.RecordServiceClient
}

// NewRecords uses a connection to the ledger.
func NewRecords(cc grpc.ClientConnInterface) *Records {
	return &Records{recordv1.NewRecordServiceClient(cc)}
}

// Operator implements record.Ledger.
func (l *Records) Operator(ctx context.Context, q record.Query) (record.Record, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	ask := &recordv1.GetOperatorRecordRequest{Recent: int32(q.Recent), Moments: int32(q.Moments)}
	if q.Handle != "" {
		ask.By = &recordv1.GetOperatorRecordRequest_Handle{Handle: string(q.Handle)}
	} else {
		ask.By = &recordv1.GetOperatorRecordRequest_Id{Id: string(q.ID)}
	}
	r, err := l.read.GetOperatorRecord(ctx, ask)
	if err != nil {
		return record.Record{}, err
	}
	out := record.Record{
		Operator: operatorOf(r.GetOperator()), Stats: statsOf(r.GetStats()), Rank: r.Rank, Field: r.GetField(),
		BroadcastScore: r.GetBroadcastScore(), Recent: signalsOf(r.GetRecent()),
	}
	if b := r.GetBest(); b != nil {
		out.Best = &record.Best{
			SignalID: b.GetSignalId(), MarketID: syntax.MarketID(b.GetMarketId()), MarketTitle: b.GetMarketTitle(), Odds: b.GetOddsBps(),
		}
	}
	for _, m := range r.GetMoments() {
		out.Moments = append(out.Moments, record.Moment{
			ID: m.GetId(), Tier: m.GetTier(), SignalID: m.GetSignalId(), MarketID: syntax.MarketID(m.GetMarketId()), MarketTitle: m.GetMarketTitle(),
			Direction: syntax.Side(m.GetDirection()), Odds: m.GetOddsBps(), Score: m.GetScore(), MintedAt: at(m.GetMintedAt()),
		})
	}
	return out, nil
}

// Ranked implements record.Ledger.
func (l *Records) Ranked(ctx context.Context, limit int) ([]record.Ranked, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := l.read.ListOperators(ctx, &recordv1.ListOperatorsRequest{Limit: int32(limit)})
	if err != nil {
		return nil, err
	}
	out := make([]record.Ranked, 0, len(r.GetOperators()))
	for _, o := range r.GetOperators() {
		out = append(out, record.Ranked{Rank: o.GetRank(), Operator: operatorOf(o.GetOperator()), Stats: statsOf(o.GetStats())})
	}
	return out, nil
}

// Calls implements record.Ledger.
func (l *Records) Calls(ctx context.Context, handle syntax.Handle, limit int, cursor string) (record.Calls, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := l.read.ListCalls(ctx, &recordv1.ListCallsRequest{Handle: string(handle), Limit: int32(limit), Cursor: cursor})
	if err != nil {
		return record.Calls{}, err
	}
	return record.Calls{List: signalsOf(r.GetSignals()), Next: r.GetNextCursor()}, nil
}

// CallsBefore implements onair.Calls.
func (l *Records) CallsBefore(ctx context.Context, handle syntax.Handle, limit int, cursor string) ([]signal.Signal, string, error) {
	page, err := l.Calls(ctx, handle, limit, cursor)
	return page.List, page.Next, err
}

// Course implements record.Ledger.
func (l *Records) Course(ctx context.Context, handle syntax.Handle) (record.Course, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := l.read.GetCourse(ctx, &recordv1.GetCourseRequest{Handle: string(handle)})
	if err != nil {
		return record.Course{}, err
	}
	out := record.Course{Before: r.GetBefore(), Whole: r.GetWhole()}
	for _, p := range r.GetSteps() {
		out.Steps = append(out.Steps, record.Step{At: at(p.GetAt()), Score: p.GetScore(), Calls: p.GetCalls()})
	}
	return out, nil
}

// measureTime bounds the measuring of a record, which grows with its distinct prices.
const measureTime = 5 * time.Second

// Skill implements record.Ledger.
func (l *Records) Skill(ctx context.Context, handle syntax.Handle, lane syntax.Lane, window string) (record.Skill, error) {
	ctx, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	r, err := l.read.GetSkill(ctx, &recordv1.GetSkillRequest{Handle: string(handle), Lane: string(lane), Window: window})
	if err != nil {
		return record.Skill{}, err
	}
	out := record.Skill{Operator: operatorOf(r.GetOperator()), Version: r.GetVersion(), UpdatedAt: at(r.GetUpdatedAt())}
	if r.GetReport() != nil {
		report := reportOf(r.GetReport())
		out.Report = &report
	}
	for _, l := range r.GetLanes() {
		out.Lanes = append(out.Lanes, record.LaneReport{Lane: l.GetLane(), Report: reportOf(l.GetReport())})
	}
	return out, nil
}

// pulseTime bounds the counting of the network.
const pulseTime = 10 * time.Second

// Pulse implements record.Ledger.
func (l *Records) Pulse(ctx context.Context) (record.Pulse, error) {
	ctx, cancel := context.WithTimeout(ctx, pulseTime)
	defer cancel()
	r, err := l.read.GetPulse(ctx, &recordv1.GetPulseRequest{})
	if err != nil {
		return record.Pulse{}, err
	}
	out := record.Pulse{
		Signals: r.GetSignals(), Independent: r.GetIndependentSignals(), House: r.GetHouseSignals(), Automated: r.GetAutomatedSignals(),
		Last7: r.GetLast7(), Prev7: r.GetPrev7(), IndependentOperators: r.GetIndependentOperators(), IndependentActive28: r.GetIndependentActive28(),
		HouseOperators: r.GetHouseOperators(), Registered: r.GetRegistered(), Markets: r.GetMarkets(),
		Won: r.GetWon(), Lost: r.GetLost(), Open: r.GetOpen(), ClvCount: r.GetClvCount(), BeatLine: r.GetBeatLine(),
		Resolutions28: r.GetResolutions28(), LastIndependentWeek: r.GetLastIndependentWeek(), GeneratedAt: at(r.GetGeneratedAt()),
	}
	for _, w := range r.GetWeeks() {
		out.Weeks = append(out.Weeks, record.Week{
			Start: w.GetStart(), Independent: w.GetIndependent(), House: w.GetHouse(), Automated: w.GetAutomated(),
			ActiveIndependent: w.GetActiveIndependent(),
		})
	}
	return out, nil
}

func statsOf(s *recordv1.Stats) record.Stats {
	out := record.Stats{
		Total: s.GetTotal(), Won: s.GetWon(), Lost: s.GetLost(), Void: s.GetVoid(), Score: s.GetScore(), Accuracy: s.GetAccuracy(), Streak: s.GetStreak(),
	}
	if s != nil {
		out.AvgClv = s.AvgClvBps
	}
	return out
}

func reportOf(r *recordv1.Report) skill.Report {
	out := skill.Report{
		Calls: r.GetCalls(), Wins: r.GetWins(), PriceBps: int(r.GetPriceBps()), EdgeBps: int(r.GetEdgeBps()), LowBps: int(r.GetLowBps()),
		HighBps: int(r.GetHighBps()), Above: r.GetAbove(), Below: r.GetBelow(), TwoSided: r.GetTwoSided(), Needed: r.Needed, NeededSure: r.NeededSure,
	}
	c := r.GetCalibration()
	if c == nil {
		return out
	}
	out.Calibration = &skill.Calibration{
		Calls: c.GetCalls(), BrierBps: int(c.GetBrierBps()), MarketBrierBps: int(c.GetMarketBrierBps()), ReliabilityBps: int(c.GetReliabilityBps()),
		ResolutionBps: int(c.GetResolutionBps()), UncertaintyBps: int(c.GetUncertaintyBps()), WithinBps: int(c.GetWithinBps()),
	}
	for _, b := range c.GetBins() {
		out.Calibration.Bins = append(out.Calibration.Bins, skill.Bin{
			From: int(b.GetFrom()), To: int(b.GetTo()), Calls: b.GetCalls(), Wins: b.GetWins(), ConfidenceBps: int(b.GetConfidenceBps()),
			HitBps: int(b.GetHitBps()), LowBps: int(b.GetLowBps()), HighBps: int(b.GetHighBps()),
		})
	}
	return out
}
