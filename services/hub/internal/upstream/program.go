package upstream

import (
	"context"
	"strings"

	"google.golang.org/grpc"

	programv1 "github.com/signalcast/signalcast/proto/program/v1"

	"github.com/signalcast/signalcast/services/hub/internal/program"
)

// Programs is the clock's programmes.
type Programs struct {
	read  programv1.ProgramReadServiceClient
	write programv1.ProgramServiceClient
}

// NewPrograms uses a connection to the clock.
func NewPrograms(cc grpc.ClientConnInterface) *Programs {
	return &Programs{programv1.NewProgramReadServiceClient(cc), programv1.NewProgramServiceClient(cc)}
}

// Program implements program.Clock.
func (p *Programs) Program(ctx context.Context, q program.Query) (program.Program, error) {
	req := &programv1.GetProgramRequest{Preset: q.Preset, Spec: q.Spec, Limit: int32(q.Limit)}
	if q.Providers != "" {
		req.Providers = strings.Split(q.Providers, ",")
	}
	r, err := p.read.GetProgram(ctx, req)
	if err != nil {
		return program.Program{}, err
	}
	return programOf(r.GetProgram()), nil
}

func programOf(p *programv1.Program) program.Program {
	out := program.Program{
		GeneratedAt: at(p.GetGeneratedAt()), Total: p.GetTotal(), Spec: []byte(p.GetSpec()), Degraded: p.GetDegraded(),
	}
	for _, s := range p.GetSegments() {
		out.Segments = append(out.Segments, program.Segment{
			ID: s.GetSegmentId(), Kind: s.GetKind(), MarketID: s.GetMarketId(), Category: s.GetCategory(),
			Title: s.GetTitle(), StartsAt: at(s.GetStartsAt()), EndsAt: at(s.GetEndsAt()),
			MarketEndDate: at(s.GetMarketEndDate()), EndsInMs: s.EndsInMs,
			YesPrice: s.YesPrice, NoPrice: s.NoPrice, Volume: s.Volume, Bucket: s.GetBucket(), Status: s.GetStatus(),
			Signals: s.GetSignals(), Tapes: s.GetTapes(), Takes: s.GetTakes(), Streams: s.GetStreams(),
			EventKey: s.GetEventKey(), Provider: s.GetProvider(), Route: s.GetRoute(), PlannedAt: at(s.GetPlannedAt()),
		})
	}
	for _, l := range p.GetLanes() {
		lane := program.Lane{Key: l.GetKey(), Label: l.GetLabel()}
		for _, i := range l.GetSegments() {
			if i >= 0 && int(i) < len(out.Segments) {
				lane.Segments = append(lane.Segments, i)
			}
		}
		out.Lanes = append(out.Lanes, lane)
	}
	return out
}
