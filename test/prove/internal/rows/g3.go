package rows

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// g3 revokes keys under fire. What was started after the answer must be refused,
// by the hub that heard of it and by the other, with Redis and without.
var g3 = frame.Row{
	ID: "G3", Title: "revoked means at once, on every process",
	Fault: frame.Fault{
		What: "a revocation is answered and not kept",
		SQL: `CREATE FUNCTION api.keep_key() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.revoked_at := NULL; RETURN NEW; END';
			CREATE TRIGGER keep_key BEFORE UPDATE ON api.operator_keys FOR EACH ROW EXECUTE FUNCTION api.keep_key()`,
	},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		n := env.Of(2, 20, 40)
		ids, err := markets(ctx, env, "G3", callsBefore+callsAfter)
		if err != nil {
			return nil, err
		}
		people := make([]person, n)
		errs := make([]error, n)
		frame.Each(n, 4, func(i int) { people[i], errs[i] = signUp(ctx, env, fmt.Sprintf("g3-owner-%d", i), 1) })
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		late, after := 0, 0
		for i, p := range people {
			resume := func() {}
			if i >= n/2 {
				if resume, err = env.Stack.Hang("redis"); err != nil {
					return nil, err
				}
			}
			t := trial{env: env, seen: seen, person: p, markets: ids, gone: make(chan struct{})}
			err := t.run(ctx, i)
			resume()
			if err != nil {
				return nil, err
			}
			late += t.late
			after += t.after
		}
		seen.Check(late == 0, "%d requests that were started after the answer were taken", late)
		seen.Promise(fmt.Sprintf("taken after the answer 0 in %d trials", n), fmt.Sprintf("%d of %d", late, after))
		seen.Volume("%d trials, half of them without Redis", n)
		return seen, nil
	},
}

// A key has sixty calls a minute, and thirty for each hub without Redis.
const (
	callsBefore = 34
	callsAfter  = 20
	hammers     = 8
)

// trial is one key under fire.
type trial struct {
	env     *frame.Env
	seen    *frame.Seen
	person  person
	markets []string

	gone chan struct{} // closed when the revocation was answered
	at   time.Time     // of that answer

	mu                 sync.Mutex
	before, sent       int // calls started before the answer, and after
	taken, late, after int
}

func (t *trial) run(ctx context.Context, i int) error {
	var wg sync.WaitGroup
	for range hammers {
		wg.Go(func() { t.hammer(ctx) })
	}
	defer wg.Wait()
	under, err := frame.Until(ctx, 10*time.Second, func() (bool, error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.taken >= hammers, nil
	})
	if err != nil {
		return err
	}
	a := t.env.Client.Revoke(ctx, t.env.Hub(i), t.person.login, t.person.keys[0].ID)
	t.at = a.Ended
	close(t.gone)
	if !under || a.Status != http.StatusOK {
		return fmt.Errorf("%d calls were taken before; the revocation was answered %s", t.taken, a)
	}
	return nil
}

// next hands out a call; which is below zero when there is none now.
func (t *trial) next() (which int, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.gone:
		t.sent++
		return callsBefore + t.sent - 1, t.sent <= callsAfter
	default:
	}
	if t.before == callsBefore {
		return -1, true
	}
	t.before++
	return t.before - 1, true
}

func (t *trial) hammer(ctx context.Context) {
	for {
		which, more := t.next()
		switch {
		case !more:
			return
		case which < 0:
			select {
			case <-t.gone:
			case <-ctx.Done():
				return
			}
			continue
		}
		t.note(t.env.Client.File(ctx, t.env.Hub(which), t.person.keys[0].Key, client.Call{Market: t.markets[which], Yes: true, Price: 5000}))
		if wait(ctx, time.Now().Add(5*time.Millisecond)) != nil {
			return
		}
	}
}

func (t *trial) note(a client.Answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := a.Status == 200 || a.Status == 409
	t.seen.Check(taken || a.Status == 401, "a call was answered %s", a)
	select {
	case <-t.gone:
	default:
		if taken {
			t.taken++
		}
		return
	}
	if a.Began.After(t.at) {
		t.after++
		if taken {
			t.late++
		}
	}
}
