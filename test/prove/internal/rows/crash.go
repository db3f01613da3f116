package rows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// crash keeps writers busy while processes die, and remembers what each heard.
type crash struct {
	env     *frame.Env
	seen    *frame.Seen
	ops     []client.Operator
	markets []string
	next    atomic.Int64

	mu      sync.Mutex
	acked   []frame.Write
	doubt   []frame.Write
	refused int
}

const crashMarkets = 60

func newCrash(ctx context.Context, env *frame.Env, seen *frame.Seen, row string) (*crash, error) {
	c := &crash{env: env, seen: seen}
	var err error
	if c.ops, err = pool(ctx, env, row, env.Of(300, 2000, 4000), 1); err != nil {
		return nil, err
	}
	if c.markets, err = markets(ctx, env, row, crashMarkets); err != nil {
		return nil, err
	}
	_, err = env.DB.Exec(ctx, "CHECKPOINT") // what was planted is not what is tested
	return c, err
}

// run writes with 16 writers while round is called; the rounds do the killing.
func (c *crash) run(ctx context.Context, rounds int, round func(ctx context.Context, i int) error) error {
	writing, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	for range 16 {
		wg.Go(func() { c.write(writing) })
	}
	r := c.env.Rand("crash")
	for i := range rounds {
		if err := wait(ctx, time.Now().Add(time.Duration(300+r.IntN(500))*time.Millisecond)); err != nil {
			return err
		}
		if err := round(ctx, i); err != nil {
			return err
		}
	}
	return wait(ctx, time.Now().Add(300*time.Millisecond)) // some writes after the last crash
}

// write files calls, each of a pair of operator and market that nobody used.
func (c *crash) write(ctx context.Context) {
	r := rand.New(rand.NewPCG(c.env.Seed, rand.Uint64()))
	for ctx.Err() == nil {
		i := int(c.next.Add(1)) - 1
		if i >= len(c.ops)*len(c.markets) {
			c.seen.Wrong("the writers ran out of pairs")
			return
		}
		op := c.ops[i%len(c.ops)]
		w := frame.Write{Market: c.markets[i/len(c.ops)], User: op.ID, Key: string(op.Keys[0]), Yes: r.IntN(2) == 0, Price: r.IntN(10001)}
		if r.IntN(2) == 0 {
			w.Idem = uuid.NewString()
		}
		// Not cut off when the row ends: each write has an answer or a doubt.
		a := c.env.Client.File(context.WithoutCancel(ctx), c.env.Hub(i), op.Keys[0], client.Call{Market: w.Market, Yes: w.Yes, Price: w.Price, Key: w.Idem})
		if !c.note(w, a) {
			_ = wait(ctx, time.Now().Add(100*time.Millisecond)) // nobody is well at the moment
		}
	}
}

// note keeps what a writer heard; well tells that it was an answer.
func (c *crash) note(w frame.Write, a client.Answer) (well bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case errors.Is(a.Err, syscall.ECONNREFUSED): // it was never sent
		c.refused++
		return false
	case a.Err != nil || a.Status >= 500:
		c.doubt = append(c.doubt, w)
		return false
	case a.Status == 200:
		w.ID = a.Text("id")
		c.acked = append(c.acked, w)
	case a.Status == 429:
		c.refused++
	default:
		c.seen.Wrong("a first call was answered %s", a)
	}
	return true
}

// stored is a call as the database has it.
type stored struct {
	id    string
	yes   bool
	price int
}

// filedOn reads the calls of markets, by market and operator.
func filedOn(ctx context.Context, env *frame.Env, markets []string) (map[string]stored, error) {
	rows, err := env.DB.Query(ctx, "SELECT market_id || user_id::text, id::text, yes, price_bps FROM api.signals WHERE market_id = ANY ($1)", markets)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]stored{}
	for rows.Next() {
		var whose string
		var s stored
		if err := rows.Scan(&whose, &s.id, &s.yes, &s.price); err != nil {
			return nil, err
		}
		if _, twice := all[whose]; twice {
			return nil, fmt.Errorf("%s has two calls", whose)
		}
		all[whose] = s
	}
	return all, rows.Err()
}

// holds tells whether a stored call is the one that was written. The price of a
// NO call may have been turned around.
func (s stored) holds(w frame.Write) bool {
	return s.yes == w.Yes && (s.price == w.Price || !s.yes && s.price == 10000-w.Price)
}

// verify counts the acknowledged writes that the record holds, and looks for
// calls that nobody acknowledged and nobody doubts.
func (c *crash) verify(ctx context.Context) (found int, err error) {
	all, err := filedOn(ctx, c.env, c.markets)
	if err != nil {
		return 0, err
	}
	for _, w := range c.acked {
		if s := all[w.Market+w.User]; s.id == w.ID && s.holds(w) {
			found++
		}
	}
	known := len(c.acked)
	for _, w := range c.doubt {
		if _, there := all[w.Market+w.User]; there {
			known++
		}
	}
	c.seen.Check(len(all)-(known-len(c.acked)+found) == 0, "%d calls on record were refused", len(all)-(known-len(c.acked)+found))
	c.seen.Figure("inDoubt", len(c.doubt))
	c.seen.Figure("inDoubtCommitted", known-len(c.acked))
	c.seen.Figure("refused", c.refused)
	c.env.Doubt.Add(c.doubt...)
	return found, nil
}

// acknowledged is the row of both kinds of crash.
func (c *crash) acknowledged(ctx context.Context, rounds int) error {
	found, err := c.verify(ctx)
	if err != nil {
		return err
	}
	n := len(c.acked)
	c.seen.Volume("%s writes, %d kills", frame.Number(int(c.next.Load())), rounds)
	c.seen.Promise("acknowledged N = found N", fmt.Sprintf("acknowledged %s = found %s", frame.Number(n), frame.Number(found)))
	c.seen.Check(found == n, "%d acknowledged calls of %d are lost", n-found, n)
	c.seen.Check(n > 100, "only %d calls were taken", n)
	return nil
}
