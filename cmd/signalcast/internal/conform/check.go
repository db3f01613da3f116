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

// Finding is one thing that is not as it is due.
type Finding struct {
	Asked string `json:"asked"`
	Came  string `json:"came"`
	Due   string `json:"due"`
}

// Result is what came of a check.
type Result struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Source   string    `json:"source"`
	Outcome  Outcome   `json:"outcome"`
	Because  string    `json:"because,omitempty"` // why it was skipped
	Note     string    `json:"note,omitempty"`    // what could not be checked
	Limited  bool      `json:"limited,omitempty"` // it was not tried: a limit stood in the way
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
	doc    *document
	own    own
	told   *Result
	looked int // things that the check has looked at
}

// due notes a finding unless ok; came is what came, else the answer in short. Where a
// limit kept an answer away, or nobody was there, nothing follows from what did not come.
func (r *run) due(ok bool, a *answer, due string, came ...string) bool {
	r.looked++
	if ok || r.short != "" {
		return ok
	}
	if len(r.told.Findings) == maxFindings {
		r.told.More++
		return false
	}
	what := a.came()
	if len(came) > 0 {
		what = came[0]
	}
	r.told.Findings = append(r.told.Findings, Finding{
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
func (r *run) same(a *answer, path string, want any) bool {
	got := at(a.value, path)
	return r.due(got == want, a, path+" is "+say(want), path+" is "+say(got))
}

// skip ends a check that has nothing to look at.
func (r *run) skip(because string) { r.told.Because = show.Short(because, 160) }

// all runs the checks, one after the other.
func (r *run) all(ctx context.Context, only []string, tell func(Result)) []Result {
	var out []Result
	for _, c := range checks() {
		if len(only) > 0 && !slices.Contains(only, c.id) {
			continue
		}
		r.told, r.looked, r.short, r.unreached = &Result{ID: c.id, Title: c.title, Source: c.source, Outcome: Pass}, 0, "", false
		if r.told.Because = r.cannot(&c); r.told.Because == "" {
			c.run(ctx, r)
		}
		r.judge(ctx)
		tell(*r.told)
		out = append(out, *r.told)
		if ctx.Err() != nil {
			break
		}
	}
	return out
}

// judge says how the check at hand ended. What came of one in which the run was ended is
// not known: an answer that did not come may be the end's doing.
func (r *run) judge(ctx context.Context) {
	switch {
	case ctx.Err() != nil:
		r.told.Outcome, r.told.Ended, r.told.Findings, r.told.More = Skip, true, nil, 0
		r.skip("the run was ended in it")
	case len(r.told.Findings) > 0:
		r.told.Outcome, r.told.Because = Fail, ""
	case r.short != "":
		r.told.Outcome, r.told.Limited, r.told.Away = Skip, !r.unreached, r.unreached
		r.skip("not tried: " + r.short)
	case r.told.Because != "":
		r.told.Outcome = Skip
	case r.looked == 0:
		r.told.Outcome, r.told.Because = Skip, "there is nothing there to look at"
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

// later asks until something holds: answers of a server may be some seconds old.
func (r *run) later(ctx context.Context, h host, path string, holds func(*answer) bool) *answer {
	for n := 0; ; n++ {
		a := r.anew(ctx, h, path)
		if holds(a) || n == 20 || a.err != nil || a.limited() || r.wait(ctx, 1500*time.Millisecond) != nil {
			return a
		}
	}
}
