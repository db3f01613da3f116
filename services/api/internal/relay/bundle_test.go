package relay_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/broker/brokertest"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
	"github.com/signalcast/signalcast/services/api/internal/relay"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// bundle contains the database of the api and a Redis for one test.
type bundle struct {
	t     *testing.T
	store *postgres.Store
	admin *pgxpool.Pool
	url   string // URL of Redis
	redis *redisx.Client
}

func setup(t *testing.T) *bundle {
	t.Helper()
	return setupRedis(t, testkit.Redis(t))
}

func setupRedis(t *testing.T, url string) *bundle {
	t.Helper()
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: postgres.Migrations()})
	b := &bundle{t: t, admin: testkit.Pool(t, db.Admin), url: url, redis: testkit.KV(t, url, 50*time.Millisecond)}
	b.store = postgres.New(testkit.Pool(t, db.URL("api_rw")), postgres.Rules{ResolveChunk: 1000, ReadBudget: 20 * time.Second}, time.Now)
	t.Cleanup(b.store.Close)
	b.exec(`INSERT INTO api.users (id, issuer, provider_id, public_id, handle, display_name, created_at)
		SELECT ('018f0000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'seed', 'seed' || i, 'op_' || lpad(to_hex(i), 16, '0'), 'seed' || i, 'Seed', now()
		FROM generate_series(1, 50) i`)
	b.exec(`INSERT INTO api.markets (market_id, provider, title, status, lane, created_at, updated_at)
		SELECT i::text, 'polymarket', 'seed', 'open', (ARRAY['SCIENCE', 'MUSIC', 'OTHER'])[1 + i % 3], now(), now() FROM generate_series(1, 7) i`)
	b.exec(`INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, created_at, market_title, source)
		SELECT gen_random_uuid(), '1', id, true, 5000, 5000, true, now(), 'seed', 'web' FROM api.users`)
	return b
}

func (b *bundle) exec(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.admin.Exec(context.Background(), sql, args...); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

// write stores n entries in the outbox, each in a separate transaction.
func (b *bundle) write(n int) {
	b.t.Helper()
	for range n {
		b.exec(`INSERT INTO api.outbox (type, market_id, user_id, signal_id, at)
			SELECT 'signal.created', $1::text, user_id, id, now() FROM api.signals ORDER BY user_id LIMIT 1 OFFSET $2`,
			strconv.Itoa(1+rand.N(7)), rand.N(50))
		b.exec(`SELECT pg_notify('sc_outbox', '')`)
	}
}

// resolve resolves market 1 and stores the results of its fifty calls.
func (b *bundle) resolve() {
	b.t.Helper()
	b.exec(`INSERT INTO api.market_resolutions (market_id, outcome, resolver, source, close_at, lane, resolved_at) VALUES ('1', 'YES', 'admin', 'admin', now(), 'MUSIC', now())`)
	b.exec(`INSERT INTO api.signal_results (signal_id, event_id, user_id, status, score, beat_crowd, scoring_version, scoring_vertical, resolved_at)
		SELECT id, gen_random_uuid(), user_id, 'won', 50, false, '1.0', 'MUSIC', now() FROM api.signals`)
	b.exec(`INSERT INTO api.outbox (type, market_id, at) VALUES ('market.resolved', '1', now())`)
}

func (b *bundle) relay() *relay.Relay {
	return &relay.Relay{Store: b.store, Redis: b.redis, Now: time.Now, Slog: slog.New(slog.DiscardHandler)}
}

// start runs a function in the background until the test ends or the returned function is called. An error of the function
// fails the test.
func (b *bundle) start(run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			b.t.Errorf("a background function ended with %v", err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	b.t.Cleanup(stop)
	return stop
}

func newBroker(t *testing.T, memory int) *broker.Broker {
	t.Helper()
	b := broker.New(memory)
	t.Cleanup(b.Close)
	return b
}

// follow starts a Follower with a separate broker, like another process, and returns the broker when it is ready.
func (b *bundle) follow() *broker.Broker {
	b.t.Helper()
	fanOut := newBroker(b.t, 4096)
	f := relay.NewFollower(b.store, b.redis, fanOut, time.Now, slog.New(slog.DiscardHandler))
	b.t.Cleanup(func() { _ = f.Close() })
	b.start(f.Run)
	testkit.Eventually(b.t, 10*time.Second, fanOut.Ready)
	return fanOut
}

// want waits until the feed has n events, and returns them as messages.
func (b *bundle) want(n int) []feed.Message {
	b.t.Helper()
	testkit.Eventually(b.t, 30*time.Second, func() bool {
		head, err := b.store.FeedHead(context.Background())
		return err == nil && head >= int64(n)
	})
	events := testkit.Must(b.store.ListFeedAfter(context.Background(), 0, n+100))(b.t)
	if len(events) != n {
		b.t.Fatalf("%d events, want %d", len(events), n)
	}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			b.t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
	messages := testkit.Must(feed.NewChain(b.store).Link(context.Background(), events))(b.t)
	return messages
}

// stream returns the ids of the entries of the Redis stream, oldest first.
func (b *bundle) stream() []string {
	b.t.Helper()
	c := redisClient(b.t, b.url)
	found, err := c.XRange(context.Background(), "sc:feed", "-", "+").Result()
	if err != nil {
		return nil
	}
	ids := make([]string, len(found))
	for i, m := range found {
		ids[i] = m.ID
	}
	return ids
}

func redisClient(t *testing.T, url string) *redis.Client {
	t.Helper()
	opt := testkit.Must(redis.ParseURL(url))(t)
	c := redis.NewClient(opt)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// reader collects the frames of a broker. Its connection accepts all bytes.
type reader struct{ *brokertest.Conn }

// read subscribes a reader to a channel until the test ends.
func read(t *testing.T, fanOut *broker.Broker, c feed.Channel) *reader {
	t.Helper()
	p := brokertest.New()
	sub := fanOut.Subscribe(fanOut.NewReader(p), c)
	if step, _, _ := sub.CatchUp(); step != broker.Live {
		t.Fatalf("CatchUp: step %v, want Live", step)
	}
	t.Cleanup(sub.Close)
	return &reader{p}
}

func (r *reader) got() []string { return r.Texts() }

// framesOf returns the JSON of the messages that are on a channel.
func framesOf(messages []feed.Message, c feed.Channel) (frames []string) {
	for i := range messages {
		for _, l := range messages[i].Links {
			if l.Channel == c {
				frames = append(frames, string(broker.EventFrame(&messages[i], l)))
			}
		}
	}
	return frames
}

// expect waits until a reader has as many frames as there are messages on a channel, and requires that they are equal.
func (r *reader) expect(t *testing.T, messages []feed.Message, c feed.Channel) {
	t.Helper()
	want := framesOf(messages, c)
	testkit.Eventually(t, 20*time.Second, func() bool { return len(r.got()) >= len(want) })
	if diff := cmp.Diff(want, r.got()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", c, diff)
	}
}
