package conform

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"
)

// boardOrder looks whether rows stand where they belong.
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

func (r *run) ordered(a *answer, rows []any, by string) {
	last := math.Inf(1)
	for i, row := range rows {
		n, ok := number(row, by)
		r.due(ok && n <= last, a, "rows by "+by+", the highest first", fmt.Sprintf("row %d has %v behind %v", i+1, n, last))
		last = n
	}
}

func (r *run) ranked(a *answer) {
	for i, row := range list(a.value, "leaderboard") {
		rank, ok := whole(row, "rank")
		r.due(ok && rank == i+1, a, fmt.Sprintf("rank %d", i+1), say(at(row, "rank")))
	}
}

// operatorNumbers adds up what boards and operators tell of themselves.
func operatorNumbers(ctx context.Context, r *run) {
	boards := []*answer{r.get(ctx, hub, "/api/operator/leaderboard?operators=all&limit=100"), r.get(ctx, hub, "/api/network/operators?limit=40")}
	if r.API != "" {
		boards = append(boards, r.get(ctx, api, "/api/v1/signals/leaderboard?operators=all&limit=200"))
	}
	for _, a := range boards {
		for _, rows := range []string{"leaderboard", "operators"} {
			for _, row := range list(a.value, rows) {
				won, _ := whole(row, "won")
				lost, _ := whole(row, "lost")
				pending, _ := whole(row, "pending")
				total, _ := whole(row, "total")
				r.due(won+lost+pending <= total, a, "won, lost and pending are within total", fmt.Sprintf("%d, %d, %d of %d", won, lost, pending, total))
				r.accuracy(a, row, won, won+lost)
				score, _ := whole(row, "score")
				r.due(score >= -100*lost && score <= 99*won, a, "a score that won and lost can make", say(score))
			}
		}
	}
	for _, h := range r.handles(ctx, 3) {
		a := r.get(ctx, hub, "/api/network/field-record/"+h)
		if a.status != http.StatusOK {
			continue
		}
		calls, _ := whole(a.value, "calls")
		resolved, _ := whole(a.value, "resolved")
		correct, _ := whole(a.value, "correct")
		pending, _ := whole(a.value, "pending")
		r.due(correct <= resolved && resolved+pending <= calls, a, "correct within resolved, and both with pending within calls", fmt.Sprintf("%d, %d, %d of %d", correct, resolved, pending, calls))
		r.accuracy(a, a.value, correct, resolved)
		if resolved == 0 {
			r.same(a, "rank", nil)
		}
		r.due(len(list(a.value, "recent")) <= 5, a, "at most 5 recent calls", fmt.Sprint(len(list(a.value, "recent"))))
	}
}

func (r *run) accuracy(a *answer, row any, won, resolved int) {
	want := 0
	if resolved > 0 {
		want = int(math.Floor(100*float64(won)/float64(resolved) + 0.5))
	}
	got, ok := whole(row, "accuracy")
	r.due(ok && got == want, a, fmt.Sprintf("accuracy %d: %d of %d", want, won, resolved), say(at(row, "accuracy")))
}

func pulseWeeks(ctx context.Context, r *run) {
	a := r.get(ctx, hub, "/api/network/pulse")
	if !r.status(a, http.StatusOK) {
		return
	}
	weeks := list(a.value, "weeks")
	if !r.due(len(weeks) == 16, a, "16 weeks", fmt.Sprint(len(weeks))) {
		return
	}
	var before time.Time
	for i, w := range weeks {
		at, err := time.Parse(time.DateOnly, text(w, "ws"))
		fits := err == nil && at.Weekday() == time.Monday && (i == 0 || at.Equal(before.AddDate(0, 0, 7)))
		r.due(fits, a, "the Monday behind that of the week before", say(text(w, "ws")))
		before = at
	}
	sum := 0
	for _, name := range []string{"independentSignals", "houseSignals", "automatedSignals"} {
		n, _ := whole(a.value, "totals."+name)
		sum += n
	}
	all, _ := whole(a.value, "totals.signals")
	r.due(sum == all, a, "the three kinds make totals.signals", fmt.Sprintf("%d and %d", sum, all))
	won, _ := whole(a.value, "totals.won")
	lost, _ := whole(a.value, "totals.lost")
	resolved, _ := whole(a.value, "totals.resolved")
	r.due(won+lost == resolved, a, "won and lost make resolved", fmt.Sprintf("%d, %d and %d", won, lost, resolved))
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
	r.due(math.Abs(got-want) < 0.0051, a, fmt.Sprintf("wssAo is %v", want), say(got))
}
