package message

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
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
	Next     syntax.Cursor // zero: no next page
}

// Messages keeps messages. Fault of all: db_unavailable.
type Messages interface {
	// Find finds the message of that id, else the one that has taken the nonce of
	// the key; pending ones too. Without a key it looks for the id alone.
	Find(ctx context.Context, id ID, key Key, nonce string) (r Record, found bool, err error)
	// Take keeps r as pending and with it its id and its nonce, while the signer
	// stands still: a revocation comes before or after, never between. When the id
	// is there already it answers that row and false. Faults: unauthenticated
	// with signer_revoked or signer_expired; nonce_reused.
	Take(ctx context.Context, r Record) (kept Record, taken bool, err error)
	// Accept marks a message accepted with the result of its effect, keeping it
	// anew if it was dropped meanwhile; false: it was accepted already.
	Accept(ctx context.Context, r Record, at time.Time) (first bool, err error)
	// Drop removes a pending message of this attempt and frees its nonce.
	Drop(ctx context.Context, id ID, attempt string) error
	// Unsettled hands out at most limit pending messages that nobody has tried
	// since before, oldest first, and marks them as tried now.
	Unsettled(ctx context.Context, before, now time.Time, limit int) ([]Record, error)
	// Attest keeps an accepted message of the hub's own; when one of the same
	// subject is there it answers that one.
	Attest(ctx context.Context, r Record) (Record, error)
	// List gives a page behind the cursor, which starts at the newest when zero.
	List(ctx context.Context, q Query, after syntax.Cursor) (Page, error)
}

// Signers keeps signers and their challenges. Fault of all: db_unavailable.
type Signers interface {
	// Find finds a signer by its key, revoked and expired ones too.
	Find(ctx context.Context, key Key) (s Signer, found bool, err error)
	// Challenge keeps the hash of a challenge for one key of one owner.
	Challenge(ctx context.Context, c Challenge, now time.Time) error
	// Register uses up the challenge and adds the signer in one step. Faults:
	// challenge_expired, signer_exists, signer_revoked, limit_reached.
	Register(ctx context.Context, s Signer, challenge []byte, limit int) error
	// List gives the signers of a passport, newest first.
	List(ctx context.Context, denpaID string) ([]Signer, error)
	// Revoke revokes a signer; revoked ones stay as they are. The time that is
	// kept is after every message that was taken. Fault: not_found when it is not
	// of the passport, or not of the grant when one is named.
	Revoke(ctx context.Context, key Key, denpaID, grantID, by string, now time.Time) (Signer, error)
	// RevokeOfKey revokes the signers that were made with an operator key and returns the
	// public keys of all that ended with it, now or before.
	RevokeOfKey(ctx context.Context, keyID string, now time.Time) ([]string, error)
	// KeysInUse lists the operator keys that have active signers, in order, after a key.
	KeysInUse(ctx context.Context, after string, now time.Time, limit int) ([]string, error)
}

// OperatorKeys reads operator keys, which the ledger stores. Fault of all:
// signal_service_unavailable.
type OperatorKeys interface {
	// RevokedKeys returns which of these keys are revoked or unknown.
	RevokedKeys(ctx context.Context, keyIDs []string) ([]string, error)
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

// Effects do what messages ask for.
type Effects interface {
	// Apply does the act at most once for its id and answers the same when it is
	// asked again. A fault that a sender can do something about (400 to 429)
	// refuses the message and says that nothing was done; every other error says
	// that nothing is known, and the same act is asked for again later.
	Apply(ctx context.Context, a Act) (Result, error)
}
