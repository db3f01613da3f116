package polymarket

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

var streamNoon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

// clientMessage is one JSON message that the client sends.
type clientMessage struct {
	Type      string   `json:"type"`
	Operation string   `json:"operation"`
	Tokens    []string `json:"assets_ids"`
	Dump      bool     `json:"initial_dump"`
}

// streamServer is a test server that implements the stream protocol of the venue.
type streamServer struct {
	t *testing.T

	mu     sync.Mutex
	opened []time.Time
	sent   [][]clientMessage // messages of the clients, by connection
	pings  int
	ticks  []market.Tick
	want   []market.Streamed
}

func startStream(t *testing.T, p timing, want []market.Streamed, play func(s *streamServer, n int, c *websocket.Conn)) *streamServer {
	t.Helper()
	s := &streamServer{t: t, want: want}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.CloseNow() }()
		s.mu.Lock()
		n := len(s.opened)
		s.opened, s.sent = append(s.opened, time.Now()), append(s.sent, nil)
		s.mu.Unlock()
		play(s, n, c)
	}))
	t.Cleanup(srv.Close)
	stream, err := NewStream("ws"+strings.TrimPrefix(srv.URL, "http"), venue.NewMeter(prometheus.NewRegistry()),
		func() time.Time { return streamNoon }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	stream.timing = p
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		stream.Run(ctx, func(context.Context) ([]market.Streamed, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.want, nil
		}, func(tick market.Tick) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.ticks = append(s.ticks, tick)
		})
	}()
	t.Cleanup(func() { cancel(); <-over })
	return s
}

// serve reads the messages of the client on connection n until it ends, and answers pings.
func (s *streamServer) serve(n int, c *websocket.Conn) {
	for {
		_, raw, err := c.Read(s.t.Context())
		if err != nil {
			return
		}
		if string(raw) == "PING" {
			s.mu.Lock()
			s.pings++
			s.mu.Unlock()
			s.send(c, "PONG")
			continue
		}
		s.record(n, raw)
	}
}

func (s *streamServer) record(n int, raw []byte) {
	var o clientMessage
	if err := json.Unmarshal(raw, &o); err != nil {
		s.t.Errorf("unexpected message of the client: %s", raw)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent[n] = append(s.sent[n], o)
}

// first reads the first message of the client on connection n. It must be the subscription.
func (s *streamServer) first(n int, c *websocket.Conn) {
	if _, raw, err := c.Read(s.t.Context()); err == nil {
		s.record(n, raw)
	}
}

func (s *streamServer) send(c *websocket.Conn, texts ...string) {
	for _, text := range texts {
		_ = c.Write(s.t.Context(), websocket.MessageText, []byte(text))
	}
}

func (s *streamServer) published() []market.Tick {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ticks)
}

func (s *streamServer) until(what string, ok func() bool) {
	s.t.Helper()
	defer func() {
		if s.t.Failed() {
			s.t.Log("waited for: " + what)
		}
	}()
	testkit.Eventually(s.t, 20*time.Second, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return ok()
	})
}

// slow is a timing in which no timeout expires during a test.
var slow = timing{
	ask: time.Hour, ping: time.Hour, quiet: time.Hour, silent: time.Hour, life: time.Hour, retry: time.Millisecond, limit: time.Millisecond, steady: time.Hour,
}

func book(token, bid, ask string, ms int64) string {
	return fmt.Sprintf(`{"event_type":"book","asset_id":%q,"market":"0x1","bids":[{"price":"0.01","size":"10"},{"price":%q,"size":"5"}],
		"asks":[{"price":"0.99","size":"10"},{"price":%q,"size":"5"}],"timestamp":"%d","hash":"0x","tick_size":"0.01","last_trade_price":""}`, token, bid, ask, ms)
}

func tradeAt(token, price string, ms int64) string {
	return fmt.Sprintf(`{"event_type":"last_trade_price","asset_id":%q,"market":"0x1","price":%q,"size":"3","side":"BUY","fee_rate_bps":"0","timestamp":"%d"}`, token, price, ms)
}

func TestStreamEmitsPricesAndQuotes(t *testing.T) {
	t.Parallel()
	ms := streamNoon.Add(-time.Minute).UnixMilli()
	s := startStream(t, slow, []market.Streamed{{ID: "1", Token: "11"}, {ID: "2", Token: "22", YesIndex: 1}, {ID: "3", Token: "33"}, {ID: "4", Token: "x"}},
		func(s *streamServer, n int, c *websocket.Conn) {
			s.first(n, c)
			s.send(c,
				"["+book("11", "0.61", "0.63", ms)+","+book("22", "0.20", "0.21", ms)+"]",
				"PONG", "[]", "{", `{"event_type":7}`, "[[1]]", "null", `"x"`, `{"event_type":"book","asset_id":"11"}`, `{"event_type":"new_market","timestamp":"1"}`,
				fmt.Sprintf(`{"event_type":"price_change","market":"0x1","timestamp":"%d","price_changes":[
					{"asset_id":"11","price":"0.62","size":"0","side":"BUY","hash":"","best_bid":"0.60","best_ask":"0.605"},
					{"asset_id":"99","price":"0.4","size":"1","side":"SELL","hash":"","best_bid":"0.39","best_ask":"0.4"}]}`, ms+1),
				tradeAt("11", "0.99", ms+2),
				fmt.Sprintf(`{"event_type":"best_bid_ask","market":"0x1","asset_id":"11","best_bid":"0.61","best_ask":"0.62","spread":"0.01","timestamp":"%d"}`, ms+3),
				book("33", "0.30", "0.50", ms+3),                                // the spread is too wide for a quote
				tradeAt("33", "0.48", ms+4),                                     // the order book is still two-sided
				strings.Replace(book("33", "0", "1", ms+5), `"0.99"`, `"1"`, 1), // one side is almost empty
				strings.NewReplacer(`"0.01"`, `"0"`, `"0.99"`, `"1"`).Replace(book("33", "0", "1", ms+6)),
				tradeAt("33", "0.45", ms+7),
				book("33", "0.40", "0.42", streamNoon.Add(time.Hour).UnixMilli()), // dated in the future
			)
			s.serve(n, c)
		})
	s.until("the last price", func() bool { return len(s.ticks) >= 7 })
	tick := func(id protocol.MarketID, yes, ask, no protocol.Bps, at time.Time) market.Tick {
		t := market.Tick{ID: id, Yes: yes, At: at.UTC()}
		if ask > 0 {
			t.Quote = &market.Quote{Yes: ask, No: no, At: at.UTC(), Rule: "polymarket.stream"}
		}
		return t
	}
	want := []market.Tick{
		tick("1", 6200, 6300, 3900, time.UnixMilli(ms)),
		tick("2", 7950, 8000, 2100, time.UnixMilli(ms)), // the token of market 2 is its NO token
		tick("1", 6025, 6050, 4000, time.UnixMilli(ms+1)),
		tick("1", 6025, 6050, 4000, time.UnixMilli(ms+2)), // a trade confirms the order book
		tick("1", 6150, 6200, 3900, time.UnixMilli(ms+3)),
		tick("3", 4500, 0, 0, time.UnixMilli(ms+7)), // a trade without a two-sided order book is not a quote
		tick("3", 4100, 4200, 6000, streamNoon),
	}
	if got := s.published(); !reflect.DeepEqual(got, want) {
		t.Errorf("published %v\nwant %v", got, want)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.opened) != 1 || fmt.Sprint(s.sent[0]) != "[{market  [11 22 33] true}]" {
		t.Errorf("%d connections, messages %v", len(s.opened), s.sent)
	}
}

// TestSilentStreamReconnects checks that the client closes a connection on which only pongs arrive, and one on which nothing
// arrives.
func TestSilentStreamReconnects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		timing func(*timing)
		answer bool
	}{
		"only pongs": {func(p *timing) { p.ping, p.quiet, p.silent = 5*time.Millisecond, time.Hour, 200*time.Millisecond }, true},
		"nothing":    {func(p *timing) { p.ping, p.quiet = 5*time.Millisecond, 200*time.Millisecond }, false},
		"old":        {func(p *timing) { p.life = 200 * time.Millisecond }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := slow
			c.timing(&p)
			ms := streamNoon.UnixMilli()
			s := startStream(t, p, []market.Streamed{{ID: "1", Token: "11"}}, func(s *streamServer, n int, conn *websocket.Conn) {
				s.first(n, conn)
				if n == 1 {
					s.send(conn, book("11", "0.50", "0.52", ms))
				}
				if c.answer {
					s.serve(n, conn)
					return
				}
				for { // the server reads and sends nothing
					if _, _, err := conn.Read(s.t.Context()); err != nil {
						return
					}
				}
			})
			s.until("a second connection and its price", func() bool { return len(s.opened) >= 2 && len(s.ticks) > 0 })
			s.mu.Lock()
			defer s.mu.Unlock()
			if fmt.Sprint(s.sent[1][:1]) != "[{market  [11] true}]" || s.ticks[0].Yes != 5100 || c.answer && name == "only pongs" && s.pings == 0 {
				t.Errorf("messages %v, published %v, %d pings", s.sent, s.ticks, s.pings)
			}
		})
	}
}

// TestBrokenMessageGivesNoPrice checks that a truncated, invalid or oversized message gives no price. It may end only its
// own connection.
func TestBrokenMessageGivesNoPrice(t *testing.T) {
	t.Parallel()
	ms := streamNoon.UnixMilli()
	s := startStream(t, slow, []market.Streamed{{ID: "1", Token: "11"}}, func(s *streamServer, n int, c *websocket.Conn) {
		s.first(n, c)
		whole := book("11", "0.50", "0.52", ms)
		switch n {
		case 0: // half a frame
			w, err := c.Writer(s.t.Context(), websocket.MessageText)
			if err == nil {
				_, _ = w.Write([]byte(whole[:len(whole)/2]))
			}
			return
		case 1: // half a message in a complete frame, then the end
			s.send(c, whole[:len(whole)/2], "["+whole+",")
			return
		case 2:
			s.send(c, strings.Repeat(" ", maxFrame+1))
		case 3:
			s.send(c, "\x00\xff\xfe", strings.Repeat("[", 100_000), whole)
		}
		s.serve(n, c)
	})
	s.until("the fourth connection's price", func() bool { return len(s.ticks) > 0 })
	if got := s.published(); len(got) != 1 || got[0].Yes != 5100 {
		t.Errorf("published %v", got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.opened) != 4 {
		t.Errorf("%d connections", len(s.opened))
	}
}

// TestUnreadableFrameDropsTheBooks checks that a trade after an unreadable frame gives no quote until the next order book
// arrives, because the unreadable frame may have contained a new price.
func TestUnreadableFrameDropsTheBooks(t *testing.T) {
	t.Parallel()
	ms := streamNoon.Add(-time.Minute).UnixMilli()
	for name, broken := range map[string]string{
		"half a message": `{"event_type":"price_change","price_changes":[`, "a truncated list": "[{", "wrong types": `{"event_type":[]}x`,
		"an invalid price": fmt.Sprintf(`{"event_type":"price_change","timestamp":"%d","price_changes":[{"asset_id":"11","best_bid":"x","best_ask":"0.9"}]}`, ms+1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startStream(t, slow, []market.Streamed{{ID: "1", Token: "11"}}, func(s *streamServer, n int, c *websocket.Conn) {
				s.first(n, c)
				s.send(c, book("11", "0.50", "0.52", ms), broken, tradeAt("11", "0.51", ms+2), book("11", "0.60", "0.62", ms+3))
				s.serve(n, c)
			})
			s.until("the second book", func() bool { return len(s.ticks) > 0 && s.ticks[len(s.ticks)-1].Yes == 6100 })
			for _, tick := range s.published() {
				if tick.At.Equal(time.UnixMilli(ms+2)) && tick.Quote != nil {
					t.Errorf("the trade confirmed an old quote: %+v", tick.Quote)
				}
			}
		})
	}
}

// TestReconnectsSlowDown checks that the delay between connections grows while the venue ends each connection immediately.
func TestReconnectsSlowDown(t *testing.T) {
	t.Parallel()
	p := slow
	p.retry, p.limit = 20*time.Millisecond, 160*time.Millisecond
	s := startStream(t, p, []market.Streamed{{ID: "1", Token: "11"}}, func(s *streamServer, n int, c *websocket.Conn) {
		s.first(n, c)
		s.send(c, book("11", "0.50", "0.52", streamNoon.UnixMilli())) // receiving a price does not reset the delay
	})
	s.until("seven connections", func() bool { return len(s.opened) >= 7 })
	s.mu.Lock()
	defer s.mu.Unlock()
	// The delays are at least half of 20, 40, 80, 160, 160 and 160 ms.
	if took := s.opened[6].Sub(s.opened[0]); took < 310*time.Millisecond {
		t.Errorf("seven connections in %v", took)
	}
}

func TestStreamSubscribesToWantedMarkets(t *testing.T) {
	t.Parallel()
	many := make([]market.Streamed, 450)
	for i := range many {
		many[i] = market.Streamed{ID: protocol.MarketID(fmt.Sprint(i + 1)), Token: fmt.Sprint(1000 + i)}
	}
	p := slow
	p.ask = 10 * time.Millisecond
	s := startStream(t, p, many, func(s *streamServer, n int, c *websocket.Conn) { s.serve(n, c) })
	// has returns the number of connections that are subscribed to each token, and the largest number of tokens on one
	// connection. The caller must hold the lock.
	has := func() (all map[string]int, most int) {
		all = map[string]int{}
		for _, orders := range s.sent {
			set := map[string]bool{}
			for _, o := range orders {
				for _, token := range o.Tokens {
					if o.Operation == "unsubscribe" {
						delete(set, token)
					} else {
						set[token] = true
					}
				}
			}
			for token := range set {
				all[token]++
			}
			most = max(most, len(set))
		}
		return all, most
	}
	s.until("450 tokens", func() bool { all, _ := has(); return len(all) == 450 })
	s.mu.Lock()
	if all, most := has(); len(s.opened) != 3 || most > maxTokens || all["1000"] != 1 {
		t.Errorf("%d connections, %d tokens on one", len(s.opened), most)
	}
	s.want = append(slices.Clone(many[10:450:450]), market.Streamed{ID: "9000", Token: "9000"})
	s.mu.Unlock()
	s.until("the change", func() bool { all, _ := has(); return len(all) == 441 && all["9000"] == 1 && all["1000"] == 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.opened) != 3 {
		t.Errorf("a change of the wanted markets opened %d connections", len(s.opened))
	}
}

func TestStreamAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "https://venue.example/ws", "wss://", "wss://user:pass@venue.example/ws", "::"} {
		if _, err := NewStream(address, venue.NewMeter(prometheus.NewRegistry()), time.Now, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%q was accepted", address)
		}
	}
}
