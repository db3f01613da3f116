package caller

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/cache"
)

// readerLife is the time for which a verified credential is accepted on public reads without a new verification. Other routes
// verify a credential for each request.
const readerLife = 5 * time.Second

// AnyResource accepts an app token of every resource. It is used only for public reads, where a token grants nothing.
const AnyResource = "*"

// readers caches the ids by which the requests of verified credentials are counted on public reads, by SHA-256 of the credential.
type readers = cache.Cache[[sha256.Size]byte, string]

func newReaders(now func() time.Time) *readers {
	return cache.New(cache.Options[[sha256.Size]byte, string]{TTL: readerLife, Hold: -1, Now: now})
}

// Close cancels running verifications of credentials on public reads and waits until they have ended.
func (s *Service) Close() { s.readers.Close() }

// reader authenticates a credential on a public read and counts the request against the limit of the credential. The caller has
// only the kind Reader, because a credential changes nothing in the answer. A credential that cannot be verified now counts as
// anonymous. Errors: unauthenticated, rate_limited.
func (s *Service) reader(ctx context.Context, b bearer) (Caller, *RateLimitState, error) {
	sum := b.hash
	if b.kind != Key {
		sum = sha256.Sum256([]byte(b.raw))
	}
	id, err := s.readers.Get(ctx, sum, func(ctx context.Context, _ string) (string, error) { return s.readerID(ctx, b) })
	switch {
	case err == nil:
	case apperr.Of(err).Kind == apperr.Unauthenticated:
		s.readers.Drop(sum)
		return Caller{}, nil, err
	default:
		return Caller{}, nil, ctx.Err()
	}
	standing, err := s.count(ctx, b.kind, id)
	return Caller{Kind: Reader}, standing, err
}

// readerID verifies a credential of a public read and returns the id by which its requests are counted, the same as on other
// routes.
func (s *Service) readerID(ctx context.Context, b bearer) (string, error) {
	switch b.kind {
	case Key:
		if err := s.keys.refusal(b.hash, s.Now()); err != nil {
			return "", err
		}
		_, err := s.verify(ctx, b.hash)
		return keyID(b.hash), err
	case Login:
		who, err := s.Logins.Verify(ctx, b.raw)
		return loginID(who), err
	}
	if s.Tokens == nil {
		return "", ErrUnauthenticated
	}
	d, err := s.Tokens(ctx, b.raw, AnyResource)
	return d.GrantID, err
}
