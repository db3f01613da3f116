package edge

import (
	"crypto/subtle"
	"net/http"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
)

// user is a person in the form of the users interface.
type user struct {
	ID               string   `json:"id"`
	CreatedAt        int64    `json:"created_at"`
	IsGuest          bool     `json:"is_guest"`
	HasAcceptedTerms bool     `json:"has_accepted_terms"`
	LinkedAccounts   []any    `json:"linked_accounts"`
	MFAMethods       []string `json:"mfa_methods"`
}

type times struct {
	Verified int64 `json:"verified_at"`
	First    int64 `json:"first_verified_at"`
	Latest   int64 `json:"latest_verified_at"`
}

type wallet struct {
	Type             string       `json:"type"`
	Address          string       `json:"address"`
	ChainType        person.Chain `json:"chain_type"`
	WalletClient     string       `json:"wallet_client"`
	WalletClientType string       `json:"wallet_client_type"`
	times
}

type custom struct {
	Type   string `json:"type"`
	UserID string `json:"custom_user_id"`
	times
}

func userOf(p person.Person) user {
	at := p.Created.Unix()
	u := user{
		ID: p.DID(), CreatedAt: at, MFAMethods: []string{},
		LinkedAccounts: []any{custom{"custom_auth", p.DID(), times{at, at, at}}},
	}
	for _, w := range p.Wallets {
		at := w.Linked.Unix()
		u.LinkedAccounts = append(u.LinkedAccounts, wallet{"wallet", w.Address, w.Chain, "unknown", "unknown", times{at, at, at}})
	}
	return u
}

// members asks for the app's password and its id in the header beside it.
func (e edge) members(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		app, secret, given := r.BasicAuth()
		same := subtle.ConstantTimeCompare([]byte(app), []byte(e.AppID)) & subtle.ConstantTimeCompare([]byte(secret), []byte(e.Secret))
		if !given || same != 1 || r.Header.Get("privy-app-id") != e.AppID {
			w.Header().Set("WWW-Authenticate", `Basic realm="users"`)
			fail(w, http.StatusUnauthorized, "unauthenticated", "app id and secret are required, and the app id in privy-app-id")
			return
		}
		next(w, r)
	}
}

func (e edge) userByDID(w http.ResponseWriter, r *http.Request) {
	p, err := e.People.ByDID(r.PathValue("did"))
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, http.StatusOK, userOf(p))
}

func (e edge) userByWallet(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Address string `json:"address"`
	}
	if !read(w, r, &in) {
		return
	}
	p, err := e.People.ByWallet(in.Address)
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, http.StatusOK, userOf(p))
}
