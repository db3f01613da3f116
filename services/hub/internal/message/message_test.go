package message

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gowebpki/jcs"

	"github.com/signalcast/signalcast/pkg/apperr"
)

const (
	issuer   = "https://hub.example/api/protocol/v1"
	passport = "0199f0a4-7c3e-7d11-9a55-3f2f6c1f0b21"
	app      = "0199f0b0-1111-7d11-9a55-3f2f6c1f0b21"
)

var now = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

func asFault(err error) (*apperr.Fault, bool) {
	var f *apperr.Fault
	ok := errors.As(err, &f)
	return f, ok
}

// why returns the code and the reason of an error; empty for nil.
func why(err error) string {
	f, ok := asFault(err)
	if !ok {
		if err != nil {
			return err.Error()
		}
		return ""
	}
	if reason, ok := f.Extra[memberReason].(string); ok {
		return f.Code + " " + reason
	}
	return f.Code
}

// draft returns an unsigned message of a key after the change by edit.
func draft(key Key, edit func(map[string]any)) map[string]any {
	m := map[string]any{
		"version": 1, "type": "signal.create", "denpaId": passport, "appId": app, "timestamp": now.UnixMilli(),
		"nonce": "nonce-0123456789", "payload": map[string]any{"marketId": "701122", "position": "NO", "priceBps": 6850},
		"signer": map[string]any{"kind": "ed25519", "publicKey": string(key)},
	}
	if edit != nil {
		edit(m)
	}
	return m
}

// sign signs a draft for an issuer and returns the message as JSON.
func sign(t testing.TB, private ed25519.PrivateKey, forIssuer string, m map[string]any) []byte {
	t.Helper()
	sig, err := signatureOf(forIssuer, m, func(b []byte) []byte { return ed25519.Sign(private, b) })
	if err != nil {
		t.Fatal(err)
	}
	m["signature"] = sig
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	delete(m, "signature")
	return raw
}

func TestRead(t *testing.T) {
	t.Parallel()
	private := seeded("read")
	raw := sign(t, private, issuer, draft(publicKey(private), nil))
	m, err := Read(issuer, raw)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Authentic() || m.Type != SignalCreate || m.DenpaID != passport || m.AppID != app || m.Timestamp != now.UnixMilli() ||
		m.Nonce != "nonce-0123456789" || m.Key != publicKey(private) || string(m.Payload) != `{"marketId":"701122","position":"NO","priceBps":6850}` {
		t.Errorf("%+v", m)
	}
	if m.URI() != "denpa:"+passport+"/signal.create/"+string(m.ID) || len(m.ID) != 68 {
		t.Error(m.URI())
	}
	// The signed bytes contain the canonical form of the message without its signature.
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "signature")
	rest, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := jcs.Transform(rest)
	if err != nil {
		t.Fatal(err)
	}
	if want := MessagePrefix + "\n" + issuer + "\n" + string(canonical); want != string(m.Signed) {
		t.Errorf("signed bytes\n%s\nwant\n%s", m.Signed, want)
	}
	// The id does not depend on the signature or on the order of members.
	m2, err := Read(issuer, bytes.Replace(raw, []byte(hex.EncodeToString(m.Signature)), []byte(strings.Repeat("0", 128)), 1))
	if err != nil || m2.ID != m.ID || m2.Authentic() {
		t.Errorf("%v, %v, authentic %v", err, m2.ID, m2.Authentic())
	}
	spaced, err := Read(issuer, []byte("\n "+strings.ReplaceAll(string(raw), `","`, "\" ,\t\"")+" "))
	if err != nil || spaced.ID != m.ID || !bytes.Equal(spaced.Body, m.Body) {
		t.Errorf("%v, %v", err, spaced.ID)
	}
	// Escapes, a number with a fraction of zero and another order of members encode the same message.
	for old, spelling := range map[string]string{
		`"NO"`: `"\u004e\u004F"`, `"version"`: `"versio\u006e"`, `"version":1`: `"version":1.0`,
		`{"marketId":"701122","position":"NO","priceBps":6850}`: `{"priceBps":6850,"position":"NO","marketId":"701122"}`,
	} {
		text := strings.Replace(string(raw), old, spelling, 1)
		if again, err := Read(issuer, []byte(text)); err != nil || text == string(raw) || again.ID != m.ID || !again.Authentic() {
			t.Errorf("%s: %v, %v", text, err, again.ID)
		}
	}
	// S41: a signature for another hub or another prefix is not valid.
	for _, other := range []string{issuer + "/", "https://hub.example", strings.ToUpper(issuer), ""} {
		o, err := Read(other, raw)
		if err != nil || o.Authentic() || o.ID == m.ID {
			t.Errorf("%q: %v, authentic %v", other, err, o.Authentic())
		}
	}
}

// TestForm (S40) checks the size, the canonical form and the members of a message.
func TestForm(t *testing.T) {
	t.Parallel()
	private := seeded("form")
	key := publicKey(private)
	good := string(sign(t, private, issuer, draft(key, nil)))
	swap := func(old, with string) string {
		out := strings.Replace(good, old, with, 1)
		if out == good {
			t.Fatalf("%s is not in %s", old, good)
		}
		return out
	}
	nested := func(n int) string {
		return swap(`"priceBps":6850`, `"x":`+strings.Repeat("[", n)+strings.Repeat("]", n))
	}
	for name, c := range map[string]struct{ raw, want string }{
		"good":                  {good, ""},
		"largest":               {good + strings.Repeat(" ", MaxSize-len(good)), ""},
		"too large":             {good + strings.Repeat(" ", MaxSize-len(good)+1), "payload_too_large"},
		"deep enough":           {nested(MaxDepth - 2), ""},
		"too deep":              {nested(MaxDepth - 1), "invalid_request not_canonicalizable"},
		"much too deep":         {strings.Repeat(`{"a":`, 6000), "invalid_request not_canonicalizable"},
		"brackets in text":      {swap("NO", strings.Repeat("[", 40)), ""},
		"empty":                 {"", "invalid_request not_canonicalizable"},
		"spaces":                {" \n", "invalid_request not_canonicalizable"},
		"no JSON":               {"{", "invalid_request not_canonicalizable"},
		"two documents":         {good + good, "invalid_request not_canonicalizable"},
		"byte order mark":       {"\ufeff" + good, "invalid_request not_canonicalizable"},
		"duplicate":             {swap(`"version":1`, `"version":1,"version":1`), "invalid_request not_canonicalizable"},
		"duplicate, escaped":    {swap(`"version":1`, `"version":1,"versio\u006e":1`), "invalid_request not_canonicalizable"},
		"duplicate in payload":  {swap(`"position":"NO"`, `"position":"NO","position":"YES"`), "invalid_request not_canonicalizable"},
		"bad UTF-8":             {swap("NO", "N\xff"), "invalid_request not_canonicalizable"},
		"overlong UTF-8":        {swap("NO", "N\xc0\xaf"), "invalid_request not_canonicalizable"},
		"UTF-8 of a surrogate":  {swap("NO", "N\xed\xa0\x80"), "invalid_request not_canonicalizable"},
		"lone high surrogate":   {swap("NO", `\ud800`), "invalid_request not_canonicalizable"},
		"lone low surrogate":    {swap("NO", `\udc00`), "invalid_request not_canonicalizable"},
		"surrogates swapped":    {swap("NO", `\udc00\ud800`), "invalid_request not_canonicalizable"},
		"control character":     {swap("NO", "N\n"), "invalid_request not_canonicalizable"},
		"number too large":      {swap("6850", "1e400"), "invalid_request not_canonicalizable"},
		"NaN":                   {swap("6850", "NaN"), "invalid_request not_canonicalizable"},
		"leading zero":          {swap("6850", "06850"), "invalid_request not_canonicalizable"},
		"plus":                  {swap("6850", "+6850"), "invalid_request not_canonicalizable"},
		"array":                 {"[]", "invalid_request schema"},
		"null":                  {"null", "invalid_request schema"},
		"text":                  {`"x"`, "invalid_request schema"},
		"unknown member":        {swap(`"version":1`, `"version":1,"extra":1`), "invalid_request unknown_member"},
		"member in other case":  {swap(`"version":1`, `"version":1,"Nonce":"nonce-0123456789"`), "invalid_request unknown_member"},
		"case instead":          {swap(`"nonce"`, `"Nonce"`), "invalid_request unknown_member"},
		"unknown in signer":     {swap(`"kind":`, `"x":1,"kind":`), "invalid_request unknown_member"},
		"no version":            {swap(`,"version":1`, ``), "invalid_request schema"},
		"version as text":       {swap(`"version":1`, `"version":"1"`), "invalid_request schema"},
		"version 2":             {swap(`"version":1`, `"version":2`), "invalid_request schema"},
		"version 1.0":           {swap(`"version":1`, `"version":1.0`), ""}, // the same canonical bytes
		"type unknown":          {swap("signal.create", "signal.delete"), "invalid_request schema"},
		"type in other case":    {swap("signal.create", "Signal.create"), "invalid_request schema"},
		"type null":             {swap(`"signal.create"`, "null"), "invalid_request schema"},
		"denpaId upper":         {swap(passport, strings.ToUpper(passport)), "invalid_request schema"},
		"denpaId no uuid":       {swap(passport, "mara_k"), "invalid_request schema"},
		"appId missing":         {swap(`"appId":"`+app+`",`, ""), "invalid_request schema"},
		"appId empty":           {swap(`"`+app+`"`, `""`), "invalid_request schema"},
		"appId a number":        {swap(`"`+app+`"`, `1`), "invalid_request schema"},
		"appId null":            {swap(`"`+app+`"`, `null`), ""},
		"timestamp as text":     {swap("1789732800000", `"1789732800000"`), "invalid_request schema"},
		"timestamp broken":      {swap("1789732800000", "1789732800000.5"), "invalid_request schema"},
		"timestamp negative":    {swap("1789732800000", "-1"), "invalid_request schema"},
		"timestamp unsafe":      {swap("1789732800000", "9007199254740993"), "invalid_request schema"},
		"timestamp with power":  {swap("1789732800000", "1.7897328e12"), ""},
		"nonce short":           {swap("nonce-0123456789", "nonce-012345678"), "invalid_request schema"},
		"nonce long":            {swap("nonce-0123456789", strings.Repeat("a", 65)), "invalid_request schema"},
		"nonce longest":         {swap("nonce-0123456789", strings.Repeat("a", 64)), ""},
		"nonce with space":      {swap("nonce-0123456789", "nonce 0123456789"), "invalid_request schema"},
		"payload a list":        {swap(`{"marketId":"701122","position":"NO","priceBps":6850}`, "[]"), "invalid_request schema"},
		"signer a text":         {swap(`{"kind":"ed25519","publicKey":"`+string(key)+`"}`, `"x"`), "invalid_request schema"},
		"kind other":            {swap("ed25519", "secp256k1"), "invalid_request schema"},
		"key upper":             {swap(string(key), strings.ToUpper(string(key))), "invalid_request schema"},
		"key short":             {swap(string(key), string(key)[2:]), "invalid_request schema"},
		"signature missing":     {swap(`"signature"`, `"signatur"`), "invalid_request unknown_member"},
		"signature not in hex":  {swap(`"signature":"`, `"signature":"g`), "invalid_request schema"},
		"signature of one byte": {swap(`"signature":"`, `"signature":"00`), "invalid_request schema"},
	} {
		if _, err := Read(issuer, []byte(c.raw)); why(err) != c.want {
			t.Errorf("%s: %q, want %q (%v)", name, why(err), c.want, err)
		}
	}
}

// TestWindow (S42) checks the limits of the age of a timestamp.
func TestWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		timestamp int64
		want      string
	}{
		{now.UnixMilli(), ""},
		{now.Add(-5 * time.Minute).UnixMilli(), ""},
		{now.Add(-5*time.Minute).UnixMilli() - 1, "timestamp must not be more than 5 minutes old"},
		{now.Add(time.Minute).UnixMilli(), ""},
		{now.Add(time.Minute).UnixMilli() + 1, "timestamp must not be more than 1 minute ahead"},
		{now.Unix(), "timestamp must be in milliseconds; the value looks like seconds"},
		{0, "timestamp must be in milliseconds; the value looks like seconds"},
	} {
		err := checkWindow(Message{Timestamp: c.timestamp}, now)
		f, _ := asFault(err)
		if c.want == "" && err != nil || c.want != "" && (why(err) != "invalid_request timestamp_out_of_window" || f.Message != c.want) {
			t.Errorf("%d: %v", c.timestamp, err)
		}
	}
}

// TestCheckOrder checks the order in which the errors of a message are reported.
func TestCheckOrder(t *testing.T) {
	t.Parallel()
	m := Message{Type: SignalCreate, Timestamp: 0, Payload: []byte(`{}`)}
	s := Signer{RevokedAt: now, ExpiresAt: now}
	for _, step := range []struct {
		want string
		mend func()
	}{
		{"invalid_request timestamp_out_of_window", func() { m.Timestamp = now.UnixMilli() }},
		{"unauthenticated signer_revoked", func() { s.RevokedAt = time.Time{} }},
		{"unauthenticated signer_expired", func() { s.ExpiresAt = now.Add(time.Microsecond) }},
		{"insufficient_scope", func() { s.Scopes = []string{"prediction:create", "signal:create"} }},
		{"invalid_request payload", func() { m.Payload = []byte(`{"marketId":"1","position":"YES"}`) }},
		{"", func() {}},
	} {
		if err := checkNew(m, s, now); why(err) != step.want {
			t.Errorf("%q, want %q", why(err), step.want)
		}
		step.mend()
	}
}

// FuzzCanonical checks that the canonical form of a canonical text is the same text, and that reading a message never panics.
func FuzzCanonical(f *testing.F) {
	private := seeded("fuzz")
	f.Add([]byte(`{"b":1.50,"a":[true,null,"\u00e9\ud83d\ude00"]}`))
	f.Add([]byte(`-0`))
	f.Add([]byte(`{"\ufb33":1,"\ud83d\ude02":2,"\r":3,"1":4}`))
	f.Add(sign(f, private, issuer, draft(publicKey(private), nil)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		canonical, err := Canonical(raw)
		if err != nil {
			if c := code(err); c != "invalid_request" && c != "payload_too_large" {
				t.Fatalf("%v", err)
			}
			return
		}
		if !json.Valid(raw) || !json.Valid(canonical) {
			t.Fatalf("%q or its canonical form %q is not JSON", raw, canonical)
		}
		if len(canonical) <= MaxSize { // a number may grow: 1e20 becomes its digits
			again, err := Canonical(canonical)
			if err != nil || !bytes.Equal(again, canonical) {
				t.Fatalf("%q becomes %q, then %q, %v", raw, canonical, again, err)
			}
		}
		m, err := Read(issuer, raw)
		if err == nil {
			_ = m.Authentic()
			_, _ = ReadPayload(m.Type, m.Payload, false)
		}
		for _, name := range Types {
			_, _ = ReadPayload(name, canonical, true)
		}
	})
}
