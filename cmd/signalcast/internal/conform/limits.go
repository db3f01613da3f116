package conform

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// keyRequests is the number of requests that a key may send in any minute.
const keyRequests = 60

// limitChecks returns the checks that must run last. The first uses up the rate limit of the key. The second checks the responses
// with status 429 that the run received.
func limitChecks() []check {
	return []check{
		{
			id: "limit.key", title: "a key has 60 requests in any minute, and more after the required wait",
			source: "openapi: info, Limits", key: true, run: exhaustKey,
		},
		{
			id: "limit.form", title: "a 429 answer states how long to wait",
			source: "docs/protocol/errors.md#requests; openapi: info, Limits", run: limitForm,
		},
	}
}

// exhaustKey sends requests with the key to two routes until one is refused. It then waits for Retry-After and sends one more
// request.
func exhaustKey(ctx context.Context, r *run) {
	record := request{method: http.MethodGet, host: hub, path: "/api/network/field-record/me", key: true}
	routes := []request{record, {method: http.MethodPost, host: hub, path: "/api/predictions", key: true, body: "{}"}}
	began := r.now()
	var a *answer
	for n := range keyRequests + 1 {
		if r.sent >= maxRequests {
			r.skip("not tried: " + errBudget.Error())
			return
		}
		if a = r.sendNow(ctx, routes[n%len(routes)]); a.err != nil || a.status == http.StatusTooManyRequests {
			break
		}
	}
	took := r.now().Sub(began)
	switch {
	case a.status != http.StatusTooManyRequests && took >= time.Minute-time.Second:
		r.skip(fmt.Sprintf("the server took %v for %d requests", took.Round(time.Second), keyRequests+1))
		return
	case !r.expect(a.err == nil && a.status == http.StatusTooManyRequests, a,
		fmt.Sprintf("429 for one of %d requests with the key in %v", keyRequests+1, took.Round(time.Second))):
		return
	}
	if r.refusedTooEarly(ctx, a); r.missing != "" {
		return
	}
	if d := a.retryAfter(); r.pause(ctx, d, "the key is over its limit; this check waits for the limit to reset") != nil {
		r.skip(fmt.Sprintf("not tried: the server requires a wait of %v, and --wait allows %v", d, r.left))
		return
	}
	b := r.sendNow(ctx, record)
	r.expect(b.err == nil && b.status != http.StatusTooManyRequests, b, fmt.Sprintf("an answer after a wait of %v", a.retryAfter()))
}

// refusedTooEarly adds a finding if the key was refused before its 60th request in a minute, or if the refusal states another
// limit. If the limit of the IP address caused the refusal, it skips the check.
func (r *run) refusedTooEarly(ctx context.Context, a *answer) {
	if limit, _ := integer(a.value, "limit"); limit == keyRequests {
		used := 0
		for _, at := range r.keyed[:len(r.keyed)-1] { // without the last request, which was refused
			if r.now().Sub(at) <= time.Minute+time.Second {
				used++
			}
		}
		r.expect(used >= keyRequests, a, fmt.Sprintf("%d requests before the key is over its limit", keyRequests),
			fmt.Sprintf("429 after %d", used))
		return
	}
	address := r.sendNow(ctx, request{method: http.MethodGet, host: hub, path: "/api/signals/feed"})
	if address.status == http.StatusTooManyRequests {
		r.noteMissing(address)
		return
	}
	r.expect(false, a, fmt.Sprintf("limit is %d", keyRequests), "limit is "+describe(at(a.value, "limit")))
}

// limitForm checks the form of the responses with status 429 that the run received.
func limitForm(_ context.Context, r *run) {
	if len(r.refusals) == 0 {
		r.skip("no request of the run reached a limit")
		return
	}
	for _, a := range r.refusals {
		r.wellFormed(a)
		code := text(a.value, "error")
		r.expect(code == "rate_limited", a, "error is rate_limited", "error is "+describe(code))
		limit, isLimit := integer(a.value, "limit")
		r.expect(isLimit && limit > 0, a, "limit is a positive integer", "limit is "+describe(at(a.value, "limit")))
		ms, isTime := integer(a.value, "retryAfterMs")
		r.expect(isTime && ms > 0, a, "retryAfterMs is a positive integer", "retryAfterMs is "+describe(at(a.value, "retryAfterMs")))
		after := a.header.Get("Retry-After")
		seconds, err := strconv.Atoi(after)
		if r.expect(err == nil && seconds > 0, a, "Retry-After in seconds", "Retry-After: "+after) && isTime {
			r.expect(seconds == (ms+999)/1000, a, fmt.Sprintf("Retry-After is %d ms in seconds, rounded up", ms), "Retry-After: "+after)
		}
		if m := rateLimitForm.FindStringSubmatch(a.header.Get("RateLimit")); m != nil {
			r.expect(strings.Trim(m[1], "0") == "", a, "RateLimit with r=0", "RateLimit: "+a.header.Get("RateLimit"))
		}
		if m := policyForm.FindStringSubmatch(a.header.Get("RateLimit-Policy")); m != nil && isLimit {
			policy := a.header.Get("RateLimit-Policy")
			r.expect(m[1] == strconv.Itoa(limit), a, "RateLimit-Policy with the limit of the body", "RateLimit-Policy: "+policy)
		}
		openRead := a.method == http.MethodGet && strings.HasPrefix(a.path, "/api/network/") && !strings.HasSuffix(a.path, "/me")
		if openRead || strings.HasPrefix(a.path, protocolBase) {
			r.anyOrigin(a)
		}
	}
}
