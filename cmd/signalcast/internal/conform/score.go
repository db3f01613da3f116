package conform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/record"
)

func scoreFormula(ctx context.Context, r *run) {
	for _, kind := range []string{"recent", "beat_crowd"} {
		a := r.get(ctx, hub, "/api/signals/feed?type="+kind+"&limit=50")
		for _, s := range list(a.value, "signals") {
			r.inRange(a, s)
		}
	}
	for _, id := range r.calls(ctx, 8) {
		a := r.get(ctx, hub, "/api/signals/"+id)
		if a.status == http.StatusOK {
			r.inRange(a, a.value)
			r.result(a, r.get(ctx, hub, "/api/signals/"+id+"/events"))
		}
	}
}

// inRange holds what can be said of a score without its basis.
func (r *run) inRange(a *answer, s any) {
	score, scored := whole(s, "score")
	switch status := text(s, "status"); status {
	case "pending":
		r.due(!scored && at(s, "resolvedAt") == nil, a, "no score and no resolvedAt while pending", say(at(s, "score")))
	case "won":
		r.due(scored && score >= 0 && score <= 99, a, "0 to 99 for what was won", say(at(s, "score")))
	case "lost":
		r.due(scored && score >= -100 && score <= -1, a, "-100 to -1 for what was lost", say(at(s, "score")))
	case "void":
		r.due(scored && score == 0, a, "0 for what is void", say(at(s, "score")))
	default:
		r.due(false, a, "pending, won, lost or void", say(status))
	}
}

// result works the result of a call out again, from its history.
func (r *run) result(a, history *answer) {
	status, direction := text(a.value, "status"), text(a.value, "direction")
	if status == "pending" || history.status != http.StatusOK {
		return
	}
	var payload any
	n := 0
	for _, e := range list(history.value, "events") {
		if text(e, "type") == "resolved" {
			payload, n = at(e, "payload"), n+1
		}
	}
	if !r.due(n == 1, history, "one event of type resolved", fmt.Sprint(n)) {
		return
	}
	outcome := text(payload, "outcome")
	r.due(outcome == "YES" || outcome == "NO" || outcome == "INVALID", history, "outcome YES, NO or INVALID", say(at(payload, "outcome")))
	want := record.StatusOf(outcome, direction)
	r.due(status == want, a, direction+" with outcome "+outcome+" is "+want, status)
	basis, ok := whole(payload, "scoreBasisBps")
	if !r.due(ok && basis >= 0 && basis <= 10000, history, "scoreBasisBps", say(at(payload, "scoreBasisBps"))) {
		return
	}
	score := record.ScoreOf(want, basis)
	got, _ := whole(a.value, "score")
	r.due(got == score, a, fmt.Sprintf("score %d: %s at %d", score, want, basis), "score "+say(at(a.value, "score")))
	scored, _ := whole(payload, "score")
	r.due(scored == score, history, fmt.Sprintf("score %d in the event", score), say(at(payload, "score")))
	closed, known := whole(a.value, "closePrice")
	if direction == "NO" {
		closed = 10000 - closed
	}
	clv, has := whole(a.value, "clvBps")
	switch {
	case !known || want == "void":
		r.due(!has, a, "no clvBps without a close, or of what is void", say(at(a.value, "clvBps")))
	default:
		r.due(has && clv == closed-basis, a, fmt.Sprintf("clvBps is %d: the side called at the close, less its price", closed-basis), say(at(a.value, "clvBps")))
	}
}

// wholeRecords verifies records line by line, at servers that give them out.
func wholeRecords(ctx context.Context, r *run) {
	for _, h := range r.handles(ctx, 2) {
		a := r.send(ctx, request{method: http.MethodGet, host: hub, path: "/api/operator/" + h + "/record?format=jsonl"}.with("Accept", "*/*"))
		if a.status != http.StatusOK {
			r.skip("the server gives no records out: " + a.came())
			return
		}
		var said bytes.Buffer
		_, err := record.Verify(bytes.NewReader(a.body), &said, record.How{Now: r.now()})
		if errors.Is(err, record.ErrNoRecord) {
			r.skip("what the server gives out at " + a.path + " is no record of the known form")
			return
		}
		if !r.due(err == nil, a, "a record whose numbers follow from its lines", fmt.Sprint(err)) {
			first, _ := io.ReadAll(io.LimitReader(&said, 200))
			r.due(false, a, "no difference", string(first))
		}
	}
}
