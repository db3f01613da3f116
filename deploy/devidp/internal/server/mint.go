package server

import (
	"net/http"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
)

const (
	defaultTTL = 3600        // seconds
	maxSeconds = 366 * 86400 // maximum of ttl, age and signedIn in either direction
)

// mintBody is the body of POST /mint.
type mintBody struct {
	User    string  `json:"user"`
	TTL     *int64  `json:"ttl"` // lifetime in seconds; negative: an expired token
	Age     int64   `json:"age"` // seconds since the token was issued; negative: in the future
	Profile profile `json:"profile"`
	Scope   string  `json:"scope"` // as of a sign-in
	// SignedIn is the number of seconds from the sign-in to the issue of the token.
	SignedIn int64 `json:"signedIn"`
}

// mint implements POST /mint: it issues tokens for a user name, and creates the user if there is none.
func (e *issuer) mint(_ *http.Request, in mintBody) (any, error) {
	if in.Profile == "" {
		in.Profile = oidc
	}
	if in.Profile != oidc && in.Profile != privy {
		return nil, errProfile
	}
	ttl := int64(defaultTTL)
	if in.TTL != nil {
		ttl = *in.TTL
	}
	if max(ttl, -ttl, in.Age, -in.Age, in.SignedIn, -in.SignedIn) > maxSeconds {
		return nil, errTTL
	}
	p, err := e.people.Ensure(in.User)
	if err != nil {
		return nil, err
	}
	t, err := e.issue(tokenRequest{
		Person: p, Profile: in.Profile, TTL: time.Duration(ttl) * time.Second, Age: time.Duration(in.Age) * time.Second,
		SignedIn: time.Duration(in.SignedIn) * time.Second, Scope: in.Scope,
	})
	return map[string]string{"token": t.Access, "sub": p.DID(), "identityToken": t.Identity}, err
}

func (e *issuer) addUser(_ *http.Request, in struct{ User string }) (any, error) {
	p, err := e.people.Ensure(in.User)
	return map[string]string{"sub": p.DID()}, err
}

// walletBody is the body of POST /users/{did}/wallets.
type walletBody struct {
	Address   string       `json:"address"`
	ChainType person.Chain `json:"chainType"`
}

func (e *issuer) addWallet(r *http.Request, in walletBody) (any, error) {
	return ok, e.people.Link(r.PathValue("did"), in.Address, in.ChainType)
}
