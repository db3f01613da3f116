package edge

import (
	"net/http"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
	"github.com/signalcast/signalcast/deploy/devidp/internal/token"
)

const (
	usualTTL   = 3600
	mostSecond = 366 * 86400
)

// mint makes tokens for anybody, known or not.
func (e edge) mint(w http.ResponseWriter, r *http.Request) {
	var in struct {
		User    string        `json:"user"`
		TTL     *int64        `json:"ttl"` // seconds; negative: a token that has expired
		Age     int64         `json:"age"` // seconds since it was issued; negative: in the future
		Profile token.Profile `json:"profile"`
		// SignedIn is the seconds between the sign-in and the token.
		SignedIn int64 `json:"signedIn"`
	}
	if !read(w, r, &in) {
		return
	}
	if in.Profile == "" {
		in.Profile = token.OIDC
	}
	if in.Profile != token.OIDC && in.Profile != token.Privy {
		fail(w, http.StatusBadRequest, "invalid_profile", "profile must be oidc or privy")
		return
	}
	ttl := int64(usualTTL)
	if in.TTL != nil {
		ttl = *in.TTL
	}
	if max(ttl, -ttl, in.Age, -in.Age, in.SignedIn, -in.SignedIn) > mostSecond {
		fail(w, http.StatusBadRequest, "invalid_ttl", "ttl, age and signedIn are seconds, at most a year either way")
		return
	}
	p, err := e.People.Ensure(in.User)
	if err != nil {
		refuse(w, err)
		return
	}
	t, err := e.Mint.Issue(token.Order{
		Person: p, Profile: in.Profile, TTL: time.Duration(ttl) * time.Second, Age: time.Duration(in.Age) * time.Second,
		SignedIn: time.Duration(in.SignedIn) * time.Second,
	})
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, http.StatusOK, map[string]string{"token": t.Access, "sub": p.DID(), "identityToken": t.Identity})
}

func (e edge) addUser(w http.ResponseWriter, r *http.Request) {
	var in struct {
		User string `json:"user"`
	}
	if !read(w, r, &in) {
		return
	}
	p, err := e.People.Ensure(in.User)
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, http.StatusOK, map[string]string{"sub": p.DID()})
}

func (e edge) addWallet(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Address   string       `json:"address"`
		ChainType person.Chain `json:"chainType"`
	}
	if !read(w, r, &in) {
		return
	}
	if err := e.People.Link(r.PathValue("did"), in.Address, in.ChainType); err != nil {
		refuse(w, err)
		return
	}
	answer(w, http.StatusOK, map[string]bool{"ok": true})
}
