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
	read    signalv1.SignalReadServiceClient
	write   signalv1.SignalServiceClient
	filings filings
}

// NewSignals uses a connection to the ledger.
func NewSignals(cc grpc.ClientConnInterface, now func() time.Time) *Signals {
	write := signalv1.NewSignalServiceClient(cc)
	return &Signals{read: signalv1.NewSignalReadServiceClient(cc), write: write, filings: newFilings(write, now)}
}

// File implements signal.Writer.
func (s *Signals) File(ctx context.Context, by operator.Actor, d signal.Draft) (signal.Filed, error) {
	return s.filings.file(ctx, &signalv1.FileRequest{Caller: callerOf(by), Draft: draftTo(d)}, d.Again)
}

// RehearseFile implements signal.Writer.
func (s *Signals) RehearseFile(ctx context.Context, by operator.Actor, d signal.Draft) (signal.Signal, signal.Filing, error) {
	r, err := s.write.RehearseFile(ctx, &signalv1.RehearseFileRequest{Caller: callerOf(by), Draft: draftTo(d)})
	if err != nil {
		return signal.Signal{}, signal.Filing{}, err
	}
	would, filing := signalOf(r.GetSignal()), filingOf(r.GetFiling())
	filing.Unconfirmed = would.Unconfirmed
	return would, filing, nil
}

// RehearseEvent implements signal.Writer.
func (s *Signals) RehearseEvent(ctx context.Context, by operator.Actor, d signal.EventDraft) (signal.Event, error) {
	r, err := s.write.RehearseEvent(ctx, &signalv1.RehearseEventRequest{
		Caller: callerOf(by), SignalId: d.SignalID, Type: string(d.Type), Payload: string(d.Payload), EventId: d.ID,
	})
	if err != nil {
		return signal.Event{}, err
	}
	return eventOf(r.GetEvent()), nil
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
func (s *Signals) Append(ctx context.Context, by operator.Actor, d signal.EventDraft) (signal.Event, error) {
	r, err := s.write.AppendEvent(ctx, &signalv1.AppendEventRequest{
		Caller: callerOf(by), SignalId: d.SignalID, Type: string(d.Type), Payload: string(d.Payload), EventId: d.ID,
	})
	if err != nil {
		return signal.Event{}, err
	}
	return eventOf(r.GetEvent()), nil
}

// Signal implements signal.Reader.
func (s *Signals) Signal(ctx context.Context, id string) (signal.Signal, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := s.read.GetSignal(ctx, &signalv1.GetSignalRequest{Id: id})
	if err != nil {
		return signal.Signal{}, err
	}
	return signalOf(r.GetSignal()), nil
}

// Events implements signal.Reader.
func (s *Signals) Events(ctx context.Context, id string) ([]signal.Event, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := s.read.ListEvents(ctx, &signalv1.ListEventsRequest{SignalId: id})
	if err != nil {
		return nil, err
	}
	events := make([]signal.Event, 0, len(r.GetEvents()))
	for _, e := range r.GetEvents() {
		events = append(events, eventOf(e))
	}
	return events, nil
}

// Feed implements signal.Reader.
func (s *Signals) Feed(ctx context.Context, kind signal.FeedType, limit int) ([]signal.Signal, error) {
	return s.feed(ctx, &signalv1.ListFeedRequest{Type: string(kind), Limit: int32(limit)})
}

// FeedOf implements signal.Reader.
func (s *Signals) FeedOf(ctx context.Context, category string, limit int) ([]signal.Signal, error) {
	return s.feed(ctx, &signalv1.ListFeedRequest{Type: string(signal.FeedRecent), Limit: int32(limit), Category: category})
}

func (s *Signals) feed(ctx context.Context, ask *signalv1.ListFeedRequest) ([]signal.Signal, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := s.read.ListFeed(ctx, ask)
	if err != nil {
		return nil, err
	}
	return signalsOf(r.GetSignals()), nil
}

// MarketLedger implements signal.Reader.
func (s *Signals) MarketLedger(ctx context.Context, id syntax.MarketID, limit int, cursor string) (signal.Ledger, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := s.read.ListLedger(ctx, &signalv1.ListLedgerRequest{MarketId: string(id), Limit: int32(limit), Cursor: cursor})
	if err != nil {
		return signal.Ledger{}, err
	}
	return signal.Ledger{
		Yes: r.GetYes(), No: r.GetNo(), Signals: signalsOf(r.GetSignals()), NextCursor: r.GetNextCursor(),
	}, nil
}

// Crowd implements signal.Reader.
func (s *Signals) Crowd(ctx context.Context, id syntax.MarketID, own operator.ID) (signal.Crowd, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := s.read.GetCrowd(ctx, &signalv1.GetCrowdRequest{MarketId: string(id), OperatorId: string(own)})
	if err != nil {
		return signal.Crowd{}, err
	}
	c := signal.Crowd{Yes: r.GetYes(), No: r.GetNo(), UpdatedAt: at(r.GetUpdatedAt())}
	if r.TopYesPercent != nil {
		c.Top = &signal.Top{YesPercent: r.GetTopYesPercent(), Sample: r.GetTopSample()}
	}
	if r.GetOwn() != nil {
		mine := signalOf(r.GetOwn())
		c.Own = &mine
	}
	return c, nil
}

func signalsOf(list []*signalv1.Signal) []signal.Signal {
	out := make([]signal.Signal, 0, len(list))
	for _, s := range list {
		out = append(out, signalOf(s))
	}
	return out
}

func signalOf(s *signalv1.Signal) signal.Signal {
	return signal.Signal{
		ID:               s.GetId(),
		PublicID:         syntax.PublicID(s.GetPublicId()),
		ProviderID:       s.GetProviderId(),
		Handle:           s.GetHandle(),
		MarketID:         syntax.MarketID(s.GetMarketId()),
		MarketTitle:      s.GetMarketTitle(),
		Direction:        syntax.Side(s.GetDirection()),
		Price:            syntax.Bps(s.GetPriceBps()),
		CrowdYes:         s.CrowdYesBps,
		Confidence:       s.Confidence,
		TextTake:         s.TextTake,
		Status:           syntax.SignalStatus(s.GetStatus()),
		Score:            s.Score,
		CreatedAt:        at(s.GetCreatedAt()),
		ResolvedAt:       at(s.GetResolvedAt()),
		TimeToResolution: s.TimeToResolution,
		Source:           s.Source,
		Outcome:          s.Outcome,
		ClosePrice:       s.ClosePriceBps,
		Clv:              s.ClvBps,
		LiveYes:          s.LiveYesBps,
		Move:             s.MoveBps,
		ScoreBasis:       syntax.Bps(s.GetScoreBasisBps()),
		PriceVerified:    s.GetPriceVerified(),
		Rated:            s.GetRated(),
		Counted:          s.Counted,
		MarketYes:        s.MarketYesBps,
		ClosesAt:         at(s.GetClosesAt()),
		QuoteAt:          at(s.GetQuoteAt()),
		ConfirmedAt:      at(s.GetConfirmedAt()),
		Reason:           s.GetReason(),
		Unconfirmed:      s.GetUnconfirmed(),
	}
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

func eventOf(e *signalv1.Event) signal.Event {
	return signal.Event{
		ID: e.GetId(), Type: signal.EventType(e.GetType()), Payload: []byte(e.GetPayload()),
		Actor: e.Actor, CreatedAt: at(e.GetCreatedAt()),
	}
}
