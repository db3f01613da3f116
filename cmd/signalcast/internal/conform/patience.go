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

// patience is how long a run may wait for limits, and the state of the known limits. A limit is no fault of the server: a
// request that a limit refused counts as not sent.
type patience struct {
	left   time.Duration // of what the run may wait altogether
	waited time.Duration
	tell   func(pause time.Duration, because string) // before each pause; may be nil
	rest   map[budget]resting
	over   []*answer // 429s that came, the first maxOver of them
	short  string    // why an answer of the check at hand was not given; empty: all were

	unreached bool // short describes an unavailable service, not a limit
}

// budget identifies a limit: each service has its own, with separate ones for the key, for wrong secrets, for messages and for
// the address.
type budget struct {
	host host
	on   string
}

func (q request) budget() budget {
	switch {
	case q.key:
		return budget{q.host, "key"}
	case q.admin || q.header.Get("x-admin-secret") != "":
		return budget{q.host, "secret"}
	case strings.HasPrefix(q.path, protocolBase+"/messages"):
		return budget{q.host, "message"}
	}
	return budget{q.host, "address"}
}

// resting is the time until which a budget is used up.
type resting struct {
	until time.Time
	firm  bool // the server has refused: asking earlier is in vain
}

const maxOver = 32

var errLimited = errors.New("the server takes no more requests for now")

// pause waits for a limit, if the run may wait so long, and says so first.
func (c *client) pause(ctx context.Context, d time.Duration, because string) error {
	if d > c.left {
		return errLimited
	}
	c.left -= d
	c.waited += d
	if c.tell != nil {
		c.tell(d, because)
	}
	return c.wait(ctx, d)
}

// limited reports whether an answer is missing because of a limit of the server or of the run.
func (a *answer) limited() bool {
	return a.status == http.StatusTooManyRequests || errors.Is(a.err, errLimited) || errors.Is(a.err, errBudget)
}

// miss notes that the current check lacks an answer.
func (c *client) miss(a *answer) {
	switch {
	case c.short != "":
	case a.unreached:
		c.short, c.unreached = fmt.Sprintf("%s: cannot be reached: %v", a.asked(), a.err), true
	case a.status == http.StatusTooManyRequests:
		c.short = fmt.Sprintf("%s is over a limit of the server, which asks to wait %v", a.asked(), a.retryAfter())
	default:
		c.short = a.asked() + " was not sent: " + a.err.Error()
	}
}

// retryAfter is how long the server asks to wait: Retry-After in seconds or as a time, or retryAfterMs; 1 s without them.
func (a *answer) retryAfter() time.Duration {
	after := a.header.Get("Retry-After")
	if n, err := strconv.Atoi(after); err == nil && n > 0 && n < 1<<20 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(time.Second, time.Until(at).Round(time.Second))
	}
	if ms, ok := whole(a.value, "retryAfterMs"); ok && ms > 0 && ms < 1<<30 {
		return (time.Duration(ms)*time.Millisecond + time.Second - 1).Truncate(time.Second)
	}
	return time.Second
}

// remaining reads what the server says is left (RateLimit).
var remaining = regexp.MustCompile(`r=(\d{1,6}); ?t=(\d{1,6})`)

// learn stores what an answer says about the limit that it was counted on.
func (c *client) learn(q request, a *answer) {
	at := q.budget()
	if a.status == http.StatusTooManyRequests {
		if len(c.over) < maxOver {
			c.over = append(c.over, a)
		}
		c.rest[at] = resting{c.now().Add(a.retryAfter()), true}
		return
	}
	if m := remaining.FindStringSubmatch(a.header.Get("RateLimit")); m != nil {
		left, _ := strconv.Atoi(m[1])
		seconds, _ := strconv.Atoi(m[2])
		if left < 2 {
			c.rest[at] = resting{c.now().Add(time.Duration(seconds) * time.Second), false}
		}
	}
}

// pace waits until the next request may be sent: requests with the key are limited to maxKeyed in a minute, and the server
// may have said that a limit is near or reached.
func (c *client) pace(ctx context.Context, q request) error {
	at := q.budget()
	if known, there := c.rest[at]; there {
		if rest := known.until.Sub(c.now()); rest > 0 {
			err := c.pause(ctx, rest, "the "+string(q.host)+" takes no more requests for now")
			if err != nil && (known.firm || !errors.Is(err, errLimited)) {
				return err
			}
		}
		delete(c.rest, at)
	}
	if !q.key {
		return nil
	}
	now := c.now()
	for len(c.keyed) > 0 && now.Sub(c.keyed[0]) >= time.Minute {
		c.keyed = c.keyed[1:]
	}
	if len(c.keyed) >= maxKeyed {
		if err := c.pause(ctx, c.keyed[0].Add(time.Minute).Sub(now), fmt.Sprintf("the key was used %d times in a minute", maxKeyed)); err != nil {
			return err
		}
	}
	return nil
}
