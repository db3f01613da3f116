package grpcapi

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// Program implements the gRPC services ProgramReadService and ProgramService. It reads programmes from memory.
type Program struct {
	programv1.UnimplementedProgramReadServiceServer
	programv1.UnimplementedProgramServiceServer
	programs *program.Service
	director *program.Director
	surveyor *program.Surveyor
	now      func() time.Time
}

// NewProgram returns a Program with the given parts. The parameter now is a function that returns the current time.
func NewProgram(
	programs *program.Service, director *program.Director, surveyor *program.Surveyor, now func() time.Time,
) *Program {
	return &Program{programs: programs, director: director, surveyor: surveyor, now: now}
}

// GetProgram returns the programme of a channel with a limited number of segments. Errors: invalid_spec;
// signal_service_unavailable if the programme is empty because a source is unavailable.
func (s *Program) GetProgram(_ context.Context, r *programv1.GetProgramRequest) (*programv1.GetProgramResponse, error) {
	p, err := s.programs.Program(program.Request{Preset: r.GetPreset(), Spec: r.GetSpec(), Providers: r.GetProviders()})
	if err != nil {
		return nil, err
	}
	if p.Degraded != "" && p.Total == 0 {
		return nil, program.ErrNoProgram.With("source", p.Degraded)
	}
	return &programv1.GetProgramResponse{Program: toProgram(p.Cut(program.Limit(int(r.GetLimit()))))}, nil
}

func toProgram(p *program.Program) *programv1.Program {
	out := &programv1.Program{
		GeneratedAt: timestamppb.New(p.GeneratedAt), Total: int32(p.Total), Spec: p.Spec, Degraded: p.Degraded,
		Segments: make([]*programv1.Segment, len(p.Segments)), Lanes: make([]*programv1.Lane, len(p.Lanes)),
	}
	for i := range p.Segments {
		out.Segments[i] = toSegment(&p.Segments[i])
	}
	for i, l := range p.Lanes {
		out.Lanes[i] = &programv1.Lane{Key: string(l.Key), Label: l.Key.Label(), Segments: l.Segments}
	}
	return out
}

func toSegment(s *program.Segment) *programv1.Segment {
	out := &programv1.Segment{
		SegmentId: s.ID, Kind: string(s.Kind), MarketId: string(s.Market), Category: string(s.Lane), Title: s.Title,
		StartsAt: timestamppb.New(s.StartsAt), EndsAt: timestamppb.New(s.EndsAt),
		Bucket: string(s.Bucket), Status: string(s.Status), Signals: s.Signals, Tapes: s.Tapes, Takes: s.Takes,
		Streams: s.Streams, EventKey: s.EventKey, Provider: string(s.Provider), Route: s.Route(),
	}
	if s.Sides[0] != "" {
		out.Outcomes = s.Sides[:]
	}
	if !s.MarketEnd.IsZero() {
		ms := s.EndsIn.Milliseconds()
		out.MarketEndDate, out.EndsInMs = timestamppb.New(s.MarketEnd), &ms
	}
	if s.Yes.Valid() {
		yes := s.Yes.Percent()
		no := s.Yes.Of(protocol.No).Percent()
		out.YesPrice, out.NoPrice = &yes, &no
	}
	if s.Volume != program.Unknown {
		out.Volume = &s.Volume
	}
	if !s.PlannedAt.IsZero() {
		out.PlannedAt = timestamppb.New(s.PlannedAt)
	}
	return out
}

// GetInfluence returns the markets that aired, with their price moves from the start of an airing to ten minutes after its end.
// Error: db_unavailable.
func (s *Program) GetInfluence(ctx context.Context, r *programv1.GetInfluenceRequest) (*programv1.GetInfluenceResponse, error) {
	now := s.now()
	got, err := s.surveyor.Influence(ctx, r.GetWindow(), int(r.GetLimit()))
	if err != nil {
		return nil, err
	}
	out := &programv1.GetInfluenceResponse{
		Items: make([]*programv1.Moved, len(got.Items)), Airings: got.Airings,
		MeanAbsMoveBps: got.MeanMove, BaselineAbsMoveBps: got.BaselineMove, UpdatedAt: timestamppb.New(now),
	}
	for i := range got.Items {
		m := &got.Items[i]
		out.Items[i] = &programv1.Moved{
			SegmentId: m.SegmentID, MarketId: string(m.Market), Title: m.Title, Lane: string(m.Lane),
			AiredAt: timestamppb.New(m.AiredAt), EndedAt: timestamppb.New(m.EndedAt),
			YesBpsBefore: int32(m.Before), YesBpsAfter: int32(m.After),
			SignalsDuring: m.Signals, ViewersPeak: m.ViewersPeak, MeasuredAt: timestamppb.New(m.MeasuredAt),
		}
	}
	return out, nil
}
