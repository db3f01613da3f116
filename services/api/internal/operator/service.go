package operator

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Store keeps operators and keys. Each method is one transaction.
type Store interface {
	// FindByIdentity gives nil when nobody signed in with it yet.
	FindByIdentity(ctx context.Context, issuer, subject string) (*Operator, error)
	// CreateOperator gives nil when the handle is taken, and the operator that
	// stands when the identity is.
	CreateOperator(ctx context.Context, o Operator) (*Operator, error)
	GetOperator(ctx context.Context, handle, id string) (Operator, error)
	MintKey(ctx context.Context, operatorID string, k Key, hash []byte) error
	// RevokeKey deactivates the webhooks of the key, too, and returns their ids.
	RevokeKey(ctx context.Context, operatorID, keyID string, now time.Time) (k Key, webhooks []string, err error)
	RevokedKeys(ctx context.Context, keyIDs []string) ([]string, error)
	EndSessions(ctx context.Context, operatorID string, now time.Time) (version int64, err error)
	ListKeys(ctx context.Context, operatorID string) ([]Key, error)
	VerifyKey(ctx context.Context, hash []byte, now time.Time) (Operator, Key, error)
	Classify(ctx context.Context, handle string, kind *protocol.OperatorType, house *bool, actor string, now time.Time) (Operator, error)
	// UpdateProfile does nothing when the message was done. Fault: forbidden for
	// an operator that is not there.
	UpdateProfile(ctx context.Context, operatorID, messageID string, p Profile, now time.Time) error
}

// Service signs operators in and keeps their keys.
type Service struct {
	store  Store
	secret string // of the masked ids
	now    func() time.Time
}

// NewService wires the subject; secret keys the masked ids.
func NewService(store Store, secret string, now func() time.Time) *Service {
	return &Service{store: store, secret: secret, now: now}
}

// SignIn finds or creates the operator of a verified identity.
func (s *Service) SignIn(ctx context.Context, id Identity) (o Operator, isNew bool, err error) {
	found, err := s.store.FindByIdentity(ctx, id.Issuer, id.Subject)
	if err != nil {
		return Operator{}, false, err
	}
	if found != nil {
		return *found, false, nil
	}
	masked := id.Subject
	if !id.Primary {
		masked = id.Issuer + "|" + id.Subject
	}
	for try := 0; ; try++ {
		handle := candidates(id, try)
		name := displayName(id, handle)
		fresh := Operator{
			ID: uuid.Must(uuid.NewV7()).String(), Issuer: id.Issuer, ProviderID: id.Subject,
			PublicID: string(protocol.NewPublicID(s.secret, masked)), Handle: handle, DisplayName: name,
			CreatedAt: s.now().UTC().Truncate(time.Millisecond),
		}
		made, err := s.store.CreateOperator(ctx, fresh)
		if err != nil {
			return Operator{}, false, err
		}
		if made != nil {
			return *made, made.ID == fresh.ID, nil
		}
	}
}

// displayName is the name that the provider knows, as far as an operator could choose it; else the handle.
func displayName(id Identity, handle string) string {
	if !utf8.ValidString(id.Name) {
		return handle
	}
	r := []rune(id.Name)
	name := string(r[:min(len(r), 64)])
	if !protocol.IsName(name, 1, 64) {
		return handle
	}
	return name
}

// Operator reads one operator by handle or id. Fault: not_found.
func (s *Service) Operator(ctx context.Context, handle, id string) (Operator, error) {
	return s.store.GetOperator(ctx, handle, id)
}

// Mint makes a key; a strict one is held to its permissions on every route. The plaintext
// is in this answer and nowhere else. Faults: invalid_label, invalid_permissions,
// key_limit_reached.
func (s *Service) Mint(ctx context.Context, operatorID, label, prefix string, permissions []string, strict bool) (plaintext string, k Key, err error) {
	if !protocol.IsName(label, 1, 64) {
		return "", Key{}, ErrLabel
	}
	all := []string{"read", "signal", "broadcast"}
	if len(permissions) == 0 {
		permissions = all
	}
	for i, p := range permissions {
		if !slices.Contains(all, p) || slices.Contains(permissions[:i], p) {
			return "", Key{}, ErrPermissions
		}
	}
	if prefix != PrefixAgent {
		prefix = PrefixKey
	}
	plaintext = newKey(prefix)
	k = Key{
		ID: uuid.Must(uuid.NewV7()).String(), Label: label, Tier: "free", Active: true, Prefix: prefix, Strict: strict,
		Permissions: slices.DeleteFunc(all, func(p string) bool { return !slices.Contains(permissions, p) }),
		Last4:       plaintext[len(plaintext)-4:], CreatedAt: s.now().UTC().Truncate(time.Millisecond),
	}
	if err := s.store.MintKey(ctx, operatorID, k, Hash(plaintext)); err != nil {
		return "", Key{}, err
	}
	return plaintext, k, nil
}

// Revoke revokes a key, deactivates the webhooks that were made with it and returns their
// ids. Fault: not_found.
func (s *Service) Revoke(ctx context.Context, operatorID, keyID string) (k Key, webhooks []string, err error) {
	// Other spellings of a uuid, such as braces, are not accepted.
	if _, err := uuid.Parse(keyID); err != nil || len(keyID) != 36 {
		return Key{}, nil, ErrKeyNotFound
	}
	return s.store.RevokeKey(ctx, operatorID, keyID, s.now().UTC())
}

// RevokedKeys returns which of these keys are revoked or unknown.
func (s *Service) RevokedKeys(ctx context.Context, keyIDs []string) ([]string, error) {
	return s.store.RevokedKeys(ctx, keyIDs)
}

// EndSessions ends all sessions of an operator and returns its new session version.
// Fault: not_found.
func (s *Service) EndSessions(ctx context.Context, operatorID string) (version int64, err error) {
	return s.store.EndSessions(ctx, operatorID, s.now().UTC())
}

// Keys lists an operator's keys, newest first.
func (s *Service) Keys(ctx context.Context, operatorID string) ([]Key, error) {
	return s.store.ListKeys(ctx, operatorID)
}

// Verify tells whose key this is. Fault: unauthenticated.
func (s *Service) Verify(ctx context.Context, hash []byte) (Operator, Key, error) {
	return s.store.VerifyKey(ctx, hash, s.now().UTC())
}

// Classify sets what kind of operator this is. Faults: not_found, invalid_operator_type.
func (s *Service) Classify(ctx context.Context, handle string, kind *protocol.OperatorType, house *bool, actor string) (Operator, error) {
	if kind != nil {
		if _, ok := protocol.ParseOperatorType(string(*kind)); !ok {
			return Operator{}, ErrType
		}
	}
	return s.store.Classify(ctx, handle, kind, house, actor, s.now().UTC())
}

// UpdateProfile does what a signed message says of its operator, once. Faults:
// forbidden, db_unavailable.
func (s *Service) UpdateProfile(ctx context.Context, operatorID, messageID string, p Profile) error {
	return s.store.UpdateProfile(ctx, operatorID, messageID, p, s.now().UTC().Truncate(time.Millisecond))
}
