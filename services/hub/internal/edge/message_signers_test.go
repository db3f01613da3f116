package edge_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"filippo.io/edwards25519"

	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// weakKeys are the points of small order, found by arithmetic.
func weakKeys(t *testing.T) []string {
	t.Helper()
	minusOne, err := edwards25519.NewScalar().SetCanonicalBytes(append([]byte{
		0xec, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
	}, append(make([]byte, 15), 0x10)...))
	if err != nil {
		t.Fatal(err)
	}
	for y := byte(2); y < 100; y++ {
		p, err := new(edwards25519.Point).SetBytes(append([]byte{y}, make([]byte, 31)...))
		if err != nil {
			continue
		}
		p.Add(p, new(edwards25519.Point).ScalarMult(minusOne, p))
		one := edwards25519.NewIdentityPoint()
		out := []string{hex.EncodeToString(one.Bytes())}
		for q := new(edwards25519.Point).Set(p); q.Equal(one) == 0; q = new(edwards25519.Point).Add(q, p) {
			out = append(out, hex.EncodeToString(q.Bytes()))
		}
		if len(out) == 8 {
			return out
		}
	}
	t.Fatal("no point of order eight")
	return nil
}

// S36: weak keys and second encodings are refused where a key comes in.
func TestWeakKeysAreNoSigners(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	weak := weakKeys(t)
	for _, last := range []string{"7f", "ff"} { // y of p and p + 1: zero and one once more
		weak = append(weak, "ed"+strings.Repeat("ff", 30)+last, "ee"+strings.Repeat("ff", 30)+last)
	}
	for _, key := range weak {
		b.clock.Advance(2 * time.Second)
		want(t, b.send("POST", signersPath+"/challenge", object("publicKey", key), b.byKey()), 400, "weak_key")
		want(t, b.send("POST", signersPath, object("publicKey", key, "scopes", []string{"signal:create"}, "challenge", "c", "proof", strings.Repeat("0", 128)), b.byKey()), 400, "weak_key")
	}
	for _, key := range []string{"", "00", strings.ToUpper(b.newPen("x").key())} {
		want(t, b.send("POST", signersPath+"/challenge", object("publicKey", key), b.byKey()), 400, "invalid_request")
	}
}

func TestSignerLife(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.newPen("one")
	w := p.register(b.byKey(), "signal:create", "prediction:create")
	want(t, w, 201, "")
	for name, value := range map[string]string{
		"publicKey": p.key(), "kind": "ed25519", "denpaId": b.mara.GetId(), "label": "bot", "status": "active", "appId": "", "revokedAt": "",
	} {
		if field(w, name) != value {
			t.Errorf("%s is %q in %s", name, field(w, name), w.Body)
		}
	}
	w = b.send("GET", signersPath+"/"+p.key(), "")
	if want(t, w, 200, ""); w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("not open: %v", w.Header())
	}
	if w = b.send("GET", signersPath+"?denpaId="+b.mara.GetId(), ""); !strings.Contains(w.Body.String(), p.key()) {
		t.Errorf("not listed: %s", w.Body)
	}
	want(t, p.register(b.byKey(), "signal:create"), 409, "signer_exists")

	joe := b.ledger.AddOperator("joe_x")
	byJoe := bearer(b.ledger.AddKey(joe.GetId()))
	want(t, b.send("DELETE", signersPath+"/"+p.key(), "", byJoe), 404, "not_found")
	want(t, b.send("DELETE", signersPath+"/"+p.key(), ""), 401, "unauthenticated")
	want(t, b.send("DELETE", signersPath+"/"+p.key(), "", b.bySession()), 401, "unauthenticated") // cookies are not read there
	for range 2 {
		want(t, b.send("DELETE", signersPath+"/"+p.key(), "", b.byKey()), 200, "")
	}
	if w = b.send("GET", signersPath+"/"+p.key(), ""); field(w, "status") != "revoked" || field(w, "revokedAt") == "" {
		t.Errorf("after its removal: %s", w.Body)
	}
	// S38: a removed key never returns, not for another passport either.
	want(t, p.register(b.byKey(), "signal:create"), 409, "signer_revoked")
	p.denpaID = joe.GetId()
	want(t, p.register(byJoe, "signal:create"), 409, "signer_revoked")

	q := b.signer("two", "signal:create")
	want(t, b.send("DELETE", "/api/user/signers/"+q.key(), "", b.bySession()), 200, "")
	want(t, b.send("DELETE", "/api/user/signers/"+q.key(), "", with("Cookie", b.cookie)), 403, "forbidden")
	want(t, b.send("GET", signersPath+"/"+b.newPen("nobody").key(), ""), 404, "not_found")
}

// S37: the proof is over a challenge that serves once, with a prefix of its own.
func TestProofOfPossession(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.newPen("one")
	post := func(body string) (status int, code string) {
		t.Helper()
		w := b.send("POST", signersPath, body, b.byKey())
		return w.Code, field(w, "error")
	}
	good := p.registration(p.challenge(b.byKey()), "signal:create")
	other := b.newPen("two")
	for name, body := range map[string]string{
		"another key's proof":    strings.ReplaceAll(other.registration(p.challenge(b.byKey()), "signal:create"), other.key(), p.key()),
		"more scopes":            strings.Replace(good, `["signal:create"]`, `["signal:create","prediction:create"]`, 1),
		"another expiry":         strings.Replace(good, member(good, "expiresAt"), "2026-10-01T00:00:00.000Z", 1),
		"a message's signature":  withProof(t, p, good, message.MessagePrefix, issuer),
		"another hub's proof":    withProof(t, p, good, message.SignerPrefix, "https://other.example/api/protocol/v1"),
		"a proof of other bytes": withProof(t, p, good, message.SignerPrefix, issuer+"/"),
	} {
		if status, code := post(body); status != 400 || code != "invalid_proof" {
			t.Errorf("%s: %d %s", name, status, code)
		}
	}
	// A signature that was good as a message proves nothing, here or for the same key.
	real := b.signer("writer", "signal:create").write("signal.create", call(marketID))
	want(t, b.send("POST", messagesPath, real), 201, "")
	writer := b.newPen("writer")
	body := writer.registration(writer.challenge(b.byKey()), "signal:create")
	if status, code := post(strings.Replace(body, member(body, "proof"), member(real, "signature"), 1)); status != 400 || code != "invalid_proof" {
		t.Errorf("a message's own signature as a proof: %d %s", status, code)
	}
	if status, code := post(good); status != 201 {
		t.Errorf("a failed proof used up the challenge: %d %s", status, code)
	}
	// And a proof that was good signs no message.
	forged := p.write("signal.create", call(nativeID))
	forged = strings.Replace(forged, member(forged, "signature"), member(good, "proof"), 1)
	reason(t, b.send("POST", messagesPath, forged), 401, "unauthenticated", message.ReasonSignature)
	// The challenge of one key, used, old or somebody else's, serves no other.
	used := other.registration(p.challengeUsed(t, good), "signal:create")
	if status, code := post(used); status != 400 || code != "challenge_expired" {
		t.Errorf("a used challenge: %d %s", status, code)
	}
	late := other.registration(other.challenge(b.byKey()), "signal:create")
	b.clock.Advance(message.ChallengeAge)
	if status, code := post(late); status != 400 || code != "challenge_expired" {
		t.Errorf("an old challenge: %d %s", status, code)
	}
	// The reverse: a signature over a proof is no message.
	m := p.unsigned("signal.create", call(marketID))
	reason(t, b.send("POST", messagesPath, p.sign(m, message.SignerPrefix, issuer)), 401, "unauthenticated", message.ReasonSignature)
}

// member is a text of a JSON object as it is written.
func member(object, name string) string {
	_, rest, _ := strings.Cut(object, `"`+name+`":"`)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

// withProof replaces the proof by a signature over the same members under another
// prefix or issuer.
func withProof(t *testing.T, p *pen, registration, prefix, issuer string) string {
	t.Helper()
	at := strings.Index(registration, `"proof":"`) + len(`"proof":"`)
	from := strings.Index(registration, `"challenge":"`) + len(`"challenge":"`)
	challenge := registration[from : from+strings.IndexByte(registration[from:], '"')]
	text, err := message.Canonical([]byte(object("appId", nil, "challenge", challenge, "denpaId", p.denpaID, "expiresAt", member(registration, "expiresAt"),
		"publicKey", p.key(), "scopes", []string{"signal:create"})))
	if err != nil {
		t.Fatal(err)
	}
	proof := hex.EncodeToString(ed25519.Sign(p.private, []byte(prefix+"\n"+issuer+"\n"+string(text))))
	return registration[:at] + proof + registration[at+len(proof):]
}

// challengeUsed is the challenge of a registration that was made.
func (p *pen) challengeUsed(t *testing.T, registration string) string {
	t.Helper()
	from := strings.Index(registration, `"challenge":"`) + len(`"challenge":"`)
	return registration[from : from+strings.IndexByte(registration[from:], '"')]
}

func TestSignerNeedsItsScopes(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.newPen("one")
	want(t, b.send("POST", signersPath+"/challenge", object("publicKey", p.key())), 401, "unauthenticated")
	// No permission of a key stands for these.
	for _, scope := range []string{"profile:update", "market:create", "resolution:create"} {
		want(t, p.register(b.byKey(), scope), 403, "insufficient_scope")
	}
	for _, scope := range []string{"signer:create", "profile:read", "offline_access", "fly:high", ""} {
		want(t, p.register(b.byKey(), scope), 400, "invalid_request")
	}
	want(t, p.register(b.byKey()), 400, "invalid_request")
	reads := bearer(b.keyWith("read"))
	w := b.send("POST", signersPath+"/challenge", object("publicKey", p.key()), reads)
	want(t, w, 403, "insufficient_scope")
	says(t, w, `error="insufficient_scope"`, `scope="signer:create"`)
	b.clock.Advance(time.Minute)
	for i := range message.MaxSigners {
		b.clock.Advance(time.Second)
		b.signer(strings.Repeat("x", i+1), "signal:create")
	}
	b.clock.Advance(time.Minute)
	w = b.newPen("eleven").register(b.byKey(), "signal:create")
	if want(t, w, 409, "limit_reached"); field(w, "limit") != "10" {
		t.Errorf("the limit is not said: %s", w.Body)
	}
}

// keyWith mints a key of mara's with these permissions alone.
func (b *bench) keyWith(permissions ...string) string {
	b.t.Helper()
	w := b.send("POST", "/api/dev/keys", object("label", "narrow", "permissions", permissions), byLogin("mara_k"))
	want(b.t, w, 201, "")
	return field(w, "key")
}

// S38: a signer has the scopes of its grant at most, and goes with it.
func TestSignersOfAGrant(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	a := b.register("public", "scopes", `["profile:read","signal:create","signer:create","prediction:create"]`)
	w := b.redeem(a, b.approve(a.asking("scope", "signal:create signer:create")).Query().Get("code"))
	want(t, w, 200, "")
	by, grantID := bearer(field(w, "access_token")), field(w, "grantId")
	p := b.newPen("of the app")
	p.appID = a.ID
	want(t, p.register(by, "prediction:create"), 403, "insufficient_scope")
	w = p.register(by, "signal:create")
	if want(t, w, 201, ""); field(w, "appId") != a.ID || field(w, "grantId") != grantID || field(w, "expiresAt") == "" {
		t.Fatalf("the signer: %s", w.Body)
	}
	mine := b.signer("mara's own", "signal:create")
	want(t, b.send("DELETE", signersPath+"/"+mine.key(), "", by), 404, "not_found")
	w = b.send("POST", messagesPath, p.write("signal.create", call(marketID)))
	want(t, w, 201, "")
	// A bearer beside the signature has to be of its passport and app.
	other := p.write("signal.create", call(nativeID))
	want(t, b.send("POST", messagesPath, other, b.byKey()), 403, "forbidden")
	want(t, b.send("DELETE", "/api/protocol/v1/grants/"+grantID, "", by), 200, "")
	if w = b.send("GET", signersPath+"/"+p.key(), ""); field(w, "status") != "revoked" {
		t.Errorf("the grant is gone, the signer is not: %s", w.Body)
	}
	reason(t, b.send("POST", messagesPath, p.write("signal.create", call(nativeID))), 401, "unauthenticated", message.ReasonRevoked)
	want(t, b.send("POST", signersPath+"/challenge", object("publicKey", b.newPen("late").key()), by), 401, "unauthenticated")
}
