package filing

import (
	"context"
	"crypto/sha256"
	"hash"
	"io"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/effect"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// Server has the handlers that file calls and append events.
type Server struct {
	HubURL    string
	Social    string // value of the source of a call for the social network
	Signals   *signal.Service
	Creations *effect.Service
	Callers   *caller.Service
}

// showDryFiled returns the JSON model of a dry run. unconfirmed means that no venue has confirmed the market. The member "rated"
// is then null, because it depends on the response of the venue.
func showDryFiled(f *signalv1.Filing, unconfirmed bool) openapi.DryFiled {
	out := openapi.DryFiled{
		Ok: true, DryRun: true, PriceAtPrediction: int64(f.GetPriceBps()), ScoreBasisBps: int64(f.GetScoreBasisBps()),
		PriceVerified: f.GetPriceVerified(), Warnings: append([]string{}, f.GetWarnings()...),
	}
	if f != nil {
		out.MarketYesBps, out.YesPriceBps = openapi.Int(f.MarketYesBps), openapi.Int(f.YesPriceBps)
		out.NoPriceBps = openapi.Int(f.NoPriceBps)
	}
	if !unconfirmed {
		out.Rated = new(f.GetRated())
	}
	return out
}

// showFiled returns the JSON model of the stored call with the given id.
func (s *Server) showFiled(id string, f *signalv1.Filing) openapi.Filed {
	d := showDryFiled(f, false)
	return openapi.Filed{
		Ok: true, ID: id, ReceiptURL: view.ReceiptURL(s.HubURL, id), PriceAtPrediction: d.PriceAtPrediction,
		ScoreBasisBps: d.ScoreBasisBps, PriceVerified: d.PriceVerified, Rated: f.GetRated(), MarketYesBps: d.MarketYesBps,
		YesPriceBps: d.YesPriceBps, NoPriceBps: d.NoPriceBps, Warnings: d.Warnings,
	}
}

var errIdempotencyKey = apperr.New(apperr.Invalid, "invalid_idempotency_key",
	"Idempotency-Key must be sent once and have 1 to 128 visible ASCII characters").With("field", "Idempotency-Key")

// File handles POST /api/predictions, which files a call. If the member "dryRun" is true, it only validates the call.
func (s *Server) File(c echo.Context) error {
	key, err := idempotencyKey(c)
	if err != nil {
		return err
	}
	var sum hash.Hash
	if key != "" {
		sum = hashBody(c)
	}
	o, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	draft := view.ReadDraft(o, s.Social)
	dry := dryRunOf(c, o)
	if err := o.Err(); err != nil {
		return err
	}
	ctx, by := c.Request().Context(), request.Caller(c).Actor()
	if dry {
		result, err := s.Signals.DryRunFile(ctx, by, draft)
		if err != nil {
			return s.withDetails(err, draft)
		}
		return httpx.OK(c, showDryFiled(result.GetFiling(), result.GetSignal().GetUnconfirmed()))
	}
	if key != "" {
		draft.IdempotencyKey, draft.BodyHash = &key, sum.Sum(nil)
	}
	filed, err := s.Signals.File(ctx, by, draft)
	if err != nil {
		return s.withDetails(err, draft)
	}
	return httpx.OK(c, s.showFiled(filed.GetId(), filed.GetFiling()))
}

// dryRunOf returns the member "dryRun" of the body. It rejects "dryRun" in the query. A client that sends it there expects only a
// check, but the call would be stored.
func dryRunOf(c echo.Context, o httpx.Object) bool {
	for name := range c.QueryParams() {
		if request.IsDryRun(name) {
			o.Invalid("dryRun", "must be a member of the body, not a query parameter")
		}
	}
	return request.DryRun(o)
}

// withDetails adds the receipt URL to an already_predicted error, and the market id to market_closed and market_not_found.
func (s *Server) withDetails(err error, d *signalv1.Draft) error {
	f := apperr.Of(err)
	switch f.Code {
	case "already_predicted":
		return view.WithReceipt(s.HubURL, err)
	case "market_closed", "market_not_found":
		return f.With("marketId", d.GetMarketId())
	}
	return err
}

// idempotencyKey returns the Idempotency-Key header, or "" if it is missing. Error: invalid_idempotency_key.
func idempotencyKey(c echo.Context) (string, error) {
	values, ok := c.Request().Header["Idempotency-Key"]
	if !ok {
		return "", nil
	}
	if len(values) != 1 || values[0] == "" || len(values[0]) > protocol.MaxIdempotencyKey {
		return "", errIdempotencyKey
	}
	for i := range len(values[0]) {
		if b := values[0][i]; b <= ' ' || b > '~' {
			return "", errIdempotencyKey
		}
	}
	return values[0], nil
}

// hashBody returns a SHA-256 hash that is updated while the body of the request is read.
func hashBody(c echo.Context) hash.Hash {
	sum := sha256.New()
	r := c.Request()
	r.Body = hashedBody{io.TeeReader(r.Body, sum), r.Body}
	return sum
}

type hashedBody struct {
	io.Reader
	io.Closer
}

// drySignalJSON is the result of the tool submit_signal in a dry run. ID is null, because nothing is stored.
type drySignalJSON struct {
	openapi.Signal
	ID           *string  `json:"id"`
	Rated        *bool    `json:"rated"`
	OK           bool     `json:"ok"`
	DryRun       bool     `json:"dryRun"`
	MarketYesBps *int64   `json:"marketYesBps"`
	YesPriceBps  *int64   `json:"yesPriceBps"`
	NoPriceBps   *int64   `json:"noPriceBps"`
	Warnings     []string `json:"warnings"`
}

// dryToolEventJSON is the result of the tool submit_signal_event in a dry run. ID is null, because nothing is stored.
type dryToolEventJSON struct {
	view.Event
	ID     *string `json:"id"`
	DryRun bool    `json:"dryRun"`
}

// defaultSlippage is the default of maxSlippageBps for tools, in bps.
const defaultSlippage int32 = 200

// ToolFile is the MCP tool submit_signal, which files a call as POST /api/predictions does. The source is always SourceAPI, and
// maxSlippageBps defaults to defaultSlippage.
func (s *Server) ToolFile(ctx context.Context, who caller.Caller, o httpx.Object) (any, error) {
	draft := view.ReadDraft(o, s.Social)
	draft.Source = string(protocol.SourceAPI)
	dry := request.DryRun(o)
	if err := o.Err(); err != nil {
		return nil, err
	}
	if draft.MaxSlippageBps == nil {
		slippage := defaultSlippage
		draft.MaxSlippageBps = &slippage
	}
	shown, err := s.fileOrRehearse(ctx, who, draft, dry)
	if err != nil {
		return nil, s.withDetails(err, draft)
	}
	return shown, nil
}

func (s *Server) fileOrRehearse(ctx context.Context, who caller.Caller, draft *signalv1.Draft, dry bool) (any, error) {
	if !dry {
		filed, err := s.Signals.File(ctx, who.Actor(), draft)
		if err != nil {
			return nil, err
		}
		return s.showFiled(filed.GetId(), filed.GetFiling()), nil
	}
	result, err := s.Signals.DryRunFile(ctx, who.Actor(), draft)
	if err != nil {
		return nil, err
	}
	return showDrySignal(result), nil
}

func showDrySignal(result *signalv1.RehearseFileResponse) drySignalJSON {
	f := showDryFiled(result.GetFiling(), result.GetSignal().GetUnconfirmed())
	return drySignalJSON{
		Signal: view.ShowSignal(result.GetSignal()), Rated: f.Rated, OK: true, DryRun: true,
		MarketYesBps: f.MarketYesBps, YesPriceBps: f.YesPriceBps, NoPriceBps: f.NoPriceBps, Warnings: f.Warnings,
	}
}

// ToolEvent is the MCP tool submit_signal_event, which appends an event as POST /api/signals/{id}/events does.
func (s *Server) ToolEvent(ctx context.Context, who caller.Caller, o httpx.Object) (any, error) {
	dry := request.DryRun(o)
	draft, err := readEvent(o, o.String("signalId", httpx.BodyLimit, true))
	if err != nil {
		return nil, err
	}
	if dry {
		result, err := s.Signals.DryRunEvent(ctx, who.Actor(), draft)
		if err != nil {
			return nil, err
		}
		return dryToolEventJSON{view.ShowEvent(result), nil, true}, nil
	}
	event, err := s.Signals.Append(ctx, who.Actor(), draft, "")
	if err != nil {
		return nil, err
	}
	return appendedJSON{Event: view.ShowEvent(event)}, nil
}
