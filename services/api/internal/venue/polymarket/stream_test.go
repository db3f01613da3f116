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

// order is one message of the client.
type order struct {
	Type      string   `json:"type"`
	Operation string   `json:"operation"`
	Tokens    []string `json:"assets_ids"`
	Dump      bool     `json:"initial_dump"`
}

// wss is a server that speaks as the venue does.
type wss struct {
	t *testing.T

	mu     sync.Mutex
	opened []time.Time
	orders [][]order // by connection
	pings  int
	ticks  []market.Tick
	want   []market.Streamed
}

func startStream(t *testing.T, p pace, want []market.Streamed, play func(s *wss, n int, c *websocket.Conn)) *wss {
	t.Helper()
	s := &wss{t: t, want: want}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.CloseNow() }()
		s.mu.Lock()
		n := len(s.opened)
		s.opened, s.orders = append(s.opened, time.Now()), append(s.orders, nil)
		s.mu.Unlock()
		play(s, n, c)
	}))
	t.Cleanup(srv.Close)
	stream, err := NewStream("ws"+strings.TrimPrefix(srv.URL, "http"), venue.NewMeter(prometheus.NewRegistry()),
		func() time.Time { return streamNoon }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	stream.pace = p
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

// hear reads what the client says until it goes away, and answers its pings.
func (s *wss) hear(n int, c *websocket.Conn) {
	for {
		_, raw, err := c.Read(s.t.Context())
		if err != nil {
			return
		}
		if string(raw) == "PING" {
			s.mu.Lock()
			s.pings++
			s.mu.Unlock()
			s.say(c, "PONG")
			continue
		}
		s.note(n, raw)
	}
}

func (s *wss) note(n int, raw []byte) {
	var o order
	if err := json.Unmarshal(raw, &o); err != nil {
		s.t.Errorf("the client says %s", raw)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orders[n] = append(s.orders[n], o)
}

// first reads the subscription that must open a connection.
func (s *wss) first(n int, c *websocket.Conn) {
	if _, raw, err := c.Read(s.t.Context()); err == nil {
		s.note(n, raw)
	}
}

func (s *wss) say(c *websocket.Conn, texts ...string) {
	for _, text := range texts {
		_ = c.Write(s.t.Context(), websocket.MessageText, []byte(text))
	}
}

func (s *wss) told() []market.Tick {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ticks)
}

func (s *wss) until(what string, ok func() bool) {
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

// patient is a pace by which nothing happens by itself.
var patient = pace{
	ask: time.Hour, ping: time.Hour, quiet: time.Hour, silent: time.Hour, life: time.Hour, retry: time.Millisecond, most: time.Millisecond, steady: time.Hour,
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
	s := startStream(t, patient, []market.Streamed{{ID: "1", Token: "11"}, {ID: "2", Token: "22", YesIndex: 1}, {ID: "3", Token: "33"}, {ID: "4", Token: "x"}},
		func(s *wss, n int, c *websocket.Conn) {
			s.first(n, c)
			s.say(c,
				"["+book("11", "0.61", "0.63", ms)+","+book("22", "0.20", "0.21", ms)+"]",
				"PONG", "[]", "{", `{"event_type":7}`, "[[1]]", "null", `"x"`, `{"event_type":"book","asset_id":"11"}`, `{"event_type":"new_market","timestamp":"1"}`,
				fmt.Sprintf(`{"event_type":"price_change","market":"0x1","timestamp":"%d","price_changes":[
					{"asset_id":"11","price":"0.62","size":"0","side":"BUY","hash":"","best_bid":"0.60","best_ask":"0.605"},
					{"asset_id":"99","price":"0.4","size":"1","side":"SELL","hash":"","best_bid":"0.39","best_ask":"0.4"}]}`, ms+1),
				tradeAt("11", "0.99", ms+2),
				fmt.Sprintf(`{"event_type":"best_bid_ask","market":"0x1","asset_id":"11","best_bid":"0.61","best_ask":"0.62","spread":"0.01","timestamp":"%d"}`, ms+3),
				book("33", "0.30", "0.50", ms+3),                                // too wide
				tradeAt("33", "0.48", ms+4),                                     // and still two-sided
				strings.Replace(book("33", "0", "1", ms+5), `"0.99"`, `"1"`, 1), // one side, nearly nothing
				strings.NewReplacer(`"0.01"`, `"0"`, `"0.99"`, `"1"`).Replace(book("33", "0", "1", ms+6)),
				tradeAt("33", "0.45", ms+7),
				book("33", "0.40", "0.42", streamNoon.Add(time.Hour).UnixMilli()), // ahead of its time
			)
			s.hear(n, c)
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
		tick("2", 7950, 8000, 2100, time.UnixMilli(ms)), // its token is that of NO
		tick("1", 6025, 6050, 4000, time.UnixMilli(ms+1)),
		tick("1", 6025, 6050, 4000, time.UnixMilli(ms+2)), // a trade confirms the book
		tick("1", 6150, 6200, 3900, time.UnixMilli(ms+3)),
		tick("3", 4500, 0, 0, time.UnixMilli(ms+7)), // a trade alone is no quote
		tick("3", 4100, 4200, 6000, streamNoon),
	}
	if got := s.told(); !reflect.DeepEqual(got, want) {
		t.Errorf("told %v\nwant %v", got, want)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.opened) != 1 || fmt.Sprint(s.orders[0]) != "[{market  [11 22 33] true}]" {
		t.Errorf("%d connections, orders %v", len(s.opened), s.orders)
	}
}

// A connection is given up when only pings are answered, and when nothing is.
func TestASilentStreamIsMadeAnew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pace   func(*pace)
		answer bool
	}{
		"only pongs": {func(p *pace) { p.ping, p.quiet, p.silent = 5*time.Millisecond, time.Hour, 200*time.Millisecond }, true},
		"nothing":    {func(p *pace) { p.ping, p.quiet = 5*time.Millisecond, 200*time.Millisecond }, false},
		"old":        {func(p *pace) { p.life = 200 * time.Millisecond }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := patient
			c.pace(&p)
			ms := streamNoon.UnixMilli()
			s := startStream(t, p, []market.Streamed{{ID: "1", Token: "11"}}, func(s *wss, n int, conn *websocket.Conn) {
				s.first(n, conn)
				if n == 1 {
					s.say(conn, book("11", "0.50", "0.52", ms))
				}
				if c.answer {
					s.hear(n, conn)
					return
				}
				for { // it reads and says nothing
					if _, _, err := conn.Read(s.t.Context()); err != nil {
						return
					}
				}
			})
			s.until("a second connection and its price", func() bool { return len(s.opened) >= 2 && len(s.ticks) > 0 })
			s.mu.Lock()
			defer s.mu.Unlock()
			if fmt.Sprint(s.orders[1][:1]) != "[{market  [11] true}]" || s.ticks[0].Yes != 5100 || c.answer && name == "only pongs" && s.pings == 0 {
				t.Errorf("orders %v, told %v, %d pings", s.orders, s.ticks, s.pings)
			}
		})
	}
}

// Half a message, garbage and a message that is too large end a connection or
// nothing; the next one goes on.
func TestABrokenMessageTellsNoPrice(t *testing.T) {
	t.Parallel()
	ms := streamNoon.UnixMilli()
	s := startStream(t, patient, []market.Streamed{{ID: "1", Token: "11"}}, func(s *wss, n int, c *websocket.Conn) {
		s.first(n, c)
		whole := book("11", "0.50", "0.52", ms)
		switch n {
		case 0: // half a frame
			w, err := c.Writer(s.t.Context(), websocket.MessageText)
			if err == nil {
				_, _ = w.Write([]byte(whole[:len(whole)/2]))
			}
			return
		case 1: // half a message in a whole frame, then the end
			s.say(c, whole[:len(whole)/2], "["+whole+",")
			return
		case 2:
			s.say(c, strings.Repeat(" ", mostFrame+1))
		case 3:
			s.say(c, "\x00\xff\xfe", strings.Repeat("[", 100_000), whole)
		}
		s.hear(n, c)
	})
	s.until("the fourth connection's price", func() bool { return len(s.ticks) > 0 })
	if got := s.told(); len(got) != 1 || got[0].Yes != 5100 {
		t.Errorf("told %v", got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.opened) != 4 {
		t.Errorf("%d connections", len(s.opened))
	}
}

// A frame that cannot be read may hold a new price: until the next one, a trade confirms no
// quote.
func TestAnUnreadableFrameEndsTheKnownBooks(t *testing.T) {
	t.Parallel()
	ms := streamNoon.Add(-time.Minute).UnixMilli()
	for name, broken := range map[string]string{
		"half a message": `{"event_type":"price_change","price_changes":[`, "a list cut off": "[{", "wrong types": `{"event_type":[]}x`,
		"a price that is none": fmt.Sprintf(`{"event_type":"price_change","timestamp":"%d","price_changes":[{"asset_id":"11","best_bid":"x","best_ask":"0.9"}]}`, ms+1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startStream(t, patient, []market.Streamed{{ID: "1", Token: "11"}}, func(s *wss, n int, c *websocket.Conn) {
				s.first(n, c)
				s.say(c, book("11", "0.50", "0.52", ms), broken, tradeAt("11", "0.51", ms+2), book("11", "0.60", "0.62", ms+3))
				s.hear(n, c)
			})
			s.until("the second book", func() bool { return len(s.ticks) > 0 && s.ticks[len(s.ticks)-1].Yes == 6100 })
			for _, tick := range s.told() {
				if tick.At.Equal(time.UnixMilli(ms+2)) && tick.Quote != nil {
					t.Errorf("the trade confirmed %+v", tick.Quote)
				}
			}
		})
	}
}

// A venue that ends each connection at once is asked more and more seldom.
func TestAStormOfReconnectsCalmsDown(t *testing.T) {
	t.Parallel()
	p := patient
	p.retry, p.most = 20*time.Millisecond, 160*time.Millisecond
	s := startStream(t, p, []market.Streamed{{ID: "1", Token: "11"}}, func(s *wss, n int, c *websocket.Conn) {
		s.first(n, c)
		s.say(c, book("11", "0.50", "0.52", streamNoon.UnixMilli())) // a price does not make it a good one
	})
	s.until("seven connections", func() bool { return len(s.opened) >= 7 })
	s.mu.Lock()
	defer s.mu.Unlock()
	// At least half of 20, 40, 80, 160, 160 and 160 ms.
	if took := s.opened[6].Sub(s.opened[0]); took < 310*time.Millisecond {
		t.Errorf("seven connections in %v", took)
	}
}

func TestStreamFollowsWhatIsWanted(t *testing.T) {
	t.Parallel()
	many := make([]market.Streamed, 450)
	for i := range many {
		many[i] = market.Streamed{ID: protocol.MarketID(fmt.Sprint(i + 1)), Token: fmt.Sprint(1000 + i)}
	}
	p := patient
	p.ask = 10 * time.Millisecond
	s := startStream(t, p, many, func(s *wss, n int, c *websocket.Conn) { s.hear(n, c) })
	// has is what each connection follows by what was ordered of it; the lock is held.
	has := func() (all map[string]int, most int) {
		all = map[string]int{}
		for _, orders := range s.orders {
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
	if all, most := has(); len(s.opened) != 3 || most > mostTokens || all["1000"] != 1 {
		t.Errorf("%d connections, %d tokens on one", len(s.opened), most)
	}
	s.want = append(slices.Clone(many[10:450:450]), market.Streamed{ID: "9000", Token: "9000"})
	s.mu.Unlock()
	s.until("the change", func() bool { all, _ := has(); return len(all) == 441 && all["9000"] == 1 && all["1000"] == 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.opened) != 3 {
		t.Errorf("a change of what is wanted made %d connections", len(s.opened))
	}
}

func TestNoStreamWithoutAnAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "https://venue.example/ws", "wss://", "wss://user:pass@venue.example/ws", "::"} {
		if _, err := NewStream(address, venue.NewMeter(prometheus.NewRegistry()), time.Now, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
}
