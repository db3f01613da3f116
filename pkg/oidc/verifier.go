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

// Faults of a verification.
var (
	// ErrUnauthenticated: the token proves nothing. Why is only in its cause.
	ErrUnauthenticated = apperr.New(apperr.Unauthenticated, "unauthenticated", "")
	// ErrUnavailable: the provider's keys cannot be had, so nothing can be said.
	ErrUnavailable = apperr.New(apperr.Unavailable, "identity_provider_unavailable", "the identity provider cannot be reached")
)

const (
	maxToken  = 16 << 10
	maxClaim  = 255
	leeway    = 60 * time.Second
	latestUse = 253402300799 // the last second of the year 9999
)

// Subject is who a token speaks for.
type Subject struct {
	Issuer    string
	Subject   string // unique only together with Issuer
	Provider  string // the configured name
	Primary   bool
	Name      string // may be empty
	Username  string // may be empty
	SessionID string
	ExpiresAt time.Time
	// SignedInAt is when the person proved who they are: auth_time, else iat.
	SignedInAt time.Time
}

// Verifier verifies tokens. It is safe for concurrent use.
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

// NewVerifier builds a verifier. Nothing is fetched before the first token.
// now is the clock of every check.
func NewVerifier(c Config, now func() time.Time) *Verifier {
	client := &http.Client{
		Timeout: fetchTimeout,
		// Keys come from where the configuration says and from nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	v := &Verifier{byIssuer: make(map[string]*provider, len(c.Providers)), http: client, now: now}
	for i, row := range c.Providers {
		keys := &keySet{source: source{http: client, issuer: row.Issuer, jwksURL: row.JWKSURL}, now: now}
		for _, alg := range row.Algs {
			keys.algs = append(keys.algs, jose.SignatureAlgorithm(alg))
		}
		v.byIssuer[row.Issuer] = &provider{
			Provider: row, primary: i == 0, keys: keys,
			oidc: oidc.NewVerifier(row.Issuer, keys, &oidc.Config{
				ClientID: row.Audience, SupportedSigningAlgs: row.Algs, SkipExpiryCheck: true, Now: now, // times are checked here, with one leeway
			}),
		}
	}
	return v
}

// Verify says who a bearer token speaks for. Faults: ErrUnauthenticated,
// ErrUnavailable.
func (v *Verifier) Verify(ctx context.Context, raw string) (Subject, error) {
	p, c, err := v.signed(ctx, raw)
	if err != nil {
		return Subject{}, err
	}
	s, err := c.bearer(v.now())
	if err != nil {
		return Subject{}, ErrUnauthenticated.Wrap(err)
	}
	s.Issuer, s.Provider, s.Primary = p.Issuer, p.Name, p.primary
	return s, nil
}

// signed gives the claims of a token that a configured provider signed for us,
// and which one; nothing but issuer, audience and signature is checked.
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

// unverifiedIssuer reads the issuer only to choose among configured providers.
func unverifiedIssuer(raw string) (string, error) {
	if len(raw) > maxToken {
		return "", errors.New("the token is too long")
	}
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return "", errors.New("the token is not of three parts")
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

// claims keeps exact member names: a struct would take Sub for sub.
type claims map[string]json.RawMessage

// text reads a member that must be a text of sane length.
func (c claims) text(name string) (string, error) {
	var s string
	if err := json.Unmarshal(c[name], &s); err != nil {
		return "", fmt.Errorf("claim %s is missing or no text", name)
	}
	if s == "" || len(s) > maxClaim || strings.ContainsFunc(s, unicode.IsControl) {
		return "", fmt.Errorf("claim %s is empty, too long or not printable", name)
	}
	return s, nil
}

// moment reads a member that must be seconds of Unix time.
func (c claims) moment(name string) (time.Time, error) {
	var f *float64
	if err := json.Unmarshal(c[name], &f); err != nil || f == nil || math.IsNaN(*f) || *f < 0 || *f > latestUse {
		return time.Time{}, fmt.Errorf("claim %s is missing or no time", name)
	}
	return time.Unix(int64(*f), 0).UTC(), nil
}

// times checks when a token may be used, with one leeway for all clocks.
func (c claims) times(now time.Time) (issued, expires time.Time, err error) {
	var errs [2]error
	expires, errs[0] = c.moment("exp")
	issued, errs[1] = c.moment("iat")
	switch {
	case errors.Join(errs[:]...) != nil:
		return issued, expires, errors.Join(errs[:]...)
	case now.After(expires.Add(leeway)):
		return issued, expires, errors.New("the token has expired")
	case issued.After(now.Add(leeway)):
		return issued, expires, errors.New("the token is from the future")
	}
	if _, given := c["nbf"]; given {
		from, err := c.moment("nbf")
		if err != nil || from.After(now.Add(leeway)) {
			return issued, expires, errors.New("the token is not valid yet")
		}
	}
	return issued, expires, nil
}

// bearer checks what a token must say to be used as a credential.
func (c claims) bearer(now time.Time) (s Subject, err error) {
	var errs [3]error
	s.Subject, errs[0] = c.text("sub")
	s.SessionID, errs[1] = c.text("sid")
	s.SignedInAt, s.ExpiresAt, errs[2] = c.times(now)
	if err := errors.Join(errs[:]...); err != nil {
		return Subject{}, err
	}
	if _, identity := c[linkedAccounts]; identity {
		return Subject{}, errors.New("an identity token is no credential")
	}
	if _, given := c["auth_time"]; given {
		at, err := c.moment("auth_time")
		if err != nil || at.After(now.Add(leeway)) {
			return Subject{}, errors.New("auth_time is no time, or in the future")
		}
		s.SignedInAt = at
	}
	s.Name, _ = c.text("name")
	s.Username, _ = c.text("preferred_username")
	return s, nil
}
