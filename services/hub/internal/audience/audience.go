package audience

import (
	"context"
	_ "embed"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/kv"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
)

//go:embed see.lua
var seeSource string

var see = redis.NewScript(seeSource)

// Audience implements onair.Audience.
type Audience struct{ redis *kv.Client }

// New counts in c.
func New(c *kv.Client) *Audience { return &Audience{redis: c} }

func viewersOf(handle syntax.Handle) string { return kv.Key("viewers", string(handle)) }

// gone is the time up to which a viewer that was not seen again is gone.
func gone(now time.Time) int64 { return now.Add(-onair.ViewLife).UnixMilli() }

// See implements onair.Audience.
func (a *Audience) See(ctx context.Context, handle syntax.Handle, viewer, address string, now time.Time) (int64, error) {
	keys := []string{viewersOf(handle), kv.Key("viewers", string(handle), address)}
	return see.Run(ctx, a.redis, keys, viewer, now.UnixMilli(), gone(now), onair.PerAddress, onair.ViewLife.Milliseconds()).Int64()
}

// Count implements onair.Audience.
func (a *Audience) Count(ctx context.Context, handles []syntax.Handle, now time.Time) ([]int64, error) {
	since := "(" + strconv.FormatInt(gone(now), 10)
	asked := make([]*redis.IntCmd, len(handles))
	_, err := a.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, h := range handles {
			asked[i] = p.ZCount(ctx, viewersOf(h), since, "+inf")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(handles))
	for i := range asked {
		out[i] = asked[i].Val()
	}
	return out, nil
}
