package signal

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// EventType is what an event says.
type EventType string

// The event types. Resolved is the resolver's alone.
const (
	Take       EventType = "take"
	Reaffirm   EventType = "reaffirm"
	Confidence EventType = "confidence"
	Note       EventType = "note"
	Share      EventType = "share"
	Resolved   EventType = "resolved"
)

// ParseEventType reads what a client may append; resolved is refused.
func ParseEventType(raw string) (EventType, bool) {
	switch t := EventType(raw); t {
	case Take, Reaffirm, Confidence, Note, Share:
		return t, true
	}
	return "", false
}

// Bounds of event payloads, in characters.
const (
	MaxEventText    = 500
	MaxEventURL     = 500
	MaxEventChannel = 40
)

// ErrPayload refuses a payload that does not fit its type.
var ErrPayload = apperr.New(apperr.Invalid, "invalid_payload", "").With("field", "payload")

// eventID is the id of the event that an idempotency key stands for: a uuid v8, the same
// at every try. A history is its owner's alone, so its id and the key are enough.
func eventID(signalID, key string) string {
	sum := sha256.Sum256([]byte("event\n" + signalID + "\n" + key))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
