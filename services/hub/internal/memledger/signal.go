package memledger

import (
	"context"
	"encoding/hex"
	"slices"

	"google.golang.org/protobuf/proto"

	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// File keeps the first call of an operator on a market.
func (l *Ledger) File(ctx context.Context, r *signalv1.FileRequest) (*signalv1.FileResponse, error) {
	return do(ctx, l, "File", func() (*signalv1.FileResponse, error) { return l.file(r, false) })
}

func (l *Ledger) file(r *signalv1.FileRequest, dry bool) (*signalv1.FileResponse, error) {
	d := r.GetDraft()
	l.LastDraft = d
	owner, err := l.owner(r.GetCaller())
	if err != nil {
		return nil, err
	}
	body := hex.EncodeToString(d.GetBodyHash())
	if d.IdempotencyKey != nil {
		if was, ok := l.keyed[owner+" "+d.GetIdempotencyKey()]; ok {
			if was.body != body {
				return nil, ErrReused
			}
			return &signalv1.FileResponse{Id: was.id, Replayed: true, Filing: l.find(was.id).Filing}, nil
		}
	}
	m := l.Markets[d.GetMarketId()]
	if m == nil {
		return nil, ErrMarketNotFound
	}
	for _, f := range l.Signals {
		if f.Owner == owner && f.Signal.GetMarketId() == d.GetMarketId() {
			if f.Signal.GetId() == d.GetId() {
				return &signalv1.FileResponse{Id: d.GetId(), Replayed: true, Filing: f.Filing}, nil
			}
			return nil, ErrPredicted.With("id", f.Signal.GetId())
		}
	}
	if m.GetStatus() == "resolved" {
		return nil, ErrMarketClosed.With("reason", "settled")
	}
	filing, err := l.price(d, dry)
	if err != nil {
		return nil, err
	}
	l.Signals = append(l.Signals, &Filed{Owner: owner, Signal: l.signalOf(owner, d, filing), Filing: filing})
	if d.IdempotencyKey != nil {
		l.keyed[owner+" "+d.GetIdempotencyKey()] = kept{id: d.GetId(), body: body}
	}
	return &signalv1.FileResponse{Id: d.GetId(), Filing: filing}, nil
}

// price compares a draft with the quote of its market. A dry run is not refused for the lack
// of a quote.
func (l *Ledger) price(d *signalv1.Draft, dry bool) (*signalv1.Filing, error) {
	f := &signalv1.Filing{PriceBps: d.GetPriceBps(), ScoreBasisBps: d.GetPriceBps(), MarketYesBps: l.Markets[d.GetMarketId()].YesBps}
	q, quoted := l.Quotes[d.GetMarketId()]
	if !quoted {
		if d.MaxSlippageBps != nil && !d.GetAllowUnverified() && !dry {
			return nil, ErrPriceMoved.With("reason", "unverified").With("marketId", d.GetMarketId()).With("marketYesBps", f.GetMarketYesBps()).With("yesPriceBps", nil).With("noPriceBps", nil)
		}
		f.Warnings = []string{"price_unverified", "market_unrated"}
		return f, nil
	}
	now := q.Yes
	if d.GetDirection() == "NO" {
		now = q.No
	}
	f.YesPriceBps, f.NoPriceBps, f.PriceVerified, f.Rated = &q.Yes, &q.No, true, true
	f.ScoreBasisBps = max(d.GetPriceBps(), now)
	if d.MaxSlippageBps != nil && now-d.GetPriceBps() > d.GetMaxSlippageBps() {
		return nil, ErrPriceMoved.With("reason", "moved").With("marketId", d.GetMarketId()).With("marketYesBps", f.GetMarketYesBps()).With("yesPriceBps", q.Yes).With("noPriceBps", q.No)
	}
	if off := now - d.GetPriceBps(); off > 1000 || off < -1000 {
		f.Warnings = []string{"price_off_market"}
	}
	return f, nil
}

// FileMany files one call after the other. The error of a call that came alone is
// that of the whole, as it is when a transport fails.
func (l *Ledger) FileMany(ctx context.Context, r *signalv1.FileManyRequest) (*signalv1.FileManyResponse, error) {
	out := &signalv1.FileManyResponse{}
	for _, c := range r.GetCalls() {
		filed, err := l.File(ctx, c)
		if err != nil && len(r.GetCalls()) == 1 {
			return nil, err
		}
		out.Answers = append(out.Answers, &signalv1.FileAnswer{
			Id: filed.GetId(), Replayed: filed.GetReplayed(), Filing: filed.GetFiling(),
			Refusal: l.enclose(ctx, signalv1.SignalService_File_FullMethodName, c.GetRequestId(), err),
		})
	}
	return out, nil
}

func (l *Ledger) signalOf(owner string, d *signalv1.Draft, f *signalv1.Filing) *signalv1.Signal {
	op, m := l.Operators[owner], l.Markets[d.GetMarketId()]
	s := &signalv1.Signal{
		Id: d.GetId(), PublicId: op.GetPublicId(), Handle: op.GetHandle(), ProviderId: op.GetProviderId(),
		DisplayName: op.GetDisplayName(), Tier: op.GetTier(), MarketId: d.GetMarketId(), MarketTitle: m.GetTitle(),
		Direction: d.GetDirection(), PriceBps: d.GetPriceBps(), CrowdYesBps: d.CrowdYesBps, Confidence: d.Confidence,
		TextTake: d.TextTake, Status: "pending", CreatedAt: l.stamp(), TimeToResolution: d.TimeToResolution,
		Source: proto.String(d.GetSource()), Lane: m.GetLane(),
		ScoreBasisBps: f.GetScoreBasisBps(), PriceVerified: f.GetPriceVerified(), Rated: f.GetRated(),
		MarketYesBps: f.MarketYesBps, ClosesAt: m.GetEndDate(),
	}
	if f.GetPriceVerified() {
		s.QuoteAt = l.stamp()
	}
	return s
}

// AppendEvent takes the same event id once.
func (l *Ledger) AppendEvent(ctx context.Context, r *signalv1.AppendEventRequest) (*signalv1.AppendEventResponse, error) {
	return do(ctx, l, "AppendEvent", func() (*signalv1.AppendEventResponse, error) { return l.appendEvent(r) })
}

func (l *Ledger) appendEvent(r *signalv1.AppendEventRequest) (*signalv1.AppendEventResponse, error) {
	owner, err := l.owner(r.GetCaller())
	if err != nil {
		return nil, err
	}
	f := l.find(r.GetSignalId())
	switch {
	case f == nil:
		return nil, ErrNotFound
	case f.Owner != owner:
		return nil, ErrForbidden
	}
	for _, e := range f.Events {
		if e.GetId() == r.GetEventId() {
			if e.GetType() != r.GetType() || e.GetPayload() != r.GetPayload() {
				return nil, ErrReused
			}
			return &signalv1.AppendEventResponse{Event: e}, nil
		}
	}
	if len(f.Events) >= 200 {
		return nil, ErrEventLimit
	}
	e := &signalv1.Event{
		Id: r.GetEventId(), Type: r.GetType(), Payload: r.GetPayload(), Actor: proto.String("owner"), CreatedAt: l.stamp(),
	}
	f.Events = append(f.Events, e)
	return &signalv1.AppendEventResponse{Event: e}, nil
}

func (l *Ledger) find(id string) *Filed {
	for _, f := range l.Signals {
		if f.Signal.GetId() == id {
			return f
		}
	}
	return nil
}

// GetSignal reads one.
func (l *Ledger) GetSignal(ctx context.Context, r *signalv1.GetSignalRequest) (*signalv1.GetSignalResponse, error) {
	return do(ctx, l, "GetSignal", func() (*signalv1.GetSignalResponse, error) {
		f := l.find(r.GetId())
		if f == nil {
			return nil, ErrNotFound
		}
		return &signalv1.GetSignalResponse{Signal: f.Signal}, nil
	})
}

// ListEvents reads a history.
func (l *Ledger) ListEvents(ctx context.Context, r *signalv1.ListEventsRequest) (*signalv1.ListEventsResponse, error) {
	return do(ctx, l, "ListEvents", func() (*signalv1.ListEventsResponse, error) {
		f := l.find(r.GetSignalId())
		if f == nil {
			return nil, ErrNotFound
		}
		return &signalv1.ListEventsResponse{Events: f.Events}, nil
	})
}

// ListFeed shows the newest first; only the open feed carries the mark.
func (l *Ledger) ListFeed(ctx context.Context, r *signalv1.ListFeedRequest) (*signalv1.ListFeedResponse, error) {
	return do(ctx, l, "ListFeed", func() (*signalv1.ListFeedResponse, error) {
		out := &signalv1.ListFeedResponse{}
		for _, f := range slices.Backward(l.Signals) {
			if len(out.Signals) == int(r.GetLimit()) {
				break
			}
			if r.GetCategory() != "" && l.Markets[f.Signal.GetMarketId()].GetCategory() != r.GetCategory() {
				continue
			}
			if r.GetType() == "beat_crowd" && f.Signal.GetStatus() != "won" {
				continue
			}
			s := proto.CloneOf(f.Signal)
			if r.GetType() == "open" {
				if s.GetStatus() != "pending" {
					continue
				}
				if yes := l.Markets[s.GetMarketId()].YesBps; yes != nil {
					s.LiveYesBps = yes
					s.MoveBps = proto.Int32(*yes - s.GetPriceBps())
					if s.GetDirection() == "NO" {
						s.MoveBps = proto.Int32(10000 - *yes - s.GetPriceBps())
					}
				}
			}
			out.Signals = append(out.Signals, s)
		}
		return out, nil
	})
}

// ListLedger pages by the id of the last row.
func (l *Ledger) ListLedger(ctx context.Context, r *signalv1.ListLedgerRequest) (*signalv1.ListLedgerResponse, error) {
	return do(ctx, l, "ListLedger", func() (*signalv1.ListLedgerResponse, error) {
		out := &signalv1.ListLedgerResponse{}
		begun := r.GetCursor() == ""
		for _, f := range slices.Backward(l.Signals) {
			s := f.Signal
			if s.GetMarketId() != r.GetMarketId() {
				continue
			}
			if s.GetDirection() == "YES" {
				out.Yes++
			} else {
				out.No++
			}
			switch {
			case !begun:
				begun = s.GetId() == r.GetCursor()
			case len(out.Signals) < int(r.GetLimit()):
				out.Signals = append(out.Signals, s)
			case out.GetNextCursor() == "":
				out.NextCursor = out.Signals[len(out.Signals)-1].GetId()
			}
		}
		return out, nil
	})
}

// GetCrowd counts everybody.
func (l *Ledger) GetCrowd(ctx context.Context, r *signalv1.GetCrowdRequest) (*signalv1.GetCrowdResponse, error) {
	return do(ctx, l, "GetCrowd", func() (*signalv1.GetCrowdResponse, error) {
		out := &signalv1.GetCrowdResponse{UpdatedAt: l.stamp()}
		for _, f := range l.Signals {
			if f.Signal.GetMarketId() != r.GetMarketId() {
				continue
			}
			if f.Signal.GetDirection() == "YES" {
				out.Yes++
			} else {
				out.No++
			}
			if f.Owner == r.GetOperatorId() {
				out.Own = f.Signal
			}
		}
		if out.Yes+out.No >= 3 {
			out.TopYesPercent, out.TopSample = proto.Int32(67), 3
		}
		return out, nil
	})
}
