package relay

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/redisx"
)

// readersLife is the lifetime of the reader counts of a process. If a process does not update its counts within this time,
// other processes ignore them.
const readersLife = 3 * viewersEvery

// processes is the Redis key of the sorted set of running processes. The number of readers of a process by market is in a
// separate hash, whose key the function readersOf returns.
var processes = redisx.Key("readers")

func readersOf(process string) string { return redisx.Key("readers:" + process) }

// count stores own, the number of readers of this process by market, in Redis. It returns the sums over all processes, or own
// itself with an error.
func (t *Ticker) count(ctx context.Context, own map[string]int) (map[string]int, error) {
	now := t.now()
	fields := make([]any, 0, 2*len(own))
	for id, n := range own {
		fields = append(fields, id, n)
	}
	_, err := t.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		key := readersOf(t.id)
		p.Del(ctx, key)
		if len(fields) > 0 {
			p.HSet(ctx, key, fields...)
			p.Expire(ctx, key, readersLife)
		}
		p.ZAdd(ctx, processes, redis.Z{Score: float64(now.UnixMilli()), Member: t.id})
		p.ZRemRangeByScore(ctx, processes, "-inf", strconv.FormatInt(now.Add(-readersLife).UnixMilli(), 10))
		p.Expire(ctx, processes, readersLife)
		return nil
	})
	if err != nil {
		return own, err
	}
	sums, err := t.others(ctx)
	if err != nil {
		return own, err
	}
	for id, n := range own {
		sums[id] += n
	}
	return sums, nil
}

// others returns the number of readers in all other processes, by market.
func (t *Ticker) others(ctx context.Context) (map[string]int, error) {
	sums := make(map[string]int)
	return sums, t.forEachOther(ctx, func(key string) error {
		all, err := t.redis.HGetAll(ctx, key).Result()
		for id, text := range all {
			n, _ := strconv.Atoi(text) // an invalid number counts as 0
			sums[id] += n
		}
		return err
	})
}

// countOthers returns the number of readers of one market in all other processes.
func (t *Ticker) countOthers(ctx context.Context, id string) (sum int, err error) {
	err = t.forEachOther(ctx, func(key string) error {
		n, err := t.redis.HGet(ctx, key, id).Int()
		sum += n
		if errors.Is(err, redis.Nil) {
			return nil
		}
		return err
	})
	return sum, err
}

// forEachOther calls the function read once for each other process. It passes the Redis key of the reader counts of that
// process. It stops at the first error.
func (t *Ticker) forEachOther(ctx context.Context, read func(key string) error) error {
	alive, err := t.redis.ZRange(ctx, processes, 0, -1).Result()
	for _, process := range slices.DeleteFunc(alive, func(p string) bool { return p == t.id }) {
		if err := read(readersOf(process)); err != nil {
			return err
		}
	}
	return err
}
