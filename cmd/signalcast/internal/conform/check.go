package conform

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
)

// check is one thing that a server of the protocol does.
type check struct {
	id, title string
	source    string // where it is demanded
	host      host   // empty: hub
	key       bool   // it needs the key
	admin     bool   // and the admin secret
	run       func(context.Context, *run)
}

// Outcome is how a check ended.
type Outcome string

// The outcomes.
const (
	Pass Outcome = "pass"
	Fail Outcome = "fail"
	Skip Outcome = "skip"
)

// Finding is one difference from the specification.
type Finding struct {
	Asked string `json:"asked"`
	Came  string `json:"came"`
	Due   string `json:"due"`
}

// Result is the result of a check.
type Result struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Source   string    `json:"source"`
	Outcome  Outcome   `json:"outcome"`
	Because  string    `json:"because,omitempty"` // why it was skipped
	Note     string    `json:"note,omitempty"`    // what could not be checked
	Limited  bool      `json:"limited,omitempty"` // it was not tried: a limit was reached
	Away     bool      `json:"away,omitempty"`    // it was not tried: the service cannot be reached
	Ended    bool      `json:"ended,omitempty"`   // the run was ended in it
	Findings []Finding `json:"findings,omitempty"`
	More     int       `json:"more,omitempty"` // findings that are not shown
}

// maxFindings of a check are shown.
const maxFindings = 8

// run is a run as its checks see it.
type run struct {
	*client
	doc     *document
	own     own
	current *Result
	looked  int // things that the check has looked at
}

// due adds a finding unless ok; came describes the answer, by default its status and error code. While an answer of the
// check is missing because of a limit or an unavailable service, no finding is added: nothing follows from a missing answer.
func (r *run) due(ok bool, a *answer, due string, came ...string) bool {
	r.looked++
	if ok || r.short != "" {
		return ok
	}
	if len(r.current.Findings) == maxFindings {
		r.current.More++
		return false
	}
	what := a.came()
	if len(came) > 0 {
		what = came[0]
	}
	r.current.Findings = append(r.current.Findings, Finding{
		Asked: show.Short(a.asked(), 160), Came: show.Short(what, 240), Due: show.Short(due, 240),
	})
	return false
}

// status demands one.
func (r *run) status(a *answer, want int) bool {
	return r.due(a.err == nil && a.status == want, a, fmt.Sprint(want))
}

// refused demands an error of the protocol.
func (r *run) refused(a *answer, status int, code string) bool {
	return r.due(a.err == nil && a.status == status && text(a.value, "error") == code, a, fmt.Sprintf("%d %s", status, code))
}

// same compares a member of an answer.
func (r *run) same(a *answer, path string, want any) {
	got := at(a.value, path)
	r.due(got == want, a, path+" is "+say(want), path+" is "+say(got))
}

// skip ends a check that has nothing to look at.
func (r *run) skip(because string) { r.current.Because = show.Short(because, 160) }

// all runs the checks, one after the other.
func (r *run) all(ctx context.Context, only []string, tell func(Result)) []Result {
	var out []Result
	for _, c := range checks() {
		if len(only) > 0 && !slices.Contains(only, c.id) {
			continue
		}
		r.current, r.looked, r.short, r.unreached = &Result{ID: c.id, Title: c.title, Source: c.source, Outcome: Pass}, 0, "", false
		if r.current.Because = r.cannot(&c); r.current.Because == "" {
			c.run(ctx, r)
		}
		r.judge(ctx)
		tell(*r.current)
		out = append(out, *r.current)
		if ctx.Err() != nil {
			break
		}
	}
	return out
}

// judge sets the outcome of the current check. A check during which the run was ended has no findings: its answers may be missing
// because of the end.
func (r *run) judge(ctx context.Context) {
	switch {
	case ctx.Err() != nil:
		r.current.Outcome, r.current.Ended, r.current.Findings, r.current.More = Skip, true, nil, 0
		r.skip("the run was ended in it")
	case len(r.current.Findings) > 0:
		r.current.Outcome, r.current.Because = Fail, ""
	case r.short != "":
		r.current.Outcome, r.current.Limited, r.current.Away = Skip, !r.unreached, r.unreached
		r.skip("not tried: " + r.short)
	case r.current.Because != "":
		r.current.Outcome = Skip
	case r.looked == 0:
		r.current.Outcome, r.current.Because = Skip, "there is nothing there to look at"
	}
}

// cannot says why a check has to be left out.
func (r *run) cannot(c *check) string {
	h := c.host
	if h == "" {
		h = hub
	}
	switch {
	case r.at(h) == "":
		return "needs the address of the " + string(h) + ": --" + string(h)
	case r.silent[h] >= silentAfter && c.id != "reach":
		return "the " + string(h) + " does not answer"
	case c.key && r.Key == "":
		return "needs a key: --key"
	case c.admin && r.Admin == "":
		return "needs the admin secret: --admin-secret"
	}
	return ""
}

// later reads a path until holds returns true, at most 21 times: answers of a server may be some seconds old.
func (r *run) later(ctx context.Context, path string, holds func(*answer) bool) *answer {
	for n := 0; ; n++ {
		a := r.reread(ctx, hub, path)
		if holds(a) || n == 20 || a.err != nil || a.limited() || r.wait(ctx, 1500*time.Millisecond) != nil {
			return a
		}
	}
}
