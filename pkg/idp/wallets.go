package idp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// ask reads the wallets of a subject from the users interface; one that the
// provider does not know has none.
func (v *Verifier) ask(ctx context.Context, p Provider, subject string) ([]Wallet, error) {
	if strings.Trim(subject, ".") == "" { // it would change the address asked
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	at := strings.TrimSuffix(p.UsersAPI, "/") + "/v1/users/" + url.PathEscape(subject)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("privy-app-id", p.Audience)
	if p.UsersSecret.IsSet() {
		req.SetBasicAuth(p.Audience, p.UsersSecret.Reveal())
	}
	resp, err := v.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusNotFound {
		return nil, nil
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxDocument {
		return nil, fmt.Errorf("larger than %d bytes", maxDocument)
	}
	var user struct {
		ID       string    `json:"id"`
		Accounts []account `json:"linked_accounts"`
	}
	if err := json.Unmarshal(body, &user); err != nil {
		return nil, err
	}
	if user.ID != subject {
		return nil, errors.New("the answer is about somebody else")
	}
	return walletsOf(user.Accounts), nil
}
