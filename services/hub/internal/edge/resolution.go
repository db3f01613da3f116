package edge

import (
	"cmp"
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// Limits of the resolution routes.
const (
	maxResolutionReason = 500
	maxResolutionName   = 64
	maxProof            = 500
	nativeDefault       = 20
	nativeMax           = 100
)

var errMissingMarket = fault.New(fault.Invalid, "missing_market", "market is required").With("field", "market")

var errNotNative = fault.New(fault.Invalid, "invalid_market_id",
	"only the service's own markets are finalized").With("field", "marketId")

// outcome is GET /api/resolution/outcome?market=.
func (s *server) outcome(c echo.Context) error {
	raw := c.QueryParam("market")
	if raw == "" {
		return errMissingMarket
	}
	id, err := syntax.ParseMarketID(raw)
	if err != nil {
		return market.ErrUnknown
	}
	found, err := s.readOutcome(c.Request().Context(), id)
	if err != nil {
		return err
	}
	if found != nil && found.Outcome != nil && !found.GetDisputed() {
		c.Response().Header().Set("Cache-Control", cacheClaimed)
	}
	return tagged(c, openapi.OutcomeAnswer{MarketID: string(id), Outcome: showOutcome(found)})
}

// readOutcome returns the resolution of a market; nil when there is neither a claim nor a dispute.
func (s *server) readOutcome(ctx context.Context, id syntax.MarketID) (*resolutionv1.Outcome, error) {
	r, err := s.Ledger.Resolutions.GetOutcome(ctx, &resolutionv1.GetOutcomeRequest{MarketId: string(id)})
	return r.GetOutcome(), err
}

// natives is GET /api/resolution/markets.
func (s *server) natives(c echo.Context) error {
	status := c.QueryParam("status")
	switch status {
	case "closed", "resolved", "all":
	default:
		status = "open"
	}
	r, err := s.Ledger.Resolutions.ListNative(c.Request().Context(), &resolutionv1.ListNativeRequest{
		Status: status, Due: c.QueryParam("due") == "1", Limit: int32(syntax.Limit(c.QueryParam("limit"), nativeDefault, nativeMax)),
	})
	if err != nil {
		return err
	}
	list := r.GetMarkets()
	out := openapi.NativeMarkets{Markets: make([]openapi.NativeMarket, 0, len(list)), Count: int64(len(list))}
	for _, n := range list {
		out.Markets = append(out.Markets, showNative(n))
	}
	return tagged(c, out)
}

func (s *server) emptyNatives(echo.Context) any {
	return openapi.NativeMarkets{Markets: []openapi.NativeMarket{}}
}

// finalize is POST /api/resolution/finalize.
func (s *server) finalize(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	id := readMarketID(o, "marketId")
	q := &resolutionv1.FinalizeRequest{
		MarketId:    string(id),
		Verdict:     readVerdict(o, "verdict"),
		Reason:      o.Text("reason", maxResolutionReason, true, false),
		FinalizedBy: o.Name("finalizedBy", maxResolutionName, false),
		Resolver:    o.OptEnum("resolver", "admin", "oracle", "manual"),
		Source:      o.Name("source", maxResolutionName, false),
		ProofUrl:    readHTTPS(o, "proofUrl", maxProof),
	}
	decided := readTime(o, "decidedAt", false)
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
	var claim *resolutionv1.ClaimResponse
	err = s.audited(c, act{target: q.MarketId, detail: detail}, func(ctx context.Context) (err error) {
		claim, err = s.finalizeAttested(ctx, q)
		return err
	})
	if err != nil {
		return err
	}
	t := claim.GetTally()
	return web.OK(c, openapi.Claimed{
		Ok: true, MarketID: q.MarketId, Outcome: *showOutcome(claim.GetOutcome()),
		Scored: t.GetScored(), Won: t.GetWon(), Lost: t.GetLost(), Void: t.GetVoid(),
	})
}

// finalizeAttested finalizes a market and attests the outcome. It returns the outcome although the
// attestation failed; the sweep of attestations repeats it.
func (s *server) finalizeAttested(ctx context.Context, q *resolutionv1.FinalizeRequest) (*resolutionv1.ClaimResponse, error) {
	id := syntax.MarketID(q.GetMarketId())
	if err := s.Creations.ExpectOutcome(ctx, id, q.GetReason()); err != nil {
		return nil, err
	}
	claim, err := s.Ledger.ResolutionWrites.Finalize(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := s.Creations.AttestOutcome(ctx, id, q.GetReason()); err != nil {
		s.Log.WarnContext(ctx, "outcome not attested yet", "market", id, "error", err)
	}
	return claim, nil
}

// dispute is POST /api/resolution/dispute.
func (s *server) dispute(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	q := &resolutionv1.DisputeRequest{MarketId: string(readMarketID(o, "marketId")), Disputed: true}
	if flag := o.OptBool("disputed"); flag != nil {
		q.Disputed = *flag
	}
	q.Reason = optProse(o, "reason", maxResolutionReason)
	if err := o.Err(); err != nil {
		return err
	}
	detail := map[string]any{"MarketID": q.MarketId, "Disputed": q.Disputed, "Reason": q.Reason}
	var r *resolutionv1.DisputeResponse
	err = s.audited(c, act{target: q.MarketId, detail: detail}, func(ctx context.Context) (err error) {
		r, err = s.Ledger.ResolutionWrites.Dispute(ctx, q)
		return err
	})
	if err != nil {
		return err
	}
	return web.OK(c, openapi.Disputed{Ok: true, MarketID: q.MarketId, Outcome: showOutcome(r.GetOutcome()), Scored: r.GetScored()})
}

func readVerdict(o web.Object, name string) string {
	return o.Enum(name, string(syntax.VerdictYes), string(syntax.VerdictNo), string(syntax.VerdictInvalid))
}

// readHTTPS reads an optional https address.
func readHTTPS(o web.Object, name string, limit int) string {
	raw := o.String(name, limit, false)
	if raw != "" && !isURL(raw, "https") {
		o.Invalid(name, "must be an https address")
	}
	return raw
}

// showOutcome returns nil for nil.
func showOutcome(o *resolutionv1.Outcome) *openapi.Outcome {
	if o == nil {
		return nil
	}
	return &openapi.Outcome{
		Outcome: o.Outcome, Resolver: o.Resolver, Source: o.Source, ProofURL: o.ProofUrl,
		ResolvedAt: ledgerclient.StampOrNull(o.GetResolvedAt()), Disputed: o.GetDisputed(),
		DisputeReason: o.DisputeReason, DisputedAt: ledgerclient.StampOrNull(o.GetDisputedAt()),
	}
}

func showNative(n *resolutionv1.NativeMarket) openapi.NativeMarket {
	m := n.GetMarket()
	end := ledgerclient.Stamp(m.GetEndDate())
	out := openapi.NativeMarket{
		MarketID: m.GetId(), Question: m.GetTitle(), Description: orNull(m.GetDescription()),
		CutoffAt: end, ResolvesBy: ledgerclient.StampOrNull(m.GetResolvesBy()), EndDate: end,
		Status: m.GetStatus(), Lane: m.GetLane(), ResolutionSource: m.ResolutionSource, CreatedAt: ledgerclient.Stamp(m.GetCreatedAt()),
		Signals: openapi.NativeMarket_Signals{Yes: m.GetYes(), No: m.GetNo(), Total: m.GetYes() + m.GetNo()},
	}
	if n.ProposedVerdict != nil {
		out.Proposed = &openapi.NativeMarket_Proposed{
			Verdict: n.GetProposedVerdict(), ProofURL: n.ProposedProofUrl, At: ledgerclient.Stamp(n.GetProposedAt()),
		}
	}
	return out
}
