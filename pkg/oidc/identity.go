package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// linkedAccounts is the claim that distinguishes an identity token. Its value is a string that contains a JSON list
// of accounts.
const linkedAccounts = "linked_accounts"

// walletsMaxAge is the maximum age of an identity token whose wallets are accepted.
const walletsMaxAge = 5 * time.Minute

// Wallet is a wallet of a user whose ownership the identity provider has verified.
type Wallet struct {
	Address string
	Chain   string // in the notation of the provider; may be empty
}

// Identity contains the user and the wallets that an identity token describes.
type Identity struct {
	Subject  string
	IssuedAt time.Time
	Name     string // may be empty
	Username string // may be empty
	Wallets  []Wallet
}

// VerifyIdentity verifies an identity token that accompanies a credential of the user (issuer, subject). Errors:
// ErrUnauthenticated if the token is invalid, expired, not an identity token, or of another user; ErrUnavailable if the
// keys of the provider are not available.
func (v *Verifier) VerifyIdentity(ctx context.Context, issuer, subject, raw string) (Identity, error) {
	p, c, err := v.signed(ctx, raw)
	if err != nil {
		return Identity{}, err
	}
	if p.Issuer != issuer {
		return Identity{}, ErrUnauthenticated.Wrap(errors.New("the identity token has another issuer than the credential"))
	}
	out, err := c.identity(p.Provider, v.now())
	if err == nil && out.Subject != subject {
		err = errors.New("the identity token has another subject than the credential")
	}
	if err != nil {
		return Identity{}, rejected(err)
	}
	return out, nil
}

// identity checks the claims of an identity token and returns them. If p.WalletsFrom names a claim, that claim contains
// the wallets, and an ordinary OpenID Connect token is accepted.
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
		return Identity{}, errors.New("not an identity token: linked_accounts is missing or not a string")
	}
	if err := json.Unmarshal([]byte(text), &accounts); err != nil {
		return Identity{}, fmt.Errorf("linked_accounts is not a list of accounts: %w", err)
	}
	for _, a := range accounts {
		if out.Username == "" {
			out.Username = a.Username
		}
	}
	out.Wallets = walletsOf(accounts)
	return out, nil
}

// account is a linked account in an identity token or in a response of the users API.
type account struct {
	Type      string  `json:"type"`
	Address   string  `json:"address"`
	ChainType string  `json:"chain_type"`
	Username  string  `json:"username"`
	Verified  float64 `json:"lv"`          // time in an identity token
	At        float64 `json:"verified_at"` // users API, like the next two fields
	First     float64 `json:"first_verified_at"`
	Latest    float64 `json:"latest_verified_at"`
}

// walletsOf returns the wallets among the linked accounts. It omits wallets without a verification time.
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

// walletsAt returns the wallets in a claim. The claim is one wallet or a list of wallets. Each wallet is an address or an
// object with an address. path separates the names of nested objects by dots.
func (c claims) walletsAt(path string) ([]Wallet, error) {
	at := c
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		var next claims
		if err := json.Unmarshal(at[name], &next); err != nil {
			return nil, fmt.Errorf("claim %s is missing", path)
		}
		at = next
	}
	raw, given := at[names[len(names)-1]]
	if !given {
		return nil, fmt.Errorf("claim %s is missing", path)
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
			return nil, fmt.Errorf("claim %s does not contain wallets", path)
		}
		out = append(out, Wallet{Address: w.Address, Chain: w.Chain})
	}
	return out, nil
}
