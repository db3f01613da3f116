package signal

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// EventType is the type of an event of a call.
type EventType string

// Types of events of a call. Only the ledger appends an event of type Resolved.
const (
	Take       EventType = "take"
	Reaffirm   EventType = "reaffirm"
	Confidence EventType = "confidence"
	Note       EventType = "note"
	Share      EventType = "share"
	Resolved   EventType = "resolved"
)

// ParseEventType parses the type of an event that a client can append. It returns false for "resolved" and for an unknown type.
func ParseEventType(raw string) (EventType, bool) {
	switch t := EventType(raw); t {
	case Take, Reaffirm, Confidence, Note, Share:
		return t, true
	}
	return "", false
}

// Maximum lengths of texts in event payloads, in characters.
const (
	MaxEventText    = 500
	MaxEventURL     = 500
	MaxEventChannel = 40
)

// ErrPayload is the error of an event payload that is invalid for the type of the event.
var ErrPayload = apperr.New(apperr.Invalid, "invalid_payload", "payload is invalid for the type of the event").With("field", "payload")

// eventID derives the id of an event from the id of its call and an idempotency key. It returns a UUIDv8, the same for each
// attempt.
func eventID(signalID, key string) string {
	sum := sha256.Sum256([]byte("event\n" + signalID + "\n" + key))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
