package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// linkedAccounts is the claim that makes a token an identity token: a JSON list
// of accounts, written as text.
const linkedAccounts = "linked_accounts"

// freshFor is how long the wallets in an identity token are taken at its word.
const freshFor = 5 * time.Minute

// Wallet is a wallet that a provider has verified.
type Wallet struct {
	Address string
	Chain   string // as the provider names it; empty: not said
}

// Identity is what an identity token says.
type Identity struct {
	Subject  string
	IssuedAt time.Time
	Name     string // may be empty
	Username string // may be empty
	Wallets  []Wallet
}

// Beside reads an identity token that came beside a credential of (issuer,
// subject). Faults: ErrUnauthenticated for a token that is not one, not good any
// more, or of anybody else; ErrUnavailable.
func (v *Verifier) Beside(ctx context.Context, issuer, subject, raw string) (Identity, error) {
	p, c, err := v.signed(ctx, raw)
	if err != nil {
		return Identity{}, err
	}
	if p.Issuer != issuer {
		return Identity{}, ErrUnauthenticated.Wrap(errors.New("the identity token is of another provider"))
	}
	out, err := c.identity(p.Provider, v.now())
	if err == nil && out.Subject != subject {
		err = errors.New("the identity token is of another subject")
	}
	if err != nil {
		return Identity{}, ErrUnauthenticated.Wrap(err)
	}
	return out, nil
}

// identity checks what a token must say to prove an identity. A provider that
// names wallets in a claim of its own has plain OpenID Connect tokens.
func (c claims) identity(p Provider, now time.Time) (out Identity, err error) {
	var errs [2]error
	out.Subject, errs[0] = c.text("sub")
	out.IssuedAt, _, errs[1] = c.times(now)
	if err := errors.Join(errs[:]...); err != nil {
		return Identity{}, err
	}
	out.Name, _ = c.text("name")
	out.Username, _ = c.text("preferred_username")
	if path, ok := strings.CutPrefix(p.WalletsFrom, walletsClaim); ok {
		out.Wallets, err = c.walletsAt(path)
		return out, err
	}
	var text string
	var accounts []account
	if err := json.Unmarshal(c[linkedAccounts], &text); err != nil {
		return Identity{}, errors.New("no identity token: linked_accounts is missing or no text")
	}
	if err := json.Unmarshal([]byte(text), &accounts); err != nil {
		return Identity{}, fmt.Errorf("linked_accounts is no list of accounts: %w", err)
	}
	for _, a := range accounts {
		if out.Username == "" {
			out.Username = a.Username
		}
	}
	out.Wallets = walletsOf(accounts)
	return out, nil
}

// account is a linked account, in the form of identity tokens and in that of the
// users interface.
type account struct {
	Type      string  `json:"type"`
	Address   string  `json:"address"`
	ChainType string  `json:"chain_type"`
	Username  string  `json:"username"`
	Verified  float64 `json:"lv"`          // identity token
	At        float64 `json:"verified_at"` // users interface, as the two below
	First     float64 `json:"first_verified_at"`
	Latest    float64 `json:"latest_verified_at"`
}

// walletsOf picks the wallets whose owner the provider has verified.
func walletsOf(accounts []account) []Wallet {
	var out []Wallet
	for _, a := range accounts {
		if a.Type != "wallet" && a.Type != "smart_wallet" || max(a.Verified, a.At, a.First, a.Latest) <= 0 {
			continue
		}
		out = append(out, Wallet{Address: a.Address, Chain: a.ChainType})
	}
	return out
}

// walletsAt reads the wallets in a claim: a text, or a list of texts or of
// objects with an address. The path leads through objects, by dots.
func (c claims) walletsAt(path string) ([]Wallet, error) {
	at := c
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		var next claims
		if err := json.Unmarshal(at[name], &next); err != nil {
			return nil, fmt.Errorf("claim %s is not there", path)
		}
		at = next
	}
	raw, given := at[names[len(names)-1]]
	if !given {
		return nil, fmt.Errorf("claim %s is not there", path)
	}
	list := []json.RawMessage{raw}
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	var out []Wallet
	for _, one := range list {
		var w struct {
			Address string `json:"address"`
			Chain   string `json:"chain_type"`
		}
		if json.Unmarshal(one, &w.Address) != nil && json.Unmarshal(one, &w) != nil || w.Address == "" {
			return nil, fmt.Errorf("claim %s holds no wallets", path)
		}
		out = append(out, Wallet{Address: w.Address, Chain: w.Chain})
	}
	return out, nil
}
