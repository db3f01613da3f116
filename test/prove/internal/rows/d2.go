package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// d2 spends keys, believes what the refusal says, and comes back a second too
// early and then on time.
var d2 = frame.Row{
	ID: "D2", Title: "429 tells the truth", Limit: 3 * time.Minute, Beside: "I1",
	Fault: frame.Fault{What: "every refusal says to wait one second"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		n := env.Of(2, 10, 50)
		env, stop, err := freshHubs(ctx, env)
		if err != nil {
			return nil, err
		}
		defer stop()
		ops, err := pool(ctx, env, "d2", n, 1)
		if err != nil {
			return nil, err
		}
		ids, err := markets(ctx, env, "D2", 1)
		if err != nil {
			return nil, err
		}
		var mu sync.Mutex
		onTime, early := 0, 0
		frame.AtOnce(n, func(i int) {
			s := spender{env: env, seen: seen, key: ops[i].Keys[0], market: ids[0]}
			late, soon := s.run(ctx)
			mu.Lock()
			defer mu.Unlock()
			if late {
				onTime++
			}
			if soon {
				early++
			}
		})
		seen.Check(onTime == n, "%d of %d were taken after waiting", onTime, n)
		seen.Check(early == 0, "%d were taken early", early)
		seen.Promise(fmt.Sprintf("after waiting %d of %d, early 0", n, n), fmt.Sprintf("after waiting %d of %d, early %d", onTime, n, early))
		seen.Volume("%d keys", n)
		return seen, nil
	},
}

// spender is one key and its calls.
type spender struct {
	env    *frame.Env
	seen   *frame.Seen
	key    client.Key
	market string
	taken  []client.Answer
}

func (s *spender) call(ctx context.Context, i int) client.Answer {
	a := s.env.Client.File(ctx, s.env.Hub(i), s.key, client.Call{Market: s.market, Yes: true, Price: 5000})
	// The limit counts by the clock of Redis, which is set while this process runs.
	a.Began, a.Ended = a.Began.Round(0), a.Ended.Round(0)
	if a.Status == 200 || a.Status == 409 {
		s.taken = append(s.taken, a)
	}
	return a
}

// run tells whether the key was taken after its wait, and whether before.
func (s *spender) run(ctx context.Context) (onTime, early bool) {
	var no client.Answer
	for i := 0; no.Status != 429; i++ {
		if no = s.call(ctx, i); i > 2*keyLimit || no.Err != nil {
			s.seen.Wrong("call %d was answered %s", i, no)
			return false, false
		}
	}
	told, why := toldToWait(no)
	if why != "" {
		s.seen.Wrong("a refusal: %s", why)
		return false, false
	}
	s.seen.Check(len(s.taken) == keyLimit, "%d were taken before the refusal", len(s.taken))
	if wait(ctx, no.Ended.Add(told-time.Second)) != nil {
		return false, false
	}
	// It was taken early when even its answer came before the earliest end.
	soon := s.call(ctx, 1)
	if soon.Status == 429 {
		if again, why := toldToWait(soon); why != "" {
			s.seen.Wrong("a second refusal: %s", why)
		} else if end := no.Began.Add(told - time.Millisecond); soon.Ended.Add(again).Before(end) || soon.Began.Add(again).After(no.Ended.Add(told+time.Millisecond)) {
			s.seen.Wrong("the refusals contradict each other: %v after %v, then %v", told, no.Ended, again)
		}
	} else {
		early = soon.Ended.Before(no.Began.Add(told))
	}
	if wait(ctx, no.Ended.Add(told)) != nil {
		return false, early
	}
	last := s.call(ctx, 0)
	for i := keyLimit; i < len(s.taken); i++ {
		first := s.taken[i-keyLimit]
		s.seen.Check(s.taken[i].Ended.Sub(first.Began) >= time.Minute, "61 calls were taken within %v", s.taken[i].Ended.Sub(first.Began))
	}
	return last.Status == 200 || last.Status == 409, early
}

// toldToWait reads a refusal, and why it is not right; empty: it is.
func toldToWait(a client.Answer) (time.Duration, string) {
	var body struct {
		Error string `json:"error"`
		Limit int    `json:"limit"`
		MS    int64  `json:"retryAfterMs"`
	}
	err := json.Unmarshal(a.Body, &body)
	whole := strconv.FormatInt((body.MS+999)/1000, 10)
	switch h := a.Header; {
	case err != nil || body.Error != "rate_limited" || body.Limit != keyLimit:
		return 0, a.String()
	case body.MS < 1 || body.MS > 60_000:
		return 0, fmt.Sprintf("retryAfterMs is %d", body.MS)
	case h.Get("Retry-After") != whole:
		return 0, fmt.Sprintf("Retry-After is %q, retryAfterMs %d", h.Get("Retry-After"), body.MS)
	case h.Get("RateLimit-Policy") != `"hub";q=60;w=60`:
		return 0, "RateLimit-Policy is " + h.Get("RateLimit-Policy")
	case h.Get("RateLimit") != `"hub";r=0;t=`+whole:
		return 0, "RateLimit is " + h.Get("RateLimit")
	}
	return time.Duration(body.MS) * time.Millisecond, ""
}

// freshHubs are two further hubs, whose limits have no past: for a minute after
// Redis was away a hub counts its own share alone, and says so. A busy machine may
// take longer to answer than Redis has by default.
func freshHubs(ctx context.Context, env *frame.Env) (fresh *frame.Env, stop func(), err error) {
	own := *env
	own.Hubs = nil
	var sides []*stack.Side
	stop = func() {
		for _, s := range sides {
			s.Stop()
		}
	}
	for range 2 {
		s, err := env.Stack.Side(ctx, "hub", map[string]string{"REDIS_TIMEOUT": "2s"})
		if err != nil {
			stop()
			return nil, nil, err
		}
		sides, own.Hubs = append(sides, s), append(own.Hubs, s.URL)
	}
	return &own, stop, nil
}
