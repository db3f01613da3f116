package relay_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/broker/brokertest"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/relay"
)

func ids(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i+1) + "-0"
	}
	return out
}

var errKilled = errors.New("killed")

// dying is a store whose calls fail at random, before or after they are done.
type dying struct {
	feed.Store
	deaths map[string]int
}

func (d dying) die(at string) error {
	if rand.N(3) > 0 {
		return nil
	}
	d.deaths[at]++
	return errKilled
}

func (d dying) NumberFeed(ctx context.Context, limit int) (int, error) {
	if err := d.die("before numbering"); err != nil {
		return 0, err
	}
	n, err := d.Store.NumberFeed(ctx, limit)
	if err == nil {
		err = d.die("after numbering")
	}
	return n, err
}

func (d dying) ListFeedAfter(ctx context.Context, after int64, limit int) ([]feed.Event, error) {
	if err := d.die("before publishing"); err != nil {
		return nil, err
	}
	return d.Store.ListFeedAfter(ctx, after, limit)
}

func (d dying) DrainFeed(ctx context.Context, chunk int, skip []string) (feed.Drained, error) {
	if err := d.die("before draining"); err != nil {
		return feed.Drained{}, err
	}
	drained, err := d.Store.DrainFeed(ctx, chunk, skip)
	if err == nil {
		err = d.die("after draining")
	}
	return drained, err
}

// A relay that dies between any two steps, again and again, while writers write
// and a market is resolved: the feed has every fact once, and so has the stream.
func TestRelayDiesBetweenAnySteps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fanOut := b.follow()
	r := read(t, fanOut, feed.Signals)
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() { b.write(100) })
	}
	writers.Go(b.resolve)
	store := dying{b.store, make(map[string]int)}
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline) || len(store.deaths) < 5; {
		r := b.relay()
		r.Store = store
		if err := r.Run(t.Context()); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
	}
	writers.Wait()
	b.start(b.relay().Run)
	messages := b.want(451)
	testkit.Eventually(t, 20*time.Second, func() bool { return len(b.stream()) == 451 })
	if diff := cmp.Diff(ids(451), b.stream()); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
	r.expect(t, messages, feed.Signals)
	t.Logf("deaths: %v", store.deaths)
}

// Two relays at once, as when a lease changes hands late: still every fact once.
func TestTwoRelays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.start(b.relay().Run)
	b.start(b.relay().Run)
	fanOut := b.follow()
	rs := map[feed.Channel]*reader{}
	for _, c := range []feed.Channel{feed.Signals, feed.LaneChannel("MUSIC"), feed.MarketChannel("1"), feed.OperatorChannel("seed7"), feed.Resolutions} {
		rs[c] = read(t, fanOut, c)
	}
	b.write(150)
	b.resolve()
	b.write(50)
	messages := b.want(251)
	for c, r := range rs {
		r.expect(t, messages, c)
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return len(b.stream()) == 251 })
}

// A market whose results are not there yet holds up nobody and is finished when
// they are.
func TestRelayPassesOverWaitingMarkets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(`INSERT INTO api.market_resolutions (market_id, outcome, resolver, source, close_at, lane, resolved_at)
		SELECT i::text, 'YES', 'admin', 'admin', now(), 'MUSIC', now() - interval '1 hour' FROM generate_series(1, 2) i`)
	b.exec(`INSERT INTO api.outbox (type, market_id, at) SELECT 'market.resolved', i::text, now() - (3 - i) * interval '1 minute' FROM generate_series(1, 2) i`)
	b.start(b.relay().Run)
	b.want(2)
	testkit.Eventually(t, 10*time.Second, func() bool {
		var left string
		err := b.admin.QueryRow(t.Context(), `SELECT string_agg(market_id, ',') FROM api.feed_drains`).Scan(&left)
		return err == nil && left == "1"
	})
	b.exec(`INSERT INTO api.signal_results (signal_id, event_id, user_id, status, score, beat_crowd, scoring_version, scoring_vertical, resolved_at)
		SELECT id, gen_random_uuid(), user_id, 'won', 50, false, '1.0', 'MUSIC', now() FROM api.signals`)
	b.want(52)
}

// Redis loses everything while the feed runs: readers miss nothing, and the
// stream goes on.
func TestRedisForgets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.start(b.relay().Run)
	r := read(t, b.follow(), feed.Signals)
	c := redisClient(t, b.url)
	for range 5 {
		b.write(20)
		if err := c.FlushDB(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	b.write(1)
	r.expect(t, b.want(101), feed.Signals)
	// Filled up to the newest again, within one comparison.
	testkit.Eventually(t, 20*time.Second, func() bool {
		got := b.stream()
		return len(got) > 0 && got[len(got)-1] == "101-0"
	})
}

// A stream that is ahead of the feed, or of another feed, is thrown away.
func TestForeignStream(t *testing.T) {
	t.Parallel()
	for _, first := range []int{3, 9000} {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			err := redisClient(t, b.url).XAdd(t.Context(), &redis.XAddArgs{
				Stream: "sc:feed", ID: fmt.Sprintf("%d-0", first), Values: []string{"i", uuid.NewString(), "t", "market.status", "a", "0", "d", "{}", "c", "market:1 0"},
			}).Err()
			if err != nil {
				t.Fatal(err)
			}
			b.start(b.relay().Run)
			b.write(10)
			b.want(10)
			testkit.Eventually(t, 20*time.Second, func() bool { return cmp.Equal(b.stream(), ids(10)) })
		})
	}
}

// Redis hangs, comes back, and is killed for good: the feed goes on.
func TestRedisHangsAndDies(t *testing.T) {
	t.Parallel()
	server := testkit.RedisServer(t)
	b := setupRedis(t, server.URL())
	b.start(b.relay().Run)
	r := read(t, b.follow(), feed.Signals)
	b.write(20)
	resume := testkit.Hang(t, server.PID())
	began := time.Now()
	b.write(20)
	r.expect(t, b.want(40), feed.Signals)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a hung Redis delayed readers by %v", took)
	}
	resume()
	b.write(20)
	r.expect(t, b.want(60), feed.Signals)
	testkit.Kill(t, server.PID())
	b.write(20)
	r.expect(t, b.want(80), feed.Signals)
}

// The stream has lost what lies between: the database has it.
func TestFollowerFillsHoles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := read(t, b.follow(), feed.MarketChannel("1"))
	b.exec(`INSERT INTO api.outbox (type, market_id, at) SELECT 'market.status', '1', now() FROM generate_series(1, 10)`)
	err := redisClient(t, b.url).XAdd(t.Context(), &redis.XAddArgs{
		Stream: "sc:feed", ID: "10-0", Values: []string{"i", uuid.NewString(), "t", "market.status", "a", "0", "d", "{}", "c", "market:1 9"},
	}).Err()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.NumberFeed(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	r.expect(t, b.want(10), feed.MarketChannel("1"))
}

// A process that starts in the middle remembers the newest events with the same
// links as everybody else.
func TestFollowerStartsInTheMiddle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.start(b.relay().Run)
	b.write(60)
	messages := b.want(60)
	fanOut := b.follow()
	p := brokertest.New()
	sub := fanOut.Subscribe(fanOut.NewReader(p), feed.MarketChannel("3"))
	sub.Start(0)
	testkit.Eventually(t, 10*time.Second, func() bool { step, _, _ := sub.Catch(); return step == broker.Live })
	want := framesOf(messages, "market:3")
	// A part of the fanOut that is behind it brings what it has not had yet as news.
	testkit.Eventually(t, 10*time.Second, func() bool { return len(p.Texts()) >= len(want) })
	if diff := cmp.Diff(want, p.Texts()); diff != "" || len(want) == 0 {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// News reaches every process, and its own while Redis is away.
func TestNews(t *testing.T) {
	t.Parallel()
	server := testkit.RedisServer(t)
	client := testkit.KV(t, server.URL())
	type process struct {
		news *relay.News
		got  *reader
	}
	ps := make([]process, 2)
	b := &bundle{t: t}
	for i := range ps {
		fanOut := newBroker(t, 1)
		ps[i] = process{relay.NewNews(client, fanOut.Publish), read(t, fanOut, "market:1")}
		t.Cleanup(func() { _ = ps[i].news.Close() })
		b.start(ps[i].news.Run)
	}
	testkit.Eventually(t, 10*time.Second, func() bool {
		n, err := client.PubSubNumSub(t.Context(), "sc:live").Result()
		return err == nil && n["sc:live"] == 2
	})
	tick := func(yes int) feed.Ephemeral {
		return feed.Ephemeral{Channel: "market:1", Type: feed.PriceTick, At: time.UnixMilli(1760000000123), Data: fmt.Appendf(nil, `{"marketId":"1","yesBps":%d}`, yes)}
	}
	ps[0].news.Publish(t.Context(), tick(3150))
	want := `{"op":"event","channel":"market:1","type":"price.tick","at":"2025-10-09T08:53:20.123Z","data":{"marketId":"1","yesBps":3150}}`
	for i := range ps {
		testkit.Eventually(t, 10*time.Second, func() bool { return cmp.Equal(ps[i].got.got(), []string{want}) })
	}
	testkit.Kill(t, server.PID())
	ps[1].news.Publish(context.Background(), tick(1))
	testkit.Eventually(t, 10*time.Second, func() bool { return len(ps[1].got.got()) == 2 })
	if n := len(ps[0].got.got()); n != 1 {
		t.Errorf("%d news at the other process", n)
	}
}

// Integrity P23: after a decision about text the memory has no event from before it, since their
// frames may have the text.
func TestDecisionEmptiesTheMemory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fanOut := b.follow()
	b.start(b.relay().Run)
	b.write(3)
	testkit.Eventually(t, 20*time.Second, func() bool { return fanOut.Head() == 3 })
	if _, ok := fanOut.Recent(0, 10); !ok {
		t.Fatal("the memory does not have the first event")
	}
	b.exec(`INSERT INTO api.moderation (kind, id, hidden, reason, decided_by, decided_at) VALUES ('market', '1', true, 'abuse', 'mara', now())`)
	testkit.Eventually(t, 20*time.Second, func() bool { _, ok := fanOut.Recent(0, 10); return !ok })
	b.write(2)
	testkit.Eventually(t, 20*time.Second, func() bool {
		got, ok := fanOut.Recent(3, 10)
		return ok && len(got) == 2
	})
}
