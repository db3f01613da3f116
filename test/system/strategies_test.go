package system

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestStrategiesOverHTTPGainNothing plays strategies through the whole system: calls whose stated price is too low, and calls
// that follow a jump of the venue's price (guarantee P4). Their expected score must be at most 0, although the caller always
// knows the venue's price. TestSimulation in services/api/internal/app plays all strategies with 10,000 calls each.
func TestStrategiesOverHTTPGainNothing(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	const groups = 20 // groups of operators; each group has one market, and each operator files one call
	rng := rand.New(rand.NewPCG(1, 1))
	operators := s.SeedOperators(t, 10*groups)
	type filed struct {
		id    string
		side  string
		after int // true probability of the side in bps, after the jump
	}
	var calls []filed
	var markets []*stack.VenueMarket
	for g := range groups {
		before, after := 2000+100*rng.IntN(60), 500+100*rng.IntN(90)
		m := s.NewVenueMarket(t, stack.Venues[g%len(stack.Venues)], float64(before)/10_000, nil)
		m.Read(t)
		markets = append(markets, m)
		list := operators[10*g : 10*(g+1)]
		list[0].File(t, stack.Call(m.ID, "YES", 5000)).Require(http.StatusOK) // stores a first quote of the market
		m.Change(t, stack.JSON{"yesPrice": float64(after) / 10_000})
		out := make([]filed, len(list))
		var wait sync.WaitGroup
		for i, o := range list[1:] {
			side, price, chance := "YES", before, after
			if i%2 == 1 || i > 5 && after < before { // the last calls are on the side of the jump
				side, price, chance = "NO", 10_000-before, 10_000-after
			}
			switch i % 3 {
			case 1:
				price = 0
			case 2:
				price = max(0, price-1000)
			}
			wait.Go(func() {
				a := o.File(t, stack.Call(m.ID, side, price))
				if a.Status == http.StatusOK {
					out[i] = filed{a.Text("id"), side, chance}
				} else {
					t.Errorf("the call of operator %d was answered %d; want 200: %s", i, a.Status, a.Body)
				}
			})
		}
		wait.Wait()
		calls = append(calls, out[:9]...)
	}
	for _, c := range calls {
		waitForSecondQuote(t, s, c.id)
	}
	stack.Wait(t, 1100*time.Millisecond)
	for _, m := range markets {
		m.Resolve(t, "YES")
	}
	counted := 0
	for _, c := range calls {
		result := s.RequireResult(t, c.id)
		if result.Value("counted") != true {
			continue
		}
		counted++
		if basis := result.Int("scoreBasisBps"); basis < c.after {
			t.Errorf("a %s call is scored at %d bps; want at least %d, the price of its side after the jump", c.side, basis, c.after)
		}
	}
	if counted < len(calls)*9/10 {
		t.Errorf("%d of %d calls count; want at least 90%%", counted, len(calls))
	}
}
