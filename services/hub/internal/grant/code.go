package grant

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"time"
)

// Code is an authorization code.
type Code struct {
	Hash        Hash
	AppID       string
	UserID      string
	RedirectURI string
	Scopes      Scopes
	Challenge   string
	Resource    string
	GrantID     string // the grant that it renews or came to; empty: it makes a new one
	Consented   bool   // the user has just agreed; false: from an older consent
	CreatedAt   time.Time
	ExpiresAt   time.Time
	UsedAt      time.Time // zero: not yet
	Redeemed    bool      // it was used and came to tokens
}

// CodeState is a code under lock, with what it belongs to.
type CodeState struct {
	Code  Code
	App   App    // no grant of it can be made or end meanwhile
	Grant *Grant // of Code.GrantID, under lock
}

// Turn is what becomes of a code or of a refresh token: what the store writes in
// one transaction, and the refusal, if it is one.
type Turn struct {
	UseUp    bool   // the code is used, whatever comes of it
	Revoke   Reason // the grant ends, for this reason
	NewGrant *Grant
	Extend   time.Time // the grant lives until then; zero: as it did
	Rotate   *Hash     // the refresh token is used; this one follows it
	GrantID  string    // of the tokens
	UserID   string
	Resource string
	Access   *Token
	Refresh  *Token // a new one
	Err      error
}

func refused(err error) Turn { return Turn{Err: err} }

// Redemption is a client's attempt at a code. The ids and hashes are those of what
// is made if it succeeds.
type Redemption struct {
	AppID       string
	RedirectURI string // empty: not given
	Verifier    string
	Resource    string // empty: not given
	Bad         error  // what is wrong with the request apart from the code
	GrantID     string
	Access      Hash
	Refresh     Hash
	Now         time.Time
}

// Redeem is the rule of a code. Another client's attempt changes nothing. A failed
// attempt of its own client uses the code up. A second attempt after a good one
// means that somebody else has the code, so the grant ends: of fifty attempts at
// once exactly one is answered with tokens, and those are dead when all have ended.
func (c CodeState) Redeem(r Redemption) Turn {
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
		return Turn{UseUp: true, Err: err}
	}
	scopes := c.Code.Scopes.Intersect(c.App.Scopes)
	g, t := c.Grant, Turn{UseUp: true, UserID: c.Code.UserID, Resource: c.Code.Resource}
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

// check judges an attempt of the code's own client at an unused code.
func (c CodeState) check(r Redemption) error {
	switch {
	case !r.Now.Before(c.Code.ExpiresAt):
		return ErrInvalidGrant
	case r.RedirectURI != "" && r.RedirectURI != c.Code.RedirectURI:
		return ErrInvalidGrant.Say("redirect_uri is not the one that the code was sent to")
	case !isVerifier(r.Verifier):
		return ErrInvalidRequest.Say("code_verifier is 43 to 128 unreserved characters")
	case !answersChallenge(r.Verifier, c.Code.Challenge):
		return ErrInvalidGrant.Say("code_verifier is not the one of the code")
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

// isVerifier is the grammar of RFC 7636, 4.1.
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
