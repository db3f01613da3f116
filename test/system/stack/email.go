package stack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
)

// AddEmail stores an e-mail address of the operator that waits for its confirmation with EmailToken. No letter is sent.
func (o *Operator) AddEmail(t testing.TB) {
	t.Helper()
	hash := sha256.Sum256([]byte(o.EmailToken()))
	Query[int](t, o.s, `WITH a AS (
		INSERT INTO hub.email_addresses (user_id, address, token_hash, token_until, digest, digest_from)
		VALUES ($1, 'sealed', $2, now() + interval '1 day', 'daily', now()) RETURNING 1) SELECT count(*) FROM a`, o.ID, hash[:])
}

// EmailToken returns the token of the confirmation letter of AddEmail.
func (o *Operator) EmailToken() string { return "confirms-" + o.ID }

// UnsubscribeToken returns the token with which digests of the operator link to the page that stops them.
func (o *Operator) UnsubscribeToken(t testing.TB) string {
	t.Helper()
	secret, _, _ := strings.Cut(o.s.Environment(t, "hub")["SESSION_SECRETS"], ",")
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("unsubscribe " + o.ID))
	return o.ID + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
