package journal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// origin is the name of the journal in checkpoints, and the name of the key that signs them.
const origin = "signalcast.ledger"

// ErrCheckpoint is returned for a text that is not a checkpoint of the journal, or is not signed with the key.
var ErrCheckpoint = errors.New("journal: not a checkpoint of this ledger")

// Key is the Ed25519 key that signs and verifies checkpoints.
type Key struct {
	signer   note.Signer
	verifier note.Verifier
	public   string
}

// NewKey derives a Key from a secret. The same secret always gives the same key.
func NewKey(secret string) (Key, error) {
	const ed25519Alg = 1
	seed := sha256.Sum256([]byte("signalcast checkpoint key\n" + secret))
	private := ed25519.NewKeyFromSeed(seed[:])
	public := append([]byte{ed25519Alg}, private.Public().(ed25519.PublicKey)...)
	sum := sha256.Sum256(append([]byte(origin+"\n"), public...))
	name := fmt.Sprintf("%s+%08x+", origin, binary.BigEndian.Uint32(sum[:4]))
	signer, err := note.NewSigner("PRIVATE+KEY+" + name + base64.StdEncoding.EncodeToString(append([]byte{ed25519Alg}, seed[:]...)))
	if err != nil {
		return Key{}, fmt.Errorf("make checkpoint key: %w", err)
	}
	k := Key{signer: signer, public: name + base64.StdEncoding.EncodeToString(public)}
	if k.verifier, err = note.NewVerifier(k.public); err != nil {
		return Key{}, fmt.Errorf("make checkpoint key: %w", err)
	}
	return k, nil
}

// Public returns the public key in the text format of C2SP signed notes.
func (k Key) Public() string { return k.public }

// Checkpoint contains the number of leaves and the root hash of the journal that a signed checkpoint states.
type Checkpoint struct {
	Size int64
	Root Hash
}

// Sign returns a signed checkpoint with the size and root of a tree, as text (C2SP tlog-checkpoint).
func (k Key) Sign(t *Tree) (string, error) {
	root := t.Root()
	text := origin + "\n" + strconv.FormatInt(t.size, 10) + "\n" + base64.StdEncoding.EncodeToString(root[:]) + "\n"
	signed, err := note.Sign(&note.Note{Text: text}, k.signer)
	if err != nil {
		return "", fmt.Errorf("sign checkpoint: %w", err)
	}
	return string(signed), nil
}

// Open verifies the signature of a checkpoint and parses it. Error: ErrCheckpoint.
func (k Key) Open(signed string) (Checkpoint, error) {
	n, err := note.Open([]byte(signed), note.VerifierList(k.verifier))
	if err != nil {
		return Checkpoint{}, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 4 || lines[0] != origin || lines[3] != "" {
		return Checkpoint{}, ErrCheckpoint
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	root, rootErr := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || rootErr != nil || size < 0 || len(root) != len(Hash{}) {
		return Checkpoint{}, ErrCheckpoint
	}
	return Checkpoint{size, Hash(root)}, nil
}
