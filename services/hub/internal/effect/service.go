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

// Names of credentials in attestations. An attestation of a call names the credential with which the call was filed.
const (
	ByToken = "app_token"
	ByKey   = "operator_key"
)

// Config holds the dependencies and settings of a Service.
type Config struct {
	Issuer   string // base URL of the protocol
	Now      func() time.Time
	NewID    func() string // returns a new UUIDv7
	Ledger   *ledgerclient.Client
	Filer    *signal.Service
	Attester *message.Service
	Store    Store
}

// PendingAttestation is a stored entry for an attestation that must still be made.
type PendingAttestation struct {
	Subject string
	Body    []byte
	At      time.Time
}

// Store stores due attestations. Error of all methods: db_unavailable.
type Store interface {
	// AddPending adds an attestation unless one with the same subject is stored.
	AddPending(ctx context.Context, d PendingAttestation) error
	// ListPending lists attestations that were added before a time, oldest first.
	ListPending(ctx context.Context, before time.Time, limit int) ([]PendingAttestation, error)
	// DropPending deletes the attestation of a subject.
	DropPending(ctx context.Context, subject string) error
}

// Service files and attests calls of clients that do not sign messages. It also attests market outcomes and live sessions.
type Service struct{ Config }

// NewService builds a Service. All fields of c are required.
func NewService(c Config) *Service { return &Service{c} }

// Caller is the authenticated operator for whom a call is filed.
type Caller struct {
	Actor      operator.Actor
	DenpaID    string
	AppID      string // empty: none
	Credential string // ByToken or ByKey
}

// Request describes a call to file, and the conditions for filing it.
type Request struct {
	Type            message.Type // signal.create or prediction.create
	Payload         []byte       // canonical payload of Type
	MaxSlippage     *int32       // in basis points; nil: no limit
	AllowUnverified bool         // accept a call without a fresh quote even with MaxSlippage
	DryRun          bool         // check the call and store nothing
	IdempotencyKey  string       // empty: none
	BodyHash        []byte
}

// Filed is the result of filing a call. After a dry run, the ids and the URI are empty.
type Filed struct {
	SignalID  string
	MessageID message.ID
	URI       string
	Filing    *signalv1.Filing
	// Unconfirmed reports, for a dry run, that no venue has confirmed the market.
	Unconfirmed bool
}

// dueCall is the JSON body of a PendingAttestation for a call. The attestation also uses data that the ledger stores.
type dueCall struct {
	Type       message.Type
	DenpaID    string
	AppID      string
	Credential string
	SignalID   string
	Payload    json.RawMessage
}

const callSubject = "call:"

// File files a call and attests it. After db_unavailable or signal_service_unavailable, the call may have been stored. A retry
// without an idempotency key then returns already_predicted, and Sweep attests the call. Errors: invalid_request, and the errors
// of signal.Service.
func (s *Service) File(ctx context.Context, by Caller, r Request) (Filed, error) {
	p, err := message.ReadPayload(r.Type, r.Payload, false)
	if err != nil {
		return Filed{}, err
	}
	c, ok := p.(*message.Call)
	if !ok {
		return Filed{}, fmt.Errorf("%s is not the type of a call", r.Type)
	}
	draft, err := draftOf(ctx, s.Ledger, c)
	if err != nil {
		return Filed{}, err
	}
	draft.MaxSlippageBps, draft.AllowUnverified = r.MaxSlippage, r.AllowUnverified
	if r.DryRun {
		would, err := s.Filer.DryRunFile(ctx, by.Actor, draft)
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
			_ = s.Store.DropPending(ctx, callSubject+draft.Id) // if this fails, Sweep finds no call and deletes it
		}
		return Filed{}, err
	}
	due.SignalID = filed.GetId() // an earlier id if the idempotency key was used before
	record, err := s.attestCall(ctx, due)
	if err != nil {
		return Filed{}, err
	}
	_ = s.Store.DropPending(ctx, callSubject+draft.Id) // if this fails, Sweep attests it again, which changes nothing
	return Filed{SignalID: filed.GetId(), MessageID: record.ID, URI: URI(by.DenpaID, filed.GetId()), Filing: filed.GetFiling()}, nil
}

// URI returns an identifier of a call that is unique across stations.
func URI(denpaID, signalID string) string { return "denpa:" + denpaID + "/signal/" + signalID }

// note stores a due attestation, so that Sweep completes it after a crash.
func (s *Service) note(ctx context.Context, subject string, due any) error {
	body, err := json.Marshal(due)
	if err != nil {
		return fmt.Errorf("note %s: %w", subject, err)
	}
	return s.Store.AddPending(ctx, PendingAttestation{Subject: subject, Body: body, At: s.Now().UTC()})
}

// attestCall attests a call with the data that the ledger stores. Error: not_found if the ledger has no such call.
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

// dueOutcome is the JSON body of a PendingAttestation for the outcome of a market. The outcome itself is read from the ledger.
type dueOutcome struct {
	MarketID protocol.MarketID
	Reason   string
}

const outcomeSubject = "outcome:"

// ExpectOutcome stores that the outcome of a market must be attested. The caller must call it before it finalizes the market.
// Error: db_unavailable.
func (s *Service) ExpectOutcome(ctx context.Context, id protocol.MarketID, reason string) error {
	return s.note(ctx, outcomeSubject+string(id), dueOutcome{MarketID: id, Reason: reason})
}

// AttestOutcome attests the outcome of a market in the name of the hub, and deletes the due entry. If the market has no outcome,
// it only deletes the entry.
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
	return s.Store.DropPending(ctx, outcomeSubject+string(id))
}

// HubID returns the denpaId of the hub. It is a UUID of version 8, derived from the issuer.
func HubID(issuer string) string { return idOf("hub\n" + issuer) }

// idOf returns a UUID of version 8 (RFC 9562 5.8) that is derived from text.
func idOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	id := uuid.UUID(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id.String()
}

// Sweep makes the due attestations that remain after a crash or an outage, and returns the number of completed attestations. A
// failing attestation does not delay others; Sweep returns the last error. Concurrent calls are safe.
func (s *Service) Sweep(ctx context.Context) (settled int, err error) {
	now := s.Now().UTC()
	list, err := s.Store.ListPending(ctx, now.Add(-dueAfter), dueBatch)
	if err != nil {
		return 0, err
	}
	for _, d := range list {
		failed := s.finish(ctx, d)
		if failed != nil && now.Sub(d.At) > dueLife {
			failed = errors.Join(fmt.Errorf("attestation dropped after %s: %w", dueLife, failed), s.Store.DropPending(ctx, d.Subject))
		}
		if failed != nil {
			err = fmt.Errorf("attest %s: %w", d.Subject, failed)
			continue
		}
		settled++
	}
	return settled, err
}

// finish makes a due attestation and deletes its entry. If the ledger has no such call, it only deletes the entry, because the
// request that stored the entry ended long ago.
func (s *Service) finish(ctx context.Context, d PendingAttestation) error {
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
	return s.Store.DropPending(ctx, d.Subject)
}
