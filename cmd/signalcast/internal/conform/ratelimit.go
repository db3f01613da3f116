package conform

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// limiter waits for the rate limits of a server. If a limit refuses a request, the check counts as not tried, and not as failed.
type limiter struct {
	left     time.Duration                             // time that the run may still wait
	waited   time.Duration                             // time that the run has waited
	progress func(pause time.Duration, because string) // called before each pause; may be nil
	blocks   map[limitKey]block
	refusals []*answer // the first maxRefusals answers with status 429
	missing  string    // why an answer of the current check is missing; empty if none is

	unreached bool // missing describes a service that cannot be reached, not a limit
}

// limitKey identifies a rate limit. Each service has separate limits for the key, for requests with the admin secret, for
// messages, and for the IP address.
type limitKey struct {
	host host
	on   string // "key", "secret", "message" or "address"
}

// limitKey returns the rate limit that the request counts against.
func (q request) limitKey() limitKey {
	switch {
	case q.key:
		return limitKey{q.host, "key"}
	case q.admin || q.header.Get("x-admin-secret") != "":
		return limitKey{q.host, "secret"}
	case strings.HasPrefix(q.path, protocolBase+"/messages"):
		return limitKey{q.host, "message"}
	}
	return limitKey{q.host, "address"}
}

// block is the time until which a limit allows no more requests.
type block struct {
	until   time.Time
	refused bool // the server has refused a request, so an earlier request would be refused as well
}

const maxRefusals = 32

var errLimited = errors.New("the rate limit of the server requires a longer wait than --wait allows; raise --wait")

// pause waits for d. Before the wait it calls c.progress, if set, with d and the reason in because. If d exceeds the time that
// the run may still wait, pause returns errLimited at once.
func (c *client) pause(ctx context.Context, d time.Duration, because string) error {
	if d > c.left {
		return errLimited
	}
	c.left -= d
	c.waited += d
	if c.progress != nil {
		c.progress(d, because)
	}
	return c.wait(ctx, d)
}

// limited reports whether a response is missing because of a rate limit of the server or of the run.
func (a *answer) limited() bool {
	return a.status == http.StatusTooManyRequests || errors.Is(a.err, errLimited) || errors.Is(a.err, errBudget)
}

// noteMissing records why a response of the current check is missing. Only the first reason of a check is recorded.
func (c *client) noteMissing(a *answer) {
	switch {
	case c.missing != "":
	case a.unreached:
		c.missing, c.unreached = fmt.Sprintf("%s: cannot be reached: %v", a.name(), a.err), true
	case a.status == http.StatusTooManyRequests:
		c.missing = fmt.Sprintf("%s is over a limit of the server, which requires a wait of %v", a.name(), a.retryAfter())
	default:
		c.missing = a.name() + " was not sent: " + a.err.Error()
	}
}

// retryAfter returns the time that the server requires the client to wait: the header Retry-After in seconds or as a date, or the
// member retryAfterMs. Without a valid value it returns 1 s.
func (a *answer) retryAfter() time.Duration {
	after := a.header.Get("Retry-After")
	if n, err := strconv.Atoi(after); err == nil && n > 0 && n < 1<<20 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(time.Second, time.Until(at).Round(time.Second))
	}
	if ms, ok := integer(a.value, "retryAfterMs"); ok && ms > 0 && ms < 1<<30 {
		return (time.Duration(ms)*time.Millisecond + time.Second - 1).Truncate(time.Second)
	}
	return time.Second
}

// rateLimitForm matches the header RateLimit: requests that remain, and seconds until the limit resets.
var rateLimitForm = regexp.MustCompile(`r=(\d{1,6}); ?t=(\d{1,6})`)

// observe records a block if the response states that the rate limit of the request is reached or nearly reached.
func (c *client) observe(q request, a *answer) {
	at := q.limitKey()
	if a.status == http.StatusTooManyRequests {
		if len(c.refusals) < maxRefusals {
			c.refusals = append(c.refusals, a)
		}
		c.blocks[at] = block{c.now().Add(a.retryAfter()), true}
		return
	}
	if m := rateLimitForm.FindStringSubmatch(a.header.Get("RateLimit")); m != nil {
		left, _ := strconv.Atoi(m[1])
		seconds, _ := strconv.Atoi(m[2])
		if left < 2 {
			c.blocks[at] = block{c.now().Add(time.Duration(seconds) * time.Second), false}
		}
	}
}

// waitForLimit waits until the block of the request's limit ends. For a request with the key, it also waits until fewer than
// maxKeyed requests with the key were sent in the last minute. If the run may not wait that long, it returns errLimited. A
// block without a refused request does not cause this error.
func (c *client) waitForLimit(ctx context.Context, q request) error {
	at := q.limitKey()
	if known, there := c.blocks[at]; there {
		if rest := known.until.Sub(c.now()); rest > 0 {
			err := c.pause(ctx, rest, "the limit of the "+string(q.host)+" is reached")
			if err != nil && (known.refused || !errors.Is(err, errLimited)) {
				return err
			}
		}
		delete(c.blocks, at)
	}
	if !q.key {
		return nil
	}
	now := c.now()
	for len(c.keyed) > 0 && now.Sub(c.keyed[0]) >= time.Minute {
		c.keyed = c.keyed[1:]
	}
	if len(c.keyed) >= maxKeyed {
		if err := c.pause(ctx, c.keyed[0].Add(time.Minute).Sub(now),
			fmt.Sprintf("the key was used %d times in a minute", maxKeyed)); err != nil {
			return err
		}
	}
	return nil
}
