package app

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// Sizes of the simulation. A group consists of ten markets with twenty calls each, so each of the 200 operators files one call
// in each group.
const (
	simPlayers   = 200
	groupMarkets = 10
	groupCallers = simPlayers / groupMarkets
	roundGroups  = 10 // groups of markets that are open at the same time
)

// simSize returns the size of the simulation: the number of groups of markets for each strategy, and one random seed for each
// run. With SYSTEM_SIZE=system or full there are three runs, and each strategy files 10,000 calls in each run.
func simSize() (groups int, seeds []uint64) {
	switch {
	case testing.Short():
		return 1, []uint64{1}
	case os.Getenv("SYSTEM_SIZE") == "":
		return 2, []uint64{1}
	}
	return 50, []uint64{1, 2, 3}
}

// TestSimulation checks that no strategy gains points without knowledge. Every stored call must have an expected score of at
// most 0 at the true probability. The mean score, and the share of operators that appear skilled, must be as chance predicts.
func TestSimulation(t *testing.T) {
	t.Parallel()
	simulator := buildVenues(t)
	groups, seeds := simSize()
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, simulator, seed)
			all := map[string]results{}
			for _, s := range strategies {
				all[s.id] = w.run(s, groups)
			}
			w.judgeSums()
			if groups >= 50 {
				w.judgeInformed(all)
			}
		})
	}
}

// run files the calls of one strategy, checks their results and returns them.
func (w *world) run(s strategy, groups int) results {
	began := time.Now()
	players := w.newPlayers(s.id, simPlayers)
	filed, refused := 0, 0
	var games []*game
	for groups > 0 {
		n := min(groups, roundGroups)
		groups -= n
		r := &round{world: w, players: players}
		s.play(r, n)
		filed, refused = filed+r.filed, refused+r.refused
		games = append(games, r.games...)
	}
	results := w.results(s.id, games)
	w.judge(s, players, results)
	w.t.Logf("%-16s %6d filed, %5d refused, %s, %.1f s", s.id, filed, refused, results, time.Since(began).Seconds())
	return results
}

// round is one set of markets that are open at the same time, with the operators that call them.
type round struct {
	*world
	players        []player
	games          []*game
	filed, refused int
}

// callers returns, for each market, the operators that call it. In every group of markets, each operator calls one market.
func (r *round) callers(games int) [][]player {
	out := make([][]player, 0, games)
	for len(out) < games {
		order := r.rng.Perm(len(r.players))
		for k := range groupMarkets {
			var list []player
			for _, i := range order[k*groupCallers : (k+1)*groupCallers] {
				list = append(list, r.players[i])
			}
			out = append(out, list)
		}
	}
	return out
}

// file files calls, and adds the numbers of filed and rejected ones to those of the round.
func (r *round) file(calls []call) {
	refused := r.world.file(calls)
	r.filed, r.refused = r.filed+len(calls), r.refused+refused
}

// settle waits for the second quotes, changes the probabilities once more, draws the outcomes of the markets, and scores the
// calls.
func (r *round) settle() {
	r.confirm()
	r.advance(20 * time.Second)
	r.move(r.games, 500)
	r.advance(20 * time.Second)
	r.decide(r.games)
	r.resolve(r.games)
	r.advance(5 * time.Second)
	r.score()
}

// resolve makes the venues resolve the markets now.
func (w *world) resolve(games []*game) {
	each(len(games), func(i int) {
		g := games[i]
		w.control(fmt.Sprintf("/sim/%s/markets/%s", g.venue, g.id), map[string]any{"state": "resolved", "outcome": string(g.outcome)})
	})
}

// confirm advances the clock in small steps until the second quotes of all calls have been requested.
func (w *world) confirm() {
	for range 10 {
		w.advance(2 * time.Second)
		for p, v := range w.ports {
			w.retryUnavailable("second quotes of "+string(p), func() error {
				err := w.app.catalogue.Confirm(w.t.Context(), p, v)
				if errors.Is(err, market.ErrUnavailable) {
					return nil // the next step requests them again
				}
				return err
			})
		}
	}
}

const countPending = `SELECT (SELECT count(*) FROM api.signals) - (SELECT count(*) FROM api.signal_results)`

// score scans the venues until no call is pending.
func (w *world) score() {
	var report resolution.Report
	for range 20 {
		w.retryUnavailable("scan", func() (err error) {
			report, err = w.app.scanner.Scan(w.t.Context())
			return err
		})
		if w.count(countPending) == 0 {
			return
		}
		w.advance(10 * time.Second)
	}
	w.t.Fatalf("%d calls are still open; the last scan: %+v", w.count(countPending), report)
}

func (w *world) count(sql string, args ...any) (n int) {
	if err := w.db.QueryRow(w.t.Context(), sql, args...).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// finalize resolves the native markets of the round as an administrator.
func (r *round) finalize() {
	r.advance(time.Minute)
	each(len(r.games), func(i int) {
		c := resolution.Claim{MarketID: string(r.games[i].id), Verdict: protocol.Verdict(r.games[i].outcome), Resolver: "admin", Source: "manual"}
		if _, err := r.app.resolves.Finalize(r.t.Context(), c); err != nil {
			r.t.Errorf("finalize %s: %v", c.MarketID, err)
		}
	})
}
