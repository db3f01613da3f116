package conform

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
)

// check describes one check of a server and the function that runs it.
type check struct {
	id, title string
	source    string // page, operation or standard that contains the rule
	host      host   // service that is checked; empty means hub
	key       bool   // requires the operator key
	admin     bool   // requires the admin secret
	run       func(context.Context, *run)
}

// Outcome states how a check ended: pass, fail or skip.
type Outcome string

// Outcomes of a check.
const (
	Pass Outcome = "pass"
	Fail Outcome = "fail"
	Skip Outcome = "skip"
)

// Finding is one deviation of a server from the protocol.
type Finding struct {
	Request  string `json:"asked"` // request
	Actual   string `json:"came"`  // actual answer
	Expected string `json:"due"`   // expected answer
}

// Result describes a passed, failed or skipped check for the report.
type Result struct {
	ID          string    `json:"id"`
	Title       string    `json:"title"`
	Source      string    `json:"source"`
	Outcome     Outcome   `json:"outcome"`
	Because     string    `json:"because,omitempty"` // reason of a skipped check
	Note        string    `json:"note,omitempty"`    // names what could not be checked
	Limited     bool      `json:"limited,omitempty"` // skipped because of a limit
	Unavailable bool      `json:"away,omitempty"`    // skipped because the service cannot be reached
	Ended       bool      `json:"ended,omitempty"`   // the run was interrupted during the check
	Findings    []Finding `json:"findings,omitempty"`
	More        int       `json:"more,omitempty"` // number of findings that are not shown
}

// maxFindings is the number of findings that a report shows for one check. Result.More counts the others.
const maxFindings = 8

// run is the state of one execution of `signalcast conform`. All checks share it.
type run struct {
	*client
	doc      *document
	state    state
	current  *Result // result of the current check
	compared int     // number of comparisons that the current check has made

	unanswered bool // the current check is skipped because its service does not answer
}

// expect adds a finding unless ok is true, and returns ok. The parameter want describes the expected response. The optional
// parameter got describes the actual one; the default is its status and error code. If a response of the check is missing
// because of a limit or an unavailable service, expect adds no finding, because a missing response shows nothing about the
// server.
func (r *run) expect(ok bool, a *answer, want string, got ...string) bool {
	r.compared++
	if ok || r.missing != "" {
		return ok
	}
	if len(r.current.Findings) == maxFindings {
		r.current.More++
		return false
	}
	actual := a.summary()
	if len(got) > 0 {
		actual = got[0]
	}
	r.current.Findings = append(r.current.Findings, Finding{
		Request: show.Short(a.name(), 160), Actual: show.Short(actual, 240), Expected: show.Short(want, 240),
	})
	return false
}

// status adds a finding unless the status of the response equals want. It returns whether the status matches.
func (r *run) status(a *answer, want int) bool {
	return r.expect(a.err == nil && a.status == want, a, fmt.Sprint(want))
}

// refused adds a finding unless the response is an error with this status and error code. It returns whether both match.
func (r *run) refused(a *answer, status int, code string) bool {
	return r.expect(a.err == nil && a.status == status && text(a.value, "error") == code, a, fmt.Sprintf("%d %s", status, code))
}

// same adds a finding unless the member of the response at path equals want.
func (r *run) same(a *answer, path string, want any) {
	got := at(a.value, path)
	r.expect(got == want, a, path+" is "+describe(want), path+" is "+describe(got))
}

// skip stores the reason why the current check is skipped, shortened to 160 characters.
func (r *run) skip(because string) { r.current.Because = show.Short(because, 160) }

// all runs the checks in order and returns their results. If the list only is not empty, it runs only the checks with the ids
// in this list. It calls the function report after each check. If ctx is canceled during a check, it runs no further check.
func (r *run) all(ctx context.Context, only []string, report func(Result)) []Result {
	var out []Result
	for _, c := range checks() {
		if len(only) > 0 && !slices.Contains(only, c.id) {
			continue
		}
		r.current = &Result{ID: c.id, Title: c.title, Source: c.source, Outcome: Pass}
		r.compared, r.missing, r.unreached, r.unanswered = 0, "", false, false
		if r.current.Because = r.skipReason(&c); r.current.Because == "" {
			c.run(ctx, r)
		}
		r.setOutcome(ctx)
		report(*r.current)
		out = append(out, *r.current)
		if ctx.Err() != nil {
			break
		}
	}
	return out
}

// setOutcome sets the outcome of the current check. An interrupted check has no findings, because its responses may be missing
// only because of the interruption.
func (r *run) setOutcome(ctx context.Context) {
	switch {
	case ctx.Err() != nil:
		r.current.Outcome, r.current.Ended, r.current.Findings, r.current.More = Skip, true, nil, 0
		r.skip("the run was interrupted during this check")
	case len(r.current.Findings) > 0:
		r.current.Outcome, r.current.Because = Fail, ""
	case r.missing != "":
		r.current.Outcome, r.current.Limited, r.current.Unavailable = Skip, !r.unreached, r.unreached
		r.skip("not tried: " + r.missing)
	case r.current.Because != "":
		r.current.Outcome, r.current.Unavailable = Skip, r.unanswered
	case r.compared == 0:
		r.current.Outcome, r.current.Because = Skip, "the server has no data to check"
	}
}

// skipReason returns the reason why a check cannot run, or "" if it can. It sets r.unanswered if the service does not answer.
func (r *run) skipReason(c *check) string {
	h := c.host
	if h == "" {
		h = hub
	}
	switch {
	case r.at(h) == "":
		return "needs the address of the " + string(h) + ": --" + string(h)
	case r.silent[h] >= silentAfter && c.id != "reach":
		r.unanswered = true
		return "the " + string(h) + " does not answer"
	case c.key && r.Key == "":
		return "needs a key: --key"
	case c.admin && r.Admin == "":
		return "needs the admin secret: --admin-secret"
	}
	return ""
}

// poll reads a path of the hub repeatedly, because a server may return data that is some seconds old. It ends when the
// function holds returns true for a response, after 21 reads with pauses of 1.5 s, after an error, or at a rate limit. It
// returns the last response.
func (r *run) poll(ctx context.Context, path string, holds func(*answer) bool) *answer {
	for n := 0; ; n++ {
		a := r.reread(ctx, hub, path)
		if holds(a) || n == 20 || a.err != nil || a.limited() || r.wait(ctx, 1500*time.Millisecond) != nil {
			return a
		}
	}
}
