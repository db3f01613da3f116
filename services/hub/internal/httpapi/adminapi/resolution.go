package adminapi

import (
	"cmp"
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

// Maximum lengths, in characters, of texts in requests to resolve or dispute a market.
const (
	maxResolutionReason = 500
	maxResolutionName   = 64
	maxProof            = 500
)

var errNotNative = apperr.New(apperr.Invalid, "invalid_market_id",
	"marketId must be the id of a native market (prefix native-)").With("field", "marketId")

// Finalize handles POST /api/resolution/finalize, which sets the outcome of a native market.
func (s *Server) Finalize(c echo.Context, o httpx.Object) error {
	id := request.MarketID(o, "marketId")
	q := &resolutionv1.FinalizeRequest{
		MarketId:    string(id),
		Verdict:     readVerdict(o, "verdict"),
		Reason:      o.Text("reason", maxResolutionReason, true, false),
		FinalizedBy: o.Name("finalizedBy", maxResolutionName, false),
		Resolver:    o.OptEnum("resolver", "admin", "oracle", "manual"),
		Source:      o.Name("source", maxResolutionName, false),
		ProofUrl:    readHTTPS(o, "proofUrl", maxProof),
	}
	decided := request.Time(o, "decidedAt", false)
	if err := o.Err(); err != nil {
		return err
	}
	if !id.IsNative() {
		return errNotNative
	}
	q.Resolver, q.Source = cmp.Or(q.Resolver, "manual"), cmp.Or(q.Source, "native")
	q.DecidedAt = ledgerclient.Timestamp(decided)
	detail := map[string]any{
		"MarketID": q.MarketId, "Verdict": q.Verdict, "Reason": q.Reason, "FinalizedBy": q.FinalizedBy, "Resolver": q.Resolver,
		"Source": q.Source, "ProofURL": q.ProofUrl, "DecidedAt": decided,
	}
	act := request.AdminAction{Target: q.MarketId, Detail: detail}
	claim, err := request.Audited(c, s.Audits, act, func(ctx context.Context) (*resolutionv1.ClaimResponse, error) {
		return s.finalizeAttested(ctx, q)
	})
	if err != nil {
		return err
	}
	t := claim.GetTally()
	return httpx.OK(c, openapi.Claimed{
		Ok: true, MarketID: q.MarketId, Outcome: *view.ShowOutcome(claim.GetOutcome()),
		Scored: t.GetScored(), Won: t.GetWon(), Lost: t.GetLost(), Void: t.GetVoid(),
	})
}

// finalizeAttested finalizes a market and attests the outcome. If the attestation fails, it still returns the outcome, because a
// background job repeats the attestation.
func (s *Server) finalizeAttested(ctx context.Context, q *resolutionv1.FinalizeRequest) (*resolutionv1.ClaimResponse, error) {
	id := protocol.MarketID(q.GetMarketId())
	if err := s.Creations.ExpectOutcome(ctx, id, q.GetReason()); err != nil {
		return nil, err
	}
	claim, err := s.Ledger.ResolutionWrites.Finalize(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := s.Creations.AttestOutcome(ctx, id, q.GetReason()); err != nil {
		s.Log.WarnContext(ctx, "outcome attestation failed", "market", id, "error", err)
	}
	return claim, nil
}

// Dispute handles POST /api/resolution/dispute, which marks the outcome of a market as disputed or ends the dispute.
func (s *Server) Dispute(c echo.Context, o httpx.Object) error {
	q := &resolutionv1.DisputeRequest{MarketId: string(request.MarketID(o, "marketId")), Disputed: true}
	if flag := o.OptBool("disputed"); flag != nil {
		q.Disputed = *flag
	}
	q.Reason = request.OptProse(o, "reason", maxResolutionReason)
	if err := o.Err(); err != nil {
		return err
	}
	detail := map[string]any{"MarketID": q.MarketId, "Disputed": q.Disputed, "Reason": q.Reason}
	act := request.AdminAction{Target: q.MarketId, Detail: detail}
	r, err := request.AuditedCall(c, s.Audits, act, s.Ledger.ResolutionWrites.Dispute, q)
	return view.OK(c, openapi.Disputed{
		Ok: true, MarketID: q.MarketId, Outcome: view.ShowOutcome(r.GetOutcome()), Scored: r.GetScored(),
	}, err)
}

func readVerdict(o httpx.Object, name string) string {
	return o.Enum(name, string(protocol.VerdictYes), string(protocol.VerdictNo), string(protocol.VerdictInvalid))
}
