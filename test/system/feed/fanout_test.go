package feed

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// follow subscribes each connection to the channel that channel returns for its index. It records the messages of the
// connection with index i as arrivals of the connection first+i.
func follow(t *testing.T, conns []*conn, first int, current *atomic.Pointer[arrivals], channel func(i int) string) {
	t.Helper()
	stack.Each(len(conns), 64, func(i int) {
		c := conns[i]
		if err := c.send(`{"op":"subscribe","channels":["` + channel(i) + `"]}`); err != nil {
			t.Error(err)
			return
		}
		if err := c.await(`"op":"ack"`); err != nil {
			t.Error(err)
			return
		}
		if err := c.SetReadDeadline(time.Time{}); err != nil {
			t.Error(err)
			return
		}
		go func() {
			for {
				frame, err := c.next()
				if err != nil {
					return // the connection is closed; require reports missing events
				}
				current.Load().record(first+i, frame)
			}
		}()
	})
	if t.Failed() {
		t.FailNow()
	}
}

// sentEvents returns the events of a market whose numbers are greater than base. It maps each number to the time of the request
// that caused the event. at contains these times in order.
func sentEvents(t *testing.T, s *stack.Stack, market string, base int64, at []time.Time) map[int64]time.Time {
	t.Helper()
	var numbers []int64
	stack.Eventually(t, 20*time.Second, "all events of the market in the feed", func() bool {
		numbers = stack.Query[[]int64](t, s,
			"SELECT coalesce(array_agg(seq ORDER BY seq), '{}') FROM api.protocol_events WHERE market_id = $1 AND seq > $2", market, base)
		return len(numbers) == len(at)
	})
	sent := map[int64]time.Time{}
	for i, n := range numbers {
		sent[n] = at[i]
	}
	return sent
}

// TestEveryConnectionReceivesEachEventOnce checks that ten thousand connections to one process receive each call exactly once
// and in order. Each connection may use at most 64 KiB of memory.
func TestEveryConnectionReceivesEachEventOnce(t *testing.T) {
	s := start(t)
	h := newHost(t, s, nil)
	n, calls := min(stack.Size(t, 400, 10_000, 10_000), h.maxConnections(t)), stack.Size(t, 2, 10, 40)
	market := s.NewNativeMarket(t, 5000, nil)
	a := newArrivals(t, s, n, 10*calls+100)
	var current atomic.Pointer[arrivals]
	current.Store(a)

	before, began := stack.RSS(t, h.PID()), time.Now()
	conns := h.openAll(t, n, 0)
	follow(t, conns, 0, &current, func(i int) string { return []string{"signals", "market:" + market}[i%2] })
	connected := time.Since(began)
	stack.Wait(t, time.Second) // the snapshots are still being sent
	each := (stack.RSS(t, h.PID()) - before) / int64(n)
	if each > 64<<10 && n >= 2000 { // with few connections, the growth of the process itself would dominate
		t.Errorf("the process uses %d bytes per connection; want at most 65536", each)
	}

	var at []time.Time
	for _, o := range s.SeedOperators(t, calls) {
		at = append(at, time.Now())
		o.File(t, stack.Call(market, "YES", 5000)).Require(200)
		a.await(t, int64(n*len(at)), 20*time.Second)
	}
	delays := a.require(t, n, sentEvents(t, s, market, a.base, at))
	t.Logf("%d connections in %v, %d bytes each; delay p50 %v, p99 %v",
		n, connected, each, delays.Quantile(.5), delays.Quantile(.99))
}

// TestSlowReadersDelayNoOther checks that connections whose clients do not read are closed with code 4008, and that all other
// connections receive every event without delay.
func TestSlowReadersDelayNoOther(t *testing.T) {
	s := start(t)
	h := newHost(t, s, nil)
	n := stack.Size(t, 100, 1000, 1000)
	slow := n / 10
	market := s.NewNativeMarket(t, 5000, nil)
	channel := func(int) string { return "market:" + market }
	var current atomic.Pointer[arrivals]

	// round publishes events, at most 50 per second, and requires that the first readers receive them. It returns the
	// 99th percentile of the delay.
	round := func(events, readers int) time.Duration {
		t.Helper()
		a := newArrivals(t, s, n, events+100)
		current.Store(a)
		var at []time.Time
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for range events {
			at = append(at, time.Now())
			publish(t, s, market)
			<-tick.C
		}
		sent := sentEvents(t, s, market, a.base, at)
		a.await(t, int64(len(sent)*readers), 20*time.Second)
		return a.require(t, readers, sent).Quantile(.99)
	}

	current.Store(newArrivals(t, s, n, 1))
	follow(t, h.openAll(t, n-slow, 0), 0, &current, channel)
	without, with := &stack.Times{}, &stack.Times{}
	for range stack.Size(t, 1, 2, 4) {
		others := h.openAll(t, slow, n)
		follow(t, others, n-slow, &current, channel)
		without.Add(round(150, n))
		for _, c := range others {
			_ = c.Close()
		}

		before := h.gauges(t).slowConsumers()
		for i := range slow {
			// A smaller buffer would not accept a segment with a few events, and the kernel would repeat the segment
			// with increasing delays.
			c, err := h.open(t.Context(), h.address((2*n+i)/perAddress), "", 16<<10)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			if err := c.send(`{"op":"subscribe","channels":["` + channel(i) + `"]}`); err != nil {
				t.Fatal(err)
			}
		}
		with.Add(round(300, n-slow)) // 600 kB, which exceeds the buffers of a connection
		// The server closes a connection after 5 s without progress; the longer time is for a loaded machine.
		stack.Eventually(t, time.Minute, "all slow readers to be closed with 4008", func() bool {
			return h.gauges(t).slowConsumers()-before == slow
		})
	}
	// Rounds on a loaded machine differ. A process that waits for slow readers would be seconds late.
	if best, bound := with.Quantile(0), 5*without.Quantile(0)+time.Second; best > bound {
		t.Errorf("p99 delay is %v with slow readers and %v without; want at most %v", best, without.Quantile(0), bound)
	}
	t.Logf("p99 delay %v with slow readers, %v without", with.Quantile(0), without.Quantile(0))
}

// publish writes one fact of 2 kB about a market directly to the outbox.
func publish(t *testing.T, s *stack.Stack, market string) {
	t.Helper()
	const fact = `
WITH fact AS (
    INSERT INTO api.outbox (type, market_id, data, at)
    VALUES ('market.status', $1, jsonb_build_object('pad', repeat('x', 2000)), now())
)
SELECT pg_notify('sc_outbox', '')`
	if _, err := s.DB(t).Exec(t.Context(), fact, market); err != nil {
		t.Fatalf("write a fact: %v", err)
	}
}
