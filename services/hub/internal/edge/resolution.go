package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/resolution"
)

var errMissingMarket = fault.New(fault.Invalid, "missing_market", "market is required").With("field", "market")

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
	found, err := s.Resolutions.Outcome(c.Request().Context(), id)
	if err != nil {
		return err
	}
	out := openapi.OutcomeAnswer{MarketID: string(id)}
	if found != nil {
		shown := showOutcome(*found)
		out.Outcome = &shown
		if found.Settled() {
			c.Response().Header().Set("Cache-Control", cacheClaimed)
		}
	}
	return tagged(c, out)
}

// natives is GET /api/resolution/markets.
func (s *server) natives(c echo.Context) error {
	list, err := s.Resolutions.Native(c.Request().Context(), resolution.NativeFilter{
		Status: resolution.ParseNativeStatus(c.QueryParam("status")),
		Due:    c.QueryParam("due") == "1",
		Limit:  syntax.Limit(c.QueryParam("limit"), resolution.NativeDefault, resolution.NativeMax),
	})
	if err != nil {
		return err
	}
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
	f := resolution.Finalize{
		MarketID:    readMarketID(o, "marketId"),
		Verdict:     syntax.Verdict(readVerdict(o, "verdict")),
		Reason:      o.Text("reason", resolution.MaxReason, true, false),
		FinalizedBy: o.Name("finalizedBy", resolution.MaxName, false),
		Resolver:    resolution.Resolver(o.OptEnum("resolver", string(resolution.ByAdmin), string(resolution.ByOracle), string(resolution.ByManual))),
		Source:      o.Name("source", resolution.MaxName, false),
		ProofURL:    readHTTPS(o, "proofUrl", resolution.MaxProof),
		DecidedAt:   readTime(o, "decidedAt", false),
	}
	if err := o.Err(); err != nil {
		return err
	}
	if !f.MarketID.IsNative() {
		return resolution.ErrNotNative
	}
	if f.Resolver == "" {
		f.Resolver = resolution.DefaultResolver
	}
	if f.Source == "" {
		f.Source = resolution.DefaultSource
	}
	var out openapi.Claimed
	err = s.audited(c, act{target: string(f.MarketID), detail: f}, func(ctx context.Context) error {
		record, tally, err := s.claimAttested(ctx, f)
		out = showClaim(f.MarketID, record, tally)
		return err
	})
	if err != nil {
		return err
	}
	return web.OK(c, out)
}

// dispute is POST /api/resolution/dispute.
func (s *server) dispute(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	d := resolution.Dispute{MarketID: readMarketID(o, "marketId"), Disputed: true}
	if flag := o.OptBool("disputed"); flag != nil {
		d.Disputed = *flag
	}
	d.Reason = optProse(o, "reason", resolution.MaxReason)
	if err := o.Err(); err != nil {
		return err
	}
	out := openapi.Disputed{Ok: true, MarketID: string(d.MarketID)}
	err = s.audited(c, act{target: string(d.MarketID), detail: d}, func(ctx context.Context) error {
		record, scored, err := s.Resolutions.Dispute(ctx, d)
		if record != nil {
			shown := showOutcome(*record)
			out.Outcome = &shown
		}
		out.Scored = scored
		return err
	})
	if err != nil {
		return err
	}
	return web.OK(c, out)
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

func showClaim(id syntax.MarketID, o resolution.Outcome, t resolution.Tally) openapi.Claimed {
	return openapi.Claimed{
		Ok: true, MarketID: string(id), Outcome: showOutcome(o),
		Scored: t.Scored, Won: t.Won, Lost: t.Lost, Void: t.Void,
	}
}

func showOutcome(o resolution.Outcome) openapi.Outcome {
	return openapi.Outcome{
		Outcome: o.Outcome, Resolver: o.Resolver, Source: o.Source, ProofURL: o.ProofURL,
		ResolvedAt: syntax.StampOrNull(o.ResolvedAt), Disputed: o.Disputed,
		DisputeReason: o.DisputeReason, DisputedAt: syntax.StampOrNull(o.DisputedAt),
	}
}

func showNative(n resolution.Native) openapi.NativeMarket {
	m := n.Market
	out := openapi.NativeMarket{
		MarketID: string(m.ID), Question: m.Title, Description: orNull(m.Description),
		CutoffAt: syntax.Stamp(m.EndDate), ResolvesBy: syntax.StampOrNull(m.ResolvesBy), EndDate: syntax.Stamp(m.EndDate),
		Status: string(m.Status), Lane: string(m.Lane), ResolutionSource: m.ResolutionSource,
		CreatedAt: syntax.Stamp(m.CreatedAt),
		Signals:   openapi.NativeMarket_Signals{Yes: m.SignalsYes, No: m.SignalsNo, Total: m.SignalsYes + m.SignalsNo},
	}
	if p := n.Proposal; p != nil {
		out.Proposed = &openapi.NativeMarket_Proposed{Verdict: p.Verdict, ProofURL: p.ProofURL, At: syntax.Stamp(p.At)}
	}
	return out
}
