package edge

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/limit"
)

// adminHeader carries the secret of the people who run the service.
const adminHeader = "X-Admin-Secret"

var errForbidden = fault.New(fault.Forbidden, "forbidden", "")

// Secret is a shared secret that can only be compared; the zero Secret matches nothing.
type Secret struct {
	sum [sha256.Size]byte
	set bool
}

// NewSecret keeps the hash of the text; the empty text is unset.
func NewSecret(text string) Secret {
	return Secret{sum: sha256.Sum256([]byte(text)), set: text != ""}
}

// match compares in constant time, whatever the lengths are.
func (s *Secret) match(text string) bool {
	sum := sha256.Sum256([]byte(text))
	same := subtle.ConstantTimeCompare(s.sum[:], sum[:]) == 1
	return same && s.set
}

// Failures counts what was not the secret, by address.
type Failures interface {
	// Wait is how long an address has to stay away; zero: come in.
	Wait(ctx context.Context, key string) time.Duration
	Allow(ctx context.Context, key string) limit.Decision
}

// MaxFailures is how many wrong secrets of an address are looked at in a minute.
const MaxFailures = 10

// admin lets in who has the admin secret and carries nothing else. Faults:
// unauthenticated, forbidden, rate_limited.
func (s *server) admin(c echo.Context) error {
	h := c.Request().Header
	given := h[adminHeader]
	switch {
	case len(h["Authorization"]) > 0:
		return ErrUnauthenticated
	case !s.Admin.set:
		return errForbidden
	case len(given) == 0:
		return ErrUnauthenticated
	}
	ctx, sum := c.Request().Context(), sha256.Sum256([]byte(addressKey(c.RealIP())))
	who := hex.EncodeToString(sum[:16]) // Redis learns no address
	if wait := s.Failures.Wait(ctx, who); wait > 0 {
		return limit.Decision{Limit: MaxFailures, RetryAfter: wait}.Fault()
	}
	if len(given) > 1 || !s.Admin.match(given[0]) {
		if err := s.Failures.Allow(context.WithoutCancel(ctx), who).Fault(); err != nil {
			return err
		}
		return errForbidden
	}
	return nil
}
