package clients

import (
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
	"github.com/signalcast/signalcast/sdk/go/signalcast"
	"github.com/signalcast/signalcast/test/system/stack"
)

// patientRetry is a retry policy that is long enough for a loaded machine.
var patientRetry = signalcast.Retry{Tries: 8, First: 50 * time.Millisecond, Longest: 2 * time.Second}

// library returns a client of the Go library with the key of a person.
func library(t testing.TB, s *stack.Stack, p *stack.Operator, hub string) *signalcast.Client {
	t.Helper()
	c, err := signalcast.New(signalcast.Options{
		Hub: hub, API: s.API, Clock: s.Clock, Token: signalcast.Key(p.Key), Retry: patientRetry,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func called(market string, side client.Side, price int) client.SignalDraft {
	return client.SignalDraft{
		MarketID: market, Direction: side, PriceAtPrediction: price,
		MaxSlippageBps: new(10000),
	} // calls change the price of native markets
}

// refused fails the test unless err is a signalcast.Error with this code, and returns it.
func refused(t testing.TB, err error, code signalcast.Code) *signalcast.Error {
	t.Helper()
	e := (*signalcast.Error)(nil)
	if !errors.Is(err, code) || !errors.As(err, &e) {
		t.Fatalf("the error is %v; want code %s", err, code)
	}
	return e
}

// TestLibraryThroughLostAnswers checks the Go library with a proxy that drops the first answer to each caller after the hub has
// stored the call. Each call must be stored once, with and without the header Idempotency-Key, and a conflicting call must be
// reported.
func TestLibraryThroughLostAnswers(t *testing.T) {
	t.Parallel()
	s := system(t)
	for name, tc := range map[string]struct {
		strip bool
		found bool
	}{"with the key": {false, false}, "the key is removed": {true, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &changingProxy{to: s.Hub, lose: (&droppedAnswers{seen: map[string]bool{}}).first}
			if tc.strip {
				b.ask = func(r *http.Request) { r.Header.Del("Idempotency-Key") }
			}
			hub, market := b.open(t), s.NewNativeMarket(t, 5000, nil)
			var all sync.WaitGroup
			var mu sync.Mutex
			filed := map[uuid.UUID]bool{}
			const callers = 12
			people := make([]*stack.Operator, callers)
			for i := range people {
				people[i] = s.NewOperator(t)
			}
			for _, p := range people {
				c := library(t, s, p, hub)
				all.Go(func() {
					f, err := c.Signals.File(t.Context(), called(market, client.SideNO, 6850))
					if err != nil || f.Found != tc.found {
						t.Errorf("the filed call is %+v, error %v", f, err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					filed[f.ID] = true
				})
			}
			all.Wait()
			if b.lost.Load() != callers {
				t.Errorf("the proxy dropped %d answers; want one for each caller", b.lost.Load())
			}
			stored := stack.Query[string](t, s, `SELECT count(*)::text FROM api.signals WHERE market_id = $1`, market)
			if len(filed) != callers || stored != "12" {
				t.Errorf("%d calls were filed, %s are stored; want the same number", len(filed), stored)
			}
			p := s.NewOperator(t)
			p.NewCall(t, market, "YES", 3150, nil)
			_, err := library(t, s, p, hub).Signals.File(t.Context(), called(market, client.SideNO, 6850))
			refused(t, err, signalcast.ErrAlreadyPredicted)
		})
	}
}
