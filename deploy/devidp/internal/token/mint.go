package token

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
)

// Profile is the form of a token.
type Profile string

// The profiles.
const (
	OIDC  Profile = "oidc"
	Privy Profile = "privy"
)

// PrivyIssuer is the issuer in the Privy form: a word, not an address.
const PrivyIssuer = "privy.io"

// Mint signs tokens.
type Mint struct {
	Keys     *Keys
	Issuer   string // of the OIDC profile
	Audience string
	Now      func() time.Time
}

// Order is what kind of token is wanted.
type Order struct {
	Person  person.Person
	Profile Profile
	TTL     time.Duration // may be negative: a token that has expired
	Age     time.Duration // how long ago it was issued; negative: in the future
	// SignedIn is how long before the token was issued the person signed in: auth_time of
	// the OIDC profile.
	SignedIn time.Duration
}

// Tokens are an access token and the identity token beside it.
type Tokens struct{ Access, Identity string }

type claims struct {
	Issuer   string `json:"iss"`
	Audience string `json:"aud"`
	Subject  string `json:"sub"`
	Issued   int64  `json:"iat"`
	Expires  int64  `json:"exp"`

	AuthTime int64  `json:"auth_time,omitempty"`
	Session  string `json:"sid,omitempty"`
	Name     string `json:"name,omitempty"`
	Username string `json:"preferred_username,omitempty"`

	Created string `json:"cr,omitempty"`              // seconds, as text
	Linked  string `json:"linked_accounts,omitempty"` // a list, as JSON text
}

// Issue signs both tokens of a person.
func (m *Mint) Issue(o Order) (t Tokens, err error) {
	now := m.Now()
	issued := now.Add(-o.Age)
	if end := now.Add(o.TTL); o.Age == 0 && end.Before(now) {
		issued = end.Add(-time.Minute) // a token that expired was issued before
	}
	base := claims{
		Issuer: m.Issuer, Audience: m.Audience, Subject: o.Person.DID(), Issued: issued.Unix(), Expires: now.Add(o.TTL).Unix(),
	}
	if o.Profile == Privy {
		base.Issuer = PrivyIssuer
	}
	access := base
	var session [16]byte
	if _, err := rand.Read(session[:]); err != nil {
		return t, fmt.Errorf("make session id: %w", err)
	}
	access.Session, access.Name, access.Username = hex.EncodeToString(session[:]), o.Person.Display, o.Person.Name
	if o.Profile == OIDC {
		access.AuthTime = issued.Add(-o.SignedIn).Unix()
	}
	if t.Access, err = m.Keys.compact(access); err != nil {
		return t, err
	}
	identity := base
	identity.Created = strconv.FormatInt(o.Person.Created.Unix(), 10)
	if identity.Linked, err = linked(o.Person); err != nil {
		return t, err
	}
	t.Identity, err = m.Keys.compact(identity)
	return t, err
}

// account is a linked account in the compact form of identity tokens.
type account struct {
	Type         string       `json:"type"`
	Address      string       `json:"address,omitempty"`
	ChainType    person.Chain `json:"chain_type,omitempty"`
	WalletClient string       `json:"wallet_client_type,omitempty"`
	Subject      string       `json:"subject,omitempty"`
	Username     string       `json:"username,omitempty"`
	LastVerified int64        `json:"lv"`
}

func linked(p person.Person) (string, error) {
	list := []account{{Type: "custom_auth", Subject: p.DID(), Username: p.Name, LastVerified: p.Created.Unix()}}
	for _, w := range p.Wallets {
		list = append(list, account{Type: "wallet", Address: w.Address, ChainType: w.Chain, WalletClient: "unknown", LastVerified: w.Linked.Unix()})
	}
	raw, err := json.Marshal(list)
	return string(raw), err
}
