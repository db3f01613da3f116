package server

import (
	"crypto/subtle"
	"maps"
	"net/http"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
)

// userOf returns the JSON object of a person in the format of Privy's users API.
func userOf(p person.Person) map[string]any {
	account := func(at time.Time, members map[string]any) map[string]any {
		out := map[string]any{"verified_at": at.Unix(), "first_verified_at": at.Unix(), "latest_verified_at": at.Unix()}
		maps.Copy(out, members)
		return out
	}
	accounts := []any{account(p.Created, map[string]any{"type": "custom_auth", "custom_user_id": p.DID()})}
	for _, w := range p.Wallets {
		accounts = append(accounts, account(w.Linked, map[string]any{
			"type": "wallet", "address": w.Address, "chain_type": w.Chain, "wallet_client": "unknown", "wallet_client_type": "unknown",
		}))
	}
	return map[string]any{
		"id": p.DID(), "created_at": p.Created.Unix(), "is_guest": false, "has_accepted_terms": false, "mfa_methods": []string{},
		"linked_accounts": accounts,
	}
}

// requireApp returns a handler that refuses a request unless it has the id and the secret of the app as basic authentication,
// and the id in the header privy-app-id.
func (e *issuer) requireApp(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		app, secret, given := r.BasicAuth()
		same := subtle.ConstantTimeCompare([]byte(app), []byte(e.Audience)) & subtle.ConstantTimeCompare([]byte(secret), []byte(e.Secret))
		if !given || same != 1 || r.Header.Get("privy-app-id") != e.Audience {
			w.Header().Set("WWW-Authenticate", `Basic realm="users"`)
			refuse(w, errAppAuth)
			return
		}
		next(w, r)
	}
}

func (e *issuer) userByDID(r *http.Request, _ empty) (any, error) {
	p, err := e.people.ByDID(r.PathValue("did"))
	return userOf(p), err
}

func (e *issuer) userByWallet(_ *http.Request, in struct{ Address string }) (any, error) {
	p, err := e.people.ByWallet(in.Address)
	return userOf(p), err
}
