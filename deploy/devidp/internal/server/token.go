package server

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
)

// profile is the form of a token.
type profile string

const (
	oidc  profile = "oidc"
	privy profile = "privy"
)

// privyIssuer is the issuer of tokens of the Privy form: a word, not an address.
const privyIssuer = "privy.io"

// order describes the tokens to issue.
type order struct {
	Person  person.Person
	Profile profile
	TTL     time.Duration // may be negative: a token that has expired
	Age     time.Duration // how long ago it was issued; negative: in the future
	// SignedIn is how long before the token was issued the person signed in: auth_time of
	// the OIDC profile.
	SignedIn time.Duration
}

// tokens are an access token and an identity token of a person.
type tokens struct{ Access, Identity string }

// issue signs both tokens of a person.
func (e *issuer) issue(o order) (t tokens, err error) {
	now := e.Now()
	issued := now.Add(-o.Age)
	if end := now.Add(o.TTL); o.Age == 0 && end.Before(now) {
		issued = end.Add(-time.Minute) // a token that expired was issued before
	}
	access := map[string]any{
		"iss": e.Issuer, "aud": e.Audience, "sub": o.Person.DID(), "iat": issued.Unix(), "exp": now.Add(o.TTL).Unix(),
	}
	if o.Profile == privy {
		access["iss"] = privyIssuer
	}
	identity := maps.Clone(access)
	access["sid"], access["name"], access["preferred_username"] = rand.Text(), o.Person.Display, o.Person.Name
	if o.Profile == oidc {
		access["auth_time"] = issued.Add(-o.SignedIn).Unix()
	}
	if t.Access, err = e.keys.token(access); err != nil {
		return t, err
	}
	accounts, err := json.Marshal(linked(o.Person))
	if err != nil {
		return t, err
	}
	// Seconds as text, and a list as JSON text.
	identity["cr"], identity["linked_accounts"] = strconv.FormatInt(o.Person.Created.Unix(), 10), string(accounts)
	t.Identity, err = e.keys.token(identity)
	return t, err
}

// linked returns the linked accounts of a person in the compact form of identity tokens.
func linked(p person.Person) []map[string]any {
	list := []map[string]any{{"type": "custom_auth", "subject": p.DID(), "username": p.Name, "lv": p.Created.Unix()}}
	for _, w := range p.Wallets {
		list = append(list, map[string]any{
			"type": "wallet", "address": w.Address, "chain_type": w.Chain, "wallet_client_type": "unknown", "lv": w.Linked.Unix(),
		})
	}
	return list
}
