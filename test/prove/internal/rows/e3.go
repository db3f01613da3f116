package rows

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/feedclient"
)

// e3 cuts readers off while writers write: their connections, the replica that they are
// at, then at random everything that there is, from their own processes to Postgres. In
// the end each has the full list of each of its channels, in order.
var e3 = frame.Row{
	ID: "E3", Title: "resume by number without gap or repeat", Limit: 5 * time.Minute,
	Fault: frame.Fault{What: "who comes back is told what happens from then on"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		e := &resume{env: env, seen: seen}
		defer e.close()
		if err := e.prepare(ctx); err != nil {
			return nil, err
		}
		if err := e.loaded(ctx); err != nil {
			return nil, err
		}
		full, all, off, err := e.reckon(ctx)
		if err != nil {
			return nil, err
		}
		seen.Promise("missing 0, doubled 0", fmt.Sprintf("missing %s, doubled %s", frame.Number(all.missing+off), frame.Number(all.doubled)))
		seen.Volume("%s events, %d readers, %s cuts, %d kills, %s deliveries",
			frame.Number(len(full)), len(e.readers), frame.Number(int(e.cuts.Load())), e.killed, frame.Number(all.want))
		return seen, nil
	},
}

// resume is the stage: writers, two replicas, and readers each with a line to either.
type resume struct {
	env      *frame.Env
	seen     *frame.Seen
	scribes  *scribes
	replicas *replicas
	readers  audience
	lines    []*line // of the readers
	head     int64   // behind which the row begins
	toDecide []string
	cuts     atomic.Int64
	killed   int
}

const resumeWriters = 20

func (e *resume) each() int { return e.env.Of(10, 100, 2000) }

// prepare makes everything up to the readers. One market has so many calls that what its
// resolution puts into the feed is more than a process remembers, in a full run more than
// Redis holds: who begins before it is served from the database.
func (e *resume) prepare(ctx context.Context) (err error) {
	if e.scribes, err = newScribes(ctx, e.env, "e3", resumeWriters*e.each()+e.env.Of(2000, 30_000, 200_000)); err != nil {
		return err
	}
	deep := e.env.Of(30, 5000, 12_000)
	ops, err := pool(ctx, e.env, "e3_deep", deep, 1)
	if err != nil {
		return err
	}
	r := e.env.Rand("E3")
	large, err := plantLarge(ctx, e.env, r, "E3", ops, deep)
	if err != nil {
		return err
	}
	for range e.env.Of(1, 6, 12) {
		m, err := plantLarge(ctx, e.env, r, "E3", ops, min(deep, 40))
		if err != nil {
			return err
		}
		e.toDecide = append(e.toDecide, m.id)
	}
	if err := client.Rank(ctx, e.env.DB); err != nil {
		return err
	}
	if err := settled(ctx, e.env, e.seen, 30*time.Second); err != nil {
		return err
	}
	if e.head, err = e.newest(ctx); err != nil {
		return err
	}
	if err := e.decide(ctx, large.id); err != nil {
		return err
	}
	if err := settled(ctx, e.env, e.seen, time.Minute); err != nil {
		return err
	}
	if e.replicas, err = newReplicas(ctx, e.env, e.seen); err != nil {
		return err
	}
	return e.open(ctx, large.id)
}

func (e *resume) newest(ctx context.Context) (head int64, err error) {
	return head, e.env.DB.QueryRow(ctx, "SELECT seq FROM api.feed_head").Scan(&head)
}

// decide finalizes a market. While things are being killed it may have to ask again.
func (e *resume) decide(ctx context.Context, market string) error {
	var a client.Answer
	done, err := frame.Until(ctx, 30*time.Second, func() (bool, error) {
		a = e.env.Client.Finalize(ctx, e.env.Hub(0), e.env.Admin(), market, "YES")
		return a.Status == http.StatusOK || a.Status == http.StatusConflict && a.Code() == "already_resolved", nil
	})
	if err == nil && !done {
		err = fmt.Errorf("finalize a market: %s", a)
	}
	return err
}

// open starts the readers. A quarter of them begins before the large resolution.
func (e *resume) open(ctx context.Context, large string) error {
	now, err := e.newest(ctx)
	if err != nil {
		return err
	}
	kinds := []feedclient.Kind{feedclient.Stream, feedclient.Hopping, feedclient.Loyal, feedclient.Process, feedclient.Hopping, feedclient.Stream, feedclient.Loyal, feedclient.Process, feedclient.Stream, feedclient.Hopping}
	for i := range e.env.Of(8, 50, 50) {
		l, err := e.replicas.newLine()
		if err != nil {
			return err
		}
		s := e.scribes
		channels := [][]string{
			{"signals"},
			{"signals", "market:" + s.markets[i%onMarkets]},
			{"signals:lane:SCIENCE", "resolutions", "signals"},
			{"market:" + large, "market:" + e.toDecide[i%len(e.toDecide)], "resolutions"},
			{"signals", "operator:" + s.ops[i%len(s.ops)].Handle, "signals:lane:MUSIC"},
		}[i%5]
		o := feedclient.Options{
			Kind: kinds[(i/2)%len(kinds)], URL: "http://" + l.proxy.Addr, From: fmt.Sprintf("10.3.0.%d", i+1), Channels: map[string]int64{},
		}
		for _, c := range channels {
			o.Channels[c] = now
			if i%4 == 3 {
				o.Channels[c] = e.head
			}
		}
		e.readers, e.lines = append(e.readers, feedclient.Open(ctx, o)), append(e.lines, l)
	}
	return nil
}

func (e *resume) close() {
	e.readers.close()
	if e.replicas != nil {
		e.replicas.close()
	}
}

// loaded lets writers write, some without end, while readers are cut off and things are
// killed.
func (e *resume) loaded(ctx context.Context) error {
	background, stop := context.WithCancel(ctx)
	var writing sync.WaitGroup
	writing.Go(func() { e.scribes.trickle(background, 3, 60*time.Millisecond) })
	defer func() {
		stop()
		writing.Wait()
	}()
	began := time.Now()
	errs := make([]error, 3)
	var all sync.WaitGroup
	all.Go(func() { e.scribes.write(ctx, resumeWriters, e.each()) })
	all.Go(func() { errs[0] = e.cutAll(ctx) })
	half := len(e.toDecide) / 2
	all.Go(func() { errs[1] = e.decideSlowly(ctx, e.toDecide[:half]) })
	all.Wait()
	e.seen.Figure("cutting", time.Since(began))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if e.env.Size == frame.Small {
		return nil
	}
	if err := e.loseReplica(ctx); err != nil {
		return err
	}
	began = time.Now()
	all.Go(func() { errs[0] = e.kill(ctx, e.env.Of(0, 60, 300)) })
	all.Go(func() { errs[1] = e.decideSlowly(ctx, e.toDecide[half:]) })
	all.Wait()
	e.seen.Figure("killing", time.Since(began))
	return errors.Join(errs...)
}

func (e *resume) decideSlowly(ctx context.Context, markets []string) error {
	for _, id := range markets {
		if err := wait(ctx, time.Now().Add(time.Duration(e.env.Of(100, 3000, 10_000))*time.Millisecond)); err != nil {
			return err
		}
		if err := e.decide(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// cutAll cuts each reader off, again and again, each time when it listens. A library that
// is left alone waits up to five seconds before it comes back, and is cut off less often
// in a usual run.
func (e *resume) cutAll(ctx context.Context) error {
	errs := make([]error, len(e.readers))
	frame.Each(len(e.readers), len(e.readers), func(i int) {
		r, times := e.readers[i], e.env.Of(2, 12, 20)
		if r.Kind == feedclient.Loyal || r.Kind == feedclient.Process {
			times = e.env.Of(1, 4, 20)
		}
		for range times {
			if !e.listens(ctx, i, 0) {
				return
			}
			before := r.So().Connections
			pause := time.Duration(20+e.replicas.chance(700)) * time.Millisecond
			if errs[i] = errors.Join(wait(ctx, time.Now().Add(pause)), e.replicas.cut(ctx, e.lines[i])); errs[i] != nil {
				return
			}
			e.cuts.Add(1)
			if !e.listens(ctx, i, before) {
				return
			}
		}
	})
	return errors.Join(errs...)
}

// listens waits until a reader has come so far more often than before.
func (e *resume) listens(ctx context.Context, i, before int) bool {
	there, err := frame.Until(ctx, time.Minute, func() (bool, error) { return e.readers[i].So().Connections > before, nil })
	e.seen.Check(there || err != nil, "reader %d (%s) does not come back", i, e.readers[i].Kind)
	return there
}

// loseReplica kills one of the two replicas: every reader comes to the other one. Then the
// other is stopped in order, and all come back.
func (e *resume) loseReplica(ctx context.Context) error {
	for lost, force := range []bool{true, false} {
		before := map[int]int{}
		for i, l := range e.lines {
			l.mu.Lock()
			if l.at == lost {
				before[i] = e.readers[i].So().Connections
			}
			l.mu.Unlock()
		}
		began := time.Now()
		again, err := e.replicas.crash(ctx, lost, force)
		if err != nil {
			return err
		}
		moved := slices.Collect(maps.Keys(before))
		frame.Each(len(moved), len(moved)+1, func(k int) { e.listens(ctx, moved[k], before[moved[k]]) })
		e.seen.Figure(fmt.Sprintf("replica%dMoved", lost), len(moved))
		e.seen.Figure(fmt.Sprintf("replica%dAllBack", lost), time.Since(began))
		if err := again(ctx); err != nil {
			return err
		}
	}
	return nil
}

// reckon waits for everybody and compares.
func (e *resume) reckon(ctx context.Context) (full fullList, all reckoning, off int, err error) {
	if err := e.env.Stack.Ready(ctx); err != nil {
		return nil, all, 0, err
	}
	if err := settled(ctx, e.env, e.seen, time.Minute); err != nil {
		return nil, all, 0, err
	}
	if full, err = readFull(ctx, e.env, e.head); err != nil {
		return nil, all, 0, err
	}
	began := time.Now()
	late, err := e.readers.arrived(ctx, full, time.Duration(e.env.Of(3, 60, 120))*time.Second)
	if err != nil {
		return nil, all, 0, err
	}
	e.seen.Figure("arriving", time.Since(began))
	e.seen.Check(late == 0, "%d channels of readers have not come to their end", late)
	all = e.readers.judge(e.seen, full)
	e.seen.Check(full.broken(e.head) == 0, "%d numbers do not follow each other", full.broken(e.head))
	off, lost, err := e.scribes.unfed(ctx)
	if err != nil {
		return nil, all, 0, err
	}
	e.seen.Check(off == 0, "%d facts on record are not in the feed, or twice", off)
	e.seen.Check(lost == 0, "%d acknowledged facts are not on record", lost)
	e.seen.Figure("acknowledged", e.scribes.wrote.Load())
	e.seen.Figure("inDoubt", e.scribes.doubt.Load())
	e.seen.Check(all.want > len(full), "only %d deliveries were due", all.want)
	return full, all, off, nil
}
