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
	maxTimestamp = 1<<53 - 1 // largest integer that a double represents exactly
	minNonce     = 16
	maxNonce     = 64
	maxAppID     = 64
)

// ID is the id of a message: "msg_" and the SHA-256 hash of the signed bytes. It does not depend on the signature.
type ID string

// ParseID parses the id of a message. It returns false for text in another format.
func ParseID(s string) (ID, bool) {
	if len(s) < len(idPrefix) || s[:len(idPrefix)] != idPrefix || !isHex(s[len(idPrefix):], 2*sha256.Size) {
		return "", false
	}
	return ID(s), true
}

const idPrefix = "msg_"

// Message is a parsed message with valid members. Its signature, signer, time and payload have not been checked yet.
type Message struct {
	ID        ID
	Type      Type
	DenpaID   string // UUID of the user
	AppID     string // empty: the signer belongs to no app
	Timestamp int64  // Unix milliseconds
	Nonce     string
	Payload   []byte // a canonical JSON object
	Key       Key
	Signature []byte
	Body      []byte // canonical form of the message
	Signed    []byte // bytes that the signature covers
}

// URI returns an identifier of the message that is unique across stations.
func (m Message) URI() string { return URI(m.DenpaID, m.Type, m.ID) }

// URI returns an identifier of a message that is unique across stations.
func URI(denpaID string, t Type, id ID) string {
	return "denpa:" + denpaID + "/" + string(t) + "/" + string(id)
}

// Authentic reports whether the signature is valid for the key that the message names. It does not check whether the key may
// sign.
func (m Message) Authentic() bool { return m.Key.Verify(m.Signed, m.Signature) }

// Read parses a message. issuer is the issuer of the hub, which is part of the signed bytes. Read checks the size, the nesting
// depth, the canonical form and the members. Errors: payload_too_large, invalid_request with reason not_canonicalizable,
// unknown_member or schema.
func Read(issuer string, raw []byte) (Message, error) {
	body, err := Canonical(raw)
	if err != nil {
		return Message{}, err
	}
	members, err := object(body)
	if err != nil {
		return Message{}, invalid(ReasonSchema, "a message must be a JSON object")
	}
	m := Message{Body: body}
	if err := requireMembers(members, "", memberNames...); err != nil {
		return Message{}, err
	}
	for _, read := range []func(map[string]json.RawMessage, *Message) error{readHead, readOrigin, readSigner} {
		if err := read(members, &m); err != nil {
			return Message{}, err
		}
	}
	m.Signed = signedBytes(MessagePrefix, issuer, encodeWithout(members, "signature"))
	m.ID = idOf(m.Signed)
	return m, nil
}

func idOf(signed []byte) ID {
	sum := sha256.Sum256(signed)
	return ID(idPrefix + hex.EncodeToString(sum[:]))
}

var memberNames = []string{"appId", "denpaId", "nonce", "payload", "signature", "signer", "timestamp", "type", "version"}

// encodeWithout encodes canonical members as a canonical object and omits one member. All member names are ASCII, so their byte
// order is the order of RFC 8785.
func encodeWithout(members map[string]json.RawMessage, omitted string) []byte {
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name == omitted {
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

// readHead parses version, type and payload, checks their format and stores type and payload in m.
func readHead(members map[string]json.RawMessage, m *Message) error {
	if string(members["version"]) != version {
		return badMember("version", "version must be %s", version)
	}
	name, _ := text(members["type"])
	known := false
	if m.Type, known = ParseType(name); !known {
		return badMember("type", "type must be a message type, such as signal.create")
	}
	if m.Payload = members["payload"]; m.Payload[0] != '{' {
		return badMember("payload", "payload must be an object")
	}
	return nil
}

// readOrigin parses denpaId, appId, timestamp and nonce, checks their format and stores them in m.
func readOrigin(members map[string]json.RawMessage, m *Message) error {
	ok := false
	if m.DenpaID, ok = text(members["denpaId"]); !ok || !isUUID(m.DenpaID) {
		return badMember("denpaId", "denpaId must be a UUID in lower case")
	}
	if string(members["appId"]) != "null" {
		if m.AppID, ok = text(members["appId"]); !ok || !isWord(m.AppID, 1, maxAppID) {
			return badMember("appId", "appId must be null or the id of an app")
		}
	}
	var err error
	if m.Timestamp, err = strconv.ParseInt(string(members["timestamp"]), 10, 64); err != nil || m.Timestamp < 0 || m.Timestamp > maxTimestamp {
		return badMember("timestamp", "timestamp must be an integer: milliseconds since 1970")
	}
	if m.Nonce, ok = text(members["nonce"]); !ok || !isWord(m.Nonce, minNonce, maxNonce) {
		return badMember("nonce", "nonce must have %d to %d characters of A-Z, a-z, 0-9, _ and -", minNonce, maxNonce)
	}
	return nil
}

// readSigner parses signer and signature, checks their format and stores them in m. It does not verify the signature.
func readSigner(members map[string]json.RawMessage, m *Message) error {
	signer, err := object(members["signer"])
	if err != nil {
		return badMember("signer", "signer must be an object")
	}
	if err := requireMembers(signer, "signer.", "kind", "publicKey"); err != nil {
		return err
	}
	if k, _ := text(signer["kind"]); k != kind {
		return badMember("signer.kind", "signer.kind must be %s", kind)
	}
	key, _ := text(signer["publicKey"])
	if m.Key = Key(key); !isHex(key, keyLetters) {
		return badMember("signer.publicKey", "signer.publicKey must be %d lower-case hexadecimal digits", keyLetters)
	}
	signature, _ := text(members["signature"])
	if !isHex(signature, signatureLetters) {
		return badMember("signature", "signature must be %d lower-case hexadecimal digits", signatureLetters)
	}
	m.Signature, err = hex.DecodeString(signature)
	return err
}
