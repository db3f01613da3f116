package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// failures counts failed credentials over all hubs.
type failures struct{ log *limit.Limiter }

// failures of one kind of credential. While Redis is away a hub takes its share.
func (a *App) failures(kind string) failures {
	name := "hub-failed-" + kind
	return failures{limit.New(a.redis, limit.Config{
		Name: name, Limit: caller.MaxFailures, Window: time.Minute, Replicas: a.cfg.Replicas, Now: a.now,
		OnFallback: a.fell(name),
	})}
}

// Wait implements caller.Failures.
func (f failures) Wait(ctx context.Context, who string) time.Duration {
	return f.log.Wait(ctx, inRedis(who))
}

// Failed implements caller.Failures. Who leaves without waiting for the answer has
// failed all the same.
func (f failures) Failed(ctx context.Context, who string) time.Duration {
	return f.log.Allow(context.WithoutCancel(ctx), inRedis(who)).RetryAfter
}

// inRedis is short, and Redis learns no address from it.
func inRedis(who string) string {
	sum := sha256.Sum256([]byte(who))
	return hex.EncodeToString(sum[:16])
}
