package message

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Record is a message in the store, with its state and result.
type Record struct {
	ID         ID
	Type       Type
	DenpaID    string
	AppID      string // empty: none
	Key        Key
	Nonce      string
	Body       []byte    // the message, canonical
	Attested   bool      // signed by the hub
	Subject    string    // what an attested message is about; empty: none
	ReceivedAt time.Time // time of the request; always before the revocation of its signer
	Result     []byte    // JSON object with the result of the effect; nil: none
	Pending    bool      // the effect is not finished; no client can read the message
	Attempt    string    // UUID of the request that stored a pending message
	Hidden     bool      // hidden by an administrator: the payload of Body is null. The store never sets it.
}

// URI returns the identifier of the message across stations.
func (r Record) URI() string { return URI(r.DenpaID, r.Type, r.ID) }

// Query filters the list of accepted messages, newest first.
type Query struct {
	DenpaID string    // empty: all
	AppID   string    // empty: all
	Type    Type      // empty: all
	Since   time.Time // received at or after; zero: all
	Cursor  string
	Limit   int
}

// Limits of the number of messages on a page.
const (
	DefaultPage = 50
	MaxPage     = 100
)

// Page is a page of the list of messages.
type Page struct {
	Messages []Record
	Next     protocol.Cursor // zero: no next page
}

// Store stores messages, signers and their challenges. Error of all methods: db_unavailable.
type Store interface {
	// FindMessage returns the message with the id, or else the message with the nonce of the key, including pending
	// ones. Without a key it searches for the id only.
	FindMessage(ctx context.Context, id ID, key Key, nonce string) (r Record, found bool, err error)
	// ReserveMessage stores r as pending, which reserves its id and nonce, while the signer is locked. A revocation
	// therefore happens before or after it. If the id is already stored it returns the stored message and false.
	// Errors: unauthenticated with signer_revoked or signer_expired; nonce_reused.
	ReserveMessage(ctx context.Context, r Record) (stored Record, isNew bool, err error)
	// AcceptMessage marks a message as accepted with the result of its effect. It stores the message again if it was
	// dropped meanwhile. It returns false if it was already accepted.
	AcceptMessage(ctx context.Context, r Record, at time.Time) (first bool, err error)
	// DropMessage removes a pending message of this attempt and frees its nonce.
	DropMessage(ctx context.Context, id ID, attempt string) error
	// ListUnsettledMessages returns at most limit pending messages whose last attempt was earlier than before, oldest
	// first. It records now as their last attempt.
	ListUnsettledMessages(ctx context.Context, before, now time.Time, limit int) ([]Record, error)
	// AttestMessage stores an accepted message that the hub signed. If the subject is already attested it returns the
	// stored message.
	AttestMessage(ctx context.Context, r Record) (Record, error)
	// ListMessages returns the page after the cursor. The zero cursor starts at the newest message.
	ListMessages(ctx context.Context, q Query, after protocol.Cursor) (Page, error)

	// FindSigner returns a signer by its key, including revoked and expired ones.
	FindSigner(ctx context.Context, key Key) (s Signer, found bool, err error)
	// AddChallenge stores the hash of a challenge for one key of one owner.
	AddChallenge(ctx context.Context, c Challenge, now time.Time) error
	// AddSigner uses the challenge and adds the signer in one transaction. Errors: challenge_expired, signer_exists,
	// signer_revoked, limit_reached.
	AddSigner(ctx context.Context, s Signer, challenge []byte, limit int) error
	// ListSigners returns the signers of a passport, newest first.
	ListSigners(ctx context.Context, denpaID string) ([]Signer, error)
	// RevokeSigner revokes a signer and does not change a revoked one. The stored time is after every message of the
	// signer. Error: not_found if it belongs to another passport, or to another grant if grantID is set.
	RevokeSigner(ctx context.Context, key Key, denpaID, grantID, by string, now time.Time) (Signer, error)
	// RevokeSignersOfKey revokes the signers that were created with an operator key. It returns the public keys of all
	// signers that were revoked with it, now or earlier.
	RevokeSignersOfKey(ctx context.Context, keyID string, now time.Time) ([]string, error)
	// ListKeysInUse lists operator keys with active signers, ordered by id, after a key.
	ListKeysInUse(ctx context.Context, after string, now time.Time, limit int) ([]string, error)
}

// Challenge is a random value that a new signer must sign to be registered.
type Challenge struct {
	Hash      []byte // SHA-256
	Key       Key
	DenpaID   string
	AppID     string
	ExpiresAt time.Time
}

// Action is what Config.Apply applies: the content of an authentic message.
type Action struct {
	ID         ID // idempotency key of the effect
	Type       Type
	DenpaID    string
	AppID      string
	Payload    Payload
	ReceivedAt time.Time
}

// Result is the result of an effect that the sender receives; nil: none.
type Result map[string]any
