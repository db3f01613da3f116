package relay_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/relay"
)

// Readers of a market hear where it stands once it stands elsewhere, and how many
// they are over all processes, also while Redis is away.
func TestTicker(t *testing.T) {
	t.Parallel()
	b := setup(t)
	server := testkit.RedisServer(t)
	client := testkit.KV(t, server.URL())
	fanOut := newBroker(t, 8)
	one, two := read(t, fanOut, "market:1"), read(t, fanOut, "market:2")
	ticker := relay.NewTicker(b.store, client, fanOut, time.Now, slog.New(slog.DiscardHandler))
	tell := func() {
		t.Helper()
		if err := ticker.Tell(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.exec(`INSERT INTO api.market_quotes (market_id, at, yes_bps) VALUES ('1', now(), 3150)`)
	tell()
	tell()
	b.exec(`UPDATE api.market_quotes SET yes_bps = 3200`)
	b.exec(`INSERT INTO api.market_totals (market_id, crowd_yes, crowd_no) VALUES ('1', 2, 1) ON CONFLICT (market_id) DO UPDATE SET crowd_yes = 2, crowd_no = 1`)
	tell()
	tell()
	want := []string{`{"marketId":"1","yesBps":3150}`, `{"marketId":"1","yesBps":3200}`, `{"yesPercent":67,"totalSignals":3}`}
	testkit.Eventually(t, 10*time.Second, func() bool { return cmp.Equal(want, one.data()) })

	other := newBroker(t, 8)
	read(t, other, "market:1")
	read(t, other, "market:1")
	there := relay.NewTicker(b.store, client, other, time.Now, slog.New(slog.DiscardHandler))
	there.Look(t.Context())
	ticker.Look(t.Context())
	ticker.Look(t.Context())
	if n := ticker.Viewers(t.Context(), "1"); n != 3 {
		t.Errorf("%d viewers", n)
	}
	// Market 2 has a reader at this process alone; the other one counts it when it is
	// asked, and what nobody has told of is counted as it is.
	if n := there.Viewers(t.Context(), "2"); n != 1 {
		t.Errorf("%d viewers of the other market", n)
	}
	read(t, other, "market:2")
	if n := there.Viewers(t.Context(), "2"); n != 2 {
		t.Errorf("%d viewers of the other market, with one more", n)
	}
	if diff := cmp.Diff(map[protocol.MarketID]int64{"1": 3, "2": 2}, there.Everyone(t.Context())); diff != "" {
		t.Errorf("everyone (-want +got):\n%s", diff)
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return cmp.Equal(append(want, `{"viewers":3}`), one.data()) })
	testkit.Eventually(t, 10*time.Second, func() bool { return cmp.Equal([]string{`{"viewers":1}`}, two.data()) })
	testkit.Kill(t, server.PID())
	ticker.Look(context.Background())
	if n := ticker.Viewers(t.Context(), "1"); n != 1 {
		t.Errorf("%d viewers without Redis", n)
	}
	if diff := cmp.Diff(map[protocol.MarketID]int64{"1": 1, "2": 1}, ticker.Everyone(context.Background())); diff != "" {
		t.Errorf("everyone without Redis (-want +got):\n%s", diff)
	}
}

// Who watches a stream of a market looks at it, too.
func TestTickerCountsWhoWatches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	client := testkit.KV(t, testkit.Redis(t))
	fanOut := newBroker(t, 8)
	one := read(t, fanOut, "market:1")
	ticker := relay.NewTicker(b.store, client, fanOut, time.Now, slog.New(slog.DiscardHandler))
	b.exec(`INSERT INTO api.market_live (market_id, handle, bound, at, viewers, viewers_at) VALUES
		('1', 'mara_k', true, now(), 37, now()), ('1', 'tidewatch', true, now(), 4, now() - interval '1 minute'), ('3', 'mara_k', true, now(), 37, now())`)
	ticker.Look(t.Context())
	testkit.Eventually(t, 10*time.Second, func() bool { return cmp.Equal([]string{`{"viewers":38}`}, one.data()) })
	if n, m := ticker.Viewers(t.Context(), "1"), ticker.Viewers(t.Context(), "3"); n != 38 || m != 37 {
		t.Errorf("%d and %d viewers", n, m)
	}
	if diff := cmp.Diff(map[protocol.MarketID]int64{"1": 38, "3": 37}, ticker.Everyone(t.Context())); diff != "" {
		t.Errorf("everyone (-want +got):\n%s", diff)
	}
	if n, m := ticker.Counted("1"), ticker.Counted("2"); n != 38 || m != 0 {
		t.Errorf("%d and %d are counted", n, m)
	}
	b.exec(`UPDATE api.market_live SET viewers = 0`)
	ticker.Look(t.Context())
	testkit.Eventually(t, 10*time.Second, func() bool { return cmp.Equal([]string{`{"viewers":38}`, `{"viewers":1}`}, one.data()) })
}

// data is that of every event that a reader has.
func (r *reader) data() (out []string) {
	for _, text := range r.got() {
		_, data, _ := strings.Cut(text, `,"data":`)
		out = append(out, strings.TrimSuffix(data, "}"))
	}
	return out
}
