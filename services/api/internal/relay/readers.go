package relay

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/kv"
)

// readersLife ends what a process that died has told.
const readersLife = 3 * viewersEvery

// Readers adds up the readers of all processes in Redis: a hash for each process,
// and a sorted set of those that live. While Redis is away a process knows of its own.
type Readers struct {
	redis *kv.Client
	id    string
	now   func() time.Time
}

// NewReaders makes the counter of one process; id tells it from the others.
func NewReaders(c *kv.Client, id string, now func() time.Time) *Readers {
	return &Readers{redis: c, id: id, now: now}
}

var processes = kv.Key("readers")

func readersOf(process string) string { return kv.Key("readers:" + process) }

// Count implements Counter.
func (r *Readers) Count(ctx context.Context, own map[string]int) (map[string]int, error) {
	now := r.now()
	ids := make([]string, 0, len(own))
	fields := make([]any, 0, 2*len(own))
	for id, n := range own {
		ids = append(ids, id)
		fields = append(fields, id, n)
	}
	var alive *redis.StringSliceCmd
	_, err := r.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		key := readersOf(r.id)
		p.Del(ctx, key)
		if len(fields) > 0 {
			p.HSet(ctx, key, fields...)
			p.Expire(ctx, key, readersLife)
		}
		p.ZAdd(ctx, processes, redis.Z{Score: float64(now.UnixMilli()), Member: r.id})
		p.ZRemRangeByScore(ctx, processes, "-inf", strconv.FormatInt(now.Add(-readersLife).UnixMilli(), 10))
		p.Expire(ctx, processes, readersLife)
		alive = p.ZRange(ctx, processes, 0, -1)
		return nil
	})
	if err != nil || len(ids) == 0 {
		return own, err
	}
	sums := make(map[string]int, len(own))
	for id, n := range own {
		sums[id] = n
	}
	for _, process := range alive.Val() {
		if process == r.id {
			continue
		}
		values, err := r.redis.HMGet(ctx, readersOf(process), ids...).Result()
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			if text, ok := v.(string); ok {
				n, _ := strconv.Atoi(text) // what is no number counts nothing
				sums[ids[i]] += n
			}
		}
	}
	return sums, nil
}

// Others implements Counter.
func (r *Readers) Others(ctx context.Context) (map[string]int, error) {
	alive, err := r.redis.ZRange(ctx, processes, 0, -1).Result()
	if err != nil {
		return nil, err
	}
	sums := make(map[string]int)
	for _, process := range alive {
		if process == r.id {
			continue
		}
		all, err := r.redis.HGetAll(ctx, readersOf(process)).Result()
		if err != nil {
			return nil, err
		}
		for id, text := range all {
			n, _ := strconv.Atoi(text)
			sums[id] += n
		}
	}
	return sums, nil
}

// Elsewhere implements Counter.
func (r *Readers) Elsewhere(ctx context.Context, id string) (int, error) {
	alive, err := r.redis.ZRange(ctx, processes, 0, -1).Result()
	if err != nil {
		return 0, err
	}
	sum := 0
	for _, process := range alive {
		if process == r.id {
			continue
		}
		n, err := r.redis.HGet(ctx, readersOf(process), id).Int()
		if err != nil && !errors.Is(err, redis.Nil) {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}
