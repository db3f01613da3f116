package httpapi

import (
	"cmp"
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/services/api/internal/broker"
)

// SocketLimits contains the limits of websockets and streams. A zero value selects the default of the protocol, which the
// comment of each member states (docs/protocol/ws.md).
type SocketLimits struct {
	PerAddress    int           // maximum open sockets per IP address; default 20
	PerKey        int           // maximum open sockets per operator key; default 5
	Subscriptions int           // maximum subscriptions per socket; default 50
	FrameBytes    int           // maximum size of a client message in bytes; default 8 KiB
	FrameRate     int           // client frames per second, twice as many in a burst; default 10
	Beat          time.Duration // interval of heartbeats and pings; default 30 s
	PongTimeout   time.Duration // time without a pong after which a socket is closed; default 60 s
	SendBuffer    int           // size of the kernel's send buffer of a connection; default 64 KiB
}

func (l SocketLimits) withDefaults() SocketLimits {
	return SocketLimits{
		PerAddress: cmp.Or(l.PerAddress, 20), PerKey: cmp.Or(l.PerKey, 5), Subscriptions: cmp.Or(l.Subscriptions, 50),
		FrameBytes: cmp.Or(l.FrameBytes, 8<<10), FrameRate: cmp.Or(l.FrameRate, 10), Beat: cmp.Or(l.Beat, 30*time.Second),
		PongTimeout: cmp.Or(l.PongTimeout, time.Minute), SendBuffer: cmp.Or(l.SendBuffer, 64<<10),
	}
}

var (
	errLeaving = apperr.New(apperr.Unavailable, "db_unavailable",
		"this server process is stopping; connect again in 1 s").With("retryAfterMs", 1000)
	errStarting = apperr.New(apperr.Unavailable, "db_unavailable",
		"the feed is still loading; connect again in 1 s").With("retryAfterMs", 1000)
	errTooMany = apperr.New(apperr.Limited, "rate_limited", "limit of open connections reached; close one first").
			With("retryAfterMs", 1000)
)

// lookups is the maximum number of concurrent database reads of missed events for all sockets. The same limit applies
// separately to reads for snapshots. Sockets that reconnect at the same time must not occupy all database connections.
const lookups = 8

// beatSlots is the number of groups into which open sockets are divided. The groups receive heartbeats at different times,
// spread over the heartbeat interval.
const beatSlots = 30

// sockets contains all open websockets and streams of this process. It limits those of all processes by IP address and by key.
type sockets struct {
	Deps
	lookups    chan struct{} // slots of reads of missed events
	states     chan struct{} // slots of snapshot reads
	snapshots  *httpcache.Cache
	addresses  *ratelimit.Slots // open sockets by IP address
	keys       *ratelimit.Slots // open sockets by operator
	stop       chan struct{}
	heartbeats sync.WaitGroup
	running    sync.WaitGroup // sockets and their goroutines

	mu       sync.Mutex
	leaving  bool
	slotOf   map[*socket]int // group of every open socket
	slots    [beatSlots]map[*socket]struct{}
	nextSlot int
	peak     int // maximum number of open sockets since memory was last released
}

func newSockets(d Deps) *sockets {
	s := &sockets{
		Deps: d, lookups: make(chan struct{}, lookups), states: make(chan struct{}, lookups),
		snapshots: httpcache.New(httpcache.Options{TTL: time.Second, Now: d.Now}), stop: make(chan struct{}),
		addresses: d.Slots("socket-address", d.Limits.PerAddress), keys: d.Slots("socket-key", d.Limits.PerKey),
		slotOf: make(map[*socket]int),
	}
	for i := range s.slots {
		s.slots[i] = make(map[*socket]struct{})
	}
	s.heartbeats.Go(s.runHeartbeats)
	return s
}

func (s *sockets) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.slotOf)
}

// reserve counts a new socket against the limits of its IP address and of its key, which is empty for a socket without a key.
// After success, the caller must call release. Errors: rate_limited, and db_unavailable while the process stops.
func (s *sockets) reserve(address, key string) error {
	s.mu.Lock()
	leaving := s.leaving
	if !leaving {
		s.running.Add(1)
	}
	s.mu.Unlock()
	if leaving {
		return errLeaving
	}
	if !s.addresses.Acquire(address) {
		s.running.Done()
		return errTooMany.WithText("limit of %d open connections of an IP address reached; close one first", s.Limits.PerAddress).
			With("limit", s.Limits.PerAddress)
	}
	if key != "" && !s.keys.Acquire(key) {
		s.release(address, "")
		return errTooMany.WithText("limit of %d open connections of a key reached; close one first", s.Limits.PerKey).
			With("limit", s.Limits.PerKey)
	}
	return nil
}

func (s *sockets) release(address, key string) {
	s.addresses.Release(address)
	if key != "" {
		s.keys.Release(key)
	}
	s.running.Done()
}

// rekey moves a socket from the count of one operator key (from, which may be empty) to the count of another key (to). If the
// limit of the other key is reached, rekey changes nothing and returns false.
func (s *sockets) rekey(from, to string) bool {
	if from == to {
		return true
	}
	if !s.keys.Acquire(to) {
		return false
	}
	if from != "" {
		s.keys.Release(from)
	}
	return true
}

// add registers a socket. Registered sockets receive heartbeats, and the method close closes them. If the server is already
// closing, add closes the socket.
func (s *sockets) add(k *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextSlot = (s.nextSlot + 1) % beatSlots
	s.slotOf[k] = s.nextSlot
	s.slots[s.nextSlot][k] = struct{}{}
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

// runHeartbeats sends heartbeats and pings to one group of sockets after the other until the server closes. After each group
// it calls releaseMemory.
func (s *sockets) runHeartbeats() {
	ticker := time.NewTicker(max(s.Limits.Beat/beatSlots, time.Millisecond))
	defer ticker.Stop()
	for slot := 0; ; slot = (slot + 1) % beatSlots {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			s.beat(slot)
			s.releaseMemory()
		}
	}
}

// minClosed is the minimum number of closed sockets for which releaseMemory acts.
const minClosed = 1000

// releaseMemory returns memory to the operating system after many sockets have closed: at least minClosed sockets, and at
// least half of the sockets that were open. Without it, this would take minutes, because the garbage collector rarely runs in
// an idle process.
func (s *sockets) releaseMemory() {
	s.mu.Lock()
	open := len(s.slotOf)
	s.peak = max(s.peak, open)
	release := s.peak-open >= max(minClosed, s.peak/2)
	if release {
		s.peak = open
	}
	s.mu.Unlock()
	if release {
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
		if k.timedOut() {
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

// revoked verifies the keys of an operator's sockets again, in the background.
func (s *sockets) revoked(handle string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.slotOf {
		k.mu.Lock()
		matches := k.me.handle == handle
		k.mu.Unlock()
		if matches && !s.leaving {
			s.running.Go(func() { k.recheck(context.Background()) })
		}
	}
}

// close closes every socket with code 1001 and waits until they have ended. When ctx ends, it aborts the remaining connections.
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
	s.heartbeats.Wait()
	defer func() {
		s.snapshots.Close()
		if first {
			s.addresses.Close()
			s.keys.Close()
		}
	}()
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
		k.conn.abandon()
	}
	s.mu.Unlock()
	<-done
}
