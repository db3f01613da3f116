package effect

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// Credentials that calls are filed with.
const (
	ByToken = "app_token"
	ByKey   = "operator_key"
)

// Config is what a Service is made of.
type Config struct {
	Issuer   string // the base address of the protocol
	Now      func() time.Time
	NewID    func() string // uuid v7
	Ledger   *ledgerclient.Client
	Filer    *signal.Service
	Attester *message.Service
	Store    Store
}

// Due is an attestation to come.
type Due struct {
	Subject string
	Body    []byte
	At      time.Time
}

// Store stores attestations that are due. Fault of all: db_unavailable.
type Store interface {
	// AddDue adds an attestation unless its subject is stored.
	AddDue(ctx context.Context, d Due) error
	// ListDues lists what was added before that time, the oldest first.
	ListDues(ctx context.Context, before time.Time, limit int) ([]Due, error)
	// DropDue deletes the attestation of a subject.
	DropDue(ctx context.Context, subject string) error
}

// Service files calls for callers who sign nothing, and attests what it did.
type Service struct{ Config }

// NewService needs all of the configuration.
func NewService(c Config) *Service { return &Service{c} }

// Caller is for whom a call is filed; all of it was verified.
type Caller struct {
	Actor      operator.Actor
	DenpaID    string
	AppID      string // empty: none
	Credential string // ByToken or ByKey
}

// Request is one creation call.
type Request struct {
	Type            message.Type // signal.create or prediction.create
	Payload         []byte       // canonical, as the type has it
	MaxSlippage     *int32       // in bps; nil: no bound
	AllowUnverified bool         // MaxSlippage does not refuse a call without a fresh quote
	DryRun          bool         // check everything and store nothing
	IdempotencyKey  string       // empty: none
	BodyHash        []byte
}

// Filed is what became of a creation call; a dry run has no ids.
type Filed struct {
	SignalID  string
	MessageID message.ID
	URI       string
	Filing    *signalv1.Filing
	// Unconfirmed states that no venue has confirmed the market of a dry run.
	Unconfirmed bool
}

// dueCall is what the ledger does not say about a filed call.
type dueCall struct {
	Type       message.Type
	DenpaID    string
	AppID      string
	Credential string
	SignalID   string
	Payload    json.RawMessage
}

const callSubject = "call:"

// File files a call and attests it. Faults: invalid_request, and those of
// signal.Service. With db_unavailable and signal_service_unavailable the call may
// stand: asked again it is already_predicted, and Sweep attests it.
func (s *Service) File(ctx context.Context, by Caller, r Request) (Filed, error) {
	p, err := message.ReadPayload(r.Type, r.Payload, false)
	if err != nil {
		return Filed{}, err
	}
	c, ok := p.(*message.Call)
	if !ok {
		return Filed{}, fmt.Errorf("%s is no call", r.Type)
	}
	draft, err := draftOf(ctx, s.Ledger, c)
	if err != nil {
		return Filed{}, err
	}
	draft.MaxSlippageBps, draft.AllowUnverified = r.MaxSlippage, r.AllowUnverified
	if r.DryRun {
		would, err := s.Filer.RehearseFile(ctx, by.Actor, draft)
		return Filed{Filing: would.GetFiling(), Unconfirmed: would.GetSignal().GetUnconfirmed()}, err
	}
	draft.Id = s.NewID()
	if r.IdempotencyKey != "" {
		draft.IdempotencyKey, draft.BodyHash = &r.IdempotencyKey, r.BodyHash
	}
	due := dueCall{
		Type: r.Type, DenpaID: by.DenpaID, AppID: by.AppID, Credential: by.Credential, SignalID: draft.Id, Payload: r.Payload,
	}
	if err := s.note(ctx, callSubject+draft.Id, due); err != nil {
		return Filed{}, err
	}
	filed, err := s.Filer.File(ctx, by.Actor, draft)
	if err != nil {
		if f := apperr.Of(err); f.Kind != apperr.Internal && f.Kind != apperr.Unavailable {
			_ = s.Store.DropDue(ctx, callSubject+draft.Id) // else the sweep finds that nothing came of it
		}
		return Filed{}, err
	}
	due.SignalID = filed.GetId() // another one when the idempotency key was used before
	record, err := s.attestCall(ctx, due)
	if err != nil {
		return Filed{}, err
	}
	_ = s.Store.DropDue(ctx, callSubject+draft.Id) // else the sweep attests it once more, which changes nothing
	return Filed{SignalID: filed.GetId(), MessageID: record.ID, URI: URI(by.DenpaID, filed.GetId()), Filing: filed.GetFiling()}, nil
}

// URI names a signal across stations.
func URI(denpaID, signalID string) string { return "denpa:" + denpaID + "/signal/" + signalID }

// note writes down what will be attested.
func (s *Service) note(ctx context.Context, subject string, due any) error {
	body, err := json.Marshal(due)
	if err != nil {
		return fmt.Errorf("note %s: %w", subject, err)
	}
	return s.Store.AddDue(ctx, Due{Subject: subject, Body: body, At: s.Now().UTC()})
}

// attestCall attests a call as the ledger has it. Fault: not_found.
func (s *Service) attestCall(ctx context.Context, d dueCall) (message.Record, error) {
	r, err := s.Ledger.Signals.GetSignal(ctx, &signalv1.GetSignalRequest{Id: d.SignalID})
	if err != nil {
		return message.Record{}, err
	}
	filed := r.GetSignal()
	payload := map[string]any{}
	if err := json.Unmarshal(d.Payload, &payload); err != nil {
		return message.Record{}, fmt.Errorf("read payload of %s: %w", d.SignalID, err)
	}
	payload["signalId"], payload["priceAtPrediction"] = filed.GetId(), int(filed.GetPriceBps())
	payload["credential"], payload["filedAt"] = d.Credential, ledgerclient.Stamp(filed.GetCreatedAt())
	return s.Attester.Attest(ctx, message.Attestation{
		Type: d.Type, DenpaID: d.DenpaID, AppID: d.AppID, Subject: filed.GetId(), Payload: payload,
		Result: message.Result{"signalId": filed.GetId()},
	})
}

// dueOutcome is what the ledger does not say about a finalized market.
type dueOutcome struct {
	MarketID protocol.MarketID
	Reason   string
}

const outcomeSubject = "outcome:"

// ExpectOutcome notes that a market is about to be finalized. Fault: db_unavailable.
func (s *Service) ExpectOutcome(ctx context.Context, id protocol.MarketID, reason string) error {
	return s.note(ctx, outcomeSubject+string(id), dueOutcome{MarketID: id, Reason: reason})
}

// AttestOutcome attests the outcome that was claimed of a market, in the hub's own
// name. Without a claim it does nothing.
func (s *Service) AttestOutcome(ctx context.Context, id protocol.MarketID, reason string) error {
	r, err := s.Ledger.Resolutions.GetOutcome(ctx, &resolutionv1.GetOutcomeRequest{MarketId: string(id)})
	if err != nil {
		return err
	}
	if o := r.GetOutcome(); o.GetOutcome() != "" {
		payload := map[string]any{
			"marketId": string(id), "verdict": o.GetOutcome(), "resolver": o.GetResolver(), "source": o.GetSource(),
		}
		if o.GetProofUrl() != "" {
			payload["proofUrl"] = o.GetProofUrl()
		}
		if reason != "" {
			payload["reason"] = reason
		}
		_, err = s.Attester.Attest(ctx, message.Attestation{
			Type: message.ResolutionCreate, DenpaID: HubID(s.Issuer), Subject: string(id), Payload: payload,
		})
		if err != nil {
			return err
		}
	}
	return s.Store.DropDue(ctx, outcomeSubject+string(id))
}

// HubID returns the denpaId of the hub: a UUID of version 8 derived from its issuer.
func HubID(issuer string) string { return idOf("hub\n" + issuer) }

// idOf returns a UUID of version 8 (RFC 9562 5.8) derived from a text.
func idOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	id := uuid.UUID(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id.String()
}

// Sweep attests what a crash or an outage left due and gives the number that it
// brought to an end. One that cannot be attested does not keep the others back; the
// error is of the last such one. Several may run at once.
func (s *Service) Sweep(ctx context.Context) (settled int, err error) {
	now := s.Now().UTC()
	list, err := s.Store.ListDues(ctx, now.Add(-dueAfter), dueBatch)
	if err != nil {
		return 0, err
	}
	for _, d := range list {
		failed := s.finish(ctx, d)
		if failed != nil && now.Sub(d.At) > dueLife {
			failed = errors.Join(fmt.Errorf("given up after %s: %w", dueLife, failed), s.Store.DropDue(ctx, d.Subject))
		}
		if failed != nil {
			err = fmt.Errorf("attest %s: %w", d.Subject, failed)
			continue
		}
		settled++
	}
	return settled, err
}

// finish attests one thing that was due, or finds that nothing came of it: whoever
// noted it has long stopped asking the ledger.
func (s *Service) finish(ctx context.Context, d Due) error {
	var call dueCall
	var outcome dueOutcome
	if strings.HasPrefix(d.Subject, liveSubject) {
		return s.finishLive(ctx, d)
	}
	if strings.HasPrefix(d.Subject, outcomeSubject) {
		if err := json.Unmarshal(d.Body, &outcome); err != nil {
			return err
		}
		return s.AttestOutcome(ctx, outcome.MarketID, outcome.Reason)
	}
	if err := json.Unmarshal(d.Body, &call); err != nil {
		return err
	}
	if _, err := s.attestCall(ctx, call); err != nil && !errors.Is(err, signal.ErrUnknown) {
		return err
	}
	return s.Store.DropDue(ctx, d.Subject)
}
