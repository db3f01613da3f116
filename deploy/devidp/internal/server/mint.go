package server

import (
	"net/http"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
)

const (
	usualTTL   = 3600
	mostSecond = 366 * 86400
)

// mintBody is the body of a request for tokens.
type mintBody struct {
	User    string  `json:"user"`
	TTL     *int64  `json:"ttl"` // seconds; negative: a token that has expired
	Age     int64   `json:"age"` // seconds since it was issued; negative: in the future
	Profile profile `json:"profile"`
	// SignedIn is the seconds between the sign-in and the token.
	SignedIn int64 `json:"signedIn"`
}

// mint issues tokens for any user name, known or not.
func (e *issuer) mint(_ *http.Request, in mintBody) (any, error) {
	if in.Profile == "" {
		in.Profile = oidc
	}
	if in.Profile != oidc && in.Profile != privy {
		return nil, errProfile
	}
	ttl := int64(usualTTL)
	if in.TTL != nil {
		ttl = *in.TTL
	}
	if max(ttl, -ttl, in.Age, -in.Age, in.SignedIn, -in.SignedIn) > mostSecond {
		return nil, errTTL
	}
	p, err := e.people.Ensure(in.User)
	if err != nil {
		return nil, err
	}
	t, err := e.issue(order{
		Person: p, Profile: in.Profile, TTL: time.Duration(ttl) * time.Second, Age: time.Duration(in.Age) * time.Second,
		SignedIn: time.Duration(in.SignedIn) * time.Second,
	})
	return map[string]string{"token": t.Access, "sub": p.DID(), "identityToken": t.Identity}, err
}

func (e *issuer) addUser(_ *http.Request, in struct{ User string }) (any, error) {
	p, err := e.people.Ensure(in.User)
	return map[string]string{"sub": p.DID()}, err
}

// walletBody is the body of a request that links a wallet.
type walletBody struct {
	Address   string       `json:"address"`
	ChainType person.Chain `json:"chainType"`
}

func (e *issuer) addWallet(r *http.Request, in walletBody) (any, error) {
	return ok, e.people.Link(r.PathValue("did"), in.Address, in.ChainType)
}
