package conform

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// keyRequests is how many a key has in any minute.
const keyRequests = 60

// limitChecks returns the last checks of a run: the first uses up the limit of the key, and both read earlier refusals.
func limitChecks() []check {
	return []check{
		{id: "limit.key", title: "a key has sixty requests in any minute, and more after the wait", source: "specification, Limits; contract 6", key: true, run: sixtyRequests},
		{id: "limit.form", title: "an answer over a limit says how long to wait", source: "specification, Errors; contract 4.1, 5", run: limitForm},
	}
}

// sixtyRequests sends requests with the key to two routes until one is refused, waits as long as Retry-After says, and
// sends one more.
func sixtyRequests(ctx context.Context, r *run) {
	record := request{method: http.MethodGet, host: hub, path: "/api/network/field-record/me", key: true}
	routes := []request{record, {method: http.MethodPost, host: hub, path: "/api/predictions", key: true, body: "{}"}}
	began := r.now()
	var a *answer
	for n := range keyRequests + 1 {
		if r.sent >= maxRequests {
			r.skip("not tried: " + errBudget.Error())
			return
		}
		if a = r.ask(ctx, routes[n%len(routes)]); a.err != nil || a.status == http.StatusTooManyRequests {
			break
		}
	}
	took := r.now().Sub(began)
	switch {
	case a.status != http.StatusTooManyRequests && took >= time.Minute-time.Second:
		r.skip(fmt.Sprintf("the server took %v for %d requests", took.Round(time.Second), keyRequests+1))
		return
	case !r.due(a.err == nil && a.status == http.StatusTooManyRequests, a, fmt.Sprintf("429 for one of %d requests with the key in %v", keyRequests+1, took.Round(time.Second))):
		return
	}
	if r.enough(ctx, a); r.short != "" {
		return
	}
	if d := a.retryAfter(); r.pause(ctx, d, "the key is over its limit, and its wait is tried") != nil {
		r.skip(fmt.Sprintf("not tried: the server asks to wait %v, and --wait leaves %v", d, r.left))
		return
	}
	b := r.ask(ctx, record)
	r.due(b.err == nil && b.status != http.StatusTooManyRequests, b, fmt.Sprintf("an answer, as %v were waited", a.retryAfter()))
}

// enough requires that the key was not refused before its 60th request. After a refusal of the address it decides nothing.
func (r *run) enough(ctx context.Context, a *answer) {
	if limit, _ := whole(a.value, "limit"); limit == keyRequests {
		used := 0
		for _, at := range r.keyed[:len(r.keyed)-1] { // the last was refused
			if r.now().Sub(at) <= time.Minute+time.Second {
				used++
			}
		}
		r.due(used >= keyRequests, a, fmt.Sprintf("%d requests before the key is over its limit", keyRequests), fmt.Sprintf("429 after %d", used))
		return
	}
	address := r.ask(ctx, request{method: http.MethodGet, host: hub, path: "/api/signals/feed"})
	if address.status == http.StatusTooManyRequests {
		r.miss(address)
		return
	}
	r.due(false, a, fmt.Sprintf("limit is %d", keyRequests), "limit is "+say(at(a.value, "limit")))
}

// limitForm looks at every refusal of the run that was for a limit.
func limitForm(_ context.Context, r *run) {
	if len(r.over) == 0 {
		r.skip("no request of the run was over a limit")
		return
	}
	for _, a := range r.over {
		r.wellFormed(a)
		code := text(a.value, "error")
		r.due(code == "rate_limited", a, "error is rate_limited", "error is "+say(code))
		limit, isLimit := whole(a.value, "limit")
		r.due(isLimit && limit > 0, a, "limit is a whole number", "limit is "+say(at(a.value, "limit")))
		ms, isTime := whole(a.value, "retryAfterMs")
		r.due(isTime && ms > 0, a, "retryAfterMs is a whole number", "retryAfterMs is "+say(at(a.value, "retryAfterMs")))
		after := a.header.Get("Retry-After")
		if seconds, err := strconv.Atoi(after); r.due(err == nil && seconds > 0, a, "Retry-After in seconds", "Retry-After: "+after) && isTime {
			r.due(seconds == (ms+999)/1000, a, fmt.Sprintf("Retry-After is %d ms in seconds, rounded up", ms), "Retry-After: "+after)
		}
		if m := remaining.FindStringSubmatch(a.header.Get("RateLimit")); m != nil {
			r.due(strings.Trim(m[1], "0") == "", a, "RateLimit has nothing left", "RateLimit: "+a.header.Get("RateLimit"))
		}
		if m := policyForm.FindStringSubmatch(a.header.Get("RateLimit-Policy")); m != nil && isLimit {
			r.due(m[1] == strconv.Itoa(limit), a, "RateLimit-Policy has the limit of the body", "RateLimit-Policy: "+a.header.Get("RateLimit-Policy"))
		}
		if a.method == http.MethodGet && strings.HasPrefix(a.path, "/api/network/") && !strings.HasSuffix(a.path, "/me") || strings.HasPrefix(a.path, protocolBase) {
			r.anyOrigin(a)
		}
	}
}
