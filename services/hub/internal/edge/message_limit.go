package edge

import (
	"context"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// MessageLimit is how many messages a public key may send in any minute.
const MessageLimit = 30

// KeyLimiter counts the messages of public keys over all hubs.
type KeyLimiter interface {
	Allow(ctx context.Context, key string) limit.Decision
}

// maxSubmissions bounds what is remembered about messages on their way.
const maxSubmissions = 1 << 14

// submissions count each message once against its key: sending the very same one
// again is how a sender finds out what became of it. They are remembered in two
// generations of bounded size; one that is forgotten counts once more.
type submissions struct {
	keys   KeyLimiter
	asking singleflight.Group
	taking singleflight.Group

	mu       sync.Mutex
	cur, old map[message.ID]struct{}
}

func newSubmissions(keys KeyLimiter) *submissions {
	return &submissions{keys: keys, cur: map[message.ID]struct{}{}}
}

// allow counts a message that was not seen yet and, as taken tells, is not kept:
// kept ones are public, and whoever sends somebody else's again must not use up that
// key's limit. Those who send one at the same time share the answer.
func (s *submissions) allow(ctx context.Context, m message.Message, taken func(context.Context) bool) limit.Decision {
	if s.has(m.ID) {
		return limit.Unlimited()
	}
	answer, _, _ := s.asking.Do(string(m.ID), func() (any, error) {
		if s.has(m.ID) {
			return limit.Unlimited(), nil
		}
		ctx := context.WithoutCancel(ctx) // others wait for the answer, too
		d := limit.Unlimited()
		if !taken(ctx) {
			d = s.keys.Allow(ctx, string(m.Key))
		}
		if d.Allowed {
			s.keep(m.ID)
		}
		return d, nil
	})
	return answer.(limit.Decision)
}

// together lets those who send the very same message at the same moment share one
// taking of it: a storm of copies costs what one message costs. All but the first
// hear that it came before.
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
		// The others wait for it, too, when the first one leaves.
		ctx, cancel := detached(ctx)
		defer cancel()
		return take(ctx)
	})
	done := answer.(message.Submitted)
	done.Replayed = done.Replayed || !first
	return done, err
}

// detached outlives the caller and not his time.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	until, bounded := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	if !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, until)
}

func (s *submissions) has(id message.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, cur := s.cur[id]
	_, old := s.old[id]
	return cur || old
}

func (s *submissions) keep(id message.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cur) >= maxSubmissions {
		s.old, s.cur = s.cur, map[message.ID]struct{}{}
	}
	s.cur[id] = struct{}{}
}

// forget makes a message that was not taken count again.
func (s *submissions) forget(id message.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cur, id)
	delete(s.old, id)
}
