package share

import (
	"context"
	"crypto/rand"
	"math/big"
	"strings"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Kind is what a link leads to.
type Kind string

// The kinds.
const (
	Signal   Kind = "signal"
	Market   Kind = "market"
	Operator Kind = "operator"
)

// Link is a short link.
type Link struct {
	Code string
	Kind Kind
	ID   string
}

// ErrUnknown is the answer for a code that was never given.
var ErrUnknown = apperr.New(apperr.NotFound, "not_found", "")

// Store keeps links. One thing has one code, for good.
type Store interface {
	// KeepLink keeps a link if the thing has none, and gives the code that it has; empty:
	// the code belongs to something else, try another one.
	KeepLink(ctx context.Context, l Link) (code string, err error)
	// Link faults with not_found.
	Link(ctx context.Context, code string) (Link, error)
}

// The alphabet has no characters that look alike, in any of which a code of seven has
// 2.2 million million forms.
const (
	alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	length   = 7
)

// IsCode tells whether a text can be a code.
func IsCode(s string) bool {
	return len(s) == length && strings.Trim(s, alphabet) == ""
}

// Mint gives the code of a thing, and makes one at the first time.
func Mint(ctx context.Context, to Store, kind Kind, id string) (string, error) {
	for {
		code, err := to.KeepLink(ctx, Link{newCode(), kind, id})
		if code != "" || err != nil {
			return code, err
		}
	}
}

// newCode draws a code, each as likely as any other.
func newCode() string {
	out := make([]byte, length)
	for i := range out {
		n, _ := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet)))) // never fails
		out[i] = alphabet[n.Int64()]
	}
	return string(out)
}
