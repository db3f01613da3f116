package rows

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// protocolPath is where delegated sign-in and messages stand.
const protocolPath = "/api/protocol/v1"

// protocol is where programs of others come in, at the i-th hub.
func protocol(env *frame.Env, i int) string { return env.Hub(i) + protocolPath }

// issuerOf is the name under which all hubs are one.
func issuerOf(env *frame.Env) string { return env.Stack.Hub + protocolPath }

// pen is a key that signs messages of a passport.
type pen struct {
	private ed25519.PrivateKey
	public  string // in hexadecimal letters
	denpaID string
	appID   any // nil: the passport's own
	issuer  string
}

// newPen makes a key that nobody knows yet; the name is what it is made from.
func newPen(env *frame.Env, denpaID, name string) pen {
	seed := sha256.Sum256(fmt.Appendf(nil, "pen %s %d %s", name, env.Seed, denpaID))
	private := ed25519.NewKeyFromSeed(seed[:])
	return pen{private: private, public: hex.EncodeToString(private.Public().(ed25519.PublicKey)), denpaID: denpaID, issuer: issuerOf(env)}
}

// signerEnds is when signers of these tests expire: those of an operator key must.
var signerEnds = time.Now().UTC().AddDate(0, 0, 30).Format(time.RFC3339)

// register makes the key a signer of the owner of a credential.
func (p pen) register(ctx context.Context, env *frame.Env, as client.Credential, scopes ...string) error {
	challenge, err := p.challenge(ctx, env, as)
	if err != nil {
		return err
	}
	proof := ed25519.Sign(p.private, p.proved(challenge, scopes))
	return p.apply(ctx, env, as, challenge, proof, scopes).Into(http.StatusCreated, nil)
}

func (p pen) challenge(ctx context.Context, env *frame.Env, as client.Credential) (string, error) {
	a := env.Client.Do(ctx, client.Request{URL: protocol(env, 0) + "/signers/challenge", As: as, Body: map[string]any{"publicKey": p.public}})
	return a.Text("challenge"), a.Into(http.StatusOK, nil)
}

// proved is what a new signer signs.
func (p pen) proved(challenge string, scopes []string) []byte {
	return fmt.Appendf(nil, "denpa-signer-v1\n%s\n%s", p.issuer, canonical(map[string]any{
		"appId": p.appID, "challenge": challenge, "denpaId": p.denpaID, "expiresAt": signerEnds, "publicKey": p.public, "scopes": scopes,
	}))
}

func (p pen) apply(ctx context.Context, env *frame.Env, as client.Credential, challenge string, proof []byte, scopes []string) client.Answer {
	return env.Client.Do(ctx, client.Request{URL: protocol(env, 1) + "/signers", As: as, Body: map[string]any{
		"publicKey": p.public, "scopes": scopes, "expiresAt": signerEnds, "challenge": challenge, "proof": hex.EncodeToString(proof),
	}})
}

// draft is a message without its signature.
func (p pen) draft(kind, nonce string, at time.Time, payload map[string]any) map[string]any {
	return map[string]any{
		"version": 1, "type": kind, "denpaId": p.denpaID, "appId": p.appID, "timestamp": at.UnixMilli(), "nonce": nonce,
		"payload": payload, "signer": map[string]any{"kind": "ed25519", "publicKey": p.public},
	}
}

// signed is what the signature of a message covers.
func (p pen) signed(draft map[string]any) []byte {
	return fmt.Appendf(nil, "denpa-message-v1\n%s\n%s", p.issuer, canonical(draft))
}

// seal signs a draft.
func (p pen) seal(draft map[string]any) map[string]any {
	return sealed(draft, ed25519.Sign(p.private, p.signed(draft)))
}

func sealed(draft map[string]any, signature []byte) map[string]any {
	out := maps.Clone(draft)
	out["signature"] = hex.EncodeToString(signature)
	return out
}

// nonceOf is a nonce that follows from words.
func nonceOf(form string, args ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, form, args...))
	return hex.EncodeToString(sum[:12])
}

// submit sends a message, made or as bytes, to the i-th hub.
func submit(ctx context.Context, env *frame.Env, i int, message any) client.Answer {
	return env.Client.Do(ctx, client.Request{URL: protocol(env, i) + "/messages", Body: message})
}

// verdict is what the i-th hub says of a message that it is not to keep.
type verdict struct {
	Valid   bool     `json:"valid"`
	ID      string   `json:"id"`
	Reasons []string `json:"reasons"`
}

// judged asks for a verdict; a refusal of the message's form is no verdict.
func judged(ctx context.Context, env *frame.Env, i int, message any) (v verdict, a client.Answer) {
	a = env.Client.Do(ctx, client.Request{URL: protocol(env, i) + "/messages/verify", Body: message})
	if a.Into(http.StatusOK, &v) != nil {
		return verdict{}, a
	}
	return v, a
}

// aNotice is a type of message that may come as often as one likes.
const aNotice = "station.update"

// notice is its payload, on a station of the signer's own.
func notice(station, words string) map[string]any {
	return map[string]any{"stationId": station, "description": words}
}
