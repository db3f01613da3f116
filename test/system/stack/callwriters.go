package stack

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// SentCall is a call that CallWriters has sent.
type SentCall struct {
	Operator *Operator
	Market   string
	Yes      bool
	Price    int
	Key      string // Idempotency-Key header; empty if none was sent
	ID       string // id of the acknowledged call; empty if the call was not acknowledged
}

// Send files the call at a hub and returns the response. Repeated requests have the same body and idempotency key.
func (c SentCall) Send(t testing.TB, hub string) (Answer, error) {
	side := "NO"
	if c.Yes {
		side = "YES"
	}
	sets := []Set{Bearer(c.Operator.Key), Body(Call(c.Market, side, c.Price))}
	if c.Key != "" {
		sets = append(sets, Header("Idempotency-Key", c.Key))
	}
	return c.Operator.Try(t, http.MethodPost, hub+"/api/predictions", sets...)
}

// CallWriters files calls at all hubs while a test stops processes, and records which calls were acknowledged. Each call uses a
// different pair of operator and market, because an operator has at most one call on a market.
type CallWriters struct {
	s         *Stack
	hubs      []string
	operators []*Operator
	markets   []string
	next      atomic.Int64
	stop      func()

	mu           sync.Mutex
	Acknowledged []SentCall
	InDoubt      []SentCall // calls with a 5xx response or without a response: they may be stored
	Refused      int        // number of calls that were not sent or were refused by a limit
}

// StartCallWriters starts n goroutines that file calls until Stop is called or the test ends. About half of the calls have an
// idempotency key.
func (s *Stack) StartCallWriters(t testing.TB, n int, operators []*Operator, markets []string) *CallWriters {
	t.Helper()
	w := &CallWriters{s: s, hubs: append([]string{s.Hub}, s.Hubs...), operators: operators, markets: markets}
	stopped := make(chan struct{})
	var done sync.WaitGroup
	w.stop = sync.OnceFunc(func() {
		close(stopped)
		done.Wait()
	})
	t.Cleanup(w.stop)
	for range n {
		done.Go(func() {
			for {
				select {
				case <-stopped:
					return
				default:
				}
				if !w.write(t) {
					return
				}
			}
		})
	}
	return w
}

// write files one call. If all pairs of operator and market are used, it reports a test error and returns false, and the writer
// must stop.
func (w *CallWriters) write(t testing.TB) bool {
	i := int(w.next.Add(1)) - 1
	if i >= len(w.operators)*len(w.markets) {
		t.Errorf("all %d pairs of operator and market are used; create more operators or markets", len(w.operators)*len(w.markets))
		return false
	}
	c := SentCall{
		Operator: w.operators[i%len(w.operators)], Market: w.markets[i/len(w.operators)], Yes: rand.IntN(2) == 0, Price: rand.IntN(10001),
	}
	if rand.IntN(2) == 0 {
		c.Key = uuid.NewString()
	}
	a, err := c.Send(t, w.hubs[i%len(w.hubs)])
	if !w.record(t, c, a, err) {
		time.Sleep(100 * time.Millisecond) // the services are unavailable: wait before the next call
	}
	return true
}

// record stores the result of a request that filed a call. It returns false if the services were unavailable, so that the writer
// must wait before the next call.
func (w *CallWriters) record(t testing.TB, c SentCall, a Answer, err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case errors.Is(err, syscall.ECONNREFUSED): // the call was not sent
		w.Refused++
		return false
	case err != nil || a.Status >= http.StatusInternalServerError:
		w.InDoubt = append(w.InDoubt, c)
		return false
	case a.Status == http.StatusOK:
		c.ID = a.Text("id")
		w.Acknowledged = append(w.Acknowledged, c)
	case a.Status == http.StatusTooManyRequests:
		w.Refused++
	default:
		t.Errorf("the first call of an operator on a market was answered %d; want 200: %.300s", a.Status, a.Body)
	}
	return true
}

// Count returns the number of calls acknowledged so far.
func (w *CallWriters) Count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.Acknowledged)
}

// Stop stops the writers and waits for the responses to the calls in progress. The exported fields may be read only after Stop.
func (w *CallWriters) Stop() { w.stop() }

// RequireStored stops the writers and fails the test in three cases: an acknowledged call is not stored as it was sent, a refused
// call is stored, or fewer than 100 calls were acknowledged. A call without a final response may be stored.
func (w *CallWriters) RequireStored(t testing.TB) {
	t.Helper()
	w.Stop()
	w.s.RequireStored(t, w.Acknowledged)
	known, refused := map[Pair]bool{}, 0
	for _, c := range append(w.Acknowledged[:len(w.Acknowledged):len(w.Acknowledged)], w.InDoubt...) {
		known[c.Pair()] = true
	}
	for pair := range w.s.CallsOn(t, w.markets) {
		if !known[pair] {
			refused++
		}
	}
	if refused > 0 {
		t.Errorf("%d calls are stored although the service refused them; want 0", refused)
	}
	if len(w.Acknowledged) < 100 {
		t.Errorf("%d calls were acknowledged; want at least 100", len(w.Acknowledged))
	}
	t.Logf("%d calls acknowledged, %d in doubt, %d refused", len(w.Acknowledged), len(w.InDoubt), w.Refused)
}

// RequireStored fails the test unless each acknowledged call is stored with its ID and with the side and price that were sent.
func (s *Stack) RequireStored(t testing.TB, acknowledged []SentCall) {
	t.Helper()
	var markets []string
	for _, c := range acknowledged {
		if !slices.Contains(markets, c.Market) {
			markets = append(markets, c.Market)
		}
	}
	stored, lost := s.CallsOn(t, markets), 0
	for _, c := range acknowledged {
		if got := stored[c.Pair()]; got.ID != c.ID || !got.Is(c) {
			if lost++; lost <= 5 {
				t.Errorf("call %s (YES: %v, price %d) was acknowledged, but the stored call is %+v", c.ID, c.Yes, c.Price, got)
			}
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d acknowledged calls are missing or differ from what was sent; want 0", lost, len(acknowledged))
	}
}

// Pair identifies a call by its market and operator. An operator has at most one call on a market.
type Pair struct{ Market, Operator string }

// Pair returns the market and the operator of the call as a Pair.
func (c SentCall) Pair() Pair { return Pair{c.Market, c.Operator.ID} }

// CallsOn returns the stored calls on the markets. It fails the test if an operator has two calls on one market.
func (s *Stack) CallsOn(t testing.TB, markets []string) map[Pair]StoredCall {
	t.Helper()
	rows, err := s.DB(t).Query(t.Context(), "SELECT market_id, user_id::text, id::text, yes, price_bps FROM api.signals WHERE market_id = ANY ($1)", markets)
	if err != nil {
		t.Fatalf("read calls: %v", err)
	}
	out := map[Pair]StoredCall{}
	var p Pair
	var c StoredCall
	if _, err := pgx.ForEachRow(rows, []any{&p.Market, &p.Operator, &c.ID, &c.Yes, &c.Price}, func() error {
		if _, ok := out[p]; ok {
			t.Errorf("operator %s has two calls on market %s; want one", p.Operator, p.Market)
		}
		c.Operator = p.Operator
		out[p] = c
		return nil
	}); err != nil {
		t.Fatalf("read calls: %v", err)
	}
	return out
}

// Is reports whether the stored call has the side and the price of the sent call. A NO call may be stored with the price of the
// YES side.
func (c StoredCall) Is(sent SentCall) bool {
	return c.Yes == sent.Yes && (c.Price == sent.Price || !c.Yes && c.Price == 10000-sent.Price)
}
