package message

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

const (
	version      = "1"
	kind         = "ed25519"
	maxTimestamp = 1<<53 - 1 // the largest whole number that every JSON reader keeps
	minNonce     = 16
	maxNonce     = 64
	maxAppID     = 64
)

// ID is the name of a message: `msg_` and the hash of the bytes that are
// signed. It does not depend on the signature.
type ID string

// ParseID reads the id of a message; false for any other form.
func ParseID(s string) (ID, bool) {
	if len(s) < len(idPrefix) || s[:len(idPrefix)] != idPrefix || !isHex(s[len(idPrefix):], 2*sha256.Size) {
		return "", false
	}
	return ID(s), true
}

const idPrefix = "msg_"

// Message is a message whose form is right. Nothing is said about its
// signature, its signer, its time or its payload yet.
type Message struct {
	ID        ID
	Type      Type
	DenpaID   string // a uuid
	AppID     string // empty: a signer of the passport's own
	Timestamp int64  // Unix milliseconds
	Nonce     string
	Payload   []byte // a canonical JSON object
	Key       Key
	Signature []byte
	Body      []byte // all of it, canonical
	Signed    []byte // what the signature covers
}

// URI names the message across stations.
func (m Message) URI() string { return URI(m.DenpaID, m.Type, m.ID) }

// URI is the name across stations of a message.
func URI(denpaID string, t Type, id ID) string {
	return "denpa:" + denpaID + "/" + string(t) + "/" + string(id)
}

// Authentic reports that the signature is of the key that the message names.
func (m Message) Authentic() bool { return m.Key.Verify(m.Signed, m.Signature) }

// Read checks the form of a message for the hub that issuer names: its size,
// its depth, that it has one canonical form, and its members, which are read
// from the canonical bytes by their exact names. Faults: payload_too_large,
// invalid_request with reason not_canonicalizable, unknown_member or schema.
func Read(issuer string, raw []byte) (Message, error) {
	body, err := Canonical(raw)
	if err != nil {
		return Message{}, err
	}
	members, err := object(body)
	if err != nil {
		return Message{}, invalid(ReasonSchema, "a message is a JSON object")
	}
	m := Message{Body: body}
	if err := only(members, "", memberNames...); err != nil {
		return Message{}, err
	}
	for _, read := range []func(map[string]json.RawMessage, *Message) error{readHead, readOrigin, readSigner} {
		if err := read(members, &m); err != nil {
			return Message{}, err
		}
	}
	m.Signed = signed(MessagePrefix, issuer, without(members, "signature"))
	m.ID = idOf(m.Signed)
	return m, nil
}

func idOf(signed []byte) ID {
	sum := sha256.Sum256(signed)
	return ID(idPrefix + hex.EncodeToString(sum[:]))
}

var memberNames = []string{"appId", "denpaId", "nonce", "payload", "signature", "signer", "timestamp", "type", "version"}

// without writes a canonical object again, less one member. Members of ours are
// ASCII, for which the order of bytes is that of RFC 8785.
func without(members map[string]json.RawMessage, leave string) []byte {
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name == leave {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		out.WriteString(strconv.Quote(name) + ":")
		out.Write(members[name])
	}
	return append(append([]byte{'{'}, out.Bytes()...), '}')
}

// readHead reads version, type and payload.
func readHead(members map[string]json.RawMessage, m *Message) error {
	if string(members["version"]) != version {
		return badMember("version", "version is %s", version)
	}
	name, _ := text(members["type"])
	known := false
	if m.Type, known = ParseType(name); !known {
		return badMember("type", "type is no message type")
	}
	if m.Payload = members["payload"]; m.Payload[0] != '{' {
		return badMember("payload", "payload is an object")
	}
	return nil
}

// readOrigin reads denpaId, appId, timestamp and nonce.
func readOrigin(members map[string]json.RawMessage, m *Message) error {
	ok := false
	if m.DenpaID, ok = text(members["denpaId"]); !ok || !isUUID(m.DenpaID) {
		return badMember("denpaId", "denpaId is a uuid in lower case")
	}
	if string(members["appId"]) != "null" {
		if m.AppID, ok = text(members["appId"]); !ok || !isWord(m.AppID, 1, maxAppID) {
			return badMember("appId", "appId is null or the id of an app")
		}
	}
	var err error
	if m.Timestamp, err = strconv.ParseInt(string(members["timestamp"]), 10, 64); err != nil || m.Timestamp < 0 || m.Timestamp > maxTimestamp {
		return badMember("timestamp", "timestamp is a whole number of milliseconds since 1970")
	}
	if m.Nonce, ok = text(members["nonce"]); !ok || !isWord(m.Nonce, minNonce, maxNonce) {
		return badMember("nonce", "nonce is %d to %d of A-Z, a-z, 0-9, _ and -", minNonce, maxNonce)
	}
	return nil
}

// readSigner reads signer and signature.
func readSigner(members map[string]json.RawMessage, m *Message) error {
	signer, err := object(members["signer"])
	if err != nil {
		return badMember("signer", "signer is an object")
	}
	if err := only(signer, "signer.", "kind", "publicKey"); err != nil {
		return err
	}
	if k, _ := text(signer["kind"]); k != kind {
		return badMember("signer.kind", "signer.kind is %s", kind)
	}
	key, _ := text(signer["publicKey"])
	if m.Key = Key(key); !isHex(key, keyLetters) {
		return badMember("signer.publicKey", "signer.publicKey is %d lower-case hexadecimal letters", keyLetters)
	}
	signature, _ := text(members["signature"])
	if !isHex(signature, signatureLetters) {
		return badMember("signature", "signature is %d lower-case hexadecimal letters", signatureLetters)
	}
	m.Signature, err = hex.DecodeString(signature)
	return err
}
