package app

import (
	"cmp"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// strategy is a way to choose calls. Its operators know every rule of the service and every public price at every moment, and
// have many accounts. knows describes further knowledge. Only a strategy with informed set knows more than the venues.
type strategy struct {
	id       string
	knows    string
	counts   [2]float64 // range of the share of stored calls that are counted
	informed bool
	play     func(r *round, groups int)
}

// Ranges of the share of stored calls that are counted.
var (
	nearlyAll = [2]float64{0.97, 1}
	none      = [2]float64{0, 0}
)

var strategies = []strategy{
	{id: "zero", counts: nearlyAll, knows: "nothing; states 0", play: priced(func(r *round, _ *game) (protocol.Side, int) {
		return r.anySide(), 0
	})},
	{id: "ten_under", counts: nearlyAll, knows: "the venue's price; states 10 cents less", play: priced(func(r *round, g *game) (protocol.Side, int) {
		side := r.anySide()
		return side, max(0, chance(side, g.yes())-1000)
	})},
	{id: "favourites", counts: nearlyAll, knows: "the venue's price; calls the likelier side", play: priced(func(_ *round, g *game) (protocol.Side, int) {
		if g.yes() >= 5_000 {
			return protocol.Yes, g.yes()
		}
		return protocol.No, 10_000 - g.yes()
	})},
	{id: "long_shots", counts: nearlyAll, knows: "the venue's price; calls the less likely side", play: priced(func(_ *round, g *game) (protocol.Side, int) {
		if g.yes() < 5_000 {
			return protocol.Yes, g.yes()
		}
		return protocol.No, 10_000 - g.yes()
	})},
	{id: "alternate", counts: nearlyAll, knows: "the venue's price; calls the sides in turns", play: alternate()},
	{id: "stale_quotes", counts: none, knows: "when the venue stops answering, and its price of today", play: staleQuotes},
	{id: "stream", counts: nearlyAll, knows: "each jump of the venue up to 3 s before its book shows it", play: followStream},
	{id: "after_resolution", counts: none, knows: "the outcome, once the venue has published it", play: afterResolution},
	{id: "move_native", counts: nearlyAll, knows: "the crowd, of which it is a part", play: moveNative},
	{id: "own_native", counts: none, knows: "the outcome of the markets it creates", play: ownNative},
	{id: "venue_budget", counts: [2]float64{0.2, 0.8}, knows: "how many reads of venues are allowed, and each jump", play: fillBudget},
	{id: "informed", counts: nearlyAll, knows: "a quarter of the outcomes", informed: true, play: informed},
}

func (r *round) anySide() protocol.Side {
	if r.rng.IntN(2) == 0 {
		return protocol.Yes
	}
	return protocol.No
}

// open creates the venue markets of a round. After the ledger has read them, their probabilities change once.
func (r *round) open(groups int) {
	r.games = r.newGames(groups * groupMarkets)
	r.advance(9 * time.Second)
}

// priced returns a strategy that files one call for each operator and market. choose returns the side and the price.
func priced(choose func(r *round, g *game) (protocol.Side, int)) func(r *round, groups int) {
	return func(r *round, groups int) {
		r.open(groups)
		r.move(r.games, 300)
		r.advance(time.Second)
		var calls []call
		for i, callers := range r.callers(len(r.games)) {
			for _, p := range callers {
				side, price := choose(r, r.games[i])
				calls = append(calls, call{p, r.games[i], side, price})
			}
		}
		r.file(calls)
		r.advance(2 * time.Second)
		r.move(r.games, 300)
		r.settle()
	}
}

// alternate returns a strategy in which each operator calls YES and NO alternately.
func alternate() func(r *round, groups int) {
	turn := map[string]int{}
	return func(r *round, groups int) {
		r.open(groups)
		var calls []call
		for i, callers := range r.callers(len(r.games)) {
			for _, p := range callers {
				side := protocol.Yes
				if turn[p.id]++; turn[p.id]%2 == 0 {
					side = protocol.No
				}
				calls = append(calls, call{p, r.games[i], side, chance(side, r.games[i].yes())})
			}
		}
		r.file(calls)
		r.settle()
	}
}

// staleQuotes makes the venues unavailable and waits until the quotes are old. It then calls the side that has become more
// probable, at its old price.
func staleQuotes(r *round, groups int) {
	r.open(groups)
	old := make([]int, len(r.games))
	for i, g := range r.games {
		old[i] = g.yes()
	}
	for _, venue := range gameVenues {
		r.fail(venue, "refuse", 60*time.Second)
	}
	r.advance(20 * time.Second)
	r.move(r.games, 2_500)
	r.file(r.towards(old))
	r.advance(50 * time.Second)
	r.settle()
}

// towards returns calls on the side of each market that has become more probable since the prices in old, at the old price.
func (r *round) towards(old []int) []call {
	var calls []call
	for i, callers := range r.callers(len(r.games)) {
		g, side := r.games[i], protocol.Yes
		if g.yes() < old[i] {
			side = protocol.No
		}
		for _, p := range callers {
			calls = append(calls, call{p, g, side, chance(side, old[i])})
		}
	}
	return calls
}

// followStream changes the probability of each market by a large step. It calls the side that became more probable while the
// order book of the venue, and therefore the ledger's quote, still has the old price.
func followStream(r *round, groups int) {
	r.open(groups)
	old := make([]int, len(r.games))
	for i, g := range r.games {
		old[i] = g.yes()
		size := min(2_500, g.yes()-200, 9_800-g.yes())
		if r.rng.IntN(2) == 0 {
			size = -size
		}
		g.path = append(g.path, moment{r.clock.Now(), g.yes() + size})
	}
	r.advance(500 * time.Millisecond)
	r.file(r.towards(old))
	r.advance(2500 * time.Millisecond)
	each(len(r.games), func(i int) { r.quote(r.games[i]) })
	r.settle()
}

// afterResolution calls the winning side of each market 0, 1, 5, 30 and 120 seconds after its venue has resolved it.
func afterResolution(r *round, groups int) {
	r.open(groups)
	r.decide(r.games)
	r.resolve(r.games)
	callers := r.callers(len(r.games))
	passed := time.Duration(0)
	for k, wait := range []time.Duration{0, time.Second, 5 * time.Second, 30 * time.Second, 120 * time.Second} {
		r.advance(wait - passed)
		passed = wait
		var calls []call
		for i, g := range r.games {
			for _, p := range callers[i][k*groupCallers/5 : (k+1)*groupCallers/5] {
				calls = append(calls, call{p, g, g.outcome, chance(g.outcome, g.path[0].yes)})
			}
		}
		r.file(calls)
	}
	for _, g := range r.games { // the outcome is certain from now on
		g.path = append(g.path, moment{g.path[0].at.Add(9 * time.Second), chance(g.outcome, 10_000)})
	}
	r.advance(5 * time.Second)
	r.score()
}

// moveNative moves the price of native markets: all accounts but one call the same side, and the last account then calls the
// other side at the price of the crowd.
func moveNative(r *round, groups int) {
	for range groups * groupMarkets {
		r.games = append(r.games, r.newNative(100*(4+r.rng.IntN(93)), ""))
	}
	callers := r.callers(len(r.games))
	for k := range groupCallers {
		var calls []call
		for i, g := range r.games {
			side, price := protocol.No, 10_000-g.yes()
			if k == groupCallers-1 {
				side, price = protocol.Yes, 100
			}
			calls = append(calls, call{callers[i][k], g, side, price})
		}
		r.file(calls)
		r.advance(time.Second)
	}
	r.decide(r.games)
	r.finalize()
}

// ownNative creates native markets with a false initial price, and calls them with the account of the creator and other
// accounts.
func ownNative(r *round, groups int) {
	callers := r.callers(groups * groupMarkets)
	for i := range callers {
		g := r.newNative(100, callers[i][0].id)
		g.path[0].yes = 10_000 // the creator decides the outcome
		r.games = append(r.games, g)
	}
	r.advance(time.Second)
	var calls []call
	for i, list := range callers {
		for _, p := range list {
			calls = append(calls, call{p, r.games[i], protocol.Yes, 100})
		}
	}
	r.file(calls)
	r.decide(r.games)
	r.finalize()
	r.advance(24 * time.Hour) // each operator may create only a limited number of markets a day
}

// fillBudget makes two venues answer with 429, and requests more quotes of the other venues than an operator may. It then calls
// the more probable side of each market at its old price.
func fillBudget(r *round, groups int) {
	r.open(groups)
	old := make([]int, len(r.games))
	for i, g := range r.games {
		old[i] = g.yes()
	}
	r.advance(30 * time.Second)
	r.move(r.games, 2_500)
	for _, venue := range gameVenues[:2] {
		r.fail(venue, "429", 20*time.Second)
	}
	calls := r.towards(old)
	slices.SortStableFunc(calls, func(a, b call) int { return cmp.Compare(a.by.id, b.by.id) }) // grouped by operator
	r.file(calls)
	r.advance(time.Second)
	r.settle()
}

// informed files calls of operators who know the outcomes of a quarter of the markets. On these markets they call the winning
// side, and on all others a random side.
func informed(r *round, groups int) {
	r.open(groups)
	r.decide(r.games)
	var calls []call
	for i, callers := range r.callers(len(r.games)) {
		g := r.games[i]
		for _, p := range callers {
			side := r.anySide()
			if r.rng.IntN(4) == 0 {
				side = g.outcome
			}
			calls = append(calls, call{p, g, side, chance(side, g.yes())})
		}
	}
	r.file(calls)
	r.confirm()
	r.advance(20 * time.Second)
	r.resolve(r.games)
	r.advance(5 * time.Second)
	r.score()
}
