package effect

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// Effects applies the payloads of signed messages to the ledger and to the live sessions of the hub.
type Effects struct {
	Ledger   *ledgerclient.Client
	Filer    *signal.Service
	Profiles *profile.Service
	Air      *livestream.Service
	Videos   []string // permitted hosts of a stream URL; empty: any host
}

// Apply applies the payload of a signed message. It returns the result of the message, such as the id of the filed call. If
// the type of the message has no result, it returns nil.
func (e *Effects) Apply(ctx context.Context, a message.Action) (message.Result, error) {
	switch p := a.Payload.(type) {
	case *message.Call:
		return e.call(ctx, a, p)
	case *message.Profile:
		if p.PayoutAddress.Given { // a message does not show that the user signed in recently
			return nil, operator.ErrSession
		}
		return nil, asPayload(e.Profiles.Apply(ctx, operator.ID(a.DenpaID), string(a.ID), profileOf(p)))
	case *message.Market:
		d := marketOf(a, p)
		r, err := e.Ledger.MarketWrites.CreateNative(ctx, d.Request())
		if err != nil {
			return nil, asPayload(err)
		}
		return message.Result{"marketId": r.GetMarket().GetId()}, nil
	case *message.Resolution:
		_, err := e.Ledger.ResolutionWrites.Propose(ctx, &resolutionv1.ProposeRequest{
			MarketId: string(p.MarketID), OperatorId: a.DenpaID, MessageId: string(a.ID),
			Verdict: p.Verdict, ProofUrl: p.ProofURL, Reason: p.Reason,
		})
		if err != nil {
			return nil, asPayload(err)
		}
		return message.Result{"marketId": string(p.MarketID)}, nil
	case *message.Station:
		if err := e.station(ctx, a, p); err != nil {
			return nil, asPayload(err)
		}
		return message.Result{"stationId": p.StationID}, nil
	case *message.Broadcast:
		return e.broadcast(ctx, a, p)
	case *message.GoLive:
		return e.goLive(ctx, a, p)
	}
	return nil, nil
}

// call files the call of a signed message and returns its id. It also succeeds if an earlier attempt has filed the call.
func (e *Effects) call(ctx context.Context, a message.Action, c *message.Call) (message.Result, error) {
	id := signalID(a)
	draft, err := draftOf(ctx, e.Ledger, c)
	if err == nil {
		draft.Id = id
		_, err = e.Filer.File(ctx, operator.Actor{ID: operator.ID(a.DenpaID)}, draft)
	} else if f := apperr.Of(err); f.Kind == apperr.Invalid || f.Kind == apperr.NotFound {
		// The market may have no price now although an earlier attempt filed the call; that call remains.
		if _, missing := e.Ledger.Signals.GetSignal(ctx, &signalv1.GetSignalRequest{Id: id}); missing == nil {
			err = nil
		} else if !errors.Is(missing, signal.ErrUnknown) {
			err = missing
		}
	}
	if err != nil {
		return nil, asPayload(err)
	}
	return message.Result{"signalId": id}, nil
}

// signalID returns a UUIDv7 for the call that a message files. It is derived from the id and the receipt time of the message,
// so all attempts use the same id.
func signalID(a message.Action) string {
	sum := sha256.Sum256([]byte("signal\n" + a.ID))
	var id uuid.UUID
	copy(id[6:], sum[:])
	ms := uint64(a.ReceivedAt.UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id.String()
}

// errPrice is the error of a call without a stated price on a market without a recent price.
var errPrice = message.ErrInvalid.With("field", "priceBps").
	WithText("priceBps is required: the market has no price of the last 15 minutes")

// draftOf returns the draft of a call. A call without a stated price gets the current price of its side. Errors: errPrice, and
// the errors of the ledger, such as market_not_found.
func draftOf(ctx context.Context, ledger *ledgerclient.Client, c *message.Call) (*signalv1.Draft, error) {
	d := &signalv1.Draft{
		MarketId: string(c.MarketID), Direction: string(c.Position), Source: string(protocol.SourceAPI),
		TextTake: filled(c.Take), MarketTitle: filled(c.MarketTitle),
	}
	if c.Confidence != nil {
		n := int32(*c.Confidence)
		d.Confidence = &n
	}
	if c.PriceBps != nil {
		d.PriceBps = int32(*c.PriceBps)
		return d, nil
	}
	r, err := ledger.Markets.GetSnapshot(ctx, &marketv1.GetSnapshotRequest{MarketId: string(c.MarketID)})
	switch {
	case err != nil:
		return d, err
	case r.YesBps == nil:
		return d, errPrice
	}
	if d.PriceBps = r.GetYesBps(); c.Position == protocol.No {
		d.PriceBps = int32(protocol.MaxBps) - r.GetYesBps()
	}
	return d, nil
}

// filled returns s, or nil if s points to an empty text.
func filled(s *string) *string {
	if s == nil || *s == "" {
		return nil
	}
	return s
}

// station registers or changes a partner station, at most once per message.
func (e *Effects) station(ctx context.Context, a message.Action, p *message.Station) error {
	draft := &stationv1.Draft{
		StationId: p.StationID, Name: p.Name, Url: p.URL, Description: p.Description, TapesUrl: p.TapesURL, OperatorsUrl: p.OperatorsURL,
		Status: p.Status, HasLanes: p.Lanes != nil, HasProviders: p.Providers != nil,
	}
	for _, lane := range p.Lanes {
		draft.Lanes = append(draft.Lanes, string(lane))
	}
	for _, provider := range p.Providers {
		draft.Providers = append(draft.Providers, string(provider))
	}
	by, id := a.DenpaID, string(a.ID)
	if a.Type == message.StationUpdate {
		_, err := e.Ledger.StationWrites.UpdateStation(ctx, &stationv1.UpdateStationRequest{OperatorId: by, MessageId: id, Draft: draft})
		return err
	}
	_, err := e.Ledger.StationWrites.CreateStation(ctx, &stationv1.CreateStationRequest{OperatorId: by, MessageId: id, Draft: draft})
	return err
}

func profileOf(p *message.Profile) operator.Profile {
	return operator.Profile{
		DisplayName: p.DisplayName, Bio: p.Bio, Links: p.Links,
		Avatar: operator.Change(p.Avatar), PayoutAddress: operator.Change(p.PayoutAddress),
	}
}

func marketOf(a message.Action, p *message.Market) market.Draft {
	d := market.Draft{
		Question: p.Question, CutoffAt: p.CutoffAt, Lane: p.Lane, ResolutionSource: p.ResolutionSource,
		InitialYes: market.DefaultYes, CreatedBy: a.DenpaID, MessageID: string(a.ID),
	}
	if p.Description != nil {
		d.Description = *p.Description
	}
	if p.ResolvesBy != nil {
		d.ResolvesBy = *p.ResolvesBy
	}
	if p.InitialYesBps != nil {
		d.InitialYes = *p.InitialYesBps
	}
	return d
}

// asPayload converts a ledger error of kind Invalid to message.ErrInvalid with the same text and field. It returns other errors
// unchanged.
func asPayload(err error) error {
	if err == nil {
		return nil
	}
	f := apperr.Of(err)
	if f.Kind != apperr.Invalid {
		return err
	}
	out := message.ErrInvalid.With("reason", message.ReasonPayload).WithText("%s", f.Message)
	if field, ok := f.Extra["field"]; ok {
		out = out.With("field", field)
	}
	return out
}

// dueAfter is the minimum age of an attestation that Sweep completes. dueBatch is the maximum number of attestations per round.
// dueLife is the age after which an attestation that still fails is deleted.
const (
	dueAfter = time.Minute
	dueBatch = 50
	dueLife  = 24 * time.Hour
)
