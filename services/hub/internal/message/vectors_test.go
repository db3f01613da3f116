package message

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/proto/testvectors"
)

// Files of test vectors, which implementations in other languages also check. go test -update writes them.
const (
	messageVectors = "../../../../../proto/testvectors/messages.json"
	payloadVectors = "../../../../../proto/testvectors/payloads.json"
)

// vectors is the content of the file of message vectors. Raw is a message as sent, in hexadecimal if it is not UTF-8.
type vectors struct {
	Issuer  string         `json:"issuer"`
	Prefix  string         `json:"prefix"`
	Now     int64          `json:"now"`
	Signers []vectorSigner `json:"signers"`
	Valid   []vector       `json:"valid"`
	Invalid []vector       `json:"invalid"`
}

type vectorSigner struct {
	Seed      string   `json:"seed"`
	PublicKey string   `json:"publicKey"`
	DenpaID   string   `json:"denpaId"`
	AppID     *string  `json:"appId"`
	Scopes    []string `json:"scopes"`
	Status    string   `json:"status"`
}

type vector struct {
	Name      string `json:"name"`
	Raw       string `json:"raw,omitempty"`
	RawHex    string `json:"rawHex,omitempty"`
	PadTo     int    `json:"padTo,omitempty"`     // raw is followed by spaces up to this length
	Canonical string `json:"canonical,omitempty"` // without the signature
	ID        string `json:"id,omitempty"`
	URI       string `json:"uri,omitempty"`
	PublicKey string `json:"publicKey,omitempty"`
	Signature string `json:"signature,omitempty"`
	Error     string `json:"error,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

func (v vector) bytes(t testing.TB) []byte {
	t.Helper()
	if v.RawHex == "" {
		return []byte(v.Raw + strings.Repeat(" ", max(v.PadTo-len(v.Raw), 0)))
	}
	b, err := hex.DecodeString(v.RawHex)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (s vectorSigner) signer() Signer {
	out := Signer{Key: Key(s.PublicKey), DenpaID: s.DenpaID, Scopes: s.Scopes}
	if s.AppID != nil {
		out.AppID = *s.AppID
	}
	switch Status(s.Status) {
	case Revoked:
		out.RevokedAt = now.Add(-time.Hour)
	case Expired:
		out.ExpiresAt = now
	case Active:
	}
	return out
}

// check runs all checks of a message that precede its storage.
func check(t testing.TB, v vectors, raw []byte) error {
	t.Helper()
	m, err := Read(v.Issuer, raw)
	if err != nil {
		return err
	}
	for _, s := range v.Signers {
		if s.PublicKey != string(m.Key) {
			continue
		}
		if err := checkOwner(m, s.signer()); err != nil {
			return err
		}
		if !m.Authentic() {
			return errSignature
		}
		return checkNew(m, s.signer(), time.UnixMilli(v.Now).UTC())
	}
	return errUnknownSigner
}

// TestMessageVectors (S48) checks that the code accepts or refuses each message as the file states, and that the file is current.
func TestMessageVectors(t *testing.T) {
	t.Parallel()
	v := makeVectors(t)
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, messageVectors, text)
	for _, c := range v.Valid {
		if err := check(t, v, c.bytes(t)); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	for _, c := range v.Invalid {
		if want := strings.TrimSpace(c.Error + " " + c.Reason); why(check(t, v, c.bytes(t))) != want {
			t.Errorf("%s: %q, want %q", c.Name, why(check(t, v, c.bytes(t))), want)
		}
	}
}

// TestMessageFile verifies the messages of the file with only the standard library and the content of the file.
func TestMessageFile(t *testing.T) {
	t.Parallel()
	var v vectors
	if err := json.Unmarshal(testvectors.Messages, &v); err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Valid {
		data := []byte(v.Prefix + "\n" + v.Issuer + "\n" + c.Canonical)
		key, err := hex.DecodeString(c.PublicKey)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := hex.DecodeString(c.Signature)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		if !ed25519.Verify(key, data, signature) || "msg_"+hex.EncodeToString(sum[:]) != c.ID {
			t.Errorf("%s: the signature is invalid", c.Name)
		}
		m, err := Read(v.Issuer, c.bytes(t))
		if err != nil || !bytes.Equal(m.Signed, data) || string(m.ID) != c.ID || m.URI() != c.URI {
			t.Errorf("%s reads as %+v, %v", c.Name, m, err)
		}
	}
	if len(v.Valid) < 15 || len(v.Invalid) < 30 {
		t.Errorf("%d valid, %d invalid", len(v.Valid), len(v.Invalid))
	}
}

// maker creates the test vectors.
type maker struct {
	t testing.TB
	vectors
	private map[string]ed25519.PrivateKey
}

func makeVectors(t testing.TB) vectors {
	t.Helper()
	k := &maker{t: t, private: map[string]ed25519.PrivateKey{}, vectors: vectors{Issuer: issuer, Prefix: MessagePrefix, Now: now.UnixMilli()}}
	var all []string
	for _, name := range Types {
		all = append(all, name.Scope())
	}
	appID := app
	k.signer("app", &appID, all, Active)
	k.signer("own", nil, all, Active)
	k.signer("narrow", &appID, []string{"profile:update"}, Active)
	k.signer("revoked", &appID, all, Revoked)
	k.signer("expired", &appID, all, Expired)
	k.private["stranger"] = seeded("vector stranger")
	k.valid()
	k.invalidForms()
	k.invalidSignatures()
	k.invalidStates()
	return k.vectors
}

func (k *maker) signer(name string, appID *string, scopes []string, status Status) {
	private := seeded("vector " + name)
	k.private[name] = private
	k.Signers = append(k.Signers, vectorSigner{
		Seed: hex.EncodeToString(private.Seed()), PublicKey: string(publicKey(private)), DenpaID: passport, AppID: appID, Scopes: scopes, Status: string(status),
	})
}

// raw returns a signed message of a signer. Its nonce depends on the name of the case.
func (k *maker) raw(name, signer string, edit func(map[string]any)) string {
	private := k.private[signer]
	sum := sha256.Sum256([]byte(name))
	return string(sign(k.t, private, issuer, draft(publicKey(private), func(m map[string]any) {
		m["nonce"] = hex.EncodeToString(sum[:12])
		if signer == "own" {
			m["appId"] = nil
		}
		if edit != nil {
			edit(m)
		}
	})))
}

func (k *maker) good(name, raw string) {
	m, err := Read(issuer, []byte(raw))
	if err != nil {
		k.t.Fatalf("%s: %v", name, err)
	}
	k.Valid = append(k.Valid, vector{
		Name: name, Raw: raw, Canonical: strings.TrimPrefix(string(m.Signed), MessagePrefix+"\n"+issuer+"\n"),
		ID: string(m.ID), URI: m.URI(), PublicKey: string(m.Key), Signature: hex.EncodeToString(m.Signature),
	})
}

func (k *maker) bad(name, raw, code, reason string) {
	v := vector{Name: name, Raw: raw, Error: code, Reason: reason}
	if strings.ToValidUTF8(raw, "") != raw {
		v.Raw, v.RawHex = "", hex.EncodeToString([]byte(raw))
	}
	k.Invalid = append(k.Invalid, v)
}

func payloadOf(of Type, payload map[string]any) func(map[string]any) {
	return func(m map[string]any) { m["type"], m["payload"] = string(of), payload }
}

func (k *maker) valid() {
	for _, s := range shapes(k.t) {
		if s.attested {
			continue
		}
		name := string(s.of) + ", an app's"
		example := s.schema["examples"].([]any)[0].(map[string]any)
		k.good(name, k.raw(name, "app", payloadOf(s.of, example)))
	}
	k.good("the passport's own signer", k.raw("own", "own", nil))
	take := func(text string) func(map[string]any) {
		return payloadOf(PredictionCreate, map[string]any{"marketId": "701122", "position": "YES", "take": text})
	}
	k.good("text beyond the basic plane", k.raw("astral", "app", take("\U0001f30a é e\u0301 \ufb33 \u2028")))
	k.good("text of line ends and quotes", k.raw("lines", "app", take("\"\\/\n\r\n<>&\u200d")))
	plain := k.raw("spelling", "app", take("/é😀"))
	k.good("spelt with escapes and spaces", strings.NewReplacer("/é😀", `\/\u00e9\uD83D\uDE00`, `"version":1`, "\"versio\\u006e\" : 1.0\n").Replace(plain))
	k.good("numbers in other spellings", strings.Replace(k.raw("numbers", "app", nil), "6850", "6.85e3", 1))
	k.good("oldest", k.raw("oldest", "app", func(m map[string]any) { m["timestamp"] = now.UnixMilli() - 300_000 }))
	k.good("newest", k.raw("newest", "app", func(m map[string]any) { m["timestamp"] = now.UnixMilli() + 60_000 }))
}

func (k *maker) invalidForms() {
	base := k.raw("form", "app", nil)
	k.Invalid = append(k.Invalid, vector{Name: "larger than 32 KiB", Raw: base, PadTo: MaxSize + 1, Error: "payload_too_large"})
	swap := func(old, with string) string {
		out := strings.Replace(base, old, with, 1)
		if out == base {
			k.t.Fatalf("%s is not in %s", old, base)
		}
		return out
	}
	for _, c := range []struct{ name, raw, code, reason string }{
		{"nested 17 deep", swap("6850", strings.Repeat("[", 15)+strings.Repeat("]", 15)), "invalid_request", ReasonCanonical},
		{"a member twice", swap(`"version":1`, `"version":1,"version":1`), "invalid_request", ReasonCanonical},
		{"a member twice, once escaped", swap(`"version":1`, `"version":1,"\u0076ersion":1`), "invalid_request", ReasonCanonical},
		{"bad UTF-8", swap(`"NO"`, "\"N\xff\""), "invalid_request", ReasonCanonical},
		{"a lone surrogate", swap(`"NO"`, `"\ud800"`), "invalid_request", ReasonCanonical},
		{"a number beyond doubles", swap("6850", "1e400"), "invalid_request", ReasonCanonical},
		{"a leading zero", swap("6850", "06850"), "invalid_request", ReasonCanonical},
		{"two documents", base + "{}", "invalid_request", ReasonCanonical},
		{"a list", "[" + base + "]", "invalid_request", ReasonSchema},
		{"an unknown member", swap(`"version":1`, `"version":1,"memo":""`), "invalid_request", ReasonMember},
		{"a member in other case", swap(`"version":1`, `"version":1,"Type":"profile.update"`), "invalid_request", ReasonMember},
		{"no nonce", strings.Replace(base, `"nonce"`, `"nonse"`, 1), "invalid_request", ReasonMember},
		{"no app", swap(`"appId":"`+app+`",`, ""), "invalid_request", ReasonSchema},
		{"version 2", swap(`"version":1`, `"version":2`), "invalid_request", ReasonSchema},
		{"a type in other case", swap("signal.create", "Signal.Create"), "invalid_request", ReasonSchema},
		{"a timestamp as text", swap(`"timestamp":1789732800000`, `"timestamp":"1789732800000"`), "invalid_request", ReasonSchema},
		{"a timestamp beyond whole doubles", swap("1789732800000", "9007199254740993"), "invalid_request", ReasonSchema},
		{"a nonce of 15", k.raw("short", "app", func(m map[string]any) { m["nonce"] = "123456789012345" }), "invalid_request", ReasonSchema},
		{"a key in upper case", swap(k.Signers[0].PublicKey, strings.ToUpper(k.Signers[0].PublicKey)), "invalid_request", ReasonSchema},
		{"another kind of signer", swap("ed25519", "ed448"), "invalid_request", ReasonSchema},
	} {
		k.bad(c.name, c.raw, c.code, c.reason)
	}
}

func (k *maker) invalidSignatures() {
	base := k.raw("signature", "app", nil)
	private := k.private["app"]
	k.bad("a payload that was changed", strings.Replace(base, "6850", "6851", 1), "unauthenticated", ReasonSignature)
	k.bad("another signer's key", strings.Replace(base, k.Signers[0].PublicKey, k.Signers[3].PublicKey, 1), "unauthenticated", ReasonSignature)
	k.bad("for another hub", string(sign(k.t, private, "https://other.example/api/protocol/v1", draft(publicKey(private), nil))), "unauthenticated", ReasonSignature)
	for _, c := range []struct {
		name string
		sign func(data []byte) []byte
	}{
		{"without the prefix", func(data []byte) []byte {
			return ed25519.Sign(private, bytes.TrimPrefix(data, []byte(MessagePrefix+"\n"+issuer+"\n")))
		}},
		{"under the prefix of a proof", func(data []byte) []byte {
			return ed25519.Sign(private, bytes.Replace(data, []byte(MessagePrefix), []byte(SignerPrefix), 1))
		}},
		{"S and the group order", func(data []byte) []byte {
			return malleate(ed25519.Sign(private, data))
		}},
		{"all zero", func([]byte) []byte { return make([]byte, ed25519.SignatureSize) }},
	} {
		m := draft(publicKey(private), nil)
		sig, err := signatureOf(issuer, m, c.sign)
		if err != nil {
			k.t.Fatal(err)
		}
		m["signature"] = sig
		raw, err := json.Marshal(m)
		if err != nil {
			k.t.Fatal(err)
		}
		k.bad(c.name, string(raw), "unauthenticated", ReasonSignature)
	}
}

func (k *maker) invalidStates() {
	stamp := func(ms int64) func(map[string]any) { return func(m map[string]any) { m["timestamp"] = ms } }
	k.bad("text of controls", k.raw("controls", "app", payloadOf(PredictionCreate, map[string]any{
		"marketId": "701122", "position": "YES", "take": "\b\f\r\t\u0001\u001f\u007f\u202e\ue000",
	})), "invalid_request", ReasonPayload)
	k.bad("a stranger's key", k.raw("stranger", "stranger", nil), "unauthenticated", ReasonSigner)
	k.bad("another passport", k.raw("passport", "app", func(m map[string]any) { m["denpaId"] = app }), "unauthenticated", ReasonSigner)
	k.bad("another app", k.raw("other app", "app", func(m map[string]any) { m["appId"] = nil }), "unauthenticated", ReasonSigner)
	k.bad("too old", k.raw("old", "app", stamp(now.UnixMilli()-300_001)), "invalid_request", ReasonWindow)
	k.bad("too far ahead", k.raw("ahead", "app", stamp(now.UnixMilli()+60_001)), "invalid_request", ReasonWindow)
	k.bad("seconds for milliseconds", k.raw("seconds", "app", stamp(now.Unix())), "invalid_request", ReasonWindow)
	k.bad("a revoked signer", k.raw("revoked", "revoked", nil), "unauthenticated", ReasonRevoked)
	k.bad("an expired signer", k.raw("expired", "expired", nil), "unauthenticated", ReasonExpired)
	k.bad("a scope that was not granted", k.raw("narrow", "narrow", nil), "insufficient_scope", "")
	k.bad("a payload without position", k.raw("position", "app", payloadOf(SignalCreate, map[string]any{"marketId": "1"})), "invalid_request", ReasonPayload)
	k.bad("a client that attests", k.raw("attest", "app", payloadOf(SignalCreate, map[string]any{
		"marketId": "1", "position": "YES", "signalId": passport, "priceAtPrediction": 1, "credential": "app_token", "filedAt": "2026-09-18T12:00:00Z",
	})), "invalid_request", ReasonPayload)
	k.bad("a whole number beyond doubles", strings.Replace(k.raw("unsafe", "app", func(m map[string]any) {
		m["payload"].(map[string]any)["priceBps"] = json.Number("9007199254740992")
	}), "9007199254740992", "9007199254740993", 1), "invalid_request", ReasonPayload)
}
