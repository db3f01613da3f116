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

// What a signature covers begins with one of these, the issuer, and a line feed after each.
const (
	messagePrefix = "denpa-message-v1"
	signerPrefix  = "denpa-signer-v1"
)

// Signer signs messages with an Ed25519 key.
type Signer struct{ key ed25519.PrivateKey }

// NewSigner takes a key; ed25519.GenerateKey makes one, and ed25519.NewKeyFromSeed reads one.
func NewSigner(key ed25519.PrivateKey) (Signer, error) {
	if len(key) != ed25519.PrivateKeySize {
		return Signer{}, errors.New("signalcast: no Ed25519 private key")
	}
	return Signer{key}, nil
}

// PublicKey is how the protocol writes it.
func (s Signer) PublicKey() string {
	return hex.EncodeToString(s.key.Public().(ed25519.PublicKey))
}

// Message is an act before it is signed.
type Message struct {
	Type    string    // such as signal.create; the hub's schemas say what each carries
	DenpaID uuid.UUID // of the passport
	AppID   *string   // nil: the signer is the passport's own
	Payload any
	At      time.Time // when it is signed; the hub takes what is up to five minutes old, or one ahead
	Nonce   string    // empty: by chance; one for each message of a key, for ever
}

// Signed is a message with its signature, in the one form that all agree on.
type Signed struct {
	ID   string // what the hub calls it, known before it is sent
	Body []byte
}

func (s Signed) reader() io.Reader { return bytes.NewReader(s.Body) }

// Sign signs for one issuer: Apps.Issuer tells which the hub is.
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

// Prove returns the signature over the members of a registration, which proves to the hub that the caller has the key.
// Messages.RegisterSigner makes and sends it.
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

// canonical is the form of RFC 8785.
func canonical(members map[string]any) ([]byte, error) {
	raw, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(raw)
}
