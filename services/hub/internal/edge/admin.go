package edge

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// resolveSignals is POST /api/admin/resolve-signals: with a body a forced
// claim, without one a scan.
func (s *server) resolveSignals(c echo.Context) error {
	o, given, err := web.DecodeOptional(c, web.BodyLimit)
	if err != nil {
		return err
	}
	if !given {
		return s.scan(c)
	}
	q := &resolutionv1.ForceRequest{MarketId: string(readMarketID(o, "marketId")), Verdict: readVerdict(o, "outcome")}
	decided := readTime(o, "decidedAt", false)
	if err := o.Err(); err != nil {
		return err
	}
	detail := map[string]any{"verdict": q.Verdict}
	if !decided.IsZero() {
		detail["decidedAt"] = syntax.Stamp(decided)
		q.DecidedAt = ledgerclient.Timestamp(decided)
	}
	var claim *resolutionv1.ClaimResponse
	err = s.audited(c, act{target: q.MarketId, detail: detail}, func(ctx context.Context) (err error) {
		claim, err = s.Ledger.ResolutionWrites.Force(ctx, q)
		return err
	})
	if err != nil {
		return err
	}
	t := claim.GetTally()
	return web.OK(c, openapi.Forced{
		Ok: true, Mode: "force", MarketID: q.MarketId, Outcome: *showOutcome(claim.GetOutcome()),
		Scored: t.GetScored(), Won: t.GetWon(), Lost: t.GetLost(), Void: t.GetVoid(),
	})
}

// scan is GET /api/admin/resolve-signals and POST without a body.
func (s *server) scan(c echo.Context) error {
	var scan *resolutionv1.ScanResponse
	err := s.audited(c, act{}, func(ctx context.Context) (err error) {
		scan, err = s.Ledger.ResolutionWrites.Scan(ctx, &resolutionv1.ScanRequest{})
		return err
	})
	if err != nil {
		return err
	}
	out := openapi.Scanned{
		Ok: true, Mode: "scan", Busy: orNull(scan.GetBusy()), Scanned: scan.GetScanned(), Resolved: scan.GetResolved(),
		Scored: scan.GetScored(), Skipped: scan.GetSkipped(), Errors: make([]openapi.Scanned_Errors, 0, len(scan.GetErrors())),
		TookMs: scan.GetTookMs(),
	}
	if out.Skipped == nil {
		out.Skipped = map[string]int64{}
	}
	for _, e := range scan.GetErrors() {
		out.Errors = append(out.Errors, openapi.Scanned_Errors{MarketID: e.GetMarketId(), Error: e.GetError()})
	}
	return web.OK(c, out)
}

// createMarket is POST /api/admin/markets.
func (s *server) createMarket(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	d := readMarketDraft(o)
	if err := o.Err(); err != nil {
		return err
	}
	if err := d.CheckDates(s.Now()); err != nil {
		return err
	}
	var made *marketv1.CreateNativeResponse
	err = s.audited(c, act{detail: d}, func(ctx context.Context) (err error) {
		made, err = s.Ledger.MarketWrites.CreateNative(ctx, d.Request())
		return err
	})
	if err != nil {
		return err
	}
	return web.JSON(c, http.StatusCreated, openapi.NativeMarketCreated{Ok: true, MarketID: made.GetMarket().GetId()})
}

// rateMarket is POST /api/admin/markets/{marketId}.
func (s *server) rateMarket(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	rated, reason := o.Bool("rated"), o.Text("reason", moderation.MaxReason, true, true)
	if err := o.Err(); err != nil {
		return err
	}
	id, err := syntax.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return market.ErrNotFound
	}
	var r *marketv1.SetRatedResponse
	err = s.audited(c, act{target: string(id), detail: map[string]any{"rated": rated, "reason": reason}}, func(ctx context.Context) (err error) {
		r, err = s.Ledger.MarketWrites.SetRated(ctx, &marketv1.SetRatedRequest{Id: string(id), Rated: rated, Reason: reason})
		return err
	})
	if err != nil {
		return err
	}
	return web.OK(c, openapi.MarketRated{Ok: true, MarketID: string(id), Rated: r.GetMarket().GetRated()})
}

func readMarketDraft(o web.Object) market.Draft {
	d := market.Draft{Question: o.Line("question", market.MaxQuestion, true), CreatedBy: "admin"}
	if d.Question != "" && len([]rune(d.Question)) < market.MinQuestion {
		o.Invalid("question", "must have at least 10 characters")
	}
	d.CutoffAt = readTime(o, "cutoffAt", true)
	lanes := make([]string, 0, len(syntax.Lanes))
	for _, l := range syntax.Lanes {
		lanes = append(lanes, string(l))
	}
	d.Lane = syntax.Lane(o.Enum("lane", lanes...))
	d.Description = o.Text("description", market.MaxDescription, true, false)
	d.ResolvesBy = readTime(o, "resolvesBy", false)
	if source := readHTTPS(o, "resolutionSource", market.MaxSource); source != "" {
		d.ResolutionSource = &source
	}
	d.InitialYes = market.DefaultYes
	if yes := o.OptInt("initialYesBps", market.MinYes, market.MaxYes); yes != nil {
		d.InitialYes = syntax.Bps(*yes)
	}
	return d
}

// readTime reads an RFC 3339 time; the zero time when it is not there.
func readTime(o web.Object, name string, required bool) time.Time {
	raw := o.String(name, 64, required)
	if raw == "" {
		return time.Time{}
	}
	t, ok := syntax.ParseStamp(raw)
	if !ok {
		o.Invalid(name, "must be an RFC 3339 time")
	}
	return t
}

// classify is POST /api/admin/operators.
func (s *server) classify(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	class := operator.Class{Actor: actorName(callerOf(c).Kind)}
	if raw := o.String("handle", web.BodyLimit, true); raw != "" {
		handle, err := syntax.ParseHandle(raw)
		if err != nil {
			o.Invalid("handle", "must be 2 to 32 of a-z, 0-9 and _")
		}
		class.Handle = handle
	}
	if kind := syntax.OperatorType(o.OptEnum("operatorType", string(syntax.Human), string(syntax.AIAgent), string(syntax.SystemBot))); kind != "" {
		class.Type = &kind
	}
	class.House = o.OptBool("house")
	if err := o.Err(); err != nil {
		return err
	}
	var op operator.Operator
	err = s.audited(c, act{target: string(class.Handle), detail: class}, func(ctx context.Context) (err error) {
		op, err = s.Operators.Classify(ctx, class)
		return err
	})
	if err != nil {
		return err
	}
	return web.OK(c, openapi.Classified{Ok: true, Operator: openapi.Classified_Operator{
		Handle: string(op.Handle), OperatorType: string(op.Type), Tier: string(op.Tier),
	}})
}
