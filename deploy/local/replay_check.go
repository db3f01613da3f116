package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/signalcast/signalcast/deploy/local/internal/career"
)

// counts is how much was compared.
type counts struct{ signals, markets, rows int }

// check reads everything back and compares it with what the contract makes of
// the input.
func (r *replay) check(ctx context.Context) (counts, error) {
	var n counts
	var all []career.Filed
	byMarket := make([][]career.Filed, len(r.markets))
	for _, list := range r.filed {
		for _, f := range list {
			if f.ID != "" {
				all = append(all, f)
				byMarket[f.Question] = append(byMarket[f.Question], f)
			}
		}
	}
	r.show.step("signals checked", len(all))
	err := each(ctx, len(all), width, func(ctx context.Context, i int) error {
		r.show.add(1)
		return r.checkSignal(ctx, r.door(i), all[i])
	})
	if err != nil {
		return n, err
	}
	r.show.end()
	r.faults.end()
	r.show.step("markets checked", len(r.markets))
	err = each(ctx, len(r.markets), width, func(ctx context.Context, i int) error {
		r.show.add(1)
		return r.checkMarket(ctx, i, byMarket[i])
	})
	if err != nil {
		return n, err
	}
	r.show.end()
	good := len(r.faults.end()) == 0
	n.signals, n.markets = len(all), len(r.markets)
	n.rows, err = r.checkBoards(ctx, good)
	return n, err
}

func (r *replay) checkSignal(ctx context.Context, d *door, f career.Filed) error {
	reply, err := d.do(ctx, ask{method: http.MethodGet, url: r.stack.Hub + "/api/signals/" + f.ID})
	if err != nil {
		return err
	}
	var got career.Signal
	if err := reply.into(http.StatusOK, &got); err != nil {
		r.faults.add(fmt.Sprintf("signal %s: %v", f.ID, err))
		return nil
	}
	r.faults.add(career.CheckSignal(f.ID, r.markets[f.Question], f.Who, f.Want, got)...)
	return nil
}

func (r *replay) checkMarket(ctx context.Context, i int, filed []career.Filed) error {
	market := r.markets[i]
	var ledger career.Ledger
	if err := r.door(i).get(ctx, r.stack.Hub+"/api/m/"+url.PathEscape(market)+"/signals?limit=500", &ledger); err != nil {
		return err
	}
	r.faults.add(career.CheckLedger(market, filed, ledger)...)
	out, err := r.outcome(ctx, i)
	if err != nil {
		return err
	}
	r.faults.add(career.CheckOutcome(market, r.questions[i].Verdict, out)...)
	return nil
}

const (
	scoreRows = 200
	castRows  = 100
	// settleIn is how long a board may show what it showed before: it is kept
	// ready for a while.
	settleIn = 75 * time.Second
)

// checkBoards compares the boards, as often as it takes for kept copies to go;
// where the calls under them differ already, waiting helps nothing.
func (r *replay) checkBoards(ctx context.Context, wait bool) (rows int, err error) {
	members := r.members()
	boards := []func(context.Context) ([]string, int, error){
		func(ctx context.Context) ([]string, int, error) {
			var got struct{ Leaderboard []career.ScoreRow }
			err := r.door(0).get(ctx, fmt.Sprintf("%s/api/v1/signals/leaderboard?operators=all&limit=%d", r.stack.API, scoreRows), &got)
			diffs, n := career.CheckScores(members, got.Leaderboard, scoreRows)
			return diffs, n, err
		},
	}
	for _, word := range []string{"all", "automated", "house", "human", "independent"} {
		boards = append(boards, func(ctx context.Context) ([]string, int, error) {
			var got struct{ Leaderboard []career.CastRow }
			err := r.door(0).get(ctx, fmt.Sprintf("%s/api/operator/leaderboard?operators=%s&limit=%d", r.stack.Hub, word, castRows), &got)
			diffs, n := career.CheckCast(word, members, got.Leaderboard, castRows)
			return diffs, n, err
		})
	}
	r.show.step("boards checked", len(boards))
	began := time.Now()
	for _, board := range boards {
		for {
			diffs, n, err := board(ctx)
			if err != nil {
				return rows, err
			}
			if len(diffs) == 0 || !wait || time.Since(began) > settleIn {
				r.faults.add(slices.Clone(diffs)...)
				rows += n
				break
			}
			if err := sleep(ctx, 500*time.Millisecond); err != nil {
				return rows, err
			}
		}
		r.show.add(1)
	}
	r.show.end()
	return rows, nil
}
