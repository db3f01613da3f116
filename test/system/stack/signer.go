package stack

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Signer is an Ed25519 key that signs messages for a user.
type Signer struct {
	Private   ed25519.PrivateKey
	PublicKey string // in hexadecimal
	Person    string // user id
	App       any    // id of the application whose token registers the key; nil if the person registers it
	Expires   string
	Label     string // empty if the key has no label

	s *Stack
}

// NewSigner generates a key for the operator and does not register it. The key expires after 30 days.
func (o *Operator) NewSigner(t testing.TB) *Signer {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Signer{
		Private: private, PublicKey: hex.EncodeToString(public), Person: o.ID, Expires: Stamp(time.Now().AddDate(0, 0, 30)), s: o.s,
	}
}

// Issuer returns the issuer URL of the hub, which is part of all signed bytes.
func (s *Stack) Issuer() string { return s.Hub + ProtocolPath }

// Register registers the key with the given scopes. The parameter as sets the credential, which is one of the user or a token
// of an application.
func (g *Signer) Register(t testing.TB, as Set, scopes ...string) {
	t.Helper()
	challenge := g.Challenge(t, as)
	proof := ed25519.Sign(g.Private, g.ProofBytes(challenge, scopes))
	g.Apply(t, as, challenge, proof, scopes).Require(http.StatusCreated)
}

// Challenge requests a challenge for the registration of the key.
func (g *Signer) Challenge(t testing.TB, as Set) string {
	t.Helper()
	return Post(t, g.s.Issuer()+"/signers/challenge", as, Body(JSON{"publicKey": g.PublicKey})).Require(http.StatusOK).Text("challenge")
}

// ProofBytes returns the bytes that the private key signs for a registration, as a proof of possession.
func (g *Signer) ProofBytes(challenge string, scopes []string) []byte {
	return fmt.Appendf(nil, "denpa-signer-v1\n%s\n%s", g.s.Issuer(), Canonical(JSON{
		"appId": g.App, "challenge": challenge, "denpaId": g.Person, "expiresAt": g.Expires, "publicKey": g.PublicKey, "scopes": scopes,
	}))
}

// Apply sends a registration of the key with a proof, which may be invalid, and returns the response.
func (g *Signer) Apply(t testing.TB, as Set, challenge string, proof []byte, scopes []string) Answer {
	t.Helper()
	body := JSON{
		"publicKey": g.PublicKey, "scopes": scopes, "expiresAt": g.Expires, "challenge": challenge, "proof": hex.EncodeToString(proof),
	}
	if g.Label != "" {
		body["label"] = g.Label
	}
	return Post(t, g.s.Issuer()+"/signers", as, Body(body))
}

// Draft returns an unsigned message with a random nonce and the current time.
func (g *Signer) Draft(kind string, payload JSON) JSON {
	return JSON{
		"version": 1, "type": kind, "denpaId": g.Person, "appId": g.App, "timestamp": time.Now().UnixMilli(), "nonce": rand.Text(),
		"payload": payload, "signer": JSON{"kind": "ed25519", "publicKey": g.PublicKey},
	}
}

// MessageBytes returns the bytes that the signature of a message covers. draft is the message without its signature.
func (g *Signer) MessageBytes(draft JSON) []byte {
	return fmt.Appendf(nil, "denpa-message-v1\n%s\n%s", g.s.Issuer(), Canonical(draft))
}

// Sign returns a copy of the message draft with its signature.
func (g *Signer) Sign(draft JSON) JSON {
	return draft.With("signature", hex.EncodeToString(ed25519.Sign(g.Private, g.MessageBytes(draft))))
}

// Message returns a signed message with a random nonce and the current time.
func (g *Signer) Message(kind string, payload JSON) JSON { return g.Sign(g.Draft(kind, payload)) }

// Canonical returns the canonical JSON of a value (RFC 8785), which signatures cover. All member names must be ASCII, and all
// numbers must be integers. For such values, encoding/json differs from RFC 8785 only in U+2028 and U+2029, which it escapes.
func Canonical(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a programming error of the test
	}
	// The first pair consumes escaped backslashes, so that the other pairs cannot match the second backslash of an
	// escaped one.
	plain := strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(out.String())
	return []byte(strings.TrimSuffix(plain, "\n"))
}
