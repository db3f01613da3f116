package memledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
)

// GetMarket reads one.
func (l *Ledger) GetMarket(ctx context.Context, r *marketv1.GetMarketRequest) (*marketv1.GetMarketResponse, error) {
	return do(ctx, l, "GetMarket", func() (*marketv1.GetMarketResponse, error) {
		m := l.Markets[r.GetId()]
		if m == nil {
			return nil, ErrMarketNotFound
		}
		return &marketv1.GetMarketResponse{Market: m}, nil
	})
}

// ListAirable shows open markets with a price and time left, the soonest first.
func (l *Ledger) ListAirable(ctx context.Context, r *marketv1.ListAirableRequest) (*marketv1.ListAirableResponse, error) {
	return do(ctx, l, "ListAirable", func() (*marketv1.ListAirableResponse, error) {
		out := &marketv1.ListAirableResponse{}
		for _, m := range l.byID() {
			left := m.GetEndDate().AsTime().Sub(l.Now())
			if m.GetStatus() == "open" && m.YesBps != nil && left > 10*time.Minute && (r.GetLane() == "" || m.GetLane() == r.GetLane()) {
				out.Markets = append(out.Markets, m)
			}
		}
		slices.SortStableFunc(out.Markets, func(a, b *marketv1.Market) int {
			return a.GetEndDate().AsTime().Compare(b.GetEndDate().AsTime())
		})
		out.Markets = out.Markets[:min(len(out.Markets), int(r.GetLimit()))]
		return out, nil
	})
}

// CreateNative makes a market of the service's own.
func (l *Ledger) CreateNative(ctx context.Context, r *marketv1.CreateNativeRequest) (*marketv1.CreateNativeResponse, error) {
	return do(ctx, l, "CreateNative", func() (*marketv1.CreateNativeResponse, error) {
		m, err := l.createNative(r)
		if err != nil {
			return nil, err
		}
		return &marketv1.CreateNativeResponse{Market: m}, nil
	})
}

// SetRated sets whether calls on a market count.
func (l *Ledger) SetRated(ctx context.Context, r *marketv1.SetRatedRequest) (*marketv1.SetRatedResponse, error) {
	return do(ctx, l, "SetRated", func() (*marketv1.SetRatedResponse, error) {
		m, was := l.Markets[r.GetId()], l.Outcomes[r.GetId()]
		switch {
		case m == nil:
			return nil, ErrMarketNotFound
		case was.GetOutcome() != "":
			return nil, resolved(was)
		}
		m.Rated = r.GetRated()
		return &marketv1.SetRatedResponse{Market: m}, nil
	})
}

// Finalize claims once.
func (l *Ledger) Finalize(ctx context.Context, r *resolutionv1.FinalizeRequest) (*resolutionv1.ClaimResponse, error) {
	return do(ctx, l, "Finalize", func() (*resolutionv1.ClaimResponse, error) {
		o := &resolutionv1.Outcome{Resolver: &r.Resolver, Source: &r.Source}
		if r.GetProofUrl() != "" {
			o.ProofUrl = &r.ProofUrl
		}
		return l.claim(r.GetMarketId(), r.GetVerdict(), r.DecidedAt, o)
	})
}

// Force claims once.
func (l *Ledger) Force(ctx context.Context, r *resolutionv1.ForceRequest) (*resolutionv1.ClaimResponse, error) {
	return do(ctx, l, "Force", func() (*resolutionv1.ClaimResponse, error) {
		return l.claim(r.GetMarketId(), r.GetVerdict(), r.DecidedAt, &resolutionv1.Outcome{Resolver: proto.String("admin"), Source: proto.String("admin")})
	})
}

func resolved(o *resolutionv1.Outcome) error {
	return ErrResolved.With("outcome", map[string]any{"outcome": o.GetOutcome(), "resolver": o.GetResolver()})
}

func (l *Ledger) claim(id, verdict string, decided *timestamppb.Timestamp, o *resolutionv1.Outcome) (*resolutionv1.ClaimResponse, error) {
	m, was := l.Markets[id], l.Outcomes[id]
	switch {
	case decided != nil && decided.AsTime().After(l.stamp().AsTime()):
		return nil, ErrDecided
	case m == nil:
		return nil, ErrMarketNotFound
	case was.GetDisputed():
		return nil, ErrDisputed
	case was != nil:
		return nil, resolved(was)
	}
	if decided != nil {
		l.DecidedAt = append(l.DecidedAt, decided.AsTime())
	}
	o.Outcome, o.ResolvedAt = &verdict, l.stamp()
	l.Outcomes[id] = o
	m.Status, m.ResolutionValue = "resolved", &verdict
	t := &resolutionv1.Tally{}
	for _, f := range l.Signals {
		if f.Signal.GetMarketId() != id {
			continue
		}
		t.Scored++
		switch {
		case verdict == "INVALID":
			t.Void++
			f.Signal.Status, f.Signal.Score = "void", proto.Int32(0)
		case f.Signal.GetDirection() == verdict:
			t.Won++
			f.Signal.Status, f.Signal.Score, f.Signal.Outcome = "won", proto.Int32((10000-f.Signal.GetPriceBps())/100), &verdict
		default:
			t.Lost++
			f.Signal.Status, f.Signal.Score, f.Signal.Outcome = "lost", proto.Int32(-(f.Signal.GetPriceBps()+99)/100), &verdict
		}
		f.Signal.ResolvedAt = l.stamp()
	}
	return &resolutionv1.ClaimResponse{Outcome: o, Tally: t}, nil
}

// Scan answers what the test put there.
func (l *Ledger) Scan(ctx context.Context, _ *resolutionv1.ScanRequest) (*resolutionv1.ScanResponse, error) {
	return do(ctx, l, "Scan", func() (*resolutionv1.ScanResponse, error) {
		if l.ScanReply == nil {
			return &resolutionv1.ScanResponse{}, nil
		}
		return l.ScanReply, nil
	})
}

// Dispute sets and clears the flag.
func (l *Ledger) Dispute(ctx context.Context, r *resolutionv1.DisputeRequest) (*resolutionv1.DisputeResponse, error) {
	return do(ctx, l, "Dispute", func() (*resolutionv1.DisputeResponse, error) {
		id := r.GetMarketId()
		if l.Markets[id] == nil {
			return nil, ErrMarketNotFound
		}
		o := l.Outcomes[id]
		if o == nil {
			o = &resolutionv1.Outcome{}
		}
		l.Markets[id].Disputed = r.GetDisputed()
		if r.GetDisputed() {
			o.Disputed, o.DisputeReason, o.DisputedAt = true, r.Reason, l.stamp()
			l.Outcomes[id] = o
			return &resolutionv1.DisputeResponse{Outcome: o}, nil
		}
		o.Disputed, o.DisputeReason, o.DisputedAt = false, nil, nil
		if o.Outcome == nil {
			delete(l.Outcomes, id)
			return &resolutionv1.DisputeResponse{}, nil
		}
		return &resolutionv1.DisputeResponse{Outcome: o, Scored: 0}, nil
	})
}

// GetOutcome is empty when there is neither claim nor flag.
func (l *Ledger) GetOutcome(ctx context.Context, r *resolutionv1.GetOutcomeRequest) (*resolutionv1.GetOutcomeResponse, error) {
	return do(ctx, l, "GetOutcome", func() (*resolutionv1.GetOutcomeResponse, error) {
		return &resolutionv1.GetOutcomeResponse{Outcome: l.Outcomes[r.GetMarketId()]}, nil
	})
}

// ListNative shows the native markets of a status, ordered by id.
func (l *Ledger) ListNative(ctx context.Context, r *resolutionv1.ListNativeRequest) (*resolutionv1.ListNativeResponse, error) {
	return do(ctx, l, "ListNative", func() (*resolutionv1.ListNativeResponse, error) {
		out := &resolutionv1.ListNativeResponse{}
		for i := 1; i <= len(l.Markets)+1; i++ {
			m := l.Markets[fmt.Sprintf("native-%010d", i)]
			wanted := m != nil && (r.GetStatus() == "all" || r.GetStatus() == "open" && m.GetStatus() != "resolved" || m.GetStatus() == r.GetStatus())
			if !wanted || r.GetDue() && !m.GetEndDate().AsTime().Before(l.Now()) || len(out.Markets) == int(r.GetLimit()) {
				continue
			}
			out.Markets = append(out.Markets, &resolutionv1.NativeMarket{Market: m})
		}
		return out, nil
	})
}

// ListBroadcast answers what the test put there.
func (l *Ledger) ListBroadcast(ctx context.Context, r *boardv1.ListBroadcastRequest) (*boardv1.ListBroadcastResponse, error) {
	return do(ctx, l, "ListBroadcast", func() (*boardv1.ListBroadcastResponse, error) {
		l.LastBoard = r
		rows := l.Board[:min(len(l.Board), int(r.GetLimit()))]
		return &boardv1.ListBroadcastResponse{Rows: rows, UpdatedAt: l.stamp()}, nil
	})
}

// GetRecord counts what the operator filed.
func (l *Ledger) GetRecord(ctx context.Context, r *boardv1.GetRecordRequest) (*boardv1.GetRecordResponse, error) {
	return do(ctx, l, "GetRecord", func() (*boardv1.GetRecordResponse, error) {
		out := &boardv1.GetRecordResponse{}
		for _, f := range l.Signals {
			if f.Owner != r.GetOperatorId() {
				continue
			}
			out.Total++
			if f.Signal.GetStatus() == "won" {
				out.Won++
			}
			out.Score += int64(f.Signal.GetScore())
		}
		return out, nil
	})
}

// GetProgram answers what the test put there.
func (l *Ledger) GetProgram(ctx context.Context, r *programv1.GetProgramRequest) (*programv1.GetProgramResponse, error) {
	return do(ctx, l, "GetProgram", func() (*programv1.GetProgramResponse, error) {
		l.LastProgram = r
		return &programv1.GetProgramResponse{Program: l.Program}, nil
	})
}
