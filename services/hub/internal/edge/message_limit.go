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
