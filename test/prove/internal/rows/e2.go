package rows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/wsclient"
)

// e2 lets a tenth of the readers read nothing, in every other round. The others must not
// feel it: how much later they hear than somebody at another host stays the same. Who never reads cannot be told why it ends, so the host's own count of close
// codes stands for them; some that ask without end, and read in the end, hear it.
var e2 = frame.Row{
	ID: "E2", Title: "a slow reader delays nobody and is dropped with a code", Limit: 2 * time.Minute,
	Fault: frame.Fault{What: "the hub waits for a connection that is full"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		host, err := startFeedHost(ctx, env, nil)
		if err != nil {
			return nil, err
		}
		defer host.over(env)
		l := laggards{env: env, seen: seen, host: host, n: env.Of(100, 1000, 1000), rate: env.Of(200, 100, 200)}
		l.slow = l.n / 10
		if err := l.prepare(ctx); err != nil {
			return nil, err
		}
		defer leave(l.conns)
		for range env.Of(1, 2, 4) {
			if err := l.quiet(ctx, time.Duration(env.Of(1, 4, 20))*time.Second); err != nil {
				return nil, err
			}
			if err := l.stubborn(ctx, time.Duration(env.Of(2, 8, 20))*time.Second); err != nil {
				return nil, err
			}
		}
		if env.Size != frame.Small {
			if err := l.ask(ctx); err != nil {
				return nil, err
			}
		}
		l.verdict()
		return seen, nil
	},
}

// droppedWithin is how long after its connection was full a reader is dropped.
const droppedWithin = 6 * time.Second

// laggards are readers of which some read nothing.
type laggards struct {
	env           *frame.Env
	seen          *frame.Seen
	host          *feedHost
	n, slow, rate int

	ops     []client.Operator
	markets []string
	calls   atomic.Int64

	conns []*wsclient.Conn // those who read in every round; the last is the witness, at another host
	ears  atomic.Pointer[hearing]

	without, with frame.Times   // p99 of each round, behind the witness
	whole         frame.Times   // the same, from sending a call
	dropped, left int           // who never read: with the code, and all of them
	after         time.Duration // the longest time from full to dropped
	asked, told   int           // who asked without end, and heard the code
	missing, want int
}

func (l *laggards) prepare(ctx context.Context) (err error) {
	const ops = 400
	if l.ops, err = pool(ctx, l.env, "e2", ops, 1); err != nil {
		return err
	}
	if l.markets, err = markets(ctx, l.env, "E2", 1+l.env.Of(800, 3600, 24_000)/ops); err != nil {
		return err
	}
	first, err := listening(ctx, l.env, l.n+1, 1)
	if err != nil {
		return err
	}
	l.ears.Store(first)
	if l.conns, err = l.host.opened(ctx, l.n-l.slow, 64); err != nil {
		return err
	}
	if err := l.listen(ctx, l.conns, 0); err != nil {
		return err
	}
	far := wsclient.Dialer{Addr: strings.TrimPrefix(l.env.Stack.API, "http://")}
	witness, err := far.Open(ctx, l.host.homes.of(0))
	if err != nil {
		return err
	}
	l.conns = append(l.conns, witness)
	return l.listen(ctx, l.conns[l.n-l.slow:], l.n)
}

// listen makes connections readers, from the index first on.
func (l *laggards) listen(ctx context.Context, conns []*wsclient.Conn, first int) error {
	before := l.ears.Load().acked.Load()
	for i, c := range conns {
		if err := c.Hear(func(text []byte) { l.ears.Load().note(first+i, text) }); err != nil {
			return err
		}
		if err := c.Say(`{"op":"subscribe","channels":["signals"]}`); err != nil {
			return err
		}
	}
	all, err := frame.Until(ctx, 20*time.Second, func() (bool, error) {
		return l.ears.Load().acked.Load()-before == int64(len(conns)), nil
	})
	if err == nil && !all {
		err = errors.New("not every socket can listen")
	}
	return err
}

// round files calls at the rate, and waits until every one of so many readers has heard
// of each. It gives the p99 of those who read in every round: how long after the witness
// they heard, since what a call costs before is the same for all.
func (l *laggards) round(ctx context.Context, lasting time.Duration, readers int) (*hearing, time.Duration, error) {
	ears, err := listening(ctx, l.env, l.n+1, 2*int(lasting.Seconds())*l.rate+100)
	if err != nil {
		return nil, 0, err
	}
	l.ears.Store(ears)
	var once sync.Once
	steady(ctx, l.rate, lasting, func(int) {
		i := int(l.calls.Add(1)) - 1
		op, market := l.ops[i%len(l.ops)], l.markets[i/len(l.ops)%len(l.markets)]
		if failed := ears.call(ctx, l.env, i, op, market); failed != nil {
			once.Do(func() { err = failed })
		}
	})
	if err != nil {
		return nil, 0, err
	}
	if err := ears.told(ctx, readers, time.Duration(l.env.Of(1, 20, 20))*time.Second); err != nil {
		return nil, 0, err
	}
	heard, err := ears.heard(ctx, l.env, append(upTo(l.n-l.slow), l.n), l.n)
	if err != nil {
		return nil, 0, err
	}
	ears.faults(l.seen)
	l.want, l.missing = l.want+heard.wanted, l.missing+heard.lost
	l.whole.Add(together(heard.each).At(.99))
	return ears, heard.behind.At(.99), nil
}

// quiet is a round in which everybody reads.
func (l *laggards) quiet(ctx context.Context, lasting time.Duration) error {
	others := make([]*wsclient.Conn, l.slow)
	defer func() { leave(others) }()
	for i := range others {
		c, err := l.host.open(ctx, l.n-l.slow+i)
		if err != nil {
			return err
		}
		others[i] = c
	}
	if err := l.listen(ctx, others, l.n-l.slow); err != nil {
		return err
	}
	_, p99, err := l.round(ctx, lasting, l.n+1)
	l.without.Add(p99)
	return err
}

// stubborn is a round in which some read nothing once they have subscribed.
func (l *laggards) stubborn(ctx context.Context, lasting time.Duration) error {
	before, err := l.host.gauges(ctx)
	if err != nil {
		return err
	}
	narrow := l.host.dial
	narrow.Buffer = 16 << 10 // a smaller one cannot take a segment of a few events, which the kernel then repeats ever more slowly
	deaf := make([]*wsclient.Conn, l.slow)
	defer func() { leave(deaf) }()
	for i := range deaf {
		if deaf[i], err = narrow.Open(ctx, l.host.homes.of(l.n+perAddress+i)); err != nil {
			return err
		}
		if err := deaf[i].Say(`{"op":"subscribe","channels":["signals"]}`); err != nil {
			return err
		}
	}
	gone := make(chan []time.Time, 1)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go func() { gone <- l.watch(watching, before.closedWith(4008)) }()
	ears, p99, err := l.round(ctx, lasting, len(l.conns))
	if err != nil {
		return err
	}
	l.with.Add(p99)
	l.left += l.slow
	if l.missing > 0 {
		stop() // nobody is dropped where nobody is written to
	}
	return l.dated(ears, deaf, <-gone)
}

// watch waits until every one of the slow was dropped, and tells when each was.
func (l *laggards) watch(ctx context.Context, before int) (dropped []time.Time) {
	_, _ = frame.Until(ctx, 40*time.Second, func() (bool, error) {
		g, err := l.host.gauges(ctx)
		for err == nil && len(dropped) < g.closedWith(4008)-before { // a host that does not answer is asked again
			dropped = append(dropped, time.Now())
		}
		return len(dropped) >= l.slow, nil
	})
	return dropped
}

// dated finds out when each of the slow connections was full, since what it was given
// until then can still be read: the last that it holds came to the others as well. A
// connection that was cut may have lost some of it, so the last of them counts.
func (l *laggards) dated(ears *hearing, deaf []*wsclient.Conn, dropped []time.Time) error {
	l.dropped += len(dropped)
	if l.env.Size == frame.Small {
		return nil
	}
	var full []time.Time
	for _, c := range deaf {
		got := &hearing{base: ears.base, began: ears.began, when: newWhen(1, len(ears.when[0])), last: make([]int64, 1)}
		for {
			_, text, err := c.Next(10 * time.Second)
			var ended *wsclient.Ended
			if errors.As(err, &ended) {
				break
			}
			if err != nil {
				return fmt.Errorf("a reader that was dropped (%d of %d were counted): %w", len(dropped), l.slow, err)
			}
			got.note(0, text)
		}
		at := got.last[0] - ears.base - 1
		if at < 0 || at >= int64(len(ears.when[0])) {
			return errors.New("a slow connection held nothing")
		}
		full = append(full, ears.began.Add(time.Duration(ears.when[0][at].Load())*time.Microsecond))
	}
	if len(dropped) == l.slow {
		l.after = max(l.after, dropped[l.slow-1].Sub(slices.MaxFunc(full, time.Time.Compare)))
	}
	return nil
}

// ask sends questions whose answers nobody reads, until they are too many; then the
// close code can be read.
func (l *laggards) ask(ctx context.Context) error {
	narrow := l.host.dial
	narrow.Buffer = 4 << 10
	names := make([]string, 100)
	for i := range names {
		names[i] = fmt.Sprintf(`"no such channel %060d"`, i)
	}
	question := `{"op":"subscribe","channels":[` + strings.Join(names, ",") + `]}`
	for i := range 10 {
		c, err := narrow.Open(ctx, l.host.homes.of(2*l.n+i))
		if err != nil {
			return err
		}
		defer c.Close()
		for range 20 { // as many as may be at once
			if err := c.Say(question); err != nil {
				return err
			}
		}
		if err := wait(ctx, time.Now().Add(time.Second)); err != nil {
			return err
		}
		l.asked++
		ended, _, err := c.End(20 * time.Second)
		if err != nil {
			return fmt.Errorf("who asks without end stays: %w", err)
		}
		if ended.Code == 4008 && ended.Reason == "slow_consumer" {
			l.told++
		} else {
			l.seen.Wrong("who asked without end %v", ended)
		}
	}
	return nil
}

func (l *laggards) verdict() {
	without, with := l.without.At(0), l.with.At(0) // of the best rounds
	ratio := with.Seconds() / max(without.Seconds(), .001)
	l.seen.Figure("p99Without", without)
	l.seen.Figure("p99With", with)
	l.seen.Figure("ratio", ratio)
	l.seen.Figure("p99FromSendingOfTheBest", l.whole.At(0))
	l.seen.Figure("p99WithoutOfTheWorst", l.without.At(1))
	l.seen.Figure("p99WithOfTheWorst", l.with.At(1))
	l.seen.Figure("droppedAfter", l.after)
	l.seen.Check(l.missing == 0, "%d of %d deliveries to those who read did not come", l.missing, l.want)
	// The machine is shared, and so the p99 of two equal rounds may differ by far more than
	// a tenth; one that waits for the slow ones waits for seconds.
	l.seen.Check(ratio <= generous*1.1, "p99 is %v beside slow readers, and %v without", with, without)
	l.seen.Check(l.dropped == l.left || l.env.Size == frame.Small, "%d of %d were dropped with 4008", l.dropped, l.left)
	l.seen.Check(l.after <= generous*droppedWithin, "the last was dropped %v after it was full", l.after)
	l.seen.Promise("p99 within 10 %, dropped with 4008 all, ≤ 6 s", fmt.Sprintf("p99 %.0f ms, %.0f without (%+.0f %%), %d of %d and %d of %d told, %.1f s",
		ms(with), ms(without), 100*(ratio-1), l.dropped, l.left, l.told, l.asked, l.after.Seconds()))
	l.seen.Volume("%d readers, %d of them slow, %s calls", l.n, l.slow, frame.Number(int(l.calls.Load())))
}
