package httpapi

import (
	"cmp"
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/services/api/internal/broker"
)

// SocketLimits bound what sockets may use. Zero values are those of the contract.
type SocketLimits struct {
	PerAddress    int           // open sockets of one address: 20
	PerKey        int           // of one operator key: 5
	Subscriptions int           // of one socket: 50
	FrameBytes    int           // of one client frame: 8 KiB
	FrameRate     int           // client frames a second, twice as many at once: 10
	Beat          time.Duration // between beats and pings: 30 s
	PongTimeout   time.Duration // without a pong: 60 s
	SendBuffer    int           // of the connection in the kernel: 64 KiB
}

func (l SocketLimits) withDefaults() SocketLimits {
	return SocketLimits{
		PerAddress: cmp.Or(l.PerAddress, 20), PerKey: cmp.Or(l.PerKey, 5), Subscriptions: cmp.Or(l.Subscriptions, 50),
		FrameBytes: cmp.Or(l.FrameBytes, 8<<10), FrameRate: cmp.Or(l.FrameRate, 10), Beat: cmp.Or(l.Beat, 30*time.Second),
		PongTimeout: cmp.Or(l.PongTimeout, time.Minute), SendBuffer: cmp.Or(l.SendBuffer, 64<<10),
	}
}

var (
	errLeaving  = apperr.New(apperr.Unavailable, "db_unavailable", "this process is stopping").With("retryAfterMs", 1000)
	errStarting = apperr.New(apperr.Unavailable, "db_unavailable", "the feed is not there yet").With("retryAfterMs", 1000)
	errTooMany  = apperr.New(apperr.Limited, "rate_limited", "too many open sockets").With("retryAfterMs", 1000)
)

// lookups is how many sockets ask at once: coming back all together must not
// take the database from everybody else.
const lookups = 8

// beatSlots spread the beats of many sockets over the time between two.
const beatSlots = 30

// sockets are all open sockets of this process.
type sockets struct {
	Deps
	lookups   chan struct{} // reads of history that may run at once
	states    chan struct{} // snapshots
	snapshots *httpcache.Book
	stop      chan struct{}
	keeper    sync.WaitGroup
	running   sync.WaitGroup // sockets and what they started

	mu        sync.Mutex
	leaving   bool
	slotOf    map[*socket]int // every open socket
	addresses map[string]int
	keys      map[string]int
	slots     [beatSlots]map[*socket]struct{}
	turn      int
	most      int // open sockets since memory was given back
}

func newSockets(d Deps) *sockets {
	s := &sockets{
		Deps: d, lookups: make(chan struct{}, lookups), states: make(chan struct{}, lookups),
		snapshots: httpcache.New(httpcache.Options{TTL: time.Second, Now: d.Now}), stop: make(chan struct{}),
		slotOf: make(map[*socket]int), addresses: make(map[string]int), keys: make(map[string]int),
	}
	for i := range s.slots {
		s.slots[i] = make(map[*socket]struct{})
	}
	s.keeper.Go(s.keep)
	return s
}

func (s *sockets) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.slotOf)
}

// reserve takes the places of a socket that is about to open; key is empty for
// one without. Every reserve that succeeds is followed by release.
func (s *sockets) reserve(address, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.leaving:
		return errLeaving
	case s.addresses[address] >= s.Limits.PerAddress:
		return errTooMany.With("limit", s.Limits.PerAddress)
	case key != "" && s.keys[key] >= s.Limits.PerKey:
		return errTooMany.With("limit", s.Limits.PerKey)
	}
	s.addresses[address]++
	if key != "" {
		s.keys[key]++
	}
	s.running.Add(1)
	return nil
}

func (s *sockets) release(address, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	drop(s.addresses, address)
	drop(s.keys, key)
	s.running.Done()
}

func drop(m map[string]int, key string) {
	if m[key]--; m[key] <= 0 {
		delete(m, key)
	}
}

// rekey moves a socket from one key to another.
func (s *sockets) rekey(from, to string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from == to {
		return true
	}
	if s.keys[to] >= s.Limits.PerKey {
		return false
	}
	s.keys[to]++
	drop(s.keys, from)
	return true
}

// add makes a socket known to the keeper and to close.
func (s *sockets) add(k *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = (s.turn + 1) % beatSlots
	s.slotOf[k] = s.turn
	s.slots[s.turn][k] = struct{}{}
	if s.leaving {
		k.reader.Close(broker.GoingAway)
	}
}

func (s *sockets) remove(k *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.slots[s.slotOf[k]], k)
	delete(s.slotOf, k)
}

// keep sends beats and pings, one slot of sockets at a time.
func (s *sockets) keep() {
	ticker := time.NewTicker(max(s.Limits.Beat/beatSlots, time.Millisecond))
	defer ticker.Stop()
	for slot := 0; ; slot = (slot + 1) % beatSlots {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			s.beat(slot)
			s.giveBack()
		}
	}
}

// manyLeft is how many sockets have to have gone before their memory is given back.
const manyLeft = 1000

// giveBack returns to the system what many sockets held that have left. The runtime
// would take minutes, since a process that has little to do collects little.
func (s *sockets) giveBack() {
	s.mu.Lock()
	open := len(s.slotOf)
	s.most = max(s.most, open)
	gone := s.most-open >= max(manyLeft, s.most/2)
	if gone {
		s.most = open
	}
	s.mu.Unlock()
	if gone {
		debug.FreeOSMemory()
	}
}

func (s *sockets) beat(slot int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.slots[slot]) == 0 || s.leaving {
		return
	}
	now := s.Now()
	frame := append(broker.Text(beatFrame(s.Broker.Head(), now)), broker.Ping...)
	for k := range s.slots[slot] {
		if k.dead() {
			k.reader.Close(broker.NoPong)
			continue
		}
		k.reader.Push(frame)
		k.mu.Lock()
		keyed := k.me.handle != ""
		k.mu.Unlock()
		if keyed {
			s.running.Go(func() { k.recheck(context.Background()) })
		}
	}
}

// revoked looks again at the keys of an operator's sockets.
func (s *sockets) revoked(handle string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.slotOf {
		k.mu.Lock()
		theirs := k.me.handle == handle
		k.mu.Unlock()
		if theirs && !s.leaving {
			s.running.Go(func() { k.recheck(context.Background()) })
		}
	}
}

// close ends every socket with 1001 and waits while ctx lasts; then it cuts.
func (s *sockets) close(ctx context.Context) {
	s.mu.Lock()
	first := !s.leaving
	s.leaving = true
	for k := range s.slotOf {
		k.reader.Close(broker.GoingAway)
	}
	s.mu.Unlock()
	if first {
		close(s.stop)
	}
	s.keeper.Wait()
	defer s.snapshots.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.running.Wait()
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	s.mu.Lock()
	for k := range s.slotOf {
		k.pipe.abandon()
	}
	s.mu.Unlock()
	<-done
}
