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

	"github.com/signalcast/signalcast/pkg/redisx"
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

var errCrash = errors.New("crashed")

// crashing is a store whose methods fail at random, before or after they take effect. failures counts the failures by step.
type crashing struct {
	feed.Store
	failures map[string]int
}

func (d crashing) maybeFail(at string) error {
	if rand.N(3) > 0 {
		return nil
	}
	d.failures[at]++
	return errCrash
}

func (d crashing) NumberFeed(ctx context.Context, limit int) (int, error) {
	if err := d.maybeFail("before numbering"); err != nil {
		return 0, err
	}
	n, err := d.Store.NumberFeed(ctx, limit)
	if err == nil {
		err = d.maybeFail("after numbering")
	}
	return n, err
}

func (d crashing) ListFeedAfter(ctx context.Context, after int64, limit int) ([]feed.Event, error) {
	if err := d.maybeFail("before publishing"); err != nil {
		return nil, err
	}
	return d.Store.ListFeedAfter(ctx, after, limit)
}

func (d crashing) DrainFeed(ctx context.Context, chunk int, skip []string) (feed.Drained, error) {
	if err := d.maybeFail("before draining"); err != nil {
		return feed.Drained{}, err
	}
	drained, err := d.Store.DrainFeed(ctx, chunk, skip)
	if err == nil {
		err = d.maybeFail("after draining")
	}
	return drained, err
}

// TestRelayCrashesBetweenSteps makes the relay fail between random steps while outbox entries are written and a market is
// resolved. The feed and the stream must contain every event once.
func TestRelayCrashesBetweenSteps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fanOut := b.follow()
	r := read(t, fanOut, feed.Signals)
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() { b.write(100) })
	}
	writers.Go(b.resolve)
	store := crashing{b.store, make(map[string]int)}
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline) || len(store.failures) < 5; {
		r := b.relay()
		r.Store = store
		if err := r.Run(t.Context()); !errors.Is(err, errCrash) {
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
	t.Logf("failures: %v", store.failures)
}

// TestTwoRelays runs two relays at the same time, which happens when a lease expires late. Every event must get one number.
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

// TestRelaySkipsBlockedMarkets checks that a resolved market whose results do not exist yet does not delay other markets. Its
// results must be numbered when they exist.
func TestRelaySkipsBlockedMarkets(t *testing.T) {
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

// TestRedisFlush deletes all data in Redis while events are published. Readers must miss no event, and the stream must be
// filled again.
func TestRedisFlush(t *testing.T) {
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
	// The next call of sync fills the stream up to the newest event.
	testkit.Eventually(t, 20*time.Second, func() bool {
		got := b.stream()
		return len(got) > 0 && got[len(got)-1] == "101-0"
	})
}

// TestForeignStream checks that the relay deletes a stream that is ahead of the feed or contains events of another feed.
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

// TestRedisHangsAndDies checks that readers receive all events while Redis hangs, after it resumes, and after it is killed.
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

// TestFollowerFillsHoles checks that the Follower reads events that are missing in the stream from the database.
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

// TestFollowerStartsInTheMiddle checks that the broker of a process that starts later has the newest events in memory, with the
// same links as in other processes.
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
	testkit.Eventually(t, 10*time.Second, func() bool { step, _, _ := sub.CatchUp(); return step == broker.Live })
	want := framesOf(messages, "market:3")
	// A shard that has not processed all events yet sends the rest as live events.
	testkit.Eventually(t, 10*time.Second, func() bool { return len(p.Texts()) >= len(want) })
	if diff := cmp.Diff(want, p.Texts()); diff != "" || len(want) == 0 {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPubSub checks that events without a number reach every process. While Redis is unavailable, they must reach only the
// process that publishes them.
func TestPubSub(t *testing.T) {
	t.Parallel()
	server := testkit.RedisServer(t)
	client := testkit.KV(t, server.URL())
	type process struct {
		pubsub *relay.PubSub
		got    *reader
	}
	ps := make([]process, 2)
	b := &bundle{t: t}
	for i := range ps {
		fanOut := newBroker(t, 1)
		ps[i] = process{relay.NewPubSub(client, fanOut.Publish), read(t, fanOut, "market:1")}
		t.Cleanup(func() { _ = ps[i].pubsub.Close() })
		b.start(ps[i].pubsub.Run)
	}
	testkit.Eventually(t, 10*time.Second, func() bool {
		n, err := client.PubSubNumSub(t.Context(), "sc:live").Result()
		return err == nil && n["sc:live"] == 2
	})
	tick := func(yes int) feed.Ephemeral {
		return feed.Ephemeral{Channel: "market:1", Type: feed.PriceTick, At: time.UnixMilli(1760000000123), Data: fmt.Appendf(nil, `{"marketId":"1","yesBps":%d}`, yes)}
	}
	ps[0].pubsub.Publish(t.Context(), tick(3150))
	want := `{"op":"event","channel":"market:1","type":"price.tick","at":"2025-10-09T08:53:20.123Z","data":{"marketId":"1","yesBps":3150}}`
	for i := range ps {
		testkit.Eventually(t, 10*time.Second, func() bool { return cmp.Equal(ps[i].got.got(), []string{want}) })
	}
	testkit.Kill(t, server.PID())
	ps[1].pubsub.Publish(context.Background(), tick(1))
	testkit.Eventually(t, 10*time.Second, func() bool { return len(ps[1].got.got()) == 2 })
	if n := len(ps[0].got.got()); n != 1 {
		t.Errorf("%d events at the other process, want 1", n)
	}
}

// TestModerationClearsMemory checks that no event from before a moderation decision remains in memory or in Redis, because it can
// contain the hidden text.
func TestModerationClearsMemory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fanOut := b.follow()
	b.start(b.relay().Run)
	b.write(3)
	testkit.Eventually(t, 20*time.Second, func() bool { return fanOut.Head() == 3 })
	if _, ok := fanOut.Recent(0, 10); !ok {
		t.Fatal("the memory does not have the first event")
	}
	stream := redisClient(t, b.url)
	testkit.Eventually(t, 20*time.Second, func() bool { // a group is deleted with its stream
		return stream.XGroupCreate(t.Context(), redisx.Key("feed"), "before", "0").Err() == nil && len(b.stream()) == 3
	})
	b.exec(`INSERT INTO api.moderation (kind, id, hidden, reason, decided_by, decided_at) VALUES ('market', '1', true, 'abuse', 'mara', now())`)
	testkit.Eventually(t, 20*time.Second, func() bool { _, ok := fanOut.Recent(0, 10); return !ok })
	testkit.Eventually(t, 20*time.Second, func() bool {
		return len(stream.XInfoGroups(t.Context(), redisx.Key("feed")).Val()) == 0
	})
	b.write(2)
	testkit.Eventually(t, 20*time.Second, func() bool {
		got, ok := fanOut.Recent(3, 10)
		return ok && len(got) == 2
	})
}
