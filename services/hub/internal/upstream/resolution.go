package upstream

import (
	"context"
	"time"

	"google.golang.org/grpc"

	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/resolution"
)

// Resolutions is the ledger's owner of claims and disputes.
type Resolutions struct {
	read  resolutionv1.ResolutionReadServiceClient
	write resolutionv1.ResolutionServiceClient
}

// NewResolutions uses a connection to the ledger.
func NewResolutions(cc grpc.ClientConnInterface) *Resolutions {
	return &Resolutions{resolutionv1.NewResolutionReadServiceClient(cc), resolutionv1.NewResolutionServiceClient(cc)}
}

// Finalize implements resolution.Ledger.
func (s *Resolutions) Finalize(ctx context.Context, f resolution.Finalize) (resolution.Outcome, resolution.Tally, error) {
	r, err := s.write.Finalize(ctx, &resolutionv1.FinalizeRequest{
		MarketId: string(f.MarketID), Verdict: string(f.Verdict), Reason: f.Reason, FinalizedBy: f.FinalizedBy,
		Resolver: string(f.Resolver), Source: f.Source, ProofUrl: f.ProofURL,
		DecidedAt: stamp(f.DecidedAt),
	})
	return claimOf(r, err)
}

// Force implements resolution.Ledger.
func (s *Resolutions) Force(ctx context.Context, f resolution.Force) (resolution.Outcome, resolution.Tally, error) {
	r, err := s.write.Force(ctx, &resolutionv1.ForceRequest{MarketId: string(f.MarketID), Verdict: string(f.Verdict), DecidedAt: stamp(f.DecidedAt)})
	return claimOf(r, err)
}

// Propose implements creation.Outcomes.
func (s *Resolutions) Propose(ctx context.Context, d resolution.Draft) error {
	_, err := s.write.Propose(ctx, &resolutionv1.ProposeRequest{
		MessageId: d.MessageID, OperatorId: d.By, MarketId: string(d.MarketID), Verdict: string(d.Verdict),
		ProofUrl: d.ProofURL, Reason: d.Reason,
	})
	return err
}

// Scan implements resolution.Ledger.
func (s *Resolutions) Scan(ctx context.Context) (resolution.Scan, error) {
	r, err := s.write.Scan(ctx, &resolutionv1.ScanRequest{})
	if err != nil {
		return resolution.Scan{}, err
	}
	scan := resolution.Scan{
		Busy: r.GetBusy(), Scanned: r.GetScanned(), Resolved: r.GetResolved(), Scored: r.GetScored(),
		Skipped: r.GetSkipped(), Took: time.Duration(r.GetTookMs()) * time.Millisecond,
	}
	for _, e := range r.GetErrors() {
		scan.Errors = append(scan.Errors, resolution.ScanError{MarketID: e.GetMarketId(), Code: e.GetError()})
	}
	return scan, nil
}

// Dispute implements resolution.Ledger.
func (s *Resolutions) Dispute(ctx context.Context, d resolution.Dispute) (*resolution.Outcome, int64, error) {
	r, err := s.write.Dispute(ctx, &resolutionv1.DisputeRequest{
		MarketId: string(d.MarketID), Disputed: d.Disputed, Reason: d.Reason,
	})
	if err != nil {
		return nil, 0, err
	}
	return recordOf(r.GetOutcome()), r.GetScored(), nil
}

// Outcome implements resolution.Ledger.
func (s *Resolutions) Outcome(ctx context.Context, id syntax.MarketID) (*resolution.Outcome, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := s.read.GetOutcome(ctx, &resolutionv1.GetOutcomeRequest{MarketId: string(id)})
	if err != nil {
		return nil, err
	}
	return recordOf(r.GetOutcome()), nil
}

// Native implements resolution.Ledger.
func (s *Resolutions) Native(ctx context.Context, f resolution.NativeFilter) ([]resolution.Native, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := s.read.ListNative(ctx, &resolutionv1.ListNativeRequest{Status: f.Status, Due: f.Due, Limit: int32(f.Limit)})
	if err != nil {
		return nil, err
	}
	out := make([]resolution.Native, 0, len(r.GetMarkets()))
	for _, n := range r.GetMarkets() {
		row := resolution.Native{Market: marketOf(n.GetMarket())}
		if n.ProposedVerdict != nil {
			row.Proposal = &resolution.Proposal{
				Verdict: n.GetProposedVerdict(), ProofURL: n.ProposedProofUrl, At: at(n.GetProposedAt()),
			}
		}
		out = append(out, row)
	}
	return out, nil
}

func claimOf(r *resolutionv1.ClaimResponse, err error) (resolution.Outcome, resolution.Tally, error) {
	if err != nil {
		return resolution.Outcome{}, resolution.Tally{}, err
	}
	t := r.GetTally()
	return outcomeOf(r.GetOutcome()), resolution.Tally{
		Scored: t.GetScored(), Won: t.GetWon(), Lost: t.GetLost(), Void: t.GetVoid(),
	}, nil
}

// recordOf is nil when there is neither claim nor flag.
func recordOf(o *resolutionv1.Outcome) *resolution.Outcome {
	if o == nil {
		return nil
	}
	out := outcomeOf(o)
	return &out
}

func outcomeOf(o *resolutionv1.Outcome) resolution.Outcome {
	return resolution.Outcome{
		Outcome: o.Outcome, Resolver: o.Resolver, Source: o.Source, ProofURL: o.ProofUrl,
		ResolvedAt: at(o.GetResolvedAt()), Disputed: o.GetDisputed(),
		DisputeReason: o.DisputeReason, DisputedAt: at(o.GetDisputedAt()),
	}
}
