package server

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
)

// profile is the format of a token: oidc for OpenID Connect, or privy for Privy.
type profile string

const (
	oidc  profile = "oidc"
	privy profile = "privy"
)

// privyIssuer is the issuer in tokens of the profile privy. It is not a URL.
const privyIssuer = "privy.io"

// tokenRequest describes the person and the times of the tokens to issue.
type tokenRequest struct {
	Person  person.Person
	Profile profile
	TTL     time.Duration // lifetime; negative: an expired token
	Age     time.Duration // time since the token was issued; negative: in the future
	// Scope lists the scopes, separated by spaces. The scope email adds the claims email and email_verified to the access token.
	Scope string
	// SignedIn is the time from the sign-in to the issue of the token. It sets auth_time of the profile oidc.
	SignedIn time.Duration
}

// tokens contains an access token and an identity token of one person.
type tokens struct{ Access, Identity string }

// issue returns a signed access token and a signed identity token for the person, the profile and the times in o.
func (e *issuer) issue(o tokenRequest) (t tokens, err error) {
	now := e.Now()
	issued := now.Add(-o.Age)
	if end := now.Add(o.TTL); o.Age == 0 && end.Before(now) {
		issued = end.Add(-time.Minute) // an expired token was issued before its expiry
	}
	access := map[string]any{
		"iss": e.Issuer, "aud": e.Audience, "sub": o.Person.DID(), "iat": issued.Unix(), "exp": now.Add(o.TTL).Unix(),
	}
	if o.Profile == privy {
		access["iss"] = privyIssuer
	}
	identity := maps.Clone(access)
	access["sid"], access["name"], access["preferred_username"] = rand.Text(), o.Person.Display, o.Person.Name
	if slices.Contains(strings.Fields(o.Scope), "email") {
		access["email"], access["email_verified"] = o.Person.Name+"@people.example", true
	}
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
	// Privy encodes cr as seconds in a string and linked_accounts as JSON in a string.
	identity["cr"], identity["linked_accounts"] = strconv.FormatInt(o.Person.Created.Unix(), 10), string(accounts)
	t.Identity, err = e.keys.token(identity)
	return t, err
}

// linked returns the linked accounts of a person in the short format of Privy's identity tokens.
func linked(p person.Person) []map[string]any {
	list := []map[string]any{{"type": "custom_auth", "subject": p.DID(), "username": p.Name, "lv": p.Created.Unix()}}
	for _, w := range p.Wallets {
		list = append(list, map[string]any{
			"type": "wallet", "address": w.Address, "chain_type": w.Chain, "wallet_client_type": "unknown", "lv": w.Linked.Unix(),
		})
	}
	return list
}
