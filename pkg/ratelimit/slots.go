package ratelimit

import (
	"context"
	_ "embed"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/batch"
	"github.com/signalcast/signalcast/pkg/redisx"
)

//go:embed slots.lua
var slotsSource string

var slotsScript = redis.NewScript(slotsSource)

const (
	// processLife is the time after which the connections of a process that was killed no longer count. renewEvery is the
	// interval at which a running process renews it.
	processLife = 15 * time.Second
	renewEvery  = 5 * time.Second
	// slotKeyLife is the time after which Redis deletes the counts of a key. restateEvery is the interval at which each process
	// states the counts of all its keys again.
	slotKeyLife  = 15 * time.Minute
	restateEvery = 5 * time.Minute
)

// SlotConfig configures one limit of open connections. Name and Limit are required.
type SlotConfig struct {
	Name       string // used in Redis keys
	Limit      int    // maximum number of open connections of a key in all processes
	Replicas   int    // number of processes that share the limit
	OnFallback func() // called for each connection that was decided without Redis; may be nil
}

// Slots limits the number of open connections of a key, such as an IP address, over all processes that use the same Redis. If a
// process is killed, its connections count for 15 more seconds.
//
// While Redis is unavailable, each process allows a key its share of the limit: the limit divided by the number of processes, at
// least 1. Open connections are not closed.
type Slots struct {
	cfg       SlotConfig
	store     *redisx.Client // nil: the limit is that of this process only
	processes string         // Redis key
	process   string
	queue     *batch.Queue[slotRequest] // sends one batch at a time, so that Redis has the counts in the order of the changes
	stop      chan struct{}
	loop      sync.WaitGroup

	mu   sync.Mutex
	open map[string]int
	lost bool // Redis may lack counts of this process
}

// slotRequest states the number of open connections of a key to Redis. If done is not nil, it first opens another connection and
// calls done with the result. An empty key states only that the process runs.
type slotRequest struct {
	key  string
	done func(opened bool)
}

// NewSlots returns a limit whose counts are stored in the Redis database of store. If store is nil, the limit is that of this
// process only. The caller must call Close.
func NewSlots(store *redisx.Client, cfg SlotConfig) *Slots {
	s := &Slots{
		cfg: cfg, store: store, processes: redisx.Key("open", cfg.Name), process: strconv.FormatUint(rand.Uint64(), 36),
		stop: make(chan struct{}), open: make(map[string]int),
	}
	s.queue = batch.New(batch.Config[slotRequest]{Size: maxBatch, Bound: math.MaxInt, Flight: 1, Send: s.send})
	if store != nil {
		s.loop.Go(s.renew)
	}
	return s
}

// Acquire opens a connection of key. It returns false if the limit is reached. After true, the caller must call Release.
func (s *Slots) Acquire(key string) bool {
	opened := make(chan bool, 1)
	if s.queue.Add(slotRequest{key, func(ok bool) { opened <- ok }}) == 0 {
		return false // closed
	}
	return <-opened
}

// Release closes a connection of key that Acquire has opened.
func (s *Slots) Release(key string) {
	s.mu.Lock()
	if s.open[key]--; s.open[key] <= 0 {
		delete(s.open, key)
	}
	s.mu.Unlock()
	s.queue.Add(slotRequest{key: key})
}

// Close removes the counts of this process from Redis. Acquire then returns false.
func (s *Slots) Close() {
	close(s.stop)
	s.loop.Wait()
	s.queue.Close()
	if s.store != nil {
		s.store.ZRem(context.Background(), s.processes, s.process) // if this fails, the counts expire
	}
}

// renew states every renewEvery that the process runs. It states the counts of all keys every restateEvery, and when Redis has
// lost them.
func (s *Slots) renew() {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for stated := 0; ; {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
		}
		s.queue.Add(slotRequest{})
		s.mu.Lock()
		keys := slices.Collect(maps.Keys(s.open))
		lost := s.lost
		s.lost = false
		s.mu.Unlock()
		if stated++; lost || stated >= int(restateEvery/renewEvery) {
			stated = 0
			for _, key := range keys {
				s.queue.Add(slotRequest{key: key})
			}
		}
	}
}

// send states the counts of a batch of keys to Redis, and opens the requested connections.
func (s *Slots) send(batched []slotRequest) {
	if s.store == nil {
		s.decide(batched, s.cfg.Limit)
		return
	}
	keys, args := []string{s.processes}, []any{s.process, processLife.Milliseconds(), slotKeyLife.Milliseconds(), s.cfg.Limit}
	s.mu.Lock()
	for _, r := range batched {
		if r.key == "" {
			continue
		}
		keys = append(keys, s.processes+":"+HashedKey(r.key))
		open := 0
		if r.done != nil {
			open = 1
		}
		args = append(args, s.open[r.key], open)
	}
	s.mu.Unlock()
	answer, err := slotsScript.Run(context.Background(), s.store, keys, args...).Int64Slice()
	if err != nil || len(answer) != len(keys) {
		s.mu.Lock()
		s.lost = true
		s.mu.Unlock()
		s.decide(batched, max(1, s.cfg.Limit/max(1, s.cfg.Replicas)))
		return
	}
	s.mu.Lock()
	s.lost = s.lost || answer[0] == 0 && len(s.open) > 0
	s.mu.Unlock()
	for _, r := range batched {
		if r.key == "" {
			continue
		}
		answer = answer[1:]
		s.finish(r, answer[0] == 1)
	}
}

// decide opens the requested connections of a batch without Redis: those of keys that have fewer than limit open in this process.
func (s *Slots) decide(batched []slotRequest, limit int) {
	for _, r := range batched {
		if r.done == nil {
			continue
		}
		if s.store != nil && s.cfg.OnFallback != nil {
			s.cfg.OnFallback()
		}
		s.mu.Lock()
		opened := s.open[r.key] < limit
		s.mu.Unlock()
		s.finish(r, opened)
	}
}

// finish counts the connection of a request, if it was opened, and reports the result.
func (s *Slots) finish(r slotRequest, opened bool) {
	if r.done == nil {
		return
	}
	if opened {
		s.mu.Lock()
		s.open[r.key]++
		s.mu.Unlock()
	}
	r.done(opened)
}
