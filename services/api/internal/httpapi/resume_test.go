package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
)

// writeMixed stores n outbox entries of several types, each in a separate transaction. Some transactions commit late.
func (b *bundle) writeMixed(n int) {
	types := []string{"signal.created", "signal.event", "signal.resolved", "market.status", "market.disputed"}
	for range n {
		tx, err := b.rw.Begin(context.Background())
		if err != nil {
			b.t.Error(err)
			return
		}
		_, err = tx.Exec(context.Background(), `INSERT INTO outbox (type, market_id, user_id, at)
			SELECT $1, $2, CASE WHEN $1 LIKE 'signal.%' THEN (SELECT id FROM users WHERE handle = $3) END, now()`,
			types[rand.N(len(types))], fmt.Sprint(1+rand.N(3)), []string{"mara", "tide"}[rand.N(2)])
		if err == nil && rand.N(20) == 0 {
			_, err = tx.Exec(context.Background(), `SELECT pg_sleep(0.05)`)
		}
		if err == nil {
			_, err = tx.Exec(context.Background(), `SELECT pg_notify('sc_outbox', '')`)
		}
		if err == nil {
			err = tx.Commit(context.Background())
		}
		if err != nil {
			b.t.Error(err)
			return
		}
	}
}

// numbers waits until the feed has total events, and returns the event numbers on each channel.
func (b *bundle) numbers(total int) map[string][]int64 {
	b.t.Helper()
	b.head(int64(total))
	events, err := b.store.ListFeedAfter(b.t.Context(), 0, total)
	if err != nil || len(events) != total {
		b.t.Fatal(len(events), err)
	}
	on := make(map[string][]int64)
	for i := range events {
		for _, c := range events[i].Channels() {
			on[string(c)] = append(on[string(c)], events[i].Seq)
		}
	}
	return on
}

// TestFutureCursor checks that a since above the newest event number causes an error frame, after which live events follow.
func TestFutureCursor(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100, noRelay: true})
	b.traded("1", "OTHER")
	var c *client
	var readers []*client
	for _, since := range []string{"1", "5", "1099511627776", "9223372036854775807"} {
		c = b.socket()
		readers = append(readers, c)
		c.send(`{"op":"subscribe","id":"s","channels":["market:1"],"since":{"market:1":` + since + `}}`)
		c.want(
			frame{"op": "ack", "id": "s", "channels": []any{"market:1"}},
			frame{"op": "snapshot", "channel": "market:1", "seq": 0.0, "data": marketState()},
			frame{"op": "error", "id": "s", "error": "future_cursor", "message": "since is greater than the newest event number; only new events follow", "channel": "market:1"},
		)
	}
	b.fact("market.status", "1", 3)
	if _, err := b.store.NumberFeed(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	for _, c := range readers {
		for want := int64(1); want <= 3; want++ {
			if f := c.next(); f.seq() != want {
				t.Fatalf("got frame %v, want event %d", f, want)
			}
		}
	}
	// A second subscription to the channel replays from its since. The since of another channel has no effect.
	c.send(`{"op":"subscribe","id":"r","channels":["market:1"],"since":{"market:1":1,"signals":77}}`)
	c.want(frame{"op": "ack", "id": "r", "channels": []any{"market:1"}})
	if f := c.next(); f["op"] != "snapshot" {
		t.Fatal(f)
	}
	for want := int64(2); want <= 3; want++ {
		if f := c.next(); f.seq() != want || number(f["prev"]) != want-1 {
			t.Fatalf("got frame %v, want event %d", f, want)
		}
	}
}

// TestSinceFromAnotherProcess checks a client that was connected to a process with more delivered events. It must receive no
// event twice.
func TestSinceFromAnotherProcess(t *testing.T) {
	t.Parallel()
	slow := make(chan struct{})
	b := setup(t, options{memory: 100, noRelay: true, change: func(d *httpapi.Deps) {
		d.Feed = delayedHead{d.Feed, slow}
	}})
	b.market("1", "OTHER")
	c := b.socket()
	c.send(`{"op":"subscribe","channels":["resolutions"],"since":{"resolutions":2}}`)
	c.want(frame{"op": "ack", "channels": []any{"resolutions"}})
	b.fact("market.disputed", "1", 3)
	if _, err := b.store.NumberFeed(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	b.head(3)
	close(slow)
	if f := c.next(); f.seq() != 3 || number(f["prev"]) != 2 {
		t.Errorf("%v, want event 3", f)
	}
}

// delayedHead is a store whose method FeedHead waits until ready is closed.
type delayedHead struct {
	feed.Store
	ready chan struct{}
}

func (d delayedHead) FeedHead(ctx context.Context) (int64, error) {
	<-d.ready
	return d.Store.FeedHead(ctx)
}

// dropDay adds n events of a market to the feed with a day whose partition has expired, and deletes the partition.
func (b *bundle) dropDay(market string, n int) {
	b.t.Helper()
	day := time.Now().UTC().AddDate(0, 0, -100).Truncate(24 * time.Hour)
	partition := fmt.Sprintf(`CREATE TABLE api.protocol_events_%s PARTITION OF api.protocol_events FOR VALUES FROM ('%s') TO ('%s')`,
		day.Format("20060102"), day.Format(time.RFC3339), day.AddDate(0, 0, 1).Format(time.RFC3339))
	// The relay's first maintenance creates the next partitions and drops expired ones, so the test creates its expired one
	// afterwards.
	testkit.Eventually(b.t, 20*time.Second, func() bool {
		var maintained bool
		err := b.admin.QueryRow(b.t.Context(), `SELECT count(*) > 1 FROM pg_inherits WHERE inhparent = 'api.protocol_events'::regclass`).Scan(&maintained)
		return err == nil && maintained
	})
	b.exec(partition)
	b.exec(`INSERT INTO api.outbox (type, market_id, at) SELECT 'market.status', $1, $2::timestamptz FROM generate_series(1, $3)`, market, day, n)
	b.fact("market.disputed", market, 0)
	b.head(int64(n))
	testkit.Eventually(b.t, 20*time.Second, func() bool { // MaintainFeed skips its work while the relay holds the lock
		if err := b.store.MaintainFeed(b.t.Context()); err != nil {
			b.t.Fatal(err)
		}
		oldest, err := b.store.FeedOldest(b.t.Context())
		return err == nil && oldest == int64(n)+1
	})
}

// TestGap checks that a since older than the stored events causes a gap frame. All stored events and then live events must
// follow.
func TestGap(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	b.market("1", "OTHER")
	b.dropDay("1", 5)
	b.exec(`INSERT INTO api.outbox (type, market_id, at) SELECT 'market.status', '1', now() FROM generate_series(1, 4)`)
	b.fact("market.disputed", "1", 0)
	head := int64(9)
	b.head(head)
	for _, since := range []float64{0, 3, 4} {
		c := b.socket()
		c.send(fmt.Sprintf(`{"op":"subscribe","channels":["market:1"],"since":{"market:1":%v}}`, since))
		c.want(frame{"op": "ack", "channels": []any{"market:1"}})
		if f := c.next(); f["op"] != "snapshot" { // the snapshot may be cached and have an older number
			t.Errorf("%v, want a snapshot", f)
		}
		c.want(frame{"op": "gap", "channel": "market:1", "from": since, "oldest": 6.0})
		b.fact("market.status", "1", 1)
		head++
		b.head(head)
		if f := c.next(); f.seq() != 6 || f["prev"] != nil {
			t.Errorf("after the gap: %v", f)
		}
		for seq := int64(7); seq <= head; seq++ {
			if f := c.next(); f.seq() != seq || number(f["prev"]) != seq-1 {
				t.Errorf("%v, want event %d", f, seq)
			}
		}
	}
	// A since directly before the oldest stored event is not a gap.
	c := b.socket()
	c.send(`{"op":"subscribe","channels":["resolutions","market:1"],"since":{"market:1":5}}`)
	c.next()
	c.next()
	if f := c.next(); f.seq() != 6 || f["prev"] != nil {
		t.Errorf("from the oldest: %v", f)
	}
}

var errBroken = errors.New("broken")

// failing is a store whose first reads of a channel fail. left is the number of reads that still fail.
type failing struct {
	feed.Store
	left atomic.Int64
}

func (f *failing) ListFeedChannel(ctx context.Context, c feed.Channel, after, upTo int64, limit int) ([]feed.Message, int64, error) {
	if f.left.Add(-1) >= 0 {
		return nil, 0, errBroken
	}
	return f.Store.ListFeedChannel(ctx, c, after, upTo, limit)
}

// TestReplayRetries checks that a client receives one error frame if the replay fails, and all events when the database is
// available again.
func TestReplayRetries(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1, change: func(d *httpapi.Deps) {
		f := &failing{Store: d.Feed}
		f.left.Store(2)
		d.Feed = f
	}})
	b.market("1", "OTHER")
	b.fact("market.disputed", "1", 450)
	b.head(450)
	c := b.socket()
	c.send(`{"op":"subscribe","id":"s","channels":["resolutions"],"since":{"resolutions":0}}`)
	c.want(
		frame{"op": "ack", "id": "s", "channels": []any{"resolutions"}},
		frame{"op": "error", "id": "s", "error": "internal_error", "channel": "resolutions"},
	)
	for want := int64(1); want <= 450; want++ {
		if f := c.next(); f.seq() != want {
			t.Fatalf("got frame %v, want event %d", f, want)
		}
	}
}

// TestReplayWaitsForTheReader checks that a long replay on one channel does not delay other channels. A client that reads the
// replay slowly must not be disconnected.
func TestReplayWaitsForTheReader(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 10})
	b.market("1", "OTHER")
	b.market("2", "OTHER")
	b.fact("market.status", "1", 3000)
	b.head(3000)
	c := b.socket()
	c.send(`{"op":"subscribe","channels":["market:2"]}`)
	c.next()
	c.next()
	c.send(`{"op":"subscribe","channels":["market:1"],"since":{"market:1":0}}`)
	b.fact("market.status", "2", 1)
	old, live := int64(0), false
	for n := 0; old < 3000 || !live; n++ {
		f := c.next()
		if f["op"] != "event" {
			continue
		}
		if f["channel"] == "market:2" {
			live = true
			continue
		}
		if f.seq() != old+1 {
			t.Fatalf("got frame %v after event %d", f, old)
		}
		old++
	}
	testkit.Eventually(t, time.Second, func() bool { return b.server.Sockets() == 1 })
}
