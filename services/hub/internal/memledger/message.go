package memledger

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/signalcast/signalcast/pkg/fault"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
)

// ErrLimited is the ledger's answer to a message too many in a day.
var ErrLimited = fault.New(fault.Limited, "rate_limited", "")

// effect is what a message has done.
type effect struct{ kind, user, subject string }

// once does what a message asks for unless it was done; daily 0 is any number.
func (l *Ledger) once(message, kind, user string, daily int, act func() (string, error)) (string, error) {
	if was, done := l.effects[message]; done {
		return was.subject, nil
	}
	if l.Operators[user] == nil {
		return "", ErrForbidden
	}
	n := 0
	for _, e := range l.effects {
		if e.kind == kind && e.user == user {
			n++
		}
	}
	if daily > 0 && n >= daily {
		return "", ErrLimited.With("limit", daily).With("retryAfterMs", 60_000)
	}
	subject, err := act()
	if err == nil {
		if l.effects == nil {
			l.effects = map[string]effect{}
		}
		l.effects[message] = effect{kind, user, subject}
	}
	return subject, err
}

// UpdateProfile changes what is given, once for a message.
func (l *Ledger) UpdateProfile(ctx context.Context, r *operatorv1.UpdateProfileRequest) (*operatorv1.UpdateProfileResponse, error) {
	return do(ctx, l, "UpdateProfile", func() (*operatorv1.UpdateProfileResponse, error) {
		_, err := l.once(r.GetMessageId(), "profile", r.GetOperatorId(), 0, func() (string, error) {
			op := l.Operators[r.GetOperatorId()]
			if r.DisplayName != nil {
				op.DisplayName = r.GetDisplayName()
			}
			if r.Bio != nil {
				op.Bio = r.Bio
			}
			if r.Avatar != nil {
				op.AvatarUrl = r.GetAvatar().Text
			}
			if r.PayoutAddress != nil {
				op.PayoutAddress = r.GetPayoutAddress().Text
			}
			if r.GetHasLinks() {
				op.Links = r.GetLinks()
			}
			if r.GetAutomated() && op.GetOperatorType() == "human" {
				op.OperatorType, op.Tier = "ai_agent", "automated"
			}
			return op.GetId(), nil
		})
		return &operatorv1.UpdateProfileResponse{}, err
	})
}

// GetSnapshot gives the price that a market shows.
func (l *Ledger) GetSnapshot(ctx context.Context, r *marketv1.GetSnapshotRequest) (*marketv1.GetSnapshotResponse, error) {
	return do(ctx, l, "GetSnapshot", func() (*marketv1.GetSnapshotResponse, error) {
		m := l.Markets[r.GetMarketId()]
		if m == nil {
			return nil, ErrMarketNotFound
		}
		return &marketv1.GetSnapshotResponse{YesBps: m.YesBps}, nil
	})
}

// Propose keeps what the market's creator proposes.
func (l *Ledger) Propose(ctx context.Context, r *resolutionv1.ProposeRequest) (*resolutionv1.ProposeResponse, error) {
	return do(ctx, l, "Propose", func() (*resolutionv1.ProposeResponse, error) {
		_, err := l.once(r.GetMessageId(), "proposal", r.GetOperatorId(), 20, func() (string, error) {
			m := l.Markets[r.GetMarketId()]
			switch {
			case m == nil:
				return "", ErrMarketNotFound
			case l.creators[m.GetId()] != r.GetOperatorId():
				return "", ErrForbidden
			case m.GetStatus() == "resolved":
				return "", ErrResolved
			}
			m.Provisional = true
			return m.GetId(), nil
		})
		return &resolutionv1.ProposeResponse{}, err
	})
}

// createNative makes a market, once for a message.
func (l *Ledger) createNative(r *marketv1.CreateNativeRequest) (*marketv1.Market, error) {
	act := func() (string, error) {
		if op := l.Operators[r.GetCreatedBy()]; r.GetMessageId() != "" && op.GetTier() == "automated" {
			return "", ErrForbidden
		}
		m := &marketv1.Market{
			Id: fmt.Sprintf("native-%010d", len(l.Markets)+1), Provider: "manual", Title: r.GetQuestion(),
			Description: r.GetDescription(), EndDate: r.GetCutoffAt(), Status: "open", YesBps: proto.Int32(r.GetInitialYesBps()),
			Volume: proto.Float64(0), VolumeUnit: "usd", Liquidity: proto.Float64(0), Lane: r.GetLane(), UpdatedAt: l.stamp(),
			ResolvesBy: r.GetResolvesBy(), ResolutionSource: r.ResolutionSource, CreatedAt: l.stamp(),
		}
		if l.creators == nil {
			l.creators = map[string]string{}
		}
		l.Markets[m.GetId()], l.creators[m.GetId()] = m, r.GetCreatedBy()
		return m.GetId(), nil
	}
	if r.GetMessageId() == "" {
		id, err := act()
		return l.Markets[id], err
	}
	id, err := l.once(r.GetMessageId(), "market", r.GetCreatedBy(), 5, act)
	return l.Markets[id], err
}
