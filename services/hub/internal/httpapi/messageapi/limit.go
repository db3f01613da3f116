package messageapi

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// Limits of the cache of charged messages: the number of messages, and the lifetime of a message.
const (
	maxSubmissions = 1 << 15
	submissionLife = 24 * time.Hour
)

// submissions charges each message only once to the rate limit of its public key, because senders repeat a message to learn its
// result. A message that is no longer in the cache is charged again.
type submissions struct {
	keys        request.KeyLimiter
	counted     *cache.Cache[message.ID, struct{}] // messages that are already charged
	allowGroup  singleflight.Group
	submitGroup singleflight.Group
}

func newSubmissions(keys request.KeyLimiter, b *view.Caches) *submissions {
	s := &submissions{keys: keys, counted: cache.New(cache.Options[message.ID, struct{}]{
		TTL: submissionLife, MaxKeys: maxSubmissions, Now: b.Now,
	})}
	b.OnClose(s.counted.Close)
	return s
}

// allow charges a message to the rate limit of its public key, unless the message is already charged or stored. isStored reports
// whether the message is stored. Stored messages are public, so anyone could send one again and use up the limit of the sender's
// key. Concurrent requests with the same message share the decision.
func (s *submissions) allow(ctx context.Context, m message.Message, isStored func(context.Context) bool) ratelimit.Decision {
	if _, ok := s.counted.Peek(m.ID); ok {
		return ratelimit.Unlimited()
	}
	answer, _, _ := s.allowGroup.Do(string(m.ID), func() (any, error) {
		ctx := context.WithoutCancel(ctx) // other requests wait for the decision even if this client disconnects
		d := ratelimit.Unlimited()
		if !isStored(ctx) {
			d = s.keys.Allow(ctx, string(m.Key))
		}
		if d.Allowed {
			s.markCounted(ctx, m.ID)
		}
		return d, nil
	})
	return answer.(ratelimit.Decision)
}

// markCounted records that a message is charged, so that the method allow does not charge it again.
func (s *submissions) markCounted(ctx context.Context, id message.ID) {
	counted := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	_, _ = s.counted.Get(ctx, id, counted) // Get fails only after the cache is closed
}

// submitOnce calls the function submit once for concurrent requests with the same message and credential. All requests but the
// first get the result marked as replayed.
func (s *submissions) submitOnce(
	ctx context.Context, m message.Message, by *message.Bearer, submit func(context.Context) (message.Submitted, error),
) (message.Submitted, error) {
	key := string(m.ID) + string(m.Signature)
	if by != nil {
		key += by.DenpaID + "|" + by.AppID
	}
	first := false
	answer, err, _ := s.submitGroup.Do(key, func() (any, error) {
		first = true
		ctx, cancel := detached(ctx) // other requests wait for the result even if this client disconnects
		defer cancel()
		return submit(ctx)
	})
	done := answer.(message.Submitted)
	done.Replayed = done.Replayed || !first
	return done, err
}

// detached returns a context that has the deadline of ctx but is not cancelled when ctx is cancelled.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	until, bounded := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	if !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, until)
}

// forget deletes the cache entry of a message that was not stored, so that the next submission of the message is charged.
func (s *submissions) forget(id message.ID) { s.counted.Drop(id) }
