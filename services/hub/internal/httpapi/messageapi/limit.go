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

// Bounds of the memory of submissions.
const (
	maxSubmissions = 1 << 15
	submissionLife = 24 * time.Hour
)

// submissions counts each message once against its key, because a sender sends the same message again to learn its result. A
// message that the memory has lost counts once more.
type submissions struct {
	keys    request.KeyLimiter
	counted *cache.Cache[message.ID, struct{}] // messages that the limit of their key has allowed
	asking  singleflight.Group
	taking  singleflight.Group
}

func newSubmissions(keys request.KeyLimiter, b *view.Books) *submissions {
	s := &submissions{keys: keys, counted: cache.New(cache.Options[message.ID, struct{}]{
		TTL: submissionLife, MaxKeys: maxSubmissions, Now: b.Now,
	})}
	b.OnClose(s.counted.Close)
	return s
}

// allow counts a message that is not counted yet, unless taken reports that it is stored: stored messages are public, and sending
// them again must not use up the limit of another sender's key. Concurrent requests with the same message share the decision.
func (s *submissions) allow(ctx context.Context, m message.Message, taken func(context.Context) bool) ratelimit.Decision {
	if _, ok := s.counted.Peek(m.ID); ok {
		return ratelimit.Unlimited()
	}
	answer, _, _ := s.asking.Do(string(m.ID), func() (any, error) {
		ctx := context.WithoutCancel(ctx) // the others wait for the decision when the first client leaves
		d := ratelimit.Unlimited()
		if !taken(ctx) {
			d = s.keys.Allow(ctx, string(m.Key))
		}
		if d.Allowed {
			s.keep(ctx, m.ID)
		}
		return d, nil
	})
	return answer.(ratelimit.Decision)
}

// keep makes a message count no more.
func (s *submissions) keep(ctx context.Context, id message.ID) {
	counted := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	_, _ = s.counted.Get(ctx, id, counted) // only a closed cache has an error
}

// together shares one submission among concurrent requests with the same message. All but the first get it as replayed.
func (s *submissions) together(
	ctx context.Context, m message.Message, by *message.Bearer, take func(context.Context) (message.Submitted, error),
) (message.Submitted, error) {
	key := string(m.ID) + string(m.Signature)
	if by != nil {
		key += by.DenpaID + "|" + by.AppID
	}
	first := false
	answer, err, _ := s.taking.Do(key, func() (any, error) {
		first = true
		ctx, cancel := detached(ctx) // the others wait for the result when the first client leaves
		defer cancel()
		return take(ctx)
	})
	done := answer.(message.Submitted)
	done.Replayed = done.Replayed || !first
	return done, err
}

// detached returns a context that does not end with its parent, except at its deadline.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	until, bounded := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	if !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, until)
}

// forget makes a message that was not taken count again.
func (s *submissions) forget(id message.ID) { s.counted.Drop(id) }
