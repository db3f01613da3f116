package message

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Record is a stored message with its state and its result.
type Record struct {
	ID         ID
	Type       Type
	DenpaID    string
	AppID      string // empty: none
	Key        Key
	Nonce      string
	Body       []byte    // canonical form of the message
	Attested   bool      // the hub signed the message
	Subject    string    // type and id of the attested object; empty: none
	ReceivedAt time.Time // time of the request; always before the revocation of its signer
	Result     []byte    // JSON object with the result of applying the message; nil: none
	Pending    bool      // the message is not applied completely; clients cannot read it
	Attempt    string    // UUID of the request that stored the pending message
	Hidden     bool      // moderation has hidden the text, and the payload in Body is null; never set by the store
}

// URI returns an identifier of the message that is unique across stations.
func (r Record) URI() string { return URI(r.DenpaID, r.Type, r.ID) }

// Query selects accepted messages for a list, newest first.
type Query struct {
	DenpaID string    // empty: all
	AppID   string    // empty: all
	Type    Type      // empty: all
	Since   time.Time // time of receipt, inclusive; zero: all
	Cursor  string
	Limit   int
}

// Default and maximum number of messages on a page.
const (
	DefaultPage = 50
	MaxPage     = 100
)

// Page is a page of the list of messages.
type Page struct {
	Messages []Record
	Next     protocol.Cursor // zero: no next page
}

// Store stores messages, signers and challenges of signers. All methods can return db_unavailable.
type Store interface {
	// FindMessage returns the message with this id, or else the message that the key signed with this nonce. It also finds
	// pending messages. If key is empty, it searches for the id only. found is false if there is none.
	FindMessage(ctx context.Context, id ID, key Key, nonce string) (r Record, found bool, err error)
	// ReserveMessage stores r as pending, which reserves its id and nonce, while the signer is locked. A revocation
	// therefore happens before or after it. If the id is already stored it returns the stored message and false.
	// Errors: unauthenticated with signer_revoked or signer_expired; nonce_reused.
	ReserveMessage(ctx context.Context, r Record) (stored Record, isNew bool, err error)
	// AcceptMessage marks a message as accepted with the result of its effect. It stores the message again if it was
	// dropped meanwhile. It returns false if it was already accepted.
	AcceptMessage(ctx context.Context, r Record, at time.Time) (first bool, err error)
	// DropMessage deletes a pending message that this attempt has stored. Its nonce can then be used again.
	DropMessage(ctx context.Context, id ID, attempt string) error
	// ListUnsettledMessages returns pending messages whose last attempt was before a time, oldest first, at most limit. It stores
	// now as the time of their last attempt.
	ListUnsettledMessages(ctx context.Context, before, now time.Time, limit int) ([]Record, error)
	// AttestMessage stores an accepted message that the hub signed. If the subject is already attested, it returns the stored
	// message instead.
	AttestMessage(ctx context.Context, r Record) (Record, error)
	// ListMessages returns the page of accepted messages after the cursor. The zero cursor starts at the newest message.
	ListMessages(ctx context.Context, q Query, after protocol.Cursor) (Page, error)

	// FindSigner returns the signer with this key, even if it is revoked or expired.
	FindSigner(ctx context.Context, key Key) (s Signer, found bool, err error)
	// AddChallenge stores the hash of a challenge for one key of one user.
	AddChallenge(ctx context.Context, c Challenge, now time.Time) error
	// AddSigner uses up the challenge and adds the signer in one transaction. limit is the maximum number of active signers of
	// the user for an app. Errors: challenge_expired, signer_exists, signer_revoked, limit_reached.
	AddSigner(ctx context.Context, s Signer, challenge []byte, limit int) error
	// ListSigners returns the signers of a user, newest first.
	ListSigners(ctx context.Context, denpaID string) ([]Signer, error)
	// RevokeSigner revokes a signer. It does nothing if the signer is already revoked. The stored time is later than every
	// message of the signer. It returns not_found if the signer belongs to another user, or if grantID is set and the signer
	// belongs to another grant.
	RevokeSigner(ctx context.Context, key Key, denpaID, grantID, by string, now time.Time) (Signer, error)
	// RevokeSignersOfKey revokes the signers that were created with an operator key. It returns the public keys of all signers
	// that this key created and whose revocation it caused, now or earlier.
	RevokeSignersOfKey(ctx context.Context, keyID string, now time.Time) ([]string, error)
	// ListKeysInUse lists the ids of operator keys with active signers, in order of id. It starts after the id after and returns
	// at most limit.
	ListKeysInUse(ctx context.Context, after string, now time.Time, limit int) ([]string, error)
}

// Challenge describes a random value that a new signer must sign for its registration. Only the hash of the value is stored.
type Challenge struct {
	Hash      []byte // SHA-256 hash of the value
	Key       Key
	DenpaID   string
	AppID     string
	ExpiresAt time.Time
}

// Action is the content of an authentic message. Config.Apply applies it.
type Action struct {
	ID         ID // idempotency key of the effect
	Type       Type
	DenpaID    string
	AppID      string
	Payload    Payload
	ReceivedAt time.Time
}

// Result is the result of applying a message, which the sender receives. A nil Result means that the message has no result.
type Result map[string]any
