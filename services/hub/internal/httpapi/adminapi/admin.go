package adminapi

import (
	"context"
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/effect"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Server has the handlers of the routes for administrators and the scheduler.
type Server struct {
	HubURL     string
	Ledger     *ledgerclient.Client
	Creations  *effect.Service
	Digests    *digest.Service
	Moderation *moderation.Service
	OnAir      *livestream.Service
	Notices    notification.Notices
	Clips      *clip.Service
	Pins       market.Store
	TilePages  view.FallbackCache                 // cached responses that show the pinned markets
	Shared     *httpcache.Shared                  // cleared after decisions about texts and operators; may be nil
	Programs   programv1.ProgramReadServiceClient // read API of the clock service; nil: the hub has no clock
	Director   programv1.ProgramServiceClient     // write API of the clock service; nil: the hub has no clock
	Audits     request.Audit
	Log        *slog.Logger
	Now        func() time.Time
}

// ResolveSignals handles POST /api/admin/resolve-signals. With a body, it forces the outcome of a market. Without a body, it
// scans for new outcomes, as Scan does.
func (s *Server) ResolveSignals(c echo.Context) error {
	o, given, err := httpx.DecodeOptional(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	if !given {
		return s.Scan(c)
	}
	q := &resolutionv1.ForceRequest{MarketId: string(request.MarketID(o, "marketId")), Verdict: readVerdict(o, "outcome")}
	decided := request.Time(o, "decidedAt", false)
	if err := o.Err(); err != nil {
		return err
	}
	detail := map[string]any{"verdict": q.Verdict}
	if !decided.IsZero() {
		detail["decidedAt"] = protocol.Stamp(decided)
		q.DecidedAt = ledgerclient.Timestamp(decided)
	}
	act := request.AdminAction{Target: q.MarketId, Detail: detail}
	claim, err := request.AuditedCall(c, s.Audits, act, s.Ledger.ResolutionWrites.Force, q)
	if err != nil {
		return err
	}
	t := claim.GetTally()
	return httpx.OK(c, openapi.Forced{
		Ok: true, Mode: "force", MarketID: q.MarketId, Outcome: *view.ShowOutcome(claim.GetOutcome()),
		Scored: t.GetScored(), Won: t.GetWon(), Lost: t.GetLost(), Void: t.GetVoid(),
	})
}

// Scan handles GET /api/admin/resolve-signals, and POST without a body. It scans once for new outcomes and returns the counts and
// the errors of the scan.
func (s *Server) Scan(c echo.Context) error {
	call := s.Ledger.ResolutionWrites.Scan
	scan, err := request.AuditedCall(c, s.Audits, request.AdminAction{}, call, &resolutionv1.ScanRequest{})
	out := openapi.Scanned{
		Ok: true, Mode: "scan", Busy: httpx.OrNull(scan.GetBusy()), Scanned: scan.GetScanned(), Resolved: scan.GetResolved(),
		Scored: scan.GetScored(), Skipped: scan.GetSkipped(), TookMs: scan.GetTookMs(),
		Errors: view.List(scan.GetErrors(), func(e *resolutionv1.ScanError) openapi.Scanned_Errors {
			return openapi.Scanned_Errors{MarketID: e.GetMarketId(), Error: e.GetError()}
		}),
	}
	if out.Skipped == nil {
		out.Skipped = map[string]int64{}
	}
	return view.OK(c, out, err)
}

// CreateMarket handles POST /api/admin/markets, which creates a native market.
func (s *Server) CreateMarket(c echo.Context, o httpx.Object) error {
	d := readMarketDraft(o)
	if err := o.Err(); err != nil {
		return err
	}
	if err := d.CheckDates(s.Now()); err != nil {
		return err
	}
	act := request.AdminAction{Detail: d}
	made, err := request.AuditedCall(c, s.Audits, act, s.Ledger.MarketWrites.CreateNative, d.Request())
	return view.Created(c, openapi.NativeMarketCreated{Ok: true, MarketID: made.GetMarket().GetId()}, err)
}

// RateMarket handles POST /api/admin/markets/{marketId}, which sets whether the market is rated.
func (s *Server) RateMarket(c echo.Context, o httpx.Object) error {
	rated, reason := o.Bool("rated"), o.Text("reason", moderation.MaxReason, true, true)
	if err := o.Err(); err != nil {
		return err
	}
	id, err := protocol.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return market.ErrNotFound
	}
	q := &marketv1.SetRatedRequest{Id: string(id), Rated: rated, Reason: reason}
	act := request.AdminAction{Target: q.Id, Detail: map[string]any{"rated": rated, "reason": reason}}
	r, err := request.AuditedCall(c, s.Audits, act, s.Ledger.MarketWrites.SetRated, q)
	return view.OK(c, openapi.MarketRated{Ok: true, MarketID: q.Id, Rated: r.GetMarket().GetRated()}, err)
}

func readMarketDraft(o httpx.Object) market.Draft {
	d := market.Draft{Question: o.Line("question", market.MaxQuestion, true), CreatedBy: "admin"}
	if d.Question != "" && len([]rune(d.Question)) < market.MinQuestion {
		o.Invalid("question", "must have 10 to 200 characters")
	}
	d.CutoffAt = request.Time(o, "cutoffAt", true)
	lanes := make([]string, 0, len(protocol.Lanes))
	for _, l := range protocol.Lanes {
		lanes = append(lanes, string(l))
	}
	d.Lane = protocol.Lane(o.Enum("lane", lanes...))
	d.Description = o.Text("description", market.MaxDescription, true, false)
	d.ResolvesBy = request.Time(o, "resolvesBy", false)
	if source := readHTTPS(o, "resolutionSource", market.MaxSource); source != "" {
		d.ResolutionSource = &source
	}
	d.InitialYes = market.DefaultYes
	if yes := o.OptInt("initialYesBps", market.MinYes, market.MaxYes); yes != nil {
		d.InitialYes = protocol.Bps(*yes)
	}
	return d
}

// readHTTPS reads an optional https URL of at most limit characters. It records an invalid URL as an error of o.
func readHTTPS(o httpx.Object, name string, limit int) string {
	raw := o.String(name, limit, false)
	if raw != "" && !request.IsURL(raw, "https") {
		o.Invalid(name, "must be an https URL")
	}
	return raw
}

// Classify handles POST /api/admin/operators, which sets the operator type, the house flag, the seeded flag and the key tier of
// an operator, and can create a seeded profile.
func (s *Server) Classify(c echo.Context, o httpx.Object) error {
	class := operator.Class{Actor: request.ActorName(request.Caller(c).Kind), Handle: request.Handle(o, "handle")}
	kind := protocol.OperatorType(o.OptEnum("operatorType", string(protocol.Human), string(protocol.AIAgent),
		string(protocol.SystemBot)))
	if kind != "" {
		class.Type = &kind
	}
	class.House, class.Seeded = o.OptBool("house"), o.OptBool("seeded")
	class.KeyTier = httpx.OrNull(o.OptEnum("keyTier", "free", "builder", "pro", "enterprise"))
	create := o.OptBool("create")
	class.Create = create != nil && *create
	class.DisplayName = o.Name("displayName", 64, false)
	seeded := class.Seeded != nil && *class.Seeded
	switch {
	case class.Create && class.Seeded != nil && !seeded:
		o.Invalid("seeded", "must be true for a created profile")
	case class.DisplayName != "" && !class.Create:
		o.Invalid("displayName", "must be absent without create; an operator changes its own name")
	case kind != "" && kind != protocol.SystemBot && (class.Create || seeded):
		o.Invalid("operatorType", "must be system_bot for a seeded profile")
	}
	if err := o.Err(); err != nil {
		return err
	}
	q := &operatorv1.ClassifyRequest{
		Handle: string(class.Handle), OperatorType: (*string)(class.Type), House: class.House, Actor: class.Actor,
		Seeded: class.Seeded, KeyTier: class.KeyTier, Create: class.Create, DisplayName: class.DisplayName,
	}
	act := request.AdminAction{Target: q.Handle, Detail: class}
	r, err := request.AuditedCall(c, s.Audits, act, s.Ledger.OperatorWrites.Classify, q)
	op := r.GetOperator()
	return view.OK(c, openapi.Classified{Ok: true, Operator: openapi.Classified_Operator{
		Handle: op.GetHandle(), OperatorType: op.GetOperatorType(), Tier: op.GetTier(), Seeded: r.GetSeeded(), KeyTier: r.GetKeyTier(),
	}}, err)
}

// BoostClip handles POST /api/admin/clips, which sets whether a clip is listed before the others.
func (s *Server) BoostClip(c echo.Context, o httpx.Object) error {
	id, boosted := readID(o, true), o.Bool("boosted")
	if err := o.Err(); err != nil {
		return err
	}
	a := request.AdminAction{Target: id, Detail: map[string]any{"boosted": boosted}}
	err := s.Audits.Do(c, a, func(ctx context.Context) error { return s.Clips.Boost(ctx, id, boosted) })
	s.Shared.Clear()
	return view.OK(c, openapi.ClipBoosted{Ok: true, ID: id, Boosted: boosted}, err)
}

// ApproveStreamer handles POST /api/admin/streamers, which sets the streaming status of an operator to pending, approved or
// suspended.
func (s *Server) ApproveStreamer(c echo.Context, o httpx.Object) error {
	handle := request.Handle(o, "handle")
	status := livestream.Status(o.Enum("status", string(livestream.Pending), string(livestream.Approved),
		string(livestream.Suspended)))
	if err := o.Err(); err != nil {
		return err
	}
	a := request.AdminAction{Target: string(handle), Detail: map[string]any{"status": status}}
	err := s.Audits.Do(c, a, func(ctx context.Context) error {
		op, err := operator.Directory{Ledger: s.Ledger.Operators}.ByHandle(ctx, handle)
		if err != nil {
			return err
		}
		before, err := s.OnAir.Store.Streamer(ctx, handle)
		if err != nil {
			return err
		}
		if err := s.OnAir.Decide(ctx, handle, status); err != nil {
			return err
		}
		if status == livestream.Suspended { // also if the request is repeated after an error
			if err := s.Notices.Withdraw(ctx, op.ID, ""); err != nil {
				return err
			}
		}
		if status == before.Status {
			return nil
		}
		now := s.Now()
		switch status {
		case livestream.Approved:
			return s.Notices.Notify(ctx, op.ID, notification.StreamerApproved, protocol.Stamp(now), "", now)
		case livestream.Suspended:
			return s.Notices.Notify(ctx, op.ID, notification.StreamerRefused, protocol.Stamp(now), "", now)
		}
		return nil
	})
	s.Shared.Clear()
	return view.OK(c, openapi.StreamerApproved{Ok: true, Handle: string(handle), Status: string(status)}, err)
}
