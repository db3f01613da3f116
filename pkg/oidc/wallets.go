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

// Linked reports whether the provider has linked a wallet to the user (issuer, subject). The function same compares a wallet of
// the user with the wallet in question. The caller provides it, because addresses need normalization.
//
// identity is the identity token of the request, or empty. If it is less than five minutes old and lists the wallet, Linked
// returns true. Otherwise it queries the users API of the provider, because an identity token may omit wallets. It returns false
// if no users API is configured, or if WalletsFrom is none or a claim.
//
// Errors: ErrUnauthenticated for an identity token that is invalid or of another user; ErrUnavailable if the users API does not
// answer or the keys of the provider are not available.
func (v *Verifier) Linked(ctx context.Context, issuer, subject, identity string, same func(Wallet) bool) (bool, error) {
	p, known := v.byIssuer[issuer]
	if identity != "" {
		token, err := v.VerifyIdentity(ctx, issuer, subject, identity)
		if err != nil {
			return false, err
		}
		fresh := v.now().Sub(token.IssuedAt) < walletsMaxAge
		if fresh && p.WalletsFrom != WalletsNone && slices.ContainsFunc(token.Wallets, same) {
			return true, nil
		}
	}
	if !known || p.WalletsFrom == WalletsNone || p.UsersAPI == "" || strings.HasPrefix(p.WalletsFrom, walletsClaim) {
		return false, nil
	}
	wallets, err := v.requestWallets(ctx, p.Provider, subject)
	if err != nil {
		return false, ErrUnavailable.Wrap(fmt.Errorf("users API: %w", err))
	}
	return slices.ContainsFunc(wallets, same), nil
}

// requestWallets requests the wallets of a user from the users API of an identity provider. subject is the id of the
// user at the provider. The list is empty if the provider does not have this user.
func (v *Verifier) requestWallets(ctx context.Context, p Provider, subject string) ([]Wallet, error) {
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
		return nil, errors.New("the response is about another user")
	}
	return walletsOf(user.Accounts), nil
}
