package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/deploy/local/internal/career"
)

// ahead is the end date of a replayed market: no call may come too late.
const ahead = 60 * 24 * time.Hour

// open makes a market of each question at the simulated venue, at its price.
func (r *replay) open(ctx context.Context) error {
	r.show.step("markets open", len(r.questions))
	r.markets = make([]string, len(r.questions))
	past, err := r.hasPast(ctx)
	if err != nil {
		return err
	}
	end := time.Now().Add(ahead).UTC().Format(time.RFC3339)
	mark := "A question with a known answer, replayed. Run " + uuid.NewString() + "."
	err = each(ctx, len(r.questions), width, func(ctx context.Context, i int) (err error) {
		// Without volume a market is never put on the air: nobody else calls it.
		body := map[string]any{
			"question": r.questions[i].Text, "yesPrice": float64(r.questions[i].YesBps) / 10000, "endDate": end, "volume": 0, "description": mark,
		}
		if r.markets[i], err = r.openOne(ctx, r.door(i), body, mark, past); err != nil {
			return err
		}
		r.show.add(1)
		return nil
	})
	if err == nil {
		r.show.end()
	}
	return err
}

// hasPast says whether the ledger has seen calls before these.
func (r *replay) hasPast(ctx context.Context) (bool, error) {
	var board struct{ Leaderboard []career.ScoreRow }
	err := r.door(0).get(ctx, r.stack.API+"/api/v1/signals/leaderboard?operators=all&limit=1", &board)
	return len(board.Leaderboard) > 0, err
}

// mostTries bounds the search for a number that the ledger does not know.
const mostTries = 20_000

// openOne makes one market. A simulator that was restarted begins to count
// anew; where the ledger has a past, a number under which it still knows an
// earlier market, by its other text, is passed over. Where it has none, the
// ledger is left to meet the market with its first call.
func (r *replay) openOne(ctx context.Context, d *door, body map[string]any, mark string, past bool) (string, error) {
	for range mostTries {
		var made struct{ ID string }
		if err := d.post(ctx, r.stack.Venues+"/sim/polymarket/markets", "", body, http.StatusCreated, &made); err != nil {
			return "", err
		}
		if !past {
			return made.ID, nil
		}
		reply, err := d.do(ctx, ask{method: http.MethodGet, url: r.stack.Hub + "/api/m/" + url.PathEscape(made.ID)})
		if err != nil {
			return "", err
		}
		var known struct{ Description *string }
		if reply.status != http.StatusNotFound {
			if err := reply.into(http.StatusOK, &known); err != nil {
				return "", fmt.Errorf("market %s: %w", made.ID, err)
			}
		}
		if known.Description != nil && *known.Description == mark {
			return made.ID, nil
		}
	}
	return "", fmt.Errorf("the ledger knows another market under each of %d numbers", mostTries)
}

// resolve lets the venue decide every market, then asks the ledger to look
// until it has all outcomes.
func (r *replay) resolve(ctx context.Context) error {
	r.show.step("the venue decides", len(r.markets))
	err := each(ctx, len(r.markets), width, func(ctx context.Context, i int) error {
		body := map[string]string{"state": "resolved", "outcome": string(r.questions[i].Verdict)}
		r.show.add(1)
		reply, err := r.door(i).do(ctx, ask{
			method: http.MethodPost, url: r.stack.Venues + "/sim/polymarket/markets/" + url.PathEscape(r.markets[i]), body: body,
		})
		if err == nil && reply.status == http.StatusNotFound {
			return fmt.Errorf("the simulated venue has forgotten market %s: it was restarted under way", r.markets[i])
		}
		if err == nil {
			err = reply.into(http.StatusOK, nil)
		}
		return err
	})
	if err != nil {
		return err
	}
	r.show.end()
	r.show.step("outcomes claimed", len(r.markets))
	open := make([]int, len(r.markets))
	for i := range open {
		open[i] = i
	}
	var report scanned
	for stuck := time.Now(); len(open) > 0; {
		if report, err = r.scan(ctx); err != nil {
			return err
		}
		left, err := r.undecided(ctx, open)
		if err != nil {
			return err
		}
		if len(left) < len(open) {
			stuck = time.Now()
		}
		r.show.add(len(open) - len(left))
		if open = left; len(open) > 0 && time.Since(stuck) > time.Minute {
			return fmt.Errorf("%d markets get no outcome, market %s for one; the last scan: %+v", len(open), r.markets[open[0]], report)
		}
		if report.Busy {
			if err := sleep(ctx, 200*time.Millisecond); err != nil {
				return err
			}
		}
	}
	r.show.end()
	return nil
}

// scanned is the answer of a scan.
type scanned struct {
	Busy     bool
	Scanned  int
	Resolved int
	Scored   int
	Skipped  map[string]int
	Errors   []struct{ MarketID, Error string }
}

const scanWithin = 150 * time.Second

func (r *replay) scan(ctx context.Context) (out scanned, err error) {
	reply, err := r.door(0).do(ctx, ask{
		method: http.MethodPost, url: r.stack.Hub + "/api/admin/resolve-signals", within: scanWithin,
		header: map[string]string{"x-admin-secret": r.stack.AdminSecret},
	})
	if err == nil {
		err = reply.into(http.StatusOK, &out)
	}
	if err != nil {
		return out, fmt.Errorf("scan for outcomes: %w", err)
	}
	return out, nil
}

// undecided are the questions of the list whose market has no outcome yet.
func (r *replay) undecided(ctx context.Context, list []int) ([]int, error) {
	missing := make([]bool, len(list))
	err := each(ctx, len(list), width, func(ctx context.Context, n int) error {
		out, err := r.outcome(ctx, list[n])
		missing[n] = out.Record == nil || out.Record.Verdict == nil
		return err
	})
	var left []int
	for n, i := range list {
		if missing[n] {
			left = append(left, i)
		}
	}
	return left, err
}

func (r *replay) outcome(ctx context.Context, question int) (out career.Outcome, err error) {
	err = r.door(question).get(ctx, r.stack.Hub+"/api/resolution/outcome?market="+url.QueryEscape(r.markets[question]), &out)
	return out, err
}
