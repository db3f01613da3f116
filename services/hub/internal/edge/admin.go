package edge

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/resolution"
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
	f := resolution.Force{
		MarketID: readMarketID(o, "marketId"), Verdict: syntax.Verdict(readVerdict(o, "outcome")),
		DecidedAt: readTime(o, "decidedAt", false),
	}
	if err := o.Err(); err != nil {
		return err
	}
	var out openapi.Forced
	detail := map[string]any{"verdict": f.Verdict}
	if !f.DecidedAt.IsZero() {
		detail["decidedAt"] = syntax.Stamp(f.DecidedAt)
	}
	err = s.audited(c, act{target: string(f.MarketID), detail: detail}, func(ctx context.Context) error {
		record, t, err := s.Resolutions.Force(ctx, f)
		out = openapi.Forced{
			Ok: true, Mode: "force", MarketID: string(f.MarketID), Outcome: showOutcome(record),
			Scored: t.Scored, Won: t.Won, Lost: t.Lost, Void: t.Void,
		}
		return err
	})
	if err != nil {
		return err
	}
	return web.OK(c, out)
}

// scan is GET /api/admin/resolve-signals and POST without a body.
func (s *server) scan(c echo.Context) error {
	var scan resolution.Scan
	err := s.audited(c, act{}, func(ctx context.Context) (err error) {
		scan, err = s.Resolutions.Scan(ctx)
		return err
	})
	if err != nil {
		return err
	}
	out := openapi.Scanned{
		Ok: true, Mode: "scan", Busy: orNull(scan.Busy), Scanned: scan.Scanned, Resolved: scan.Resolved, Scored: scan.Scored,
		Skipped: scan.Skipped, Errors: make([]openapi.Scanned_Errors, 0, len(scan.Errors)),
		TookMs: int64(scan.Took / time.Millisecond),
	}
	if out.Skipped == nil {
		out.Skipped = map[string]int64{}
	}
	for _, e := range scan.Errors {
		out.Errors = append(out.Errors, openapi.Scanned_Errors{MarketID: e.MarketID, Error: e.Code})
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
	var made market.Market
	err = s.audited(c, act{detail: d}, func(ctx context.Context) (err error) {
		made, err = s.Markets.Create(ctx, d)
		return err
	})
	if err != nil {
		return err
	}
	return web.JSON(c, http.StatusCreated, openapi.NativeMarketCreated{Ok: true, MarketID: string(made.ID)})
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
	var m market.Market
	err = s.audited(c, act{target: string(id), detail: map[string]any{"rated": rated, "reason": reason}}, func(ctx context.Context) (err error) {
		m, err = s.Markets.SetRated(ctx, id, rated, reason)
		return err
	})
	if err != nil {
		return err
	}
	return web.OK(c, openapi.MarketRated{Ok: true, MarketID: string(id), Rated: m.Rated})
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
