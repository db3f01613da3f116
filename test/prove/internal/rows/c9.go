package rows

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// c9 offers three times the calls that can be taken. The record is made slow for it, so
// that it is what falls short and not the machine, which the load comes from too.
var c9 = frame.Row{
	ID: "C9", Title: "overload sheds, does not collapse",
	Fault: frame.Fault{What: "whoever comes may wait, however many do already"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		o := &overload{env: env, seen: seen}
		if err := o.prepare(ctx); err != nil {
			return nil, err
		}
		quick, err := o.slowDown(ctx)
		if err != nil {
			return nil, err
		}
		defer quick()
		peak := o.peak(ctx, time.Duration(env.Of(2, 6, 10))*time.Second)
		if peak == 0 {
			return nil, fmt.Errorf("nothing was taken: %v", o.other.Load())
		}
		lasting := time.Duration(env.Of(5, 12, 20)) * time.Second
		rate, err := o.offer(ctx, 3*peak, lasting)
		if err != nil {
			return nil, err
		}
		lost, err := missing(ctx, env, o.markets, o.acked)
		if err != nil {
			return nil, err
		}
		o.judge(peak, rate)
		seen.Check(lost == 0, "%d acknowledged calls of %d are lost", lost, len(o.acked))
		seen.Promise("taken ≥ 80% of peak, refused in ≤ 20 ms, memory flat, acknowledged lost 0",
			fmt.Sprintf("%d%% of %d/s, refused in %d ms (p99 after %v; %d without asking), +%d MB, lost %d of %s", 100*rate/peak, peak,
				o.refusals.At(.99).Milliseconds(), noticedWithin, o.idle.At(.99).Milliseconds(), o.grown>>20, lost, frame.Number(len(o.acked))))
		seen.Volume("%s calls in %v, %s refused", frame.Number(int(o.offered)), lasting, frame.Number(o.refusals.Len()+o.first.Len()))
		return seen, nil
	},
}

// overload is a crowd of callers before a slow record.
type overload struct {
	env     *frame.Env
	seen    *frame.Seen
	ops     []client.Operator
	markets []string
	next    atomic.Int64 // pair of operator and market

	offered  int64
	noticed  time.Time   // from here on the hubs know how much is too much
	refusals frame.Times // 503 with Retry-After
	first    frame.Times // those before
	waits    frame.Times // of calls that were taken
	idle     frame.Times // answers that ask nobody, at the same time
	other    atomic.Value
	others   atomic.Int64
	grown    int64 // bytes, of the process that grew most

	mu    sync.Mutex
	acked []frame.Write
}

const (
	c9Markets = 40
	// noticedWithin is how long calls may wait in vain before the hubs know how many
	// are too many: about as long as a call may take.
	noticedWithin = 4 * time.Second
)

func (o *overload) prepare(ctx context.Context) (err error) {
	if o.markets, err = markets(ctx, o.env, "C9", c9Markets); err != nil {
		return err
	}
	if o.ops, err = pool(ctx, o.env, "c9", o.env.Of(500, 1000, 2000), 1); err != nil {
		return err
	}
	// A key that a hub has not heard of costs it a question; that is not what is tested.
	frame.Each(2*len(o.ops), 16, func(i int) {
		o.env.Client.Do(ctx, client.Request{URL: o.env.Hub(i) + "/api/protocol/v1/me", As: o.ops[i/2].Keys[0]})
	})
	return nil
}

// slowDown makes each call that is written take three milliseconds more, until quick.
func (o *overload) slowDown(ctx context.Context) (quick func(), err error) {
	_, err = o.env.DB.Exec(ctx, `CREATE OR REPLACE FUNCTION public.c9_slow() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN PERFORM pg_sleep(0.003 * (SELECT count(*) FROM filed)); RETURN NULL; END';
		CREATE TRIGGER zz_c9_slow AFTER INSERT ON api.signals REFERENCING NEW TABLE AS filed
		FOR EACH STATEMENT EXECUTE FUNCTION public.c9_slow()`)
	return func() {
		_, err := o.env.DB.Exec(context.WithoutCancel(ctx), "DROP FUNCTION public.c9_slow() CASCADE")
		o.seen.Check(err == nil, "the record stays slow: %v", err)
	}, err
}

// call files a call that nobody has filed, and tells whether it was taken.
func (o *overload) call(ctx context.Context) (taken bool) {
	n := int(o.next.Add(1)) - 1
	op, market := o.ops[n%len(o.ops)], o.markets[n/len(o.ops)%len(o.markets)]
	w := frame.Write{Market: market, User: op.ID, Yes: n%2 == 0, Price: 5000}
	a := o.env.Client.File(ctx, o.env.Hub(n), op.Keys[0], client.Call{Market: w.Market, Yes: w.Yes, Price: w.Price})
	switch {
	case a.Status == http.StatusOK:
		o.waits.Add(a.Took())
		w.ID = a.Text("id")
		o.mu.Lock()
		o.acked = append(o.acked, w)
		o.mu.Unlock()
		return true
	case a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
		if a.Began.After(o.noticed) {
			o.refusals.Add(a.Took())
		} else {
			o.first.Add(a.Took())
		}
	default:
		o.others.Add(1)
		o.other.Store(a.String())
	}
	return false
}

// peakCallers keep the record busy all the time, and are too few to be refused.
const peakCallers = 192

// peak is how many calls a second are taken from callers who wait for each answer.
func (o *overload) peak(ctx context.Context, lasting time.Duration) int {
	taken := newSeconds(lasting)
	var wg sync.WaitGroup
	for range peakCallers {
		wg.Go(func() {
			for ctx.Err() == nil && !taken.over() {
				if o.call(ctx) {
					taken.add()
				} else {
					_ = wait(ctx, time.Now().Add(100*time.Millisecond))
				}
			}
		})
	}
	wg.Wait()
	o.seen.Figure("refusedAtPeak", o.refusals.Len())
	o.seen.Figure("waitAtPeakP99", o.waits.At(.99))
	o.refusals, o.waits = frame.Times{}, frame.Times{}
	return taken.usual()
}

// seconds counts what happens in each second, so that one in which the machine stood
// still does not stand for all.
type seconds struct {
	began time.Time
	list  []atomic.Int64
}

func newSeconds(lasting time.Duration) *seconds {
	return &seconds{began: time.Now(), list: make([]atomic.Int64, int(lasting.Seconds()))}
}

func (s *seconds) add() {
	if i := int(time.Since(s.began).Seconds()); i < len(s.list) {
		s.list[i].Add(1)
	}
}

func (s *seconds) over() bool { return int(time.Since(s.began).Seconds()) >= len(s.list) }

// usual is the count of the second in the middle, the first one left out.
func (s *seconds) usual() int {
	var counts []int
	for i := range s.list[1:] {
		counts = append(counts, int(s.list[1+i].Load()))
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}

// offer brings calls whether or not earlier ones were answered, and gives how many a
// second were taken meanwhile.
func (o *overload) offer(ctx context.Context, perSecond int, lasting time.Duration) (int, error) {
	before, err := o.memory()
	if err != nil {
		return 0, err
	}
	o.noticed = time.Now().Add(noticedWithin)
	taken := newSeconds(lasting)
	var beside sync.WaitGroup
	beside.Go(func() {
		steady(ctx, 20, lasting, func(i int) {
			o.idle.Add(o.env.Client.Do(ctx, client.Request{URL: o.env.Hub(i) + "/healthz"}).Took())
		})
	})
	beside.Go(func() {
		for wait(ctx, time.Now().Add(250*time.Millisecond)) == nil && !taken.over() {
			held, err := o.memory()
			for i := range held {
				o.grown = max(o.grown, held[i]-before[i])
			}
			o.seen.Check(err == nil, "the memory is not known: %v", err)
		}
	})
	o.offered = int64(steady(ctx, perSecond, lasting, func(int) {
		if o.call(ctx) {
			taken.add()
		}
	}))
	beside.Wait()
	return taken.usual(), nil
}

// memory is what the services hold, in bytes.
func (o *overload) memory() (all []int64, err error) {
	for _, name := range []string{"hub", "hub-2", "api"} {
		held, err := stack.RSS(o.env.Stack.PID(name))
		if err != nil {
			return nil, err
		}
		all = append(all, held)
	}
	return all, nil
}

// judge compares with the promise. A machine that is busy shows in the answers that
// ask nobody. When it keeps those waiting too, it is too busy to tell how many calls a
// service could take; then only what does not hang on that is judged.
func (o *overload) judge(peak, rate int) {
	const soon, most = 20 * time.Millisecond, 64 << 20
	for name, value := range map[string]any{
		"peak": peak, "taken": rate, "waitP50": o.waits.At(.5), "waitP99": o.waits.At(.99), "idleP50": o.idle.At(.5), "idleP99": o.idle.At(.99),
		"refused": o.refusals.Len(), "refusedP50": o.refusals.At(.5), "refusedP99": o.refusals.At(.99), "refusedWorst": o.refusals.At(1),
		"refusedFirst": o.first.Len(), "refusedFirstP50": o.first.At(.5), "refusedFirstP99": o.first.At(.99), "others": o.others.Load(),
	} {
		o.seen.Figure(name, value)
	}
	o.seen.Check(o.refusals.Len() > 0, "nothing was refused: it was no overload")
	o.seen.Check(o.grown <= most, "a process has grown by %d MB", o.grown>>20)
	for _, q := range []float64{.5, .99} {
		took, idle := o.refusals.At(q), o.idle.At(q)
		o.seen.Check(took <= generous*(soon+idle), "it takes %v to refuse a call (quantile %v), and %v to answer without asking", took, q, idle)
	}
	if o.idle.At(.99) > time.Second {
		o.seen.Figure("tooBusyToCount", true)
		return
	}
	o.seen.Check(rate*100 >= peak*80, "%d calls a second are taken, and %d at the peak", rate, peak)
	o.seen.Check(o.others.Load() == 0, "%d calls were neither taken nor refused: %v", o.others.Load(), o.other.Load())
}
