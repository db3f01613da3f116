package upstream

import (
	"context"
	"time"

	"google.golang.org/grpc"

	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// Signals is the ledger's owner of signals and their events.
type Signals struct {
	write   signalv1.SignalServiceClient
	filings filings
}

// NewSignals uses a connection to the ledger.
func NewSignals(cc grpc.ClientConnInterface, now func() time.Time) *Signals {
	write := signalv1.NewSignalServiceClient(cc)
	return &Signals{write: write, filings: newFilings(write, now)}
}

// File implements signal.Writer.
func (s *Signals) File(ctx context.Context, by operator.Actor, d signal.Draft) (signal.Filed, error) {
	return s.filings.file(ctx, &signalv1.FileRequest{Caller: callerOf(by), Draft: draftTo(d)}, d.Again)
}

// RehearseFile implements signal.Writer.
func (s *Signals) RehearseFile(ctx context.Context, by operator.Actor, d signal.Draft) (*signalv1.Signal, signal.Filing, error) {
	r, err := s.write.RehearseFile(ctx, &signalv1.RehearseFileRequest{Caller: callerOf(by), Draft: draftTo(d)})
	if err != nil {
		return nil, signal.Filing{}, err
	}
	would, filing := r.GetSignal(), filingOf(r.GetFiling())
	filing.Unconfirmed = would.GetUnconfirmed()
	return would, filing, nil
}

// RehearseEvent implements signal.Writer.
func (s *Signals) RehearseEvent(ctx context.Context, by operator.Actor, d signal.EventDraft) (*signalv1.Event, error) {
	r, err := s.write.RehearseEvent(ctx, &signalv1.RehearseEventRequest{
		Caller: callerOf(by), SignalId: d.SignalID, Type: string(d.Type), Payload: string(d.Payload), EventId: d.ID,
	})
	if err != nil {
		return nil, err
	}
	return r.GetEvent(), nil
}

func draftTo(d signal.Draft) *signalv1.Draft {
	draft := &signalv1.Draft{
		Id: d.ID, MarketId: string(d.MarketID), Direction: string(d.Direction), PriceBps: int32(d.Price),
		MarketTitle: d.MarketTitle, ChannelId: d.ChannelID, Confidence: d.Confidence, CrowdYesBps: d.CrowdYes,
		TimeToResolution: d.TimeToResolution, Source: string(d.Source), MediaAssetId: d.MediaAssetID,
		TextTake: d.TextTake, Reach: d.Reach, ClobTokenId: d.ClobTokenID, CrowdLeanBps: d.CrowdLean, MaxSlippageBps: d.MaxSlippage,
		AllowUnverified: d.AllowUnverified,
	}
	if d.IdempotencyKey != "" {
		draft.IdempotencyKey, draft.BodyHash = &d.IdempotencyKey, d.BodyHash
	}
	return draft
}

// Append implements signal.Writer.
func (s *Signals) Append(ctx context.Context, by operator.Actor, d signal.EventDraft) (*signalv1.Event, error) {
	r, err := s.write.AppendEvent(ctx, &signalv1.AppendEventRequest{
		Caller: callerOf(by), SignalId: d.SignalID, Type: string(d.Type), Payload: string(d.Payload), EventId: d.ID,
	})
	if err != nil {
		return nil, err
	}
	return r.GetEvent(), nil
}

func filingOf(f *signalv1.Filing) signal.Filing {
	if f == nil { // of a refusal
		return signal.Filing{}
	}
	return signal.Filing{
		Price: syntax.Bps(f.GetPriceBps()), Basis: syntax.Bps(f.GetScoreBasisBps()), Verified: f.GetPriceVerified(), Rated: f.GetRated(),
		MarketYes: f.MarketYesBps, Yes: f.YesPriceBps, No: f.NoPriceBps, Warnings: f.GetWarnings(),
	}
}
