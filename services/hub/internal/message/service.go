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

// Config is what a service is made of.
type Config struct {
	Issuer string // the base address of the protocol, as clients sign it
	Now    func() time.Time
	NewID  func() string // uuids
	Keys   *HubKeys
	Store  Store
	// Apply does the act of a message at most once for its id and returns the same when it is called again. A fault that
	// a sender can correct (400 to 429) refuses the message and means that nothing was done. After every other error the
	// same act is applied again later.
	Apply func(context.Context, Act) (Result, error)
	// Operators reads whether the key that made a signer is revoked.
	Operators operatorv1.OperatorReadServiceClient
	// Moderation reads which text is hidden.
	Moderation moderationv1.ModerationServiceClient
}

// Service takes, shows and attests messages and keeps their signers.
type Service struct{ Config }

// NewService needs all of the configuration.
func NewService(c Config) *Service { return &Service{c} }

// now is in microseconds, which is what the database keeps.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// Get returns an accepted message, without its payload while its text is hidden. Faults:
// not_found, db_unavailable, signal_service_unavailable.
func (s *Service) Get(ctx context.Context, id string) (Record, error) {
	r, err := s.accepted(ctx, id)
	if err != nil {
		return Record{}, err
	}
	return s.shown(ctx, r)
}

// Accepted reports whether an accepted message has this id. Fault: db_unavailable.
func (s *Service) Accepted(ctx context.Context, id ID) (bool, error) {
	_, err := s.accepted(ctx, string(id))
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// accepted returns an accepted message as it is stored.
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

// List returns a page of accepted messages, newest first, without the payloads whose text is
// hidden. An invalid cursor starts from the beginning. Faults: invalid_request, db_unavailable,
// signal_service_unavailable.
func (s *Service) List(ctx context.Context, q Query) (Page, error) {
	if _, known := ParseType(string(q.Type)); q.Type != "" && !known {
		return Page{}, badMember("type", "type is no message type")
	}
	if q.DenpaID != "" && !isUUID(q.DenpaID) {
		return Page{}, badMember("denpaId", "denpaId is a uuid in lower case")
	}
	if q.AppID != "" && !isWord(q.AppID, 1, maxAppID) {
		return Page{}, badMember("appId", "appId is the id of an app")
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

// Verdict is what a dry run finds.
type Verdict struct {
	Valid   bool
	ID      ID
	Reasons []string // the words of reason and codes, in the order of the checks
}

// Verify says whether a message would be taken, and why not, without keeping
// anything. A message that was taken is valid for ever, one of the hub as long
// as its key covers its time. Faults: as Read; db_unavailable.
func (s *Service) Verify(ctx context.Context, raw []byte) (Verdict, error) {
	m, err := Read(s.Issuer, raw)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{ID: m.ID}
	note := func(reason string) { v.Reasons = append(v.Reasons, reason) }
	if k, own := s.Keys.Find(m.Key); own {
		if !m.Authentic() {
			note(ReasonSignature)
		}
		if !k.covers(time.UnixMilli(m.Timestamp)) {
			note(ReasonExpired)
		}
		if _, err := ReadPayload(m.Type, m.Payload, true); err != nil {
			note(ReasonPayload)
		}
	} else if err := s.rehearse(ctx, m, note); err != nil {
		return Verdict{}, err
	}
	v.Valid = len(v.Reasons) == 0
	return v, nil
}

// rehearse notes everything that Submit would refuse a client's message for.
func (s *Service) rehearse(ctx context.Context, m Message, note func(string)) error {
	signer, found, err := s.Store.FindSigner(ctx, m.Key)
	if err != nil {
		return err
	}
	known := found && signs(m, signer) == nil
	if !known {
		note(ReasonSigner)
	}
	if !m.Authentic() {
		note(ReasonSignature)
	}
	if !known {
		return nil
	}
	there, found, err := s.Store.FindMessage(ctx, m.ID, m.Key, m.Nonce)
	if err != nil || found && there.ID == m.ID && !there.Pending {
		return err
	}
	now := s.now()
	if checkWindow(m, now) != nil {
		note(ReasonWindow)
	}
	if err := signer.Usable(now); err != nil {
		note(apperr.Of(err).Extra[memberReason].(string))
	}
	if checkScope(m, signer) != nil {
		note(reasonScope)
	}
	if checkPayload(m) != nil {
		note(ReasonPayload)
	}
	if found && there.ID != m.ID {
		note(reasonNonce)
	}
	return nil
}
