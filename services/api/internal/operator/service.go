package operator

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Store stores operators and their keys. Each method is one transaction.
type Store interface {
	// FindByIdentity returns the operator with an identity, or nil if there is none.
	FindByIdentity(ctx context.Context, issuer, subject string) (*Operator, error)
	// CreateOperator stores a new operator. It returns nil if the handle is taken or was that of another operator, and the
	// existing operator if the identity has one.
	CreateOperator(ctx context.Context, o Operator) (*Operator, error)
	// ChangeHandle replaces the handle of an operator. The former handle is reserved for FormerHandlePeriod. If first is true, it
	// stores the choice of the first handle; an empty handle keeps the derived one. Errors: not_found if there is no such open
	// account, handle_taken, handle_changed, handle_chosen.
	ChangeHandle(ctx context.Context, operatorID, handle string, first bool, now time.Time) error
	// GetOperator returns an operator by present or former handle, or by id if the handle is empty.
	GetOperator(ctx context.Context, handle, id string) (Operator, error)
	// ListOperatorsByID returns operators by id, in no order. It omits unknown ids.
	ListOperatorsByID(ctx context.Context, ids []string) ([]Operator, error)
	// FindOperators returns operators whose handle or display name begins with prefix, which is in lower case.
	FindOperators(ctx context.Context, prefix string, limit int) ([]Operator, error)
	// MintKey stores a new key and returns its tier.
	MintKey(ctx context.Context, operatorID string, k Key, hash []byte) (tier string, err error)
	// RevokeKey revokes a key, deactivates the webhooks that were made with the key, and returns the ids of these webhooks.
	RevokeKey(ctx context.Context, operatorID, keyID string, now time.Time) (k Key, webhooks []string, err error)
	RevokedKeys(ctx context.Context, keyIDs []string) ([]string, error)
	EndSessions(ctx context.Context, operatorID string, now time.Time) (version int64, err error)
	// CloseAccount closes an account, or opens it again. Error: not_found.
	CloseAccount(ctx context.Context, operatorID string, open bool, now time.Time) error
	// EraseAccount erases a closed account. Error: not_found if it is not closed.
	EraseAccount(ctx context.Context, operatorID string, now time.Time) error
	// ListClosing returns accounts that were closed before a time and are not erased.
	ListClosing(ctx context.Context, before time.Time) ([]Operator, error)
	// ListNotices returns notices after an id, in the order of their ids. A later notice has a larger id than every returned one.
	ListNotices(ctx context.Context, after int64, limit int) ([]Notice, error)
	// FindErased returns the erased account with a public id, or the zero value.
	FindErased(ctx context.Context, publicID string) (Erased, error)
	ListKeys(ctx context.Context, operatorID string) ([]Key, error)
	VerifyKey(ctx context.Context, hash []byte, now time.Time) (Operator, Key, error)
	// Classify changes the class of an operator. If profile is not nil and its handle is free, Classify stores profile first.
	Classify(ctx context.Context, c Class, profile *Operator, now time.Time) (Operator, error)
	// UpdateProfile changes a profile. It does nothing if the message was processed before. Error: forbidden if the operator
	// does not exist.
	UpdateProfile(ctx context.Context, operatorID, messageID string, p Profile, now time.Time) error
	// StoreAppTokens stores access tokens of apps and revocations, in the given order.
	StoreAppTokens(ctx context.Context, tokens []AppToken, now time.Time) error
	// AppToken returns the access token with this hash, or nil if it is unknown.
	AppToken(ctx context.Context, hash []byte) (*AppToken, error)
}

// Service signs operators in, and manages their profiles and keys.
type Service struct {
	store  Store
	secret string // key of the HMAC in public operator ids
	now    func() time.Time
}

// NewService returns a Service. secret is the key of the HMAC from which public operator ids are made.
func NewService(store Store, secret string, now func() time.Time) *Service {
	return &Service{store: store, secret: secret, now: now}
}

// SignIn returns the operator of a verified identity. At the first sign-in, it creates the operator with a free handle, and
// isNew is true. Error: db_unavailable.
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
	publicID := string(protocol.NewPublicID(s.secret, masked))
	var former []string
	for {
		erased, err := s.store.FindErased(ctx, publicID)
		if err != nil {
			return Operator{}, false, err
		}
		if erased.ID == "" {
			break
		}
		if s.now().Sub(erased.At) < FormerPeriod {
			former = append(former, erased.ID)
		}
		publicID = string(protocol.NewPublicID(s.secret, masked+"|"+erased.ID)) // the public id of a deleted account remains taken
	}
	for try := 0; ; try++ {
		handle := candidates(id, try)
		name := displayName(id, handle)
		fresh := Operator{
			ID: uuid.Must(uuid.NewV7()).String(), Issuer: id.Issuer, ProviderID: id.Subject,
			PublicID: publicID, Handle: handle, DisplayName: name,
			CreatedAt: s.now().UTC().Truncate(time.Millisecond), Former: former,
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

// ChangeHandle replaces the handle of an operator, in upper or lower case, at most once in protocol.HandlePeriod. If first is
// true, it stores the choice of the first handle, which is no change, once within protocol.HandleChoice after the first sign-in;
// an empty handle then keeps the derived one. Errors: not_found if there is no such open account, invalid_handle, handle_taken if
// the handle is reserved, belongs to another operator or was that of one within FormerHandlePeriod, handle_changed,
// handle_chosen.
func (s *Service) ChangeHandle(ctx context.Context, operatorID, handle string, first bool) error {
	if handle != "" || !first {
		parsed, err := protocol.ParseHandle(handle)
		switch {
		case err != nil:
			return err
		case parsed.IsDeleted():
			return protocol.ErrHandle
		case Reserved(string(parsed)):
			return ErrHandleTaken.With("reason", "reserved")
		}
		handle = string(parsed)
	}
	return s.store.ChangeHandle(ctx, operatorID, handle, first, s.now().UTC().Truncate(time.Millisecond))
}

// displayName returns the name from the identity provider, cut to 64 characters, if it is a valid display name. Otherwise it
// returns the handle.
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

// Operator returns the operator who has this handle, or had it within FormerHandlePeriod. If handle is empty, it returns the
// operator with this id. Error: not_found.
func (s *Service) Operator(ctx context.Context, handle, id string) (Operator, error) {
	return s.store.GetOperator(ctx, handle, id)
}

// minSearch is the minimum length of a searched name in characters.
const minSearch = 2

// Find returns operators whose handle or display name begins with text, in upper or lower case. A text with fewer than minSearch
// characters, or with NUL, which Postgres rejects in texts, finds no operator. Error: db_unavailable.
func (s *Service) Find(ctx context.Context, text string, limit int) ([]Operator, error) {
	if utf8.RuneCountInString(text) < minSearch || strings.ContainsRune(text, 0) {
		return nil, nil
	}
	return s.store.FindOperators(ctx, strings.ToLower(text), limit)
}

// List returns operators by id, in no order. It omits unknown ids. Error: db_unavailable.
func (s *Service) List(ctx context.Context, ids []string) ([]Operator, error) {
	return s.store.ListOperatorsByID(ctx, ids)
}

// Mint creates an operator key. Without permissions, the key gets all of them. A prefix other than PrefixAgent means
// PrefixKey. Every route checks the permissions of a strict key. No other method returns the plaintext. Errors: invalid_label,
// invalid_permissions, key_limit_reached, db_unavailable.
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
		ID: uuid.Must(uuid.NewV7()).String(), Label: label, Active: true, Prefix: prefix, Strict: strict,
		Permissions: slices.DeleteFunc(all, func(p string) bool { return !slices.Contains(permissions, p) }),
		Last4:       plaintext[len(plaintext)-4:], CreatedAt: s.now().UTC().Truncate(time.Millisecond),
	}
	if k.Tier, err = s.store.MintKey(ctx, operatorID, k, Hash(plaintext)); err != nil {
		return "", Key{}, err
	}
	return plaintext, k, nil
}

// Revoke revokes a key of the operator, deactivates the webhooks that were made with the key, and returns the ids of these
// webhooks. Error: not_found.
func (s *Service) Revoke(ctx context.Context, operatorID, keyID string) (k Key, webhooks []string, err error) {
	// uuid.Parse also accepts other spellings, for example with braces, so the length is checked as well.
	if _, err := uuid.Parse(keyID); err != nil || len(keyID) != 36 {
		return Key{}, nil, ErrKeyNotFound
	}
	return s.store.RevokeKey(ctx, operatorID, keyID, s.now().UTC())
}

// RevokedKeys returns the given key ids that are revoked or unknown.
func (s *Service) RevokedKeys(ctx context.Context, keyIDs []string) ([]string, error) {
	return s.store.RevokedKeys(ctx, keyIDs)
}

// CloseAccount closes an account whose owner requested the deletion, or opens it again. Errors: not_found, db_unavailable.
func (s *Service) CloseAccount(ctx context.Context, operatorID string, open bool) error {
	return s.store.CloseAccount(ctx, operatorID, open, s.now().UTC())
}

// EraseAccount erases a closed account. Errors: not_found if the account is not closed, db_unavailable.
func (s *Service) EraseAccount(ctx context.Context, operatorID string) error {
	return s.store.EraseAccount(ctx, operatorID, s.now().UTC())
}

// Closing returns accounts that were closed before a time and are not erased. Error: db_unavailable.
func (s *Service) Closing(ctx context.Context, before time.Time) ([]Operator, error) {
	return s.store.ListClosing(ctx, before)
}

// Notices returns notices after an id, in the order of their ids. Error: db_unavailable.
func (s *Service) Notices(ctx context.Context, after int64, limit int) ([]Notice, error) {
	return s.store.ListNotices(ctx, after, limit)
}

// EndSessions ends all sessions of an operator and returns the new session version. The hub rejects sessions with an older
// version. Error: not_found.
func (s *Service) EndSessions(ctx context.Context, operatorID string) (version int64, err error) {
	return s.store.EndSessions(ctx, operatorID, s.now().UTC())
}

// Keys returns the keys of an operator, newest first.
func (s *Service) Keys(ctx context.Context, operatorID string) ([]Key, error) {
	return s.store.ListKeys(ctx, operatorID)
}

// Verify returns the active key with this hash, and its operator. Error: unauthenticated.
func (s *Service) Verify(ctx context.Context, hash []byte) (Operator, Key, error) {
	return s.store.VerifyKey(ctx, hash, s.now().UTC())
}

// Classify changes the class of an operator, and first creates it if c.Create is true. Creating a profile that Classify created
// before changes only its class. Errors: not_found, invalid_operator_type, invalid_key_tier, invalid_handle, handle_taken.
func (s *Service) Classify(ctx context.Context, c Class) (Operator, error) {
	if c.Type != nil {
		if _, ok := protocol.ParseOperatorType(string(*c.Type)); !ok {
			return Operator{}, ErrType
		}
	}
	if c.KeyTier != nil && !slices.Contains(KeyTiers, *c.KeyTier) {
		return Operator{}, ErrKeyTier
	}
	now := s.now().UTC().Truncate(time.Millisecond)
	if !c.Create {
		return s.store.Classify(ctx, c, nil, now)
	}
	handle, err := protocol.ParseHandle(c.Handle)
	if err != nil {
		return Operator{}, err
	}
	if Reserved(string(handle)) {
		return Operator{}, ErrHandleTaken
	}
	id := uuid.Must(uuid.NewV7()).String()
	seeded := true
	c.Seeded = &seeded
	return s.store.Classify(ctx, c, &Operator{
		ID: id, Issuer: seededIssuer, ProviderID: id, PublicID: string(protocol.NewPublicID(s.secret, seededIssuer+"|"+id)),
		Handle: string(handle), DisplayName: displayName(Identity{Name: c.DisplayName}, string(handle)), CreatedAt: now,
	}, now)
}

// UpdateProfile applies the profile change in a signed message, once for each message. Errors: forbidden if the operator does
// not exist, db_unavailable.
func (s *Service) UpdateProfile(ctx context.Context, operatorID, messageID string, p Profile) error {
	return s.store.UpdateProfile(ctx, operatorID, messageID, p, s.now().UTC().Truncate(time.Millisecond))
}
