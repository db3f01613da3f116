package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Linked tells whether the provider has linked a wallet to (issuer, subject): by
// the identity token that came with the request (empty: none) when it is younger
// than five minutes, else by the provider's users interface. An identity token
// may leave wallets out, so its silence is no answer where there is an interface
// to ask. same is how the caller compares addresses.
//
// Faults: ErrUnauthenticated for an identity token of somebody else or none at
// all; ErrUnavailable when the answer cannot be had, which is never a yes.
func (v *Verifier) Linked(ctx context.Context, issuer, subject, identity string, same func(Wallet) bool) (bool, error) {
	p, known := v.byIssuer[issuer]
	if identity != "" {
		said, err := v.Beside(ctx, issuer, subject, identity)
		if err != nil {
			return false, err
		}
		fresh := v.now().Sub(said.IssuedAt) < freshFor
		if fresh && p.WalletsFrom != WalletsNone && slices.ContainsFunc(said.Wallets, same) {
			return true, nil
		}
	}
	if !known || p.WalletsFrom == WalletsNone || p.UsersAPI == "" || strings.HasPrefix(p.WalletsFrom, walletsClaim) {
		return false, nil
	}
	wallets, err := v.ask(ctx, p.Provider, subject)
	if err != nil {
		return false, ErrUnavailable.Wrap(fmt.Errorf("users interface: %w", err))
	}
	return slices.ContainsFunc(wallets, same), nil
}

// ask requests the wallets of a user from the users API of an identity provider. subject is the id of the user at the provider.
// The list is empty for an id that the provider does not know.
func (v *Verifier) ask(ctx context.Context, p Provider, subject string) ([]Wallet, error) {
	if strings.Trim(subject, ".") == "" { // dots would change the path of the request
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	at := strings.TrimSuffix(p.UsersAPI, "/") + "/v1/users/" + url.PathEscape(subject)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("privy-app-id", p.Audience)
	if p.UsersSecret.IsSet() {
		req.SetBasicAuth(p.Audience, p.UsersSecret.Reveal())
	}
	var user struct {
		ID       string    `json:"id"`
		Accounts []account `json:"linked_accounts"`
	}
	if err := fetchJSON(v.http, req, &user); errors.Is(err, errAbsent) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if user.ID != subject {
		return nil, errors.New("the answer is about another user")
	}
	return walletsOf(user.Accounts), nil
}
