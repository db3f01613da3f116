package grant

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"time"
)

// Code is a stored authorization code (RFC 6749 4.1.2) with the data of the authorization request for which it was issued.
type Code struct {
	Hash        Hash
	AppID       string
	UserID      string
	RedirectURI string
	Scopes      Scopes
	Challenge   string
	Resource    string
	GrantID     string // grant that the code renews, or that its redemption created; empty: none yet
	Consented   bool   // the user decided on the consent page; false: earlier consent was used
	CreatedAt   time.Time
	ExpiresAt   time.Time
	UsedAt      time.Time // zero: not used
	Redeemed    bool      // the use was successful: tokens were issued
}

// CodeState is an authorization code with its app and its grant. The store has locked all three for the redemption.
type CodeState struct {
	Code  Code
	App   App    // while locked, no grant of the app can be created or revoked
	Grant *Grant // grant with the id Code.GrantID; nil: none
}

// Outcome is the result of an attempt to redeem a code or a refresh token. The store writes its changes in one transaction.
type Outcome struct {
	UseUp    bool   // mark the code as used, also on an error
	Revoke   Reason // revoke the grant GrantID for this reason
	NewGrant *Grant
	Extend   time.Time // new expiry of the grant; zero: unchanged
	Rotate   *Hash     // mark the refresh token as used; its successor has this hash
	GrantID  string    // grant of the tokens
	UserID   string
	Resource string
	Access   *Token
	Refresh  *Token // new refresh token; nil: none
	Err      error
}

func refused(err error) Outcome { return Outcome{Err: err} }

// Redemption is an attempt of a client to redeem a code. If the attempt creates a grant, the grant has the id GrantID. The new
// tokens have the hashes Access and Refresh.
type Redemption struct {
	AppID       string
	RedirectURI string // empty: not given
	Verifier    string
	Resource    string // empty: not given
	Bad         error  // error of a parameter that was parsed before; nil: none
	GrantID     string
	Access      Hash
	Refresh     Hash
	Now         time.Time
}

// Redeem decides an attempt to redeem the code. An attempt of another client changes nothing. A failed attempt of the client that
// received the code marks it as used.
//
// A second attempt after a success can mean that the code was stolen, so the grant is revoked. Of several concurrent attempts,
// the first receives tokens, and the second revokes them.
func (c CodeState) Redeem(r Redemption) Outcome {
	if c.Code.AppID != r.AppID {
		return refused(ErrInvalidGrant)
	}
	if !c.Code.UsedAt.IsZero() {
		t := refused(ErrInvalidGrant)
		if c.Code.Redeemed {
			t.Revoke, t.GrantID = ByCodeReplay, c.Code.GrantID
		}
		return t
	}
	if err := c.check(r); err != nil {
		return Outcome{UseUp: true, Err: err}
	}
	scopes := c.Code.Scopes.Intersect(c.App.Scopes)
	g, t := c.Grant, Outcome{UseUp: true, UserID: c.Code.UserID, Resource: c.Code.Resource}
	absolute, idle := lifeOf(c.App.Kind)
	switch {
	case g == nil:
		g = &Grant{
			ID: r.GrantID, UserID: c.Code.UserID, AppID: c.Code.AppID, Scopes: scopes, Resource: c.Code.Resource,
			CreatedAt: r.Now, ExpiresAt: r.Now.Add(absolute),
		}
		t.NewGrant = g
	case c.Code.Consented:
		g.ExpiresAt = r.Now.Add(absolute)
		t.Extend = g.ExpiresAt
	}
	t.GrantID = g.ID
	t.Access = g.token(r.Access, scopes, r.Now, accessLife)
	if scopes.Has(OfflineAccess) {
		t.Refresh = g.token(r.Refresh, scopes, r.Now, idle)
	}
	return t
}

// check validates an attempt to redeem an unused code. The caller has checked that the code belongs to the client.
func (c CodeState) check(r Redemption) error {
	switch {
	case !r.Now.Before(c.Code.ExpiresAt):
		return ErrInvalidGrant
	case r.RedirectURI != "" && r.RedirectURI != c.Code.RedirectURI:
		return ErrInvalidGrant.WithText("redirect_uri must be the redirect_uri of the authorization request")
	case !isVerifier(r.Verifier):
		return ErrInvalidRequest.WithText("code_verifier must have 43 to 128 characters of A-Z, a-z, 0-9, -, ., _ and ~")
	case !answersChallenge(r.Verifier, c.Code.Challenge):
		return ErrInvalidGrant.WithText("code_verifier does not match the code_challenge")
	case r.Bad != nil:
		return r.Bad
	case r.Resource != "" && r.Resource != c.Code.Resource:
		return ErrInvalidTarget
	case !c.App.Active(), len(c.Code.Scopes.Intersect(c.App.Scopes)) == 0:
		return ErrInvalidGrant
	case c.Code.GrantID != "" && (c.Grant == nil || !c.Grant.Active(r.Now)):
		return ErrInvalidGrant
	}
	return nil
}

// isVerifier reports whether text has the syntax of a PKCE code verifier (RFC 7636 4.1).
func isVerifier(text string) bool {
	if len(text) < 43 || len(text) > 128 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && c != '-' && c != '.' && c != '_' && c != '~' {
			return false
		}
	}
	return true
}

func answersChallenge(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}
