package share

import (
	"context"
	"crypto/rand"
	"math/big"
	"strings"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Kind states to what a short link refers.
type Kind string

// Kinds of targets of short links.
const (
	Signal   Kind = "signal"
	Market   Kind = "market"
	Operator Kind = "operator"
	Tape     Kind = "tape" // a clip of this station
)

// Link is a short link: its code, and the kind and the id of its target.
type Link struct {
	Code string
	Kind Kind
	ID   string
}

// ErrUnknown is the error of a code that has no link.
var ErrUnknown = apperr.New(apperr.NotFound, "not_found", "there is no link with this code")

// Store stores short links. Each target has at most one code, which never changes.
type Store interface {
	// AddLink stores a link unless the target has one, and returns the code of the target. An empty result means that
	// another target has the code; try another one.
	AddLink(ctx context.Context, l Link) (code string, err error)
	// Link returns the link with a code. Error: not_found.
	Link(ctx context.Context, code string) (Link, error)
}

// Alphabet and length of codes. The alphabet omits characters that look alike. There are 2.2 trillion codes.
const (
	alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	length   = 7
)

// IsCode reports whether s has the format of a code.
func IsCode(s string) bool {
	return len(s) == length && strings.Trim(s, alphabet) == ""
}

// Mint returns the code of a target. It creates the code on first use. It returns the errors of the store.
func Mint(ctx context.Context, store Store, kind Kind, id string) (string, error) {
	for {
		code, err := store.AddLink(ctx, Link{newCode(), kind, id})
		if code != "" || err != nil {
			return code, err
		}
	}
}

// newCode returns a random code. All codes are equally probable.
func newCode() string {
	out := make([]byte, length)
	for i := range out {
		n, _ := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet)))) // never fails
		out[i] = alphabet[n.Int64()]
	}
	return string(out)
}
