package grpcapi

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// Resolutions implements the gRPC services ResolutionService and ResolutionReadService.
type Resolutions struct {
	resolutionv1.UnimplementedResolutionServiceServer
	resolutionv1.UnimplementedResolutionReadServiceServer
	Service *resolution.Service
	Scanner *resolution.Scanner
	Markets *market.Service
}

// Finalize resolves a native market and scores its calls. Errors: invalid_market_id, invalid_verdict, invalid_decided_at,
// market_not_found, already_resolved, market_disputed, db_unavailable.
func (f *Resolutions) Finalize(ctx context.Context, r *resolutionv1.FinalizeRequest) (*resolutionv1.ClaimResponse, error) {
	return claimTo(f.Service.Finalize(ctx, resolution.Claim{
		MarketID: r.GetMarketId(), Verdict: protocol.Verdict(r.GetVerdict()), Resolver: r.GetResolver(), Source: r.GetSource(),
		ProofURL: filled(r.GetProofUrl()), Reason: filled(r.GetReason()), FinalizedBy: filled(r.GetFinalizedBy()),
		DecidedAt: timeOf(r.GetDecidedAt()),
	}))
}

// Force resolves a market of any venue as an administrator, and scores its calls. Errors: those of Finalize, except
// invalid_market_id.
func (f *Resolutions) Force(ctx context.Context, r *resolutionv1.ForceRequest) (*resolutionv1.ClaimResponse, error) {
	return claimTo(f.Service.Force(ctx, r.GetMarketId(), protocol.Verdict(r.GetVerdict()), timeOf(r.GetDecidedAt())))
}

// Scan reads markets from their venues and resolves the markets whose result is final. If another scan is running, it does
// nothing and sets Busy. Error: db_unavailable.
func (f *Resolutions) Scan(ctx context.Context, _ *resolutionv1.ScanRequest) (*resolutionv1.ScanResponse, error) {
	r, err := f.Scanner.Scan(ctx)
	if err != nil {
		return nil, err
	}
	out := &resolutionv1.ScanResponse{
		Busy: r.Busy, Scanned: int64(r.Scanned), Resolved: int64(r.Resolved), Scored: r.Scored,
		Skipped: make(map[string]int64, len(r.Skipped)), TookMs: int64(r.Took / time.Millisecond),
	}
	for reason, n := range r.Skipped {
		out.Skipped[reason] = int64(n)
	}
	out.Errors = listOf(r.Errors, func(e resolution.ScanError) *resolutionv1.ScanError {
		return &resolutionv1.ScanError{MarketId: e.MarketID, Error: e.Code}
	})
	return out, nil
}

// Dispute sets or clears the dispute of a market. After clearing, it scores remaining calls. Errors: market_not_found,
// db_unavailable.
func (f *Resolutions) Dispute(ctx context.Context, r *resolutionv1.DisputeRequest) (*resolutionv1.DisputeResponse, error) {
	o, t, err := f.Service.Dispute(ctx, r.GetMarketId(), r.GetDisputed(), r.Reason)
	if err != nil {
		return nil, err
	}
	out := &resolutionv1.DisputeResponse{Scored: t.Scored}
	if o.Verdict != nil || o.Disputed { // otherwise the market has no outcome
		out.Outcome = outcomeTo(o)
	}
	return out, nil
}

// Propose stores the outcome that the creator of a native market proposes. Errors: not_found for an invalid operator id, and
// those of resolution.Service.Propose.
func (f *Resolutions) Propose(ctx context.Context, r *resolutionv1.ProposeRequest) (*resolutionv1.ProposeResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	return &resolutionv1.ProposeResponse{}, f.Service.Propose(ctx, resolution.Proposal{
		MarketID: r.GetMarketId(), OperatorID: r.GetOperatorId(), MessageID: r.GetMessageId(),
		Verdict: protocol.Verdict(r.GetVerdict()), ProofURL: r.ProofUrl, Reason: r.Reason,
	})
}

// GetOutcome returns the resolution and the dispute of a market. The response is empty if the market has neither. Error:
// db_unavailable.
func (f *Resolutions) GetOutcome(ctx context.Context, r *resolutionv1.GetOutcomeRequest) (*resolutionv1.GetOutcomeResponse, error) {
	o, found, err := f.Service.Outcome(ctx, r.GetMarketId())
	if err != nil || !found {
		return &resolutionv1.GetOutcomeResponse{}, err
	}
	return &resolutionv1.GetOutcomeResponse{Outcome: outcomeTo(o)}, nil
}

// ListNative returns native markets with their proposed outcomes, at most 100. Error: db_unavailable.
func (f *Resolutions) ListNative(ctx context.Context, r *resolutionv1.ListNativeRequest) (*resolutionv1.ListNativeResponse, error) {
	list, err := f.Markets.ListNative(ctx, r.GetStatus(), r.GetDue(), bound(r.GetLimit(), 20, 100))
	return &resolutionv1.ListNativeResponse{Markets: listOf(list, nativeTo)}, err
}

func nativeTo(n market.Native) *resolutionv1.NativeMarket {
	out := &resolutionv1.NativeMarket{Market: marketTo(n.Market)}
	if p := n.Proposal; p != nil {
		out.ProposedVerdict, out.ProposedProofUrl, out.ProposedAt = (*string)(&p.Verdict), p.ProofURL, stampOf(&p.At)
	}
	return out
}

func claimTo(r resolution.Result, err error) (*resolutionv1.ClaimResponse, error) {
	if err != nil {
		return nil, err
	}
	return &resolutionv1.ClaimResponse{Outcome: outcomeTo(r.Outcome), Tally: &resolutionv1.Tally{
		Scored: r.Tally.Scored, Won: r.Tally.Won, Lost: r.Tally.Lost, Void: r.Tally.Void,
	}}, nil
}

func outcomeTo(o resolution.Outcome) *resolutionv1.Outcome {
	return &resolutionv1.Outcome{
		Outcome: (*string)(o.Verdict), Resolver: o.Resolver, Source: o.Source, ProofUrl: o.ProofURL,
		ResolvedAt: stampOf(o.ResolvedAt), Disputed: o.Disputed, DisputeReason: o.DisputeReason, DisputedAt: stampOf(o.DisputedAt),
	}
}
