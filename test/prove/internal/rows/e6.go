package rows

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/wsclient"
)

// e6 does to one process what no good client does, many times over and beside somebody
// who goes on asking. That who answers no ping is dropped takes a minute: the product's
// own test has shorter times, and only the large size waits for it.
var e6 = frame.Row{
	ID: "E6", Title: "a client cannot hurt the live feed",
	Fault: frame.Fault{What: "frames of a client are not counted"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		host, err := startFeedHost(ctx, env, tidy)
		if err != nil {
			return nil, err
		}
		defer host.over(env)
		v := vandal{env: env, seen: seen, host: host}
		before, err := v.beside(ctx, func() error {
			_, err := host.season(ctx, env.Of(1, 8, 8), 1, func() error { return v.warm(ctx) })
			return err
		})
		if err != nil {
			return nil, err
		}
		peak, err := v.beside(ctx, func() error { return v.all(ctx) })
		if err != nil {
			return nil, err
		}
		// Both are peaks: what a process holds at one moment depends on when it tidied up.
		grown := peak - before
		seen.Figure("grownBytes", grown)
		seen.Figure("besideP99", v.beside99)
		seen.Figure("connectionsRefusedAfter", v.half.At(1))
		seen.Check(grown <= 10<<20, "the process has grown by %d kB", grown>>10)
		if empty, err := host.emptied(ctx, 0); err != nil || !empty {
			seen.Wrong("sockets are left open: %v", err)
		}
		var tests tested
		if env.Size != frame.Small {
			if tests, err = ownTests(ctx, env, seen, "./services/api/internal/edge", "^(TestBeats|TestTempo|TestPongsBetweenEvents)$"); err != nil {
				return nil, err
			}
		}
		did, kept := int(v.did.Load()), int(v.kept.Load())
		seen.Check(did == kept, "%d of %d were answered as they should", kept, did)
		seen.Promise("answered as said all, +≤ 10 MB", fmt.Sprintf("%s of %s, %+.1f MB, beside them p99 %.0f ms",
			frame.Number(kept), frame.Number(did), float64(grown)/(1<<20), ms(v.beside99)))
		seen.Volume("%s bad connections, %d tests of the minute without a pong", frame.Number(did), tests.passed+len(tests.failed))
		return seen, nil
	},
}

// vandal is a client that wants to hurt.
type vandal struct {
	env  *frame.Env
	seen *frame.Seen
	host *feedHost

	next      atomic.Int64 // address
	did, kept atomic.Int64
	half      frame.Times // how long connections that say nothing, or little, stay
	beside99  time.Duration
}

// home is the next of some addresses: each that calls for the first time is remembered
// for a minute, which is no doing of a bad client's.
func (v *vandal) home() net.IP { return v.host.homes.at(int(v.next.Add(1)) % 50) }

// judge counts one deed and what came of it.
func (v *vandal) judge(name string, err error) {
	v.did.Add(1)
	if err != nil {
		v.seen.Wrong("%s: %v", name, err)
		return
	}
	v.kept.Add(1)
}

// atOnce is about how many connections the deeds open at one time.
const atOnce = 110

// warm lets as many ordinary clients come, be there at once and go as will misbehave.
func (v *vandal) warm(ctx context.Context) error {
	for range v.env.Of(2, 10, 10) {
		open, errs := make([]*wsclient.Conn, atOnce), make([]error, atOnce)
		frame.Each(atOnce, atOnce, func(i int) {
			if open[i], errs[i] = v.host.dial.Open(ctx, v.home()); errs[i] == nil {
				errs[i] = asked(open[i], `{"op":"subscribe","channels":["signals"]}`, `{"op":"ack"`)
			}
		})
		leave(open)
		if err := errors.Join(errs...); err != nil {
			return fmt.Errorf("ordinary clients: %w", err)
		}
	}
	return nil
}

// beside does something while somebody goes on asking, and gives the largest memory
// meanwhile.
func (v *vandal) beside(ctx context.Context, do func() error) (peak int64, err error) {
	calm, err := v.host.dial.Open(ctx, v.home())
	if err != nil {
		return 0, err
	}
	defer calm.Close()
	over := make(chan struct{})
	var wg sync.WaitGroup
	var times frame.Times
	wg.Go(func() {
		for n := 0; ; n++ {
			held, failed := v.host.rss()
			peak = max(peak, held)
			v.seen.Check(failed == nil, "the process is gone: %v", failed)
			if n%10 == 0 { // half as often as a client may
				began := time.Now()
				failed := asked(calm, `{"op":"ping","id":"calm"}`, `{"op":"pong","id":"calm"}`)
				v.seen.Check(failed == nil, "somebody beside: %v", failed)
				times.Add(time.Since(began))
			}
			select {
			case <-over:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	err = do()
	close(over)
	wg.Wait()
	v.beside99 = times.At(.99)
	return peak, err
}

// patient is how long an answer may take.
func (v *vandal) patient() time.Duration { return time.Duration(v.env.Of(3, 20, 20)) * time.Second }

// all are the deeds.
func (v *vandal) all(ctx context.Context) error {
	var wg sync.WaitGroup
	if v.env.Size == frame.Full {
		wg.Go(func() { v.judge("who answers no ping", v.silent(ctx)) })
	}
	wg.Go(func() {
		n := v.env.Of(5, 50, 200)
		frame.Each(2*n, 2*n, func(i int) {
			v.judge([]string{"a connection that says nothing", "a handshake letter by letter"}[i%2], v.slowly(ctx, i%2 == 1))
		})
	})
	list := badFrames()
	times := v.env.Of(1, 20, 200)
	frame.Each(len(list)*times, 8, func(i int) {
		d := list[i%len(list)]
		v.judge(d.name, v.commit(ctx, d))
	})
	err := v.tooMany(ctx)
	wg.Wait()
	return err
}

// commit does one deed on a connection of its own.
func (v *vandal) commit(ctx context.Context, d mischief) error {
	c, err := v.host.dial.Open(ctx, v.home())
	if err != nil {
		return err
	}
	defer c.Close()
	sending := make(chan struct{})
	go func() {
		defer close(sending)
		_ = c.Send(d.send) // a connection that is closed meanwhile says so to who reads
	}()
	defer func() { <-sending }()
	defer c.Close()
	if d.code == 0 {
		if err := until(c, d.told, v.patient()); err != nil {
			return err
		}
		return asked(c, `{"op":"ping","id":"still here"}`, `{"op":"pong","id":"still here"}`)
	}
	ended, _, err := c.End(v.patient())
	if err != nil {
		return fmt.Errorf("it stays open: %w", err)
	}
	if ended.Code != d.code {
		return fmt.Errorf("it %w, not with %d", ended, d.code)
	}
	return nil
}

// slowly opens a connection and says nothing, or one letter of the handshake at a time.
func (v *vandal) slowly(ctx context.Context, letters bool) error {
	conn, err := v.host.dial.Connect(ctx, v.home())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	began := time.Now()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = conn.SetReadDeadline(began.Add(generous * handshakeWithin))
		_, err = conn.Read(make([]byte, 1000))
	}()
	const head = "GET /ws HTTP/1.1\r\nHost: slow\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Long: "
	for i := 0; letters; i++ {
		select {
		case <-gone:
			letters = false
		case <-time.After(50 * time.Millisecond):
			_, _ = conn.Write([]byte{(head + "............................................................")[i%len(head)]})
		}
	}
	<-gone
	v.half.Add(time.Since(began))
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		return errors.New("it stays open")
	}
	return nil
}

// handshakeWithin is how long a client may take for the head of its request, and some.
const handshakeWithin = 4 * time.Second

// silent answers no ping.
func (v *vandal) silent(ctx context.Context) error {
	c, err := v.host.dial.Open(ctx, v.home())
	if err != nil {
		return err
	}
	defer c.Close()
	c.Mute = true
	ended, _, err := c.End(3 * time.Minute)
	if err == nil && ended.Code != 1008 {
		err = ended
	}
	return err
}

// asked says something and waits for the answer.
func asked(c *wsclient.Conn, say, answer string) error {
	if err := c.Say(say); err != nil {
		return err
	}
	return until(c, answer, 20*time.Second)
}
