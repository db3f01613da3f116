package caller

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/redisx"
)

// Rate limits per minute, counted over all hubs.
const (
	KeyLimit     = 60
	SessionLimit = 120
	LoginLimit   = 120
	TokenLimit   = 60 // for each grant, over all its tokens
	ClientLimit  = 30 // for each app and IP address
	ConsentLimit = 30 // for each session on the consent page

	// MaxFailures is the maximum number of failures per minute for one kind of credential and one sender. Above it, credentials
	// of that kind from that sender are not checked until the minute has passed.
	MaxFailures = 10

	window = time.Minute
)

// maxRefusals is the maximum number of entries in each of the two maps that cache refusals.
const maxRefusals = 1 << 14

// RateLimitState is the state of a caller's rate limit after a request.
type RateLimitState struct {
	Allowed   bool
	Limit     int
	Remaining int
	Retry     time.Duration // time until the next request is allowed; 0 if this one was allowed
	Reset     time.Duration // time until the oldest request leaves the window of the limit
}

// Counters configures how requests and failures are counted. While Redis is unavailable, each process allows its share of each
// limit: the limit divided by Replicas.
type Counters struct {
	Redis      *redisx.Client
	Replicas   int
	Now        func() time.Time
	OnFallback func(limit string) func() // returns a function that is called for each check of the limit without Redis
}

func (c Counters) limit(name string, n int) *ratelimit.Limiter {
	return ratelimit.New(c.Redis, ratelimit.Config{
		Name: name, Limit: n, Window: window, Replicas: c.Replicas, Now: c.Now, OnFallback: c.OnFallback(name),
	})
}

// Limits counts requests by kind of credential and by caller, over all hubs. When a caller exceeds its limit, Limits refuses its
// requests without Redis until the limit allows the next one.
type Limits struct {
	by       map[Kind]*ratelimit.Limiter
	now      func() time.Time
	refusals *generations[owner, refusal]
}

type owner struct {
	kind Kind
	id   string
}

type refusal struct {
	limit int
	until time.Time
}

// NewLimits returns the limits of all kinds of credentials.
func NewLimits(c Counters) *Limits {
	return &Limits{now: c.Now, refusals: newGenerations[owner, refusal](maxRefusals), by: map[Kind]*ratelimit.Limiter{
		Key:     c.limit("hub-key", KeyLimit),
		Session: c.limit("hub-session", SessionLimit),
		Login:   c.limit("login", LoginLimit),
		Token:   c.limit("hub-token", TokenLimit),
		Client:  c.limit("hub-client", ClientLimit),
		Consent: c.limit("hub-consent", ConsentLimit),
	}}
}

// Count counts a request with a credential of this kind, and returns the state of the limit. The parameter id identifies the
// caller. If the caller is over its limit, Allowed is false.
func (l *Limits) Count(ctx context.Context, kind Kind, id string) RateLimitState {
	key := owner{kind, id}
	if st, refused := l.refused(key); refused {
		return st
	}
	d := l.by[kind].Allow(ctx, id)
	if !d.Allowed && !d.Fallback {
		l.refusals.put(key, refusal{limit: d.Limit, until: l.now().Add(d.RetryAfter)})
	}
	return RateLimitState{Allowed: d.Allowed, Limit: d.Limit, Remaining: d.Remaining, Retry: d.RetryAfter, Reset: d.Reset}
}

func (l *Limits) refused(key owner) (RateLimitState, bool) {
	r, _ := l.refusals.get(key)
	wait := r.until.Sub(l.now())
	return RateLimitState{Limit: r.limit, Retry: wait, Reset: wait}, wait > 0
}

// Failures counts failed credentials of one kind for each sender, over all hubs. A sender is an IP address, or an app together
// with an IP address.
type Failures struct{ log *ratelimit.Limiter }

// NewFailures returns a counter of failures for the named kind of credential. Its limit is MaxFailures per minute.
func NewFailures(c Counters, kind string) Failures {
	return Failures{c.limit("hub-failed-"+kind, MaxFailures)}
}

// Wait returns the time for which the credentials of a sender are not checked. 0 means that they are checked now.
func (f Failures) Wait(ctx context.Context, sender string) time.Duration {
	return f.log.Wait(ctx, ratelimit.HashedKey(sender))
}

// Failed counts a failure, even if the client has disconnected. A result above zero means that concurrent failures have reached
// the limit. The request must then be refused, and the client must wait for this time.
func (f Failures) Failed(ctx context.Context, sender string) time.Duration {
	return f.log.Allow(context.WithoutCancel(ctx), ratelimit.HashedKey(sender)).RetryAfter
}

// keyID returns the id by which the requests of an operator key are counted.
func keyID(hash KeyHash) string { return hex.EncodeToString(hash[:16]) }
