package edge

import (
	"context"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// What would be stored. It has no id before it is.
type (
	drySignalJSON struct {
		signalJSON
		ID           *string  `json:"id"`
		Rated        *bool    `json:"rated"`
		OK           bool     `json:"ok"`
		DryRun       bool     `json:"dryRun"`
		MarketYesBps *int32   `json:"marketYesBps"`
		YesPriceBps  *int32   `json:"yesPriceBps"`
		NoPriceBps   *int32   `json:"noPriceBps"`
		Warnings     []string `json:"warnings"`
	}
	dryToolEventJSON struct {
		eventJSON
		ID     *string `json:"id"`
		DryRun bool    `json:"dryRun"`
	}
	dryOverlayJSON struct {
		openapi.OverlaySignal
		DryRun bool `json:"dryRun"`
	}
	dryClearedJSON struct {
		openapi.NoOverlay
		DryRun bool `json:"dryRun"`
	}
)

// defaultSlippage is the bound in bps of a call without one.
const defaultSlippage int32 = 200

// toolFile is POST /api/predictions with a bound of the slippage: defaultSlippage unless
// the arguments have one.
func (s *server) toolFile(ctx context.Context, who caller.Caller, o web.Object) (any, error) {
	draft := s.readDraft(o)
	draft.Source = string(syntax.SourceAPI)
	dry := dryRun(o)
	if err := o.Err(); err != nil {
		return nil, err
	}
	if draft.MaxSlippageBps == nil {
		bound := defaultSlippage
		draft.MaxSlippageBps = &bound
	}
	shown, err := s.fileOrRehearse(ctx, who, draft, dry)
	if err != nil {
		return nil, s.explain(err, draft)
	}
	return shown, nil
}

func (s *server) fileOrRehearse(ctx context.Context, who caller.Caller, draft *signalv1.Draft, dry bool) (any, error) {
	if !dry {
		filed, err := s.Signals.File(ctx, who.Actor(), draft)
		if err != nil {
			return nil, err
		}
		return s.showFiled(filed.GetId(), filed.GetFiling()), nil
	}
	would, err := s.Signals.RehearseFile(ctx, who.Actor(), draft)
	if err != nil {
		return nil, err
	}
	return showDrySignal(would), nil
}

func showDrySignal(would *signalv1.RehearseFileResponse) drySignalJSON {
	f := showFiling(would.GetFiling(), would.GetSignal().GetUnconfirmed())
	return drySignalJSON{
		signalJSON: showSignal(would.GetSignal()), Rated: f.Rated, OK: true, DryRun: true,
		MarketYesBps: f.MarketYesBps, YesPriceBps: f.YesPriceBps, NoPriceBps: f.NoPriceBps, Warnings: f.Warnings,
	}
}

// toolEvent is POST /api/signals/{id}/events.
func (s *server) toolEvent(ctx context.Context, who caller.Caller, o web.Object) (any, error) {
	dry := dryRun(o)
	draft, err := readEvent(o, o.String("signalId", web.BodyLimit, true))
	if err != nil {
		return nil, err
	}
	if dry {
		would, err := s.Signals.RehearseEvent(ctx, who.Actor(), draft)
		if err != nil {
			return nil, err
		}
		return dryToolEventJSON{showEvent(would), nil, true}, nil
	}
	event, err := s.Signals.Append(ctx, who.Actor(), draft, "")
	if err != nil {
		return nil, err
	}
	return appendedJSON{Event: showEvent(event)}, nil
}

// toolOverlay is POST and DELETE /api/streamer/signal.
func (s *server) toolOverlay(ctx context.Context, who caller.Caller, o web.Object) (any, error) {
	handle, err := s.handleOf(ctx, who)
	if err != nil {
		return nil, err
	}
	dry := dryRun(o)
	if clear := o.OptBool("clear"); clear != nil && *clear {
		return s.toolClear(ctx, handle, o, dry)
	}
	wanted, err := s.readOverlay(ctx, o, handle)
	if err != nil {
		return nil, err
	}
	if dry {
		wanted.UpdatedAt = s.Now()
		return dryOverlayJSON{overlaySignalOf(wanted), true}, nil
	}
	kept, err := s.OnAir.SetOverlay(ctx, wanted)
	if err != nil {
		return nil, err
	}
	return openapi.OverlaySet{Ok: true, Signal: overlaySignalOf(kept)}, nil
}

// toolClear takes the signal away. It takes nothing of what sets one.
func (s *server) toolClear(ctx context.Context, handle syntax.Handle, o web.Object, dry bool) (any, error) {
	for _, name := range o.Names() {
		if name != "clear" && name != "dryRun" && o.Has(name) {
			o.Invalid("clear", "stands alone")
		}
	}
	if err := o.Err(); err != nil {
		return nil, err
	}
	if dry {
		return dryClearedJSON{DryRun: true}, nil
	}
	if err := s.OnAir.ClearOverlay(ctx, handle); err != nil {
		return nil, err
	}
	return openapi.OverlayCleared{Ok: true}, nil
}

// handleOf is under which name a caller is on the air.
func (s *server) handleOf(ctx context.Context, who caller.Caller) (syntax.Handle, error) {
	if who.Kind != caller.Token {
		return who.Operator.Handle, nil
	}
	op, err := s.Directory.OperatorByID(ctx, who.Delegate.UserID)
	return op.Handle, err
}
