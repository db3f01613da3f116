package message

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Record is a message as it is kept.
type Record struct {
	ID         ID
	Type       Type
	DenpaID    string
	AppID      string // empty: none
	Key        Key
	Nonce      string
	Body       []byte    // all of the message, canonical
	Attested   bool      // signed by the hub
	Subject    string    // what an attested message is about; empty: none
	ReceivedAt time.Time // when it was taken, before its signer was revoked
	Result     []byte    // a JSON object of the effect; nil: none
	Pending    bool      // its effect is not known yet; nobody may read it
	Attempt    string    // a uuid: the taking that a pending row belongs to
	Hidden     bool      // by an administrator: the payload of Body is null; the store never sets it
}

// URI names the message across stations.
func (r Record) URI() string { return URI(r.DenpaID, r.Type, r.ID) }

// Query asks for accepted messages, newest first.
type Query struct {
	DenpaID string    // empty: all
	AppID   string    // empty: all
	Type    Type      // empty: all
	Since   time.Time // received then or later; zero: all
	Cursor  string
	Limit   int
}

// Limits of a page.
const (
	DefaultPage = 50
	MaxPage     = 100
)

// Page is one page of messages.
type Page struct {
	Messages []Record
	Next     protocol.Cursor // zero: no next page
}

// Store stores messages, signers and their challenges. Fault of all: db_unavailable.
type Store interface {
	// FindMessage returns the message of that id, or else the message that uses the nonce of the key; pending ones too.
	// Without a key it searches for the id alone.
	FindMessage(ctx context.Context, id ID, key Key, nonce string) (r Record, found bool, err error)
	// TakeMessage stores r as pending, and with it its id and its nonce, while the signer is locked: a revocation comes
	// before or after, never between. If the id is stored already it returns that message and false. Faults:
	// unauthenticated with signer_revoked or signer_expired; nonce_reused.
	TakeMessage(ctx context.Context, r Record) (kept Record, taken bool, err error)
	// AcceptMessage marks a message accepted with the result of its effect and stores it again if it was dropped
	// meanwhile. It returns false if it was accepted already.
	AcceptMessage(ctx context.Context, r Record, at time.Time) (first bool, err error)
	// DropMessage removes a pending message of this attempt and frees its nonce.
	DropMessage(ctx context.Context, id ID, attempt string) error
	// ListUnsettledMessages returns at most limit pending messages that were not tried since before, oldest first, and
	// marks them as tried now.
	ListUnsettledMessages(ctx context.Context, before, now time.Time, limit int) ([]Record, error)
	// AttestMessage stores an accepted message that the hub signed. If one of the same subject is stored it returns that
	// one.
	AttestMessage(ctx context.Context, r Record) (Record, error)
	// ListMessages returns the page after the cursor. The zero cursor starts at the newest.
	ListMessages(ctx context.Context, q Query, after protocol.Cursor) (Page, error)

	// FindSigner returns a signer by its key, revoked and expired ones too.
	FindSigner(ctx context.Context, key Key) (s Signer, found bool, err error)
	// AddChallenge stores the hash of a challenge for one key of one owner.
	AddChallenge(ctx context.Context, c Challenge, now time.Time) error
	// AddSigner uses up the challenge and adds the signer in one step. Faults: challenge_expired, signer_exists,
	// signer_revoked, limit_reached.
	AddSigner(ctx context.Context, s Signer, challenge []byte, limit int) error
	// ListSigners returns the signers of a passport, newest first.
	ListSigners(ctx context.Context, denpaID string) ([]Signer, error)
	// RevokeSigner revokes a signer; revoked ones remain as they are. The stored time is after every message that was
	// taken. Fault: not_found if it is not of the passport, or not of the grant if one is named.
	RevokeSigner(ctx context.Context, key Key, denpaID, grantID, by string, now time.Time) (Signer, error)
	// RevokeSignersOfKey revokes the signers that were made with an operator key and returns the public keys of all that
	// ended with it, now or before.
	RevokeSignersOfKey(ctx context.Context, keyID string, now time.Time) ([]string, error)
	// ListKeysInUse lists the operator keys that have active signers, in order, after a key.
	ListKeysInUse(ctx context.Context, after string, now time.Time, limit int) ([]string, error)
}

// Challenge is a challenge as it is kept.
type Challenge struct {
	Hash      []byte // SHA-256
	Key       Key
	DenpaID   string
	AppID     string
	ExpiresAt time.Time
}

// Act is what an authentic message asks for.
type Act struct {
	ID         ID // the idempotency key
	Type       Type
	DenpaID    string
	AppID      string
	Payload    Payload
	ReceivedAt time.Time
}

// Result is what the sender is told of an effect; nil says nothing.
type Result map[string]any
