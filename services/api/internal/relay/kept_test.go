package relay_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// age puts n facts of a day that is no longer kept into the feed; every third is of
// today, as when facts commit about midnight.
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
	if err := b.store.KeepFeed(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// A feed that keeps less than a process remembers, and less than the stream holds,
// because its first days were dropped: processes start, and events come.
func TestYoungerThanTheMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, kept int }{
		"some are kept":            {10, 5},
		"many were dropped":        {1900, 5},
		"nothing is kept any more": {1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.age(c.old)
			b.exec(`INSERT INTO api.outbox (type, market_id, at) SELECT 'market.status', '1', now() FROM generate_series(1, $1::int)`, c.kept)
			if _, err := b.store.NumberFeed(t.Context(), 500); err != nil {
				t.Fatal(err)
			}
			fanOut := b.follow()
			if want := int64(c.old + c.kept); fanOut.Head() != want {
				t.Fatalf("begins at %d, want %d", fanOut.Head(), want)
			}
			if _, ok := fanOut.Recent(int64(c.old), 100); !ok {
				t.Error("what is kept is not remembered")
			}
			if c.old > 3 {
				if _, ok := fanOut.Recent(1, 100); ok {
					t.Error("what was dropped is said to be remembered")
				}
			}
			r := read(t, fanOut, feed.MarketChannel("1"))
			b.start(b.relay().Run)
			b.write(3)
			testkit.Eventually(t, 20*time.Second, func() bool { return fanOut.Head() == int64(c.old+c.kept+3) })
			testkit.Eventually(t, 20*time.Second, func() bool { // and the stream has it too
				got := b.stream()
				return len(got) > 0 && got[len(got)-1] == fmt.Sprintf("%d-0", c.old+c.kept+3)
			})
			if r.Over() {
				t.Error("a reader was cut off")
			}
		})
	}
}
