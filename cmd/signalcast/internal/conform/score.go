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

// scoreFormula checks the scores of the calls in the feeds. For some calls it also computes the result from the history of the
// call.
func scoreFormula(ctx context.Context, r *run) {
	for _, kind := range []string{"recent", "beat_crowd"} {
		a := r.get(ctx, hub, "/api/signals/feed?type="+kind+"&limit=50")
		for _, s := range list(a.value, "signals") {
			r.scoreRange(a, s)
		}
	}
	for _, id := range r.calls(ctx, 8) {
		a := r.get(ctx, hub, "/api/signals/"+id)
		if a.status == http.StatusOK {
			r.scoreRange(a, a.value)
			r.result(a, r.get(ctx, hub, "/api/signals/"+id+"/events"))
		}
	}
}

// scoreRange checks that the score is within the bounds for the status of the call. These bounds do not depend on the scoring
// price.
func (r *run) scoreRange(a *answer, s any) {
	score, scored := integer(s, "score")
	switch status := text(s, "status"); status {
	case "pending":
		r.expect(!scored && at(s, "resolvedAt") == nil, a, "no score and no resolvedAt while pending", describe(at(s, "score")))
	case "won":
		r.expect(scored && score >= 0 && score <= 99, a, "0 to 99 for a won call", describe(at(s, "score")))
	case "lost":
		r.expect(scored && score >= -100 && score <= -1, a, "-100 to -1 for a lost call", describe(at(s, "score")))
	case "void":
		r.expect(scored && score == 0, a, "0 for a void call", describe(at(s, "score")))
	default:
		r.expect(false, a, "pending, won, lost or void", describe(status))
	}
}

// result computes the status and the score of a resolved call from the outcome and the scoring price in its history. It compares
// them with the call. It ignores pending calls.
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
	if !r.expect(n == 1, history, "one event of type resolved", fmt.Sprint(n)) {
		return
	}
	outcome := text(payload, "outcome")
	r.expect(outcome == "YES" || outcome == "NO" || outcome == "INVALID", history, "outcome YES, NO or INVALID",
		describe(at(payload, "outcome")))
	want := record.StatusOf(outcome, direction)
	r.expect(status == want, a, direction+" with outcome "+outcome+" is "+want, status)
	basis, ok := integer(payload, "scoreBasisBps")
	if !r.expect(ok && basis >= 0 && basis <= 10000, history, "scoreBasisBps", describe(at(payload, "scoreBasisBps"))) {
		return
	}
	score := record.ScoreOf(want, basis)
	got, _ := integer(a.value, "score")
	r.expect(got == score, a, fmt.Sprintf("score %d: %s at %d", score, want, basis), "score "+describe(at(a.value, "score")))
	scored, _ := integer(payload, "score")
	r.expect(scored == score, history, fmt.Sprintf("score %d in the event", score), describe(at(payload, "score")))
	closed, known := integer(a.value, "closePrice")
	if direction == "NO" {
		closed = 10000 - closed
	}
	clv, has := integer(a.value, "clvBps")
	switch {
	case !known || want == "void":
		r.expect(!has, a, "no clvBps without a closing price or for a void call", describe(at(a.value, "clvBps")))
	default:
		r.expect(has && clv == closed-basis, a,
			fmt.Sprintf("clvBps is %d: closing price of the side called minus scoring price", closed-basis),
			describe(at(a.value, "clvBps")))
	}
}

// completeRecords downloads and verifies the records of up to two operators. It skips the check if the server offers no
// records.
func completeRecords(ctx context.Context, r *run) {
	for _, h := range r.handles(ctx, 2) {
		q := request{method: http.MethodGet, host: hub, path: "/api/operator/" + h + "/record?format=jsonl"}
		a := r.send(ctx, q.with("Accept", "*/*"))
		if a.status != http.StatusOK {
			r.skip("the server offers no records: " + a.summary())
			return
		}
		var differences bytes.Buffer
		_, err := record.Verify(bytes.NewReader(a.body), &differences, record.Options{Now: r.now()})
		if errors.Is(err, record.ErrNoRecord) {
			r.skip("the answer to " + a.path + " is not a record of the known format")
			return
		}
		if !r.expect(err == nil, a, "a record whose numbers follow from its lines", fmt.Sprint(err)) {
			first, _ := io.ReadAll(io.LimitReader(&differences, 200))
			r.expect(false, a, "no difference", string(first))
		}
	}
}
