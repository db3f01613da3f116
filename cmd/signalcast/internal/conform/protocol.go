package conform

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/gowebpki/jcs"
)

const protocolBase = "/api/protocol/v1"

var (
	keyHex       = regexp.MustCompile(`^[0-9a-f]{64}$`)
	signatureHex = regexp.MustCompile(`^[0-9a-f]{128}$`)
	messageTypes = []string{
		"profile.update", "station.create", "station.update", "broadcast.create", "broadcast.goLive",
		"signal.create", "prediction.create", "market.create", "resolution.create",
	}
)

// discovery checks the issuer, the scopes, the message types and the signature format that the protocol route returns.
func discovery(ctx context.Context, r *run) {
	a := r.get(ctx, hub, protocolBase)
	if !r.status(a, http.StatusOK) {
		return
	}
	u, err := url.Parse(text(a.value, "issuer"))
	r.expect(err == nil && u.Host != "" && strings.HasSuffix(u.Path, protocolBase), a, "issuer ends in "+protocolBase,
		describe(at(a.value, "issuer")))
	has := func(path string, wanted ...string) {
		got := map[any]bool{}
		for _, v := range list(a.value, path) {
			got[v] = true
		}
		for _, w := range wanted {
			r.expect(got[w], a, path+" contains "+w, describe(at(a.value, path)))
		}
	}
	has("scopes_supported", "profile:read", "signal:create", "prediction:create")
	has("code_challenge_methods_supported", "S256")
	has("response_types_supported", "code")
	has("protocol.messageTypes", messageTypes...)
	r.same(a, "protocol.version", float64(1))
	r.same(a, "protocol.signature.prefix", "denpa-message-v1")
	r.same(a, "protocol.signature.canonicalization", "RFC8785")
	b := r.get(ctx, hub, "/.well-known/oauth-authorization-server"+protocolBase)
	if r.status(b, http.StatusOK) {
		r.same(b, "issuer", text(a.value, "issuer"))
	}
}

// attestedMessages checks the signatures of the messages on the newest page and of the messages that the run created. An attested
// message must have the signature of a key of the hub. Any other message must have the signature of the key that it names. The
// signature of a hidden message cannot be checked; the note of the result states the number of hidden messages.
func attestedMessages(ctx context.Context, r *run) {
	k := r.get(ctx, hub, protocolBase+"/keys")
	if !r.status(k, http.StatusOK) {
		return
	}
	keys := map[string]bool{}
	for _, key := range list(k.value, "keys") {
		public := text(key, "publicKey")
		r.expect(text(key, "kind") == "ed25519" && keyHex.MatchString(public), k, "kind ed25519 with 64 hex digits", describe(key))
		keys[public] = true
	}
	r.expect(len(keys) > 0, k, "at least one key", "none")
	issuer := text(r.get(ctx, hub, protocolBase).value, "issuer")
	seen := map[string]bool{} // by the id of a message: whether it is hidden
	for _, id := range r.state.messages {
		one := r.get(ctx, hub, protocolBase+"/messages/"+id)
		if r.status(one, http.StatusOK) {
			seen[id] = r.message(one, one.body, issuer, keys)
		}
	}
	a := r.reread(ctx, hub, protocolBase+"/messages?limit=50")
	var page struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if r.status(a, http.StatusOK) && r.expect(json.Unmarshal(a.body, &page) == nil, a, "a list messages") {
		for _, raw := range page.Messages {
			seen[text(decode(raw), "id")] = r.message(a, raw, issuer, keys)
		}
	}
	hidden := 0
	for _, h := range seen {
		if h {
			hidden++
		}
	}
	if hidden > 0 {
		r.current.Note = fmt.Sprintf("%d of %d messages are hidden; payloads, ids and signatures cannot be checked", hidden, len(seen))
	}
}

// message checks the id and the signature of one stored message. If its payload is hidden, neither can be checked, and message
// returns true.
func (r *run) message(a *answer, raw []byte, issuer string, keys map[string]bool) (hidden bool) {
	var stored struct {
		ID       string                     `json:"id"`
		Attested bool                       `json:"attested"`
		Hidden   bool                       `json:"hidden"`
		Message  map[string]json.RawMessage `json:"message"`
	}
	if !r.expect(json.Unmarshal(raw, &stored) == nil && stored.Message != nil, a, "a message with its id") {
		return false
	}
	whole := decode(raw)
	public, signature := text(whole, "message.signer.publicKey"), text(whole, "message.signature")
	valid := keyHex.MatchString(public) && signatureHex.MatchString(signature)
	if !r.expect(valid, a, "a key of 64 and a signature of 128 hex digits", describe(at(whole, "message.signer"))) {
		return false
	}
	r.expect(!stored.Attested || keys[public], a, "a key of GET /api/protocol/v1/keys", public)
	if stored.Hidden {
		// Without the payload the signed bytes cannot be restored, so a finding about the signature would be wrong.
		r.expect(string(stored.Message["payload"]) == "null", a, "a hidden message without its payload", stored.ID)
		return true
	}
	delete(stored.Message, "signature")
	signed, err := signedBytes(issuer, stored.Message)
	if !r.expect(err == nil, a, "a message with a canonical form", stored.ID) {
		return false
	}
	key, _ := hex.DecodeString(public)
	sig, _ := hex.DecodeString(signature)
	r.expect(ed25519.Verify(key, signed, sig), a, "a signature of "+public+" over the message", stored.ID+" has another signature")
	sum := sha256.Sum256(signed)
	r.expect(stored.ID == "msg_"+hex.EncodeToString(sum[:]), a, "id is msg_ and the SHA-256 of the signed bytes",
		describe(stored.ID))
	return false
}

// signedBytes returns the bytes that a signature covers (docs/protocol/messages.md, What is signed).
func signedBytes(issuer string, message any) ([]byte, error) {
	raw, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	canonical, err := jcs.Transform(raw)
	return []byte("denpa-message-v1\n" + issuer + "\n" + string(canonical)), err
}
