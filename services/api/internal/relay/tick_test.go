package relay_test

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/relay"
)

// TestTicker checks that readers of a market receive changes of its price, its crowd and its number of viewers. The number must
// include the readers of all processes or, while Redis is unavailable, only those of this process.
func TestTicker(t *testing.T) {
	t.Parallel()
	b := setup(t)
	server := testkit.RedisServer(t)
	client := testkit.KV(t, server.URL())
	fanOut := newBroker(t, 8)
	one, two := read(t, fanOut, "market:1"), read(t, fanOut, "market:2")
	ticker := relay.NewTicker(b.store, client, fanOut, time.Now, slog.New(slog.DiscardHandler))
	publish := func() {
		t.Helper()
		if err := ticker.PublishStates(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.exec(`INSERT INTO api.market_quotes (market_id, at, yes_bps) VALUES ('1', now(), 3150)`)
	publish()
	publish()
	b.exec(`UPDATE api.market_quotes SET yes_bps = 3200, yes_price_bps = 3300, no_price_bps = 6900`)
	b.exec(`INSERT INTO api.market_totals (market_id, crowd_yes, crowd_no) VALUES ('1', 2, 1) ON CONFLICT (market_id) DO UPDATE SET crowd_yes = 2, crowd_no = 1`)
	publish()
	publish()
	want := []string{
		`{"marketId":"1","yesBps":3150,"yesPriceBps":null,"noPriceBps":null}`,
		`{"marketId":"1","yesBps":3200,"yesPriceBps":3300,"noPriceBps":6900}`, `{"yesPercent":67,"totalSignals":3}`,
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return cmp.Equal(want, one.data()) })

	other := newBroker(t, 8)
	read(t, other, "market:1")
	read(t, other, "market:1")
	second := relay.NewTicker(b.store, client, other, time.Now, slog.New(slog.DiscardHandler))
	second.PublishViewers(t.Context())
	ticker.PublishViewers(t.Context())
	ticker.PublishViewers(t.Context())
	if n := ticker.Viewers(t.Context(), "1"); n != 3 {
		t.Errorf("%d viewers, want 3", n)
	}
	// Market 2 has a reader in the first process only. The second process counts readers on request, before its own next
	// count.
	if n := second.Viewers(t.Context(), "2"); n != 1 {
		t.Errorf("%d viewers of market 2, want 1", n)
	}
	read(t, other, "market:2")
	if n := second.Viewers(t.Context(), "2"); n != 2 {
		t.Errorf("%d viewers of market 2 with another reader, want 2", n)
	}
	if diff := cmp.Diff(map[protocol.MarketID]int64{"1": 3, "2": 2}, second.AllViewers(t.Context())); diff != "" {
		t.Errorf("all viewers (-want +got):\n%s", diff)
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return cmp.Equal(append(want, `{"viewers":3}`), one.data()) })
	testkit.Eventually(t, 10*time.Second, func() bool { return cmp.Equal([]string{`{"viewers":1}`}, two.data()) })
	testkit.Kill(t, server.PID())
	ticker.PublishViewers(context.Background())
	if n := ticker.Viewers(t.Context(), "1"); n != 1 {
		t.Errorf("%d viewers without Redis, want 1", n)
	}
	if diff := cmp.Diff(map[protocol.MarketID]int64{"1": 1, "2": 1}, ticker.AllViewers(context.Background())); diff != "" {
		t.Errorf("all viewers without Redis (-want +got):\n%s", diff)
	}
}

// TestTickerPublishesPrices checks that readers of the channels of prices receive one event for each named market whose price
// changed, also if more markets change at once than one frame of a reader contains.
func TestTickerPublishesPrices(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fanOut := newBroker(t, 8)
	ticker := relay.NewTicker(b.store, testkit.KV(t, testkit.Redis(t)), fanOut, time.Now, slog.New(slog.DiscardHandler))
	publish := func() {
		t.Helper()
		if err := ticker.PublishStates(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	const markets = 3000
	ids := make([]string, markets)
	for i := range ids {
		ids[i] = strconv.Itoa(100_000 + i)
	}
	b.exec(`INSERT INTO api.markets (market_id, provider, title, status, lane, created_at, updated_at)
		SELECT (100000 + n)::text, 'polymarket', 'A market', 'open', CASE WHEN n < 10 THEN 'SCIENCE' ELSE 'SPORT' END, now(), now()
		FROM generate_series(0, $1::integer - 1) n`, markets)
	b.exec(`INSERT INTO api.market_quotes (market_id, at, yes_bps, yes_price_bps, no_price_bps)
		SELECT (100000 + n)::text, now(), 5000, 5100, 5200 FROM generate_series(0, $1::integer - 1) n`, markets)
	ticker.Moved(ids) // without a reader it has no effect
	publish()
	all, lane := read(t, fanOut, "prices"), read(t, fanOut, "prices:SCIENCE")
	publish()
	ticker.Moved(ids[:1])
	ticker.Moved([]string{ids[0], "404"})
	publish()
	first := `{"marketId":"100000","yesBps":5000,"yesPriceBps":5100,"noPriceBps":5200}`
	testkit.Eventually(t, 10*time.Second, func() bool {
		return cmp.Equal([]string{first}, all.data()) && cmp.Equal([]string{first}, lane.data())
	})
	ticker.Moved(ids) // market 100000 has the published price
	publish()
	testkit.Eventually(t, 10*time.Second, func() bool { return len(all.data()) == markets && len(lane.data()) == 10 })
	got := all.data()
	slices.Sort(got)
	if n := len(slices.Compact(got)); n != markets {
		t.Errorf("prices of %d markets, want %d", n, markets)
	}
	// The price of a native market changes with a call.
	b.exec(`INSERT INTO api.markets (market_id, provider, title, status, lane, created_by, end_date, initial_yes_bps, created_at, updated_at)
		VALUES ('native-aaaaaaaaaaaa', 'manual', 'A market', 'open', 'OTHER', 'admin', now() + interval '1 day', 5000, now(), now())`)
	b.exec(`INSERT INTO api.market_quotes (market_id, at, yes_bps) VALUES ('native-aaaaaaaaaaaa', now(), 2889)`)
	err := fanOut.Deliver(feed.Message{Seq: fanOut.Head() + 1, Type: feed.SignalCreated, Data: []byte("{}"), Links: []feed.Link{
		{Channel: feed.MarketChannel("native-aaaaaaaaaaaa")}, {Channel: feed.Signals},
	}})
	if err != nil {
		t.Fatal(err)
	}
	publish()
	publish()
	testkit.Eventually(t, 10*time.Second, func() bool {
		data := all.data()
		return len(data) == markets+1 && data[markets] == `{"marketId":"native-aaaaaaaaaaaa","yesBps":2889,"yesPriceBps":2889,"noPriceBps":7111}`
	})
}

// TestTickerCountsStreamViewers checks that viewers of a stream that shows a market count as viewers of the market.
func TestTickerCountsStreamViewers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	client := testkit.KV(t, testkit.Redis(t))
	fanOut := newBroker(t, 8)
	one := read(t, fanOut, "market:1")
	ticker := relay.NewTicker(b.store, client, fanOut, time.Now, slog.New(slog.DiscardHandler))
	b.exec(`INSERT INTO api.market_live (market_id, handle, bound, at, viewers, viewers_at) VALUES
		('1', 'mara_k', true, now(), 37, now()), ('1', 'tidewatch', true, now(), 4, now() - interval '1 minute'), ('3', 'mara_k', true, now(), 37, now())`)
	ticker.PublishViewers(t.Context())
	testkit.Eventually(t, 10*time.Second, func() bool { return cmp.Equal([]string{`{"viewers":38}`}, one.data()) })
	if n, m := ticker.Viewers(t.Context(), "1"), ticker.Viewers(t.Context(), "3"); n != 38 || m != 37 {
		t.Errorf("%d and %d viewers", n, m)
	}
	if diff := cmp.Diff(map[protocol.MarketID]int64{"1": 38, "3": 37}, ticker.AllViewers(t.Context())); diff != "" {
		t.Errorf("all viewers (-want +got):\n%s", diff)
	}
	if n, m := ticker.CachedViewers("1"), ticker.CachedViewers("2"); n != 38 || m != 0 {
		t.Errorf("%d and %d cached viewers, want 38 and 0", n, m)
	}
	b.exec(`UPDATE api.markets SET clob_token_id = '7132' WHERE market_id = '3'`)
	b.exec(`INSERT INTO api.markets (market_id, provider, title, status, clob_token_id, created_at, updated_at)
		VALUES ('kalshi-GAUGE', 'kalshi', 'Gauge', 'open', '7132', now(), now())`)
	b.exec(`INSERT INTO api.market_live (market_id, handle, bound, at, viewers, viewers_at) VALUES ('kalshi-GAUGE', 'mara_k', true, now(), 2, now())`)
	ticker.PublishViewers(t.Context())
	if n, m := ticker.TokenViewers("7132"), ticker.TokenViewers(""); n != 39 || m != 0 {
		t.Errorf("%d viewers of the token and %d without a token, want 39 and 0", n, m)
	}
	// A process without readers of a market counts those of the other processes.
	second := relay.NewTicker(b.store, client, newBroker(t, 8), time.Now, slog.New(slog.DiscardHandler))
	second.PublishViewers(t.Context())
	if n := second.CachedViewers("1"); n != 38 {
		t.Errorf("%d cached viewers in another process, want 38", n)
	}
	b.exec(`UPDATE api.market_live SET viewers = 0`)
	ticker.PublishViewers(t.Context())
	testkit.Eventually(t, 10*time.Second, func() bool { return cmp.Equal([]string{`{"viewers":38}`, `{"viewers":1}`}, one.data()) })
}

// data returns the member data of every event that the reader has received.
func (r *reader) data() (out []string) {
	for _, text := range r.got() {
		_, data, _ := strings.Cut(text, `,"data":`)
		out = append(out, strings.TrimSuffix(data, "}"))
	}
	return out
}
