package rows

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/kv"
	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// j2 sends copies of signed calls to both hubs at once, later, and after Redis has
// forgotten everything; and other messages with a nonce that was used. The very edge
// of the window is tried on a clock that is set by hand, by the product's own tests.
var j2 = frame.Row{
	ID: "J2", Title: "a message is taken once",
	Fault: frame.Fault{What: "nonces without their unique key", SQL: "ALTER TABLE hub.messages DROP CONSTRAINT messages_nonce"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		n := env.Of(1, 6, 20)
		ops, err := pool(ctx, env, "j2", 2, 1)
		if err != nil {
			return nil, err
		}
		list, err := markets(ctx, env, "J2", n)
		if err != nil {
			return nil, err
		}
		r := replay{env: env, seen: seen, op: ops[0], pen: newPen(env, ops[0].ID, "j2")}
		if err := r.pen.register(ctx, env, ops[0].Keys[0], "signal:create"); err != nil {
			return nil, fmt.Errorf("register a signer: %w", err)
		}
		for i, market := range list {
			if err := r.race(ctx, market, i); err != nil {
				return nil, err
			}
		}
		other := newPen(env, ops[1].ID, "j2 nonces")
		if err := other.register(ctx, env, ops[1].Keys[0], "station:update"); err != nil {
			return nil, fmt.Errorf("register a signer: %w", err)
		}
		if err := enlist(ctx, env, ops[1].Keys[0], replayDesk); err != nil {
			return nil, err
		}
		r.oneNonce(ctx, other)
		r.copies(ctx, "later")
		if err := forgetAll(ctx, env); err != nil {
			return nil, err
		}
		r.copies(ctx, "after Redis was emptied")
		r.otherContent(ctx)
		late := newPen(env, ops[1].ID, "j2 edges") // which has the messages of a minute before it
		if err := late.register(ctx, env, ops[1].Keys[0], "station:update"); err != nil {
			return nil, fmt.Errorf("register a signer: %w", err)
		}
		r.edges(ctx, late)
		if err := r.kept(ctx); err != nil {
			return nil, err
		}
		var tests tested
		if env.Size != frame.Small { // what they try is not what the fault breaks
			if tests, err = ownTests(ctx, env, seen, "./services/hub/internal/message", "^(TestWindow|TestMessageVectors)$"); err != nil {
				return nil, err
			}
		}
		seen.Promise(fmt.Sprintf("taken %d of %d, later 0", n+1, n+1), fmt.Sprintf("taken %d, later %d", r.first, r.second))
		seen.Volume("%d messages, %s copies, %d tests of the edges", n+1, frame.Number(r.sent), tests.passed+len(tests.failed))
		return seen, nil
	},
}

// replayDesk is the station that messages are about.
const replayDesk = "replay-desk"

// replay is a sender whose messages come again.
type replay struct {
	env  *frame.Env
	seen *frame.Seen
	op   client.Operator
	pen  pen

	made, changed []map[string]any // what was sent, and the same nonce on the other side

	mu            sync.Mutex
	sent          int
	first, second int // taken as new: when it was, and when it was not
}

// copiesOf is how many copies of one message race.
const copiesOf = 500

// race sends one message many times at once.
func (r *replay) race(ctx context.Context, market string, i int) error {
	draft := func(side string) map[string]any {
		return r.pen.draft("signal.create", nonceOf("j2 %d", i), time.Now(), map[string]any{"marketId": market, "position": side, "priceBps": 5000})
	}
	m := r.pen.seal(draft("YES"))
	r.made, r.changed = append(r.made, m), append(r.changed, r.pen.seal(draft("NO")))
	codes := map[string]int{}
	ids := map[string]bool{}
	frame.AtOnce(copiesOf, func(k int) {
		var a client.Answer
		_, _ = frame.Until(ctx, 10*time.Second, func() (bool, error) { // a busy hub leaves it open
			a = submit(ctx, r.env, k, m)
			return a.Err != nil || a.Status != http.StatusServiceUnavailable, nil
		})
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sent++
		switch {
		case a.Status == http.StatusCreated:
			r.first++
			codes["taken"]++
		case a.Status == http.StatusOK:
			codes["again"]++
		default:
			codes[a.String()]++
			return
		}
		ids[a.Text("id")] = true
	})
	rows, err := r.env.Count(ctx, "SELECT count(*) FROM api.signals WHERE market_id = $1 AND user_id = $2", market, r.op.ID)
	if err != nil {
		return err
	}
	r.seen.Check(codes["taken"] == 1 && codes["again"] == copiesOf-1 && len(ids) == 1 && rows == 1,
		"market %s: answers %v, %d names, %d calls on record", market, codes, len(ids), rows)
	return nil
}

// oneNonce races messages that say different things under one nonce.
func (r *replay) oneNonce(ctx context.Context, p pen) {
	const rivals = 20 // a key has thirty messages a minute
	taken := 0
	frame.AtOnce(rivals, func(k int) {
		a := submit(ctx, r.env, k, p.seal(p.draft(aNotice, nonceOf("j2 rivals"), time.Now(), notice(replayDesk, fmt.Sprint(k)))))
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sent++
		if a.Status == http.StatusCreated {
			taken++
			return
		}
		r.seen.Check(a.Status == http.StatusConflict && a.Code() == "nonce_reused", "a rival of the nonce was answered %s", a)
	})
	r.first += min(taken, 1)
	r.second += max(taken-1, 0)
	r.seen.Check(taken == 1, "%d messages were taken under one nonce", taken)
}

// copies sends what was taken once more, to each hub.
func (r *replay) copies(ctx context.Context, when string) {
	for i, m := range r.made {
		for k := range r.env.Hubs {
			r.again(submit(ctx, r.env, i+k, m), when)
		}
	}
}

func (r *replay) again(a client.Answer, when string) {
	r.sent++
	if a.Status == http.StatusCreated {
		r.second++
	}
	r.seen.Check(a.Status == http.StatusOK, "a copy %s was answered %s", when, a)
}

// otherContent sends another message under each nonce that was used.
func (r *replay) otherContent(ctx context.Context) {
	for i, m := range r.changed {
		a := submit(ctx, r.env, i, m)
		r.sent++
		if a.Status == http.StatusCreated {
			r.second++
		}
		r.seen.Check(a.Status == http.StatusConflict && a.Code() == "nonce_reused", "another message with a used nonce was answered %s", a)
	}
}

// edges tries the length of a nonce and the window in time, a second off its edges.
func (r *replay) edges(ctx context.Context, p pen) {
	for _, nonce := range []string{"", "short", "123456789012345", "12345678901234567890123456789012345678901234567890123456789012345", "with spaces in it"} {
		a := submit(ctx, r.env, 0, p.seal(p.draft(aNotice, nonce, time.Now(), notice(replayDesk, "n"))))
		r.seen.Check(a.Status == http.StatusBadRequest && a.Text("reason") == "schema", "the nonce %q was answered %s", nonce, a)
	}
	for off, taken := range map[time.Duration]bool{
		-299 * time.Second: true, -301 * time.Second: false, 58 * time.Second: true, 62 * time.Second: false,
		-24 * time.Hour: false, 24 * time.Hour: false,
	} {
		a := submit(ctx, r.env, 1, p.seal(p.draft(aNotice, nonceOf("j2 %v", off), time.Now().Add(off), notice(replayDesk, "t"))))
		if taken {
			r.seen.Check(a.Status == http.StatusCreated, "a message of %v was answered %s", off, a)
			continue
		}
		r.seen.Check(a.Status == http.StatusBadRequest && a.Text("reason") == "timestamp_out_of_window", "a message of %v was answered %s", off, a)
	}
}

// kept compares with the record: each call once, and each message once.
func (r *replay) kept(ctx context.Context) error {
	calls, err := r.env.Count(ctx, "SELECT count(*) FROM api.signals WHERE user_id = $1", r.op.ID)
	if err != nil {
		return err
	}
	kept, err := r.env.Count(ctx, "SELECT count(*) FROM hub.messages WHERE public_key = $1 AND status = 'accepted'", r.pen.public)
	if err != nil {
		return err
	}
	r.seen.Check(calls == len(r.made) && kept == len(r.made), "%d calls and %d messages on record, not %d", calls, kept, len(r.made))
	return nil
}

// forgetAll empties Redis.
func forgetAll(ctx context.Context, env *frame.Env) error {
	store, err := kv.Open(kv.Config{URL: env.Stack.RedisURL, Timeout: 5 * time.Second})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	return store.FlushAll(ctx).Err()
}
