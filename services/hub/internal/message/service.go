package message

import (
	"context"
	"errors"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	moderationv1 "github.com/signalcast/signalcast/proto/moderation/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
)

// Config holds the dependencies and settings of a Service.
type Config struct {
	Issuer string // base URL of the protocol, which is part of the signed bytes
	Now    func() time.Time
	NewID  func() string // returns a new UUID
	Keys   *HubKeys
	Store  Store
	// Apply applies a message at most once per id. If a message is repeated, it returns the same result. An error with an HTTP
	// status from 400 to 429 refuses the message; nothing has then been changed. After any other error, the message is applied
	// again later.
	Apply func(context.Context, Action) (Result, error)
	// Operators reports revoked operator keys.
	Operators operatorv1.OperatorReadServiceClient
	// Moderation returns which texts moderation has hidden.
	Moderation moderationv1.ModerationServiceClient
}

// Service accepts, returns and attests messages, and manages their signers.
type Service struct{ Config }

// NewService builds a Service. All fields of c are required.
func NewService(c Config) *Service { return &Service{c} }

// now returns the current time in UTC, truncated to microseconds, the precision of the database.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// Get returns an accepted message. It omits the payload if moderation has hidden the text of the message. Errors: not_found,
// db_unavailable, signal_service_unavailable.
func (s *Service) Get(ctx context.Context, id string) (Record, error) {
	r, err := s.accepted(ctx, id)
	if err != nil {
		return Record{}, err
	}
	return s.shown(ctx, r)
}

// Accepted reports whether a message with this id has been accepted. Error: db_unavailable.
func (s *Service) Accepted(ctx context.Context, id ID) (bool, error) {
	_, err := s.accepted(ctx, string(id))
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// accepted returns an accepted message with its payload, even if its text is hidden. Errors: not_found, db_unavailable.
func (s *Service) accepted(ctx context.Context, id string) (Record, error) {
	known, ok := ParseID(id)
	if !ok {
		return Record{}, ErrNotFound
	}
	r, found, err := s.Store.FindMessage(ctx, known, "", "")
	if err == nil && (!found || r.Pending) {
		err = ErrNotFound
	}
	return r, err
}

// List returns a page of accepted messages, newest first. It omits payloads that contain hidden text. For an invalid cursor, it
// returns the first page. Errors: invalid_request, db_unavailable, signal_service_unavailable.
func (s *Service) List(ctx context.Context, q Query) (Page, error) {
	if _, known := ParseType(string(q.Type)); q.Type != "" && !known {
		return Page{}, badMember("type", "type must be a message type, such as signal.create")
	}
	if q.DenpaID != "" && !isUUID(q.DenpaID) {
		return Page{}, badMember("denpaId", "denpaId must be a UUID in lower case")
	}
	if q.AppID != "" && !isWord(q.AppID, 1, maxAppID) {
		return Page{}, badMember("appId", "appId must be the id of an app")
	}
	if q.Limit < 1 {
		q.Limit = DefaultPage
	}
	q.Limit = min(q.Limit, MaxPage)
	after, _ := protocol.DecodeCursor(q.Cursor, 1)
	if _, ok := after.Time(0); !ok {
		after = protocol.Cursor{}
	}
	page, err := s.Store.ListMessages(ctx, q, after)
	if err != nil {
		return Page{}, err
	}
	return page, s.hide(ctx, page.Messages)
}

// Verdict is the result of Verify: whether a message is valid, and the reasons if it is not.
type Verdict struct {
	Valid   bool
	ID      ID
	Reasons []string // reasons or codes of all errors, in the order of the checks
}

// Verify runs the checks of Submit that need only the message and the store, and returns all reasons for which the message is
// invalid. It stores nothing. A message that has been accepted stays valid. The timestamp of a message that the hub signed must
// be in the period of the hub's key. Errors: those of Read; db_unavailable; those of the ledger.
func (s *Service) Verify(ctx context.Context, raw []byte) (Verdict, error) {
	m, err := Read(s.Issuer, raw)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{ID: m.ID}
	note := func(reason string) { v.Reasons = append(v.Reasons, reason) }
	if k, isHubKey := s.Keys.Find(m.Key); isHubKey {
		if !m.Authentic() {
			note(ReasonSignature)
		}
		if !k.covers(time.UnixMilli(m.Timestamp)) {
			note(ReasonExpired)
		}
		if _, err := ReadPayload(m.Type, m.Payload, true); err != nil {
			note(ReasonPayload)
		}
	} else if err := s.dryRun(ctx, m, note); err != nil {
		return Verdict{}, err
	}
	v.Valid = len(v.Reasons) == 0
	return v, nil
}

// dryRun calls note with the reason of each failed check: signer, signature, time, scope, payload and nonce. If the signer is
// unknown or the message is already accepted, it checks only the signer and the signature. It stores nothing. Errors:
// db_unavailable, those of the ledger, which states whether the operator key of the signer is revoked.
func (s *Service) dryRun(ctx context.Context, m Message, note func(string)) error {
	signer, found, err := s.Store.FindSigner(ctx, m.Key)
	if err != nil {
		return err
	}
	known := found && checkOwner(m, signer) == nil
	if !known {
		note(ReasonSigner)
	}
	if !m.Authentic() {
		note(ReasonSignature)
	}
	if !known {
		return nil
	}
	stored, found, err := s.Store.FindMessage(ctx, m.ID, m.Key, m.Nonce)
	if err != nil || found && stored.ID == m.ID && !stored.Pending {
		return err
	}
	now := s.now()
	if checkWindow(m, now) != nil {
		note(ReasonWindow)
	}
	if err := signer.Usable(now); err != nil {
		note(apperr.Of(err).Extra[memberReason].(string))
	} else if revoked, err := s.isKeyRevoked(ctx, signer); err != nil {
		return err
	} else if revoked {
		note(ReasonRevoked)
	}
	if checkScope(m, signer) != nil {
		note(reasonScope)
	}
	if checkPayload(m) != nil {
		note(ReasonPayload)
	}
	if found && stored.ID != m.ID {
		note(reasonNonce)
	}
	return nil
}
