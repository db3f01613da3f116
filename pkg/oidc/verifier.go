package oidc

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Errors of the methods of Verifier.
var (
	// ErrUnauthenticated means that a token is invalid. Only its cause contains the details, which are not sent to the client. The
	// error of an expired token of a provider has the reason expired; errors.Is reports that it is ErrUnauthenticated.
	ErrUnauthenticated = apperr.ErrCredentialUnknown.WithText(
		"the token is invalid, or no identity provider of this installation issued it; sign in again")
	// ErrUnavailable means that the keys of the provider are not available, so a token cannot be checked.
	ErrUnavailable = apperr.New(apperr.Unavailable, "identity_provider_unavailable",
		"the identity provider is unavailable; retry later")
)

const (
	maxToken  = 16 << 10         // maximum size of a token in bytes
	maxClaim  = 255              // maximum length of a string claim in bytes
	leeway    = 60 * time.Second // tolerance for differences between clocks
	latestUse = 253402300799     // the last second of the year 9999
)

// Subject contains the user and the session that a verified access token identifies.
type Subject struct {
	Issuer    string
	Subject   string // unique only together with Issuer
	Provider  string // name in the configuration
	Primary   bool
	Name      string // may be empty
	Username  string // may be empty
	Email     string // address that the provider has verified; may be empty
	SessionID string
	ExpiresAt time.Time
	// SignedInAt is the time at which the person authenticated: claim auth_time, or iat if absent.
	SignedInAt time.Time
}

// Verifier verifies tokens that the configured identity providers signed. It is safe for concurrent use.
type Verifier struct {
	byIssuer map[string]*provider
	http     *http.Client
	now      func() time.Time
}

type provider struct {
	Provider
	primary bool
	keys    *keySet
	oidc    *oidc.IDTokenVerifier
}

// NewVerifier returns a verifier for the providers of c. Keys are requested when the first token is verified. now is
// the clock of all checks.
func NewVerifier(c Config, now func() time.Time) *Verifier {
	client := &http.Client{
		Timeout: fetchTimeout,
		// Redirects are not followed: keys are read only from the configured URL.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	v := &Verifier{byIssuer: make(map[string]*provider, len(c.Providers)), http: client, now: now}
	for i, cfg := range c.Providers {
		keys := &keySet{source: source{http: client, issuer: cfg.Issuer, jwksURL: cfg.JWKSURL}, now: now}
		for _, alg := range cfg.Algs {
			keys.algs = append(keys.algs, jose.SignatureAlgorithm(alg))
		}
		v.byIssuer[cfg.Issuer] = &provider{
			Provider: cfg, primary: i == 0, keys: keys,
			oidc: oidc.NewVerifier(cfg.Issuer, keys, &oidc.Config{
				// SkipExpiryCheck: this package checks all times itself, with one tolerance.
				ClientID: cfg.Audience, SupportedSigningAlgs: cfg.Algs, SkipExpiryCheck: true, Now: now,
			}),
		}
	}
	return v
}

// Verify verifies an access token and returns its subject. Errors: ErrUnauthenticated if the token is invalid,
// ErrUnavailable if the keys of the provider are not available.
func (v *Verifier) Verify(ctx context.Context, raw string) (Subject, error) {
	p, c, err := v.signed(ctx, raw)
	if err != nil {
		return Subject{}, err
	}
	s, err := c.bearer(v.now())
	if err != nil {
		return Subject{}, rejected(err)
	}
	s.Issuer, s.Provider, s.Primary = p.Issuer, p.Name, p.primary
	return s, nil
}

// rejected returns the error of a token whose signature is valid and whose claims are rejected with err.
func rejected(err error) error {
	if errors.Is(err, errExpired) {
		return apperr.ErrCredentialExpired.WithText("the token of the identity provider has expired; sign in again").Wrap(err)
	}
	return ErrUnauthenticated.Wrap(err)
}

var errExpired = errors.New("the token has expired")

// signed returns the claims of a token and the configured provider that signed it. It checks only issuer, audience
// and signature.
func (v *Verifier) signed(ctx context.Context, raw string) (*provider, claims, error) {
	issuer, err := unverifiedIssuer(raw)
	if err != nil {
		return nil, nil, ErrUnauthenticated.Wrap(err)
	}
	p, known := v.byIssuer[issuer]
	if !known {
		return nil, nil, ErrUnauthenticated.Wrap(fmt.Errorf("issuer %.100q is not configured", issuer))
	}
	if err := p.keys.ready(ctx); err != nil {
		return nil, nil, ErrUnavailable.Wrap(err)
	}
	token, err := p.oidc.Verify(ctx, raw)
	if err != nil {
		return nil, nil, ErrUnauthenticated.Wrap(err)
	}
	var c claims
	if err := token.Claims(&c); err != nil {
		return nil, nil, ErrUnauthenticated.Wrap(err)
	}
	return p, c, nil
}

// unverifiedIssuer returns the issuer of an unverified token. It must be used only to select a configured provider.
func unverifiedIssuer(raw string) (string, error) {
	if len(raw) > maxToken {
		return "", errors.New("the token is too long")
	}
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return "", errors.New("the token does not have three parts")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", fmt.Errorf("the token's payload: %w", err)
	}
	var c claims
	if err := json.Unmarshal(payload, &c); err != nil {
		return "", fmt.Errorf("the token's payload: %w", err)
	}
	return c.text("iss")
}

// claims maps exact claim names to values. A struct would also accept names in other case, such as Sub for sub.
type claims map[string]json.RawMessage

// text returns a claim that must be a non-empty string of at most maxClaim bytes without control characters.
func (c claims) text(name string) (string, error) {
	var s string
	if err := json.Unmarshal(c[name], &s); err != nil {
		return "", fmt.Errorf("claim %s is missing or not a string", name)
	}
	if s == "" || len(s) > maxClaim || strings.ContainsFunc(s, unicode.IsControl) {
		return "", fmt.Errorf("claim %s is empty, too long or not printable", name)
	}
	return s, nil
}

// moment returns a claim that must be a Unix time in seconds.
func (c claims) moment(name string) (time.Time, error) {
	var f *float64
	if err := json.Unmarshal(c[name], &f); err != nil || f == nil || math.IsNaN(*f) || *f < 0 || *f > latestUse {
		return time.Time{}, fmt.Errorf("claim %s is missing or not a time", name)
	}
	return time.Unix(int64(*f), 0).UTC(), nil
}

// times returns the issue and expiry times of a token. It checks them and nbf against now with a tolerance of leeway.
func (c claims) times(now time.Time) (issued, expires time.Time, err error) {
	var errs [2]error
	expires, errs[0] = c.moment("exp")
	issued, errs[1] = c.moment("iat")
	switch {
	case errors.Join(errs[:]...) != nil:
		return issued, expires, errors.Join(errs[:]...)
	case now.After(expires.Add(leeway)):
		return issued, expires, errExpired
	case issued.After(now.Add(leeway)):
		return issued, expires, errors.New("the issue time of the token is in the future")
	}
	if _, given := c["nbf"]; given {
		from, err := c.moment("nbf")
		if err != nil {
			return issued, expires, err
		}
		if from.After(now.Add(leeway)) {
			return issued, expires, errors.New("the token is not valid yet")
		}
	}
	return issued, expires, nil
}

// bearer checks the claims of an access token and returns its subject, without the fields about the provider. It
// rejects identity tokens.
func (c claims) bearer(now time.Time) (s Subject, err error) {
	var errs [3]error
	s.Subject, errs[0] = c.text("sub")
	s.SessionID, errs[1] = c.text("sid")
	s.SignedInAt, s.ExpiresAt, errs[2] = c.times(now)
	if err := errors.Join(errs[:]...); err != nil {
		return Subject{}, err
	}
	if _, identity := c[linkedAccounts]; identity {
		return Subject{}, errors.New("an identity token is not an access token")
	}
	if _, given := c["auth_time"]; given {
		at, err := c.moment("auth_time")
		if err != nil || at.After(now.Add(leeway)) {
			return Subject{}, errors.New("auth_time is not a time or is in the future")
		}
		s.SignedInAt = at
	}
	s.Name, _ = c.text("name")
	s.Username, _ = c.text("preferred_username")
	var verified bool
	if json.Unmarshal(c["email_verified"], &verified) == nil && verified {
		s.Email, _ = c.text("email")
	}
	return s, nil
}
