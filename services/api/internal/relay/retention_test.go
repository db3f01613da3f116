package relay_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// age adds n events to the feed with a day whose partition has expired, and drops this partition. Every third event has the
// current date, as happens when entries are committed around midnight.
func (b *bundle) age(n int) {
	b.t.Helper()
	day := time.Now().UTC().AddDate(0, 0, -100).Truncate(24 * time.Hour)
	b.exec(fmt.Sprintf(`CREATE TABLE api.protocol_events_%s PARTITION OF api.protocol_events FOR VALUES FROM ('%s') TO ('%s')`,
		day.Format("20060102"), day.Format(time.RFC3339), day.AddDate(0, 0, 1).Format(time.RFC3339)))
	b.exec(`INSERT INTO api.outbox (type, market_id, at) SELECT 'market.status', '1', CASE WHEN i % 3 = 0 THEN now() ELSE $1 END FROM generate_series(1, $2) i`, day, n)
	for {
		moved := testkit.Must(b.store.NumberFeed(b.t.Context(), 500))(b.t)
		if moved == 0 {
			break
		}
	}
	if err := b.store.MaintainFeed(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// TestFeedShorterThanMemory starts processes on a feed whose first days were dropped, so that it contains fewer events than the
// memory of a broker.
func TestFeedShorterThanMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, remaining int }{
		"some remain":       {10, 5},
		"many were dropped": {1900, 5},
		"none remain":       {1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.age(c.old)
			b.exec(`INSERT INTO api.outbox (type, market_id, at) SELECT 'market.status', '1', now() FROM generate_series(1, $1::int)`, c.remaining)
			if _, err := b.store.NumberFeed(t.Context(), 500); err != nil {
				t.Fatal(err)
			}
			fanOut := b.follow()
			if want := int64(c.old + c.remaining); fanOut.Head() != want {
				t.Fatalf("begins at %d, want %d", fanOut.Head(), want)
			}
			if _, ok := fanOut.Recent(int64(c.old), 100); !ok {
				t.Error("the stored events are not in memory")
			}
			if c.old > 3 {
				if _, ok := fanOut.Recent(1, 100); ok {
					t.Error("the memory returns dropped events")
				}
			}
			r := read(t, fanOut, feed.MarketChannel("1"))
			b.start(b.relay().Run)
			b.write(3)
			testkit.Eventually(t, 20*time.Second, func() bool { return fanOut.Head() == int64(c.old+c.remaining+3) })
			testkit.Eventually(t, 20*time.Second, func() bool { // the stream contains the event as well
				got := b.stream()
				return len(got) > 0 && got[len(got)-1] == fmt.Sprintf("%d-0", c.old+c.remaining+3)
			})
			if r.Over() {
				t.Error("the reader was closed")
			}
		})
	}
}
