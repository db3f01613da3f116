package main

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// pace keeps one caller within its limit: so many calls in any window, as the
// front door counts them. It counts from the end of a call, which is never
// before the moment at which the other side counted it. Not for concurrent use.
type pace struct {
	limit  int
	window time.Duration
	done   []time.Time // ends of the last calls, oldest first, at most limit
	hold   time.Time   // not before this, says the other side
}

func newPace() *pace { return &pace{limit: 60, window: time.Minute} }

// wait says how long to wait before the next call.
func (p *pace) wait(now time.Time) time.Duration {
	next := p.hold
	if len(p.done) >= p.limit {
		if free := p.done[len(p.done)-p.limit].Add(p.window); free.After(next) {
			next = free
		}
	}
	return max(next.Sub(now), 0)
}

// learn notes a call that has ended and what its answer said about the limit.
func (p *pace) learn(now time.Time, h http.Header) {
	p.done = append(p.done, now)
	if policy := params(h.Get("RateLimit-Policy")); policy["q"] > 0 && policy["w"] > 0 {
		p.limit, p.window = policy["q"], time.Duration(policy["w"])*time.Second
	}
	if extra := len(p.done) - p.limit; extra > 0 {
		p.done = p.done[extra:]
	}
	if left, ok := params(h.Get("RateLimit"))["r"]; ok && left == 0 {
		p.hold = now.Add(time.Duration(params(h.Get("RateLimit"))["t"]) * time.Second)
	}
}

// params reads the whole numbers of `"name";q=60;w=60`.
func params(text string) map[string]int {
	out := map[string]int{}
	for _, part := range strings.Split(text, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if n, err := strconv.Atoi(value); ok && err == nil {
			out[name] = n
		}
	}
	return out
}

// retryAfter reads how long a refusal asks to wait, in seconds or until a date.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := h.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return time.Duration(n) * time.Second, true
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(t.Sub(now), 0), true
	}
	return 0, false
}
