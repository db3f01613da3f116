package reader

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/ratelimit"
)

// Life is the time for which a verified credential is accepted without a new verification. The clock verifies with the api, so
// two of these times can pass until a revocation takes effect on all public reads: 10 s.
const Life = 5 * time.Second

// failed is the prefix of the key of the limit for requests with a credential. Each IP address has this limit and an equal one
// for requests without a credential. A request with a valid credential counts against neither, so that invalid credentials of
// other clients of the address do not affect it.
const failed = "failed-auth "

// Verify returns the id by which the limit of a valid credential is counted. Errors: unauthenticated, and others if the
// credential cannot be verified now.
type Verify func(ctx context.Context, c Credential) (id string, err error)

// Addresses is the limit of requests of an IP address.
type Addresses interface {
	Allow(ctx context.Context, key string) ratelimit.Decision
	Undo(key string, d ratelimit.Decision)
}

// Config configures a Guard. All fields except Headers are required.
type Config struct {
	Verify    Verify
	Addresses Addresses
	// Count counts a request against the limit of a credential.
	Count func(ctx context.Context, kind Kind, id string) ratelimit.Decision
	Now   func() time.Time

	Headers bool // every response to a request without a credential has the headers of the limit of its IP address
}

// Guard charges requests to rate limits, and verifies the credentials of public reads.
type Guard struct {
	Config
	verified *cache.Cache[[sha256.Size]byte, string] // ids of limits
}

// New returns a Guard. The caller must call Close.
func New(c Config) *Guard {
	return &Guard{Config: c, verified: cache.New(cache.Options[[sha256.Size]byte, string]{TTL: Life, Hold: -1, Now: c.Now})}
}

// Close cancels running verifications and waits until they have ended.
func (g *Guard) Close() { g.verified.Close() }

const undoKey = "reader.undo"

// Limit is a middleware that charges each request to a limit of its IP address before the credential is verified. Authenticated
// undoes the charge. A credential that Read has verified within Life is not charged. Error: rate_limited.
func (g *Guard) Limit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		key := ratelimit.AddressKey(c.RealIP())
		if lines := c.Request().Header["Authorization"]; len(lines) > 0 {
			if g.known(lines) {
				return next(c)
			}
			key = failed + key
		}
		d := g.Addresses.Allow(c.Request().Context(), key)
		if g.Headers || !d.Allowed {
			d.SetHeaders(c.Response().Header())
		}
		if err := d.Fault(); err != nil {
			return err
		}
		c.Set(undoKey, func() { g.Addresses.Undo(key, d) })
		return next(c)
	}
}

func (g *Guard) known(lines []string) bool {
	c, err := Parse(lines)
	if err != nil {
		return false
	}
	_, ok := g.verified.Peek(c.Hash)
	return ok
}

// Authenticated undoes the charge of a request to the limit of its IP address, because the limit of its credential counts it.
func Authenticated(c echo.Context) {
	if undo, ok := c.Get(undoKey).(func()); ok {
		undo()
		c.Set(undoKey, nil)
	}
}

// Read returns a handler for a public read. If the request has a credential, the handler verifies it and counts the request
// against the limit of the credential. A credential that cannot be verified now is ignored, because the answer does not depend on
// it; the request remains charged to its IP address. Errors: unauthenticated, rate_limited, and the errors of next.
func (g *Guard) Read(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		lines := c.Request().Header["Authorization"]
		if len(lines) == 0 {
			return next(c)
		}
		sent, err := Parse(lines)
		if err != nil {
			return err
		}
		ctx := c.Request().Context()
		id, err := g.verified.Get(ctx, sent.Hash, func(ctx context.Context, _ string) (string, error) { return g.Verify(ctx, sent) })
		switch {
		case err == nil:
			Authenticated(c)
			d := g.Count(ctx, sent.Kind, id)
			d.SetHeaders(c.Response().Header())
			if err := d.Fault(); err != nil {
				return err
			}
		case apperr.Of(err).Kind == apperr.Unauthenticated:
			g.verified.Drop(sent.Hash)
			return err
		}
		return next(c)
	}
}
