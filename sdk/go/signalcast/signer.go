package signalcast

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/gowebpki/jcs"
)

// Prefixes of the bytes that a signature covers. A line feed, the issuer and another line feed follow the prefix.
const (
	messagePrefix = "denpa-message-v1"
	signerPrefix  = "denpa-signer-v1"
)

// Signer signs protocol messages with an Ed25519 private key.
type Signer struct{ key ed25519.PrivateKey }

// NewSigner returns a Signer for a private key, for example one of ed25519.GenerateKey or ed25519.NewKeyFromSeed. It returns an
// error if the key does not have the length of an Ed25519 private key.
func NewSigner(key ed25519.PrivateKey) (Signer, error) {
	if len(key) != ed25519.PrivateKeySize {
		return Signer{}, errors.New("signalcast: the key must be an Ed25519 private key of 64 bytes")
	}
	return Signer{key}, nil
}

// PublicKey returns the public key in lower-case hexadecimal digits, as the protocol requires.
func (s Signer) PublicKey() string {
	return hex.EncodeToString(s.key.Public().(ed25519.PublicKey))
}

// Message is an unsigned protocol message.
type Message struct {
	Type    string    // for example signal.create; docs/protocol/messages.md lists the payloads
	DenpaID uuid.UUID // id of the passport
	AppID   *string   // nil: the signer belongs to the operator, not to an app
	Payload any
	At      time.Time // time of signing; the hub accepts messages up to 5 minutes old and up to 1 minute ahead
	Nonce   string    // unique for the key; empty: random
}

// Signed is a signed message in canonical form (RFC 8785).
type Signed struct {
	ID   string // id of the message on the hub, known before submission
	Body []byte
}

func (s Signed) reader() io.Reader { return bytes.NewReader(s.Body) }

// Sign signs a message for the issuer URL of a hub, which Apps.Issuer returns. If m has no nonce, Sign generates one.
func (s Signer) Sign(issuer string, m Message) (Signed, error) {
	if m.Nonce == "" {
		m.Nonce = rand.Text()
	}
	members := map[string]any{
		"version": 1, "type": m.Type, "denpaId": m.DenpaID, "appId": m.AppID, "timestamp": m.At.UnixMilli(), "nonce": m.Nonce,
		"payload": m.Payload, "signer": map[string]any{"kind": "ed25519", "publicKey": s.PublicKey()},
	}
	covered, err := covered(messagePrefix, issuer, members)
	if err != nil {
		return Signed{}, err
	}
	members["signature"] = hex.EncodeToString(ed25519.Sign(s.key, covered))
	body, err := canonical(members)
	if err != nil {
		return Signed{}, err
	}
	sum := sha256.Sum256(covered)
	return Signed{ID: "msg_" + hex.EncodeToString(sum[:]), Body: body}, nil
}

// Prove returns a signature over the members of a signer registration. The signature shows the hub that the caller has the
// private key. Messages.RegisterSigner calls Prove.
func (s Signer) Prove(issuer string, members map[string]any) (string, error) {
	covered, err := covered(signerPrefix, issuer, members)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(ed25519.Sign(s.key, covered)), nil
}

func covered(prefix, issuer string, members map[string]any) ([]byte, error) {
	body, err := canonical(members)
	return append([]byte(prefix+"\n"+issuer+"\n"), body...), err
}

// canonical returns the canonical JSON of an object (RFC 8785).
func canonical(members map[string]any) ([]byte, error) {
	raw, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(raw)
}
