package conform

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"
)

// boardOrder checks that the leaderboards are in descending order of score, and that their ranks are 1, 2, 3 and so on.
func boardOrder(ctx context.Context, r *run) {
	if r.API != "" {
		a := r.get(ctx, api, "/api/v1/signals/leaderboard?operators=all&limit=200")
		r.ordered(a, list(a.value, "leaderboard"), "score")
		r.ranked(a)
	}
	a := r.get(ctx, hub, "/api/operator/leaderboard?operators=all&limit=100")
	r.ordered(a, list(a.value, "leaderboard"), "broadcastScore")
	r.ranked(a)
	a = r.get(ctx, hub, "/api/network/operators?limit=40")
	r.ordered(a, list(a.value, "operators"), "score")
}

// ordered adds a finding for each row whose score is missing or greater than the score of the previous row. The parameter by
// is the name of the member that contains the score.
func (r *run) ordered(a *answer, rows []any, by string) {
	last := math.Inf(1)
	for i, row := range rows {
		n, ok := number(row, by)
		r.expect(ok && n <= last, a, "rows by "+by+", the highest first", fmt.Sprintf("row %d has %v after %v", i+1, n, last))
		last = n
	}
}

// ranked adds a finding for each row of the leaderboard whose rank differs from its position, counted from 1.
func (r *run) ranked(a *answer) {
	for i, row := range list(a.value, "leaderboard") {
		rank, ok := integer(row, "rank")
		r.expect(ok && rank == i+1, a, fmt.Sprintf("rank %d", i+1), describe(at(row, "rank")))
	}
}

// operatorNumbers checks that the counts, the accuracy and the score of operators are consistent.
func operatorNumbers(ctx context.Context, r *run) {
	boards := []*answer{
		r.get(ctx, hub, "/api/operator/leaderboard?operators=all&limit=100"), r.get(ctx, hub, "/api/network/operators?limit=40"),
	}
	if r.API != "" {
		boards = append(boards, r.get(ctx, api, "/api/v1/signals/leaderboard?operators=all&limit=200"))
	}
	for _, a := range boards {
		for _, rows := range []string{"leaderboard", "operators"} {
			for _, row := range list(a.value, rows) {
				won, _ := integer(row, "won")
				lost, _ := integer(row, "lost")
				pending, _ := integer(row, "pending")
				total, _ := integer(row, "total")
				r.expect(won+lost+pending <= total, a, "won, lost and pending are at most total",
					fmt.Sprintf("%d, %d, %d of %d", won, lost, pending, total))
				r.accuracy(a, row, won, won+lost)
				score, _ := integer(row, "score")
				r.expect(score >= -100*lost && score <= 99*won, a, "a score that is possible with won and lost", describe(score))
			}
		}
	}
	for _, h := range r.handles(ctx, 3) {
		a := r.get(ctx, hub, "/api/network/field-record/"+h)
		if a.status != http.StatusOK {
			continue
		}
		calls, _ := integer(a.value, "calls")
		resolved, _ := integer(a.value, "resolved")
		correct, _ := integer(a.value, "correct")
		pending, _ := integer(a.value, "pending")
		r.expect(correct <= resolved && resolved+pending <= calls, a,
			"correct at most resolved, and resolved and pending at most calls",
			fmt.Sprintf("%d, %d, %d of %d", correct, resolved, pending, calls))
		r.accuracy(a, a.value, correct, resolved)
		if resolved == 0 {
			r.same(a, "rank", nil)
		}
		r.expect(len(list(a.value, "recent")) <= 5, a, "at most 5 recent calls", fmt.Sprint(len(list(a.value, "recent"))))
	}
}

// accuracy adds a finding unless row has a member accuracy that is the percentage won/resolved, rounded half up. Without
// resolved calls, the member must be 0.
func (r *run) accuracy(a *answer, row any, won, resolved int) {
	want := 0
	if resolved > 0 {
		want = int(math.Floor(100*float64(won)/float64(resolved) + 0.5))
	}
	got, ok := integer(row, "accuracy")
	r.expect(ok && got == want, a, fmt.Sprintf("accuracy %d: %d of %d", want, won, resolved), describe(at(row, "accuracy")))
}

// pulseWeeks checks that /api/network/pulse has 16 consecutive weeks that start on a Monday, and that its totals are consistent.
func pulseWeeks(ctx context.Context, r *run) {
	a := r.get(ctx, hub, "/api/network/pulse")
	if !r.status(a, http.StatusOK) {
		return
	}
	weeks := list(a.value, "weeks")
	if !r.expect(len(weeks) == 16, a, "16 weeks", fmt.Sprint(len(weeks))) {
		return
	}
	var before time.Time
	for i, w := range weeks {
		at, err := time.Parse(time.DateOnly, text(w, "ws"))
		fits := err == nil && at.Weekday() == time.Monday && (i == 0 || at.Equal(before.AddDate(0, 0, 7)))
		r.expect(fits, a, "the Monday after the previous week", describe(text(w, "ws")))
		before = at
	}
	sum := 0
	for _, name := range []string{"independentSignals", "houseSignals", "automatedSignals"} {
		n, _ := integer(a.value, "totals."+name)
		sum += n
	}
	all, _ := integer(a.value, "totals.signals")
	r.expect(sum == all, a, "the sum of the three kinds is totals.signals", fmt.Sprintf("%d and %d", sum, all))
	won, _ := integer(a.value, "totals.won")
	lost, _ := integer(a.value, "totals.lost")
	resolved, _ := integer(a.value, "totals.resolved")
	r.expect(won+lost == resolved, a, "the sum of won and lost is resolved", fmt.Sprintf("%d, %d and %d", won, lost, resolved))
	if at(a.value, "northStar") == nil {
		return
	}
	r.same(a, "northStar.weekStart", at(weeks[14], "ws"))
	r.same(a, "northStar.scoredSignals", at(weeks[14], "independent"))
	r.same(a, "northStar.activeOperators", at(weeks[14], "activeIndependent"))
	signals, _ := number(a.value, "northStar.scoredSignals")
	active, _ := number(a.value, "northStar.activeOperators")
	want := 0.0
	if active > 0 {
		want = math.Round(100*signals/active) / 100
	}
	got, _ := number(a.value, "northStar.wssAo")
	r.expect(math.Abs(got-want) < 0.0051, a, fmt.Sprintf("wssAo is %v", want), describe(got))
}
