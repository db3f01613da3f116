package caller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/redisx"
)

// Limits in any minute, each over all hubs together.
const (
	KeyLimit     = 60
	SessionLimit = 120
	LoginLimit   = 120
	TokenLimit   = 60 // of one grant, whatever its tokens are
	ClientLimit  = 30 // of one app at one address
	ConsentLimit = 30 // of one session before the page that asks for a grant

	// MaxFailures is how many failures of one kind of credential are accepted. After them, no credential of that caller is
	// checked until the minute is over.
	MaxFailures = 10

	window = time.Minute
)

// maxRefusals is the number of callers over their limit whose refusal is cached, in each of two generations.
const maxRefusals = 1 << 14

// Standing is where a caller stands in its limit.
type Standing struct {
	Allowed   bool
	Limit     int
	Remaining int
	Retry     time.Duration // until a refused call would be taken
	Reset     time.Duration // until the oldest call leaves the window
}

// Counters is where calls and failures are counted. Without Redis a process allows its share of each limit.
type Counters struct {
	Redis      *redisx.Client
	Replicas   int
	Now        func() time.Time
	OnFallback func(limit string) func() // called for each call that a limit decided without Redis
}

func (c Counters) limit(name string, n int) *ratelimit.Limiter {
	return ratelimit.New(c.Redis, ratelimit.Config{
		Name: name, Limit: n, Window: window, Replicas: c.Replicas, Now: c.Now, OnFallback: c.OnFallback(name),
	})
}

// Limits counts requests by kind of credential and by owner, over all hubs. It caches until when a caller is over its limit, so
// that requests during this time are rejected without Redis.
type Limits struct {
	by       map[Kind]*ratelimit.Limiter
	now      func() time.Time
	refusals *generations[whose, refusal]
}

type whose struct {
	kind Kind
	id   string
}

type refusal struct {
	limit int
	until time.Time
}

// NewLimits returns the limits of all kinds of credentials.
func NewLimits(c Counters) *Limits {
	return &Limits{now: c.Now, refusals: newGenerations[whose, refusal](maxRefusals), by: map[Kind]*ratelimit.Limiter{
		Key:     c.limit("hub-key", KeyLimit),
		Session: c.limit("hub-session", SessionLimit),
		Login:   c.limit("login", LoginLimit),
		Token:   c.limit("hub-token", TokenLimit),
		Client:  c.limit("hub-client", ClientLimit),
		Consent: c.limit("hub-consent", ConsentLimit),
	}}
}

// Count counts a call.
func (l *Limits) Count(ctx context.Context, kind Kind, id string) Standing {
	who := whose{kind, id}
	if st, refused := l.refused(who); refused {
		return st
	}
	d := l.by[kind].Allow(ctx, id)
	if !d.Allowed && !d.Fallback {
		l.refusals.put(who, refusal{limit: d.Limit, until: l.now().Add(d.RetryAfter)})
	}
	return Standing{Allowed: d.Allowed, Limit: d.Limit, Remaining: d.Remaining, Retry: d.RetryAfter, Reset: d.Reset}
}

func (l *Limits) refused(who whose) (Standing, bool) {
	r, _ := l.refusals.get(who)
	wait := r.until.Sub(l.now())
	return Standing{Limit: r.limit, Retry: wait, Reset: wait}, wait > 0
}

// Failures counts failed credentials of one kind by who sent them, over all hubs.
type Failures struct{ log *ratelimit.Limiter }

// NewFailures returns a counter for a kind of credential.
func NewFailures(c Counters, kind string) Failures {
	return Failures{c.limit("hub-failed-"+kind, MaxFailures)}
}

// Wait returns how long the credentials of a caller are not checked; zero: they are.
func (f Failures) Wait(ctx context.Context, who string) time.Duration {
	return f.log.Wait(ctx, hashed(who))
}

// Failed adds a failure, also if the client does not wait for the answer. A result above zero means that concurrent
// failures have reached the limit, and this one is answered like those after it.
func (f Failures) Failed(ctx context.Context, who string) time.Duration {
	return f.log.Allow(context.WithoutCancel(ctx), hashed(who)).RetryAfter
}

// hashed returns a short hash of parts, so that Redis stores no address.
func hashed(parts string) string {
	sum := sha256.Sum256([]byte(parts))
	return hex.EncodeToString(sum[:16])
}
