package email

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const (
	// MaxLetters is the maximum number of confirmation letters in 24 hours, for each user and for each address.
	MaxLetters = 5
	// TokenLife is the time for which the link of a confirmation letter works.
	TokenLife = 24 * time.Hour
	// MaxBounces is the number of consecutive refusals of a recipient after which the address is deleted.
	MaxBounces = 3
	// maxAddress is the maximum length of an address (RFC 5321 4.5.3.1.3).
	maxAddress = 254
)

// Errors of Service.
var (
	ErrAddress = apperr.New(apperr.Invalid, "invalid_body", "Enter an e-mail address such as name@example.org.")
	ErrLimited = apperr.New(apperr.Limited, "rate_limited", "Too many letters were sent in the last 24 hours. Try again tomorrow.")
	ErrSignIn  = apperr.New(apperr.Invalid, "invalid_body", "Your sign-in has no verified e-mail address. Enter one.")
	ErrLink    = apperr.New(apperr.NotFound, "not_found", "This link is not valid.")
)

// Settings are the e-mail settings of a user. The zero value: none.
type Settings struct {
	Sealed      string    // encrypted address; empty: none
	ConfirmedAt time.Time // zero: the address waits for its confirmation
	Pending     string    // encrypted address that replaces the confirmed one when it is confirmed; empty: none
	Digest      Digest
	BouncedAt   time.Time // time at which the address was deleted after MaxBounces refusals; zero: it was not
}

// SignInAddress is the address that the identity provider has verified at the sign-in of a session.
type SignInAddress struct {
	Session time.Time // second at which the session was issued
	Sealed  string    // encrypted address
}

// Store stores the e-mail address and the choice of digest of each user. Error of all methods: db_unavailable.
type Store interface {
	// GetEmail returns the settings of a user.
	GetEmail(ctx context.Context, user operator.ID) (Settings, error)
	// SetEmail stores an address of a user that waits for its confirmation, and adds a confirmation letter to the outbox. A confirmed
	// address remains until then. It replaces an address that waits, and deletes its letter.
	SetEmail(ctx context.Context, user operator.ID, sealed string, digest Digest, now time.Time) error
	// ListSignInAddresses returns the addresses of the active sessions of a user, the newest session first.
	ListSignInAddresses(ctx context.Context, user operator.ID) ([]SignInAddress, error)
	// SetConfirmedEmail replaces the addresses of a user by a confirmed one. It adds a letter to the confirmed address that it replaces.
	SetConfirmedEmail(ctx context.Context, user operator.ID, sealed string, digest Digest, now time.Time) error
	// SetDigest changes the digest of a user with an address.
	SetDigest(ctx context.Context, user operator.ID, digest Digest, now time.Time) error
	// DeleteEmail deletes the settings of a user and the waiting letters.
	DeleteEmail(ctx context.Context, user operator.ID) error
	// HasEmailToken reports whether the SHA-256 of a token belongs to an unconfirmed address.
	HasEmailToken(ctx context.Context, hash []byte, now time.Time) (bool, error)
	// ConfirmEmail confirms the address of a token. It adds a letter to the confirmed address that it replaces. It returns false and
	// changes nothing if there is none.
	ConfirmEmail(ctx context.Context, hash []byte, now time.Time) (bool, error)
}

// Secrets encrypts addresses and signs the links of letters, with the secrets of sessions.
type Secrets interface {
	// Seal encrypts a text, and Unseal decrypts it.
	Seal(plain []byte) string
	Unseal(sealed string) ([]byte, error)
	// Sign returns the signature of a text for a purpose, and IsSigned checks it.
	Sign(purpose, text string) string
	IsSigned(purpose, text, signature string) bool
}

// Service changes the e-mail settings of users.
type Service struct {
	Store   Store
	Secrets Secrets
	// Allow counts a confirmation letter of a user or to an address. It returns false if there were MaxLetters in 24 hours.
	Allow func(ctx context.Context, key string) bool
	// Enabled reports whether the installation has a mail server. Without one no address can be entered.
	Enabled bool
	Now     func() time.Time
}

// Settings returns the encrypted address of a user, whether it is confirmed, and the choice of digest. Error: db_unavailable.
func (s *Service) Settings(ctx context.Context, user operator.ID) (Settings, error) {
	return s.Store.GetEmail(ctx, user)
}

// Set stores an address of a user and sends a letter that confirms it. Until then a confirmed address remains in use. Errors:
// ErrAddress, ErrLimited, db_unavailable.
func (s *Service) Set(ctx context.Context, user operator.ID, typed string, digest Digest) error {
	address, err := parseAddress(typed)
	if err != nil || !s.Enabled {
		return ErrAddress
	}
	if !s.Allow(ctx, "user "+string(user)) || !s.Allow(ctx, s.Secrets.Sign("mailbox", mailbox(address))) {
		return ErrLimited
	}
	return s.Store.SetEmail(ctx, user, s.seal(user, address), digest, s.Now())
}

// SealSignIn encrypts the address that the identity provider has verified at a sign-in. It returns "" without a mail server, and
// for an address to which no letter can be sent.
func (s *Service) SealSignIn(user operator.ID, verified string) string {
	address, err := parseAddress(verified)
	if err != nil || !s.Enabled {
		return ""
	}
	return s.seal(user, address)
}

// SignInAddresses returns the encrypted addresses of the active sessions of a user, the newest session first. Error: db_unavailable.
func (s *Service) SignInAddresses(ctx context.Context, user operator.ID) ([]SignInAddress, error) {
	return s.Store.ListSignInAddresses(ctx, user)
}

// CanUseSignInAddress reports whether a session has an address that is not the confirmed address of the user. Error: db_unavailable.
func (s *Service) CanUseSignInAddress(ctx context.Context, user operator.ID, session time.Time, set Settings) (bool, error) {
	one, err := s.signInAddress(ctx, user, session)
	return s.Enabled && one != "" && (set.ConfirmedAt.IsZero() || s.Address(user, one) != s.Address(user, set.Sealed)), err
}

// UseSignInAddress replaces the address of a user by that of the sign-in of a session, which needs no letter because the identity
// provider has verified it. Errors: ErrSignIn, db_unavailable.
func (s *Service) UseSignInAddress(ctx context.Context, user operator.ID, session time.Time, digest Digest) error {
	one, err := s.signInAddress(ctx, user, session)
	if err == nil && one == "" {
		err = ErrSignIn
	}
	if err != nil {
		return err
	}
	set, err := s.Store.GetEmail(ctx, user)
	switch {
	case err != nil:
		return err
	case !set.ConfirmedAt.IsZero() && s.Address(user, one) == s.Address(user, set.Sealed):
		return s.Store.SetDigest(ctx, user, digest, s.Now())
	}
	return s.Store.SetConfirmedEmail(ctx, user, one, digest, s.Now())
}

// signInAddress returns the encrypted address of a session; "" if there is none.
func (s *Service) signInAddress(ctx context.Context, user operator.ID, session time.Time) (string, error) {
	list, err := s.Store.ListSignInAddresses(ctx, user)
	i := slices.IndexFunc(list, func(one SignInAddress) bool { return one.Session.Equal(session) })
	if i < 0 || s.Address(user, list[i].Sealed) == "" {
		return "", err
	}
	return list[i].Sealed, nil
}

// SetDigest changes the digest of a user with an address. Error: db_unavailable.
func (s *Service) SetDigest(ctx context.Context, user operator.ID, digest Digest) error {
	return s.Store.SetDigest(ctx, user, digest, s.Now())
}

// SwitchOff deletes the addresses of a user. Error: db_unavailable.
func (s *Service) SwitchOff(ctx context.Context, user operator.ID) error {
	return s.Store.DeleteEmail(ctx, user)
}

// Address decrypts the address of a user. It returns "" if there is none or if its secret was removed.
func (s *Service) Address(user operator.ID, sealed string) string {
	plain, err := s.Secrets.Unseal(sealed)
	owner, address, _ := strings.Cut(string(plain), " ")
	if err != nil || owner != string(user) {
		return ""
	}
	return address
}

// seal encrypts an address together with its user, so that it cannot be stored for another user.
func (s *Service) seal(user operator.ID, address string) string {
	return s.Secrets.Seal([]byte(string(user) + " " + address))
}

// CheckToken checks that the token of a confirmation letter is valid. Errors: ErrLink, db_unavailable.
func (s *Service) CheckToken(ctx context.Context, token string) error {
	return linkError(s.Store.HasEmailToken(ctx, hashOf(token), s.Now()))
}

// Confirm confirms the address to which a letter with the token was sent. Errors: ErrLink, db_unavailable.
func (s *Service) Confirm(ctx context.Context, token string) error {
	return linkError(s.Store.ConfirmEmail(ctx, hashOf(token), s.Now()))
}

func linkError(ok bool, err error) error {
	if err == nil && !ok {
		return ErrLink
	}
	return err
}

// newToken returns a token for a confirmation letter and its SHA-256.
func newToken() (token string, hash []byte) {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // does not fail
	token = base64.RawURLEncoding.EncodeToString(raw)
	return token, hashOf(token)
}

func hashOf(token string) []byte {
	hash := sha256.Sum256([]byte(token))
	return hash[:]
}

// digestOff is the purpose of the signature of a link that switches the digest of a user off.
const digestOff = "unsubscribe"

// unsubscribeToken returns the token of a link that switches the digest of a user off. It does not expire.
func (s *Service) unsubscribeToken(user operator.ID) string {
	return string(user) + "." + s.Secrets.Sign(digestOff, string(user))
}

// Subscriber returns the user of the token of an unsubscribe link. Error: ErrLink.
func (s *Service) Subscriber(token string) (operator.ID, error) {
	user, signature, _ := strings.Cut(token, ".")
	if uuid.Validate(user) != nil || !s.Secrets.IsSigned(digestOff, user, signature) {
		return "", ErrLink
	}
	return operator.ID(user), nil
}

// parseAddress checks an address that a user has typed. It must be ASCII without a name, a comment or quotes.
func parseAddress(typed string) (string, error) {
	parsed, err := mail.ParseAddress(typed)
	if err != nil || parsed.Address != typed || len(typed) > maxAddress {
		return "", ErrAddress
	}
	_, domain, _ := strings.Cut(typed, "@")
	if strings.ContainsFunc(typed, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),:;<>[\]`, r) }) ||
		!strings.Contains(domain, ".") {
		return "", ErrAddress
	}
	return typed, nil
}

// mailbox returns the form of an address by which its letters are counted: in lower case and without a tag after "+".
func mailbox(address string) string {
	local, domain, _ := strings.Cut(strings.ToLower(address), "@")
	local, _, _ = strings.Cut(local, "+")
	return local + "@" + domain
}
