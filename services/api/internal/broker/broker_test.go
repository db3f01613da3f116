package broker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/broker/brokertest"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func message(seq int64, links ...feed.Link) feed.Message {
	return feed.Message{Seq: seq, Type: feed.SignalCreated, At: time.UnixMilli(1760000000123), Data: []byte(`{"n":1}`), Links: links}
}

// deliver delivers the next n events of a channel to the broker.
func deliver(t testing.TB, b *broker.Broker, c feed.Channel, n int) {
	t.Helper()
	for range n {
		seq := b.Head() + 1
		if err := b.Deliver(message(seq, feed.Link{Channel: c, Prev: seq - 1})); err != nil {
			t.Fatal(err)
		}
	}
}

func newBroker(t testing.TB, memory int) *broker.Broker {
	t.Helper()
	b := broker.New(memory)
	t.Cleanup(b.Close)
	return b
}

// listen creates a connection and a reader with a live subscription to a channel.
func listen(t testing.TB, b *broker.Broker, c feed.Channel) (*brokertest.Conn, *broker.Reader, *broker.Subscription) {
	t.Helper()
	p := brokertest.New()
	r := b.NewReader(p)
	s := b.Subscribe(r, c)
	if step, _, _ := s.CatchUp(); step != broker.Live {
		t.Fatalf("CatchUp: step %v, want Live", step)
	}
	return p, r, s
}

// texts waits until the connection has n text frames, and returns them.
func texts(t testing.TB, p *brokertest.Conn, n int) []string {
	t.Helper()
	testkit.Eventually(t, 10*time.Second, func() bool { return len(p.Texts()) >= n })
	got := p.Texts()
	if len(got) != n {
		t.Fatalf("%d frames, want %d", len(got), n)
	}
	return got
}

// inOrder requires that the frames have consecutive event numbers, starting at first.
func inOrder(t testing.TB, frames []string, first int) {
	t.Helper()
	for i, f := range frames {
		if !strings.Contains(f, fmt.Sprintf(`"seq":%d,"prev":`, first+i)) {
			t.Fatalf("frame %d is %s", i, f)
		}
	}
}

func TestFrames(t *testing.T) {
	t.Parallel()
	m := message(88019)
	for prev, want := range map[int64]string{88017: "88017", 0: "null"} {
		got := string(broker.EventFrame(&m, feed.Link{Channel: "market:701122", Prev: prev}))
		want := `{"op":"event","channel":"market:701122","seq":88019,"prev":` + want + `,"type":"signal.created","at":"2025-10-09T08:53:20.123Z","data":{"n":1}}`
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	e := feed.Ephemeral{Channel: "market:1", Type: feed.PriceTick, At: m.At, Data: []byte(`{"yesBps":1}`)}
	if got, want := string(broker.EphemeralFrame(&e)), `{"op":"event","channel":"market:1","type":"price.tick","at":"2025-10-09T08:53:20.123Z","data":{"yesBps":1}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, size := range []int{0, 125, 126, 65535, 65536, 100_000} {
		p := brokertest.New()
		text := strings.Repeat("x", size)
		if _, err := p.TryWrite(broker.Text([]byte(text))); err != nil {
			t.Fatal(err)
		}
		if frames, rest := p.Frames(); len(frames) != 1 || frames[0].Body != text || frames[0].Kind != 1 || rest != 0 {
			t.Errorf("a frame of %d bytes is read as %d frames and %d further bytes", size, len(frames), rest)
		}
	}
}

func TestDeliverKeepsTheOrder(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 8)
	b.Start(40)
	p, _, _ := listen(t, b, feed.Signals)
	deliver(t, b, feed.Signals, 2)
	var gap *broker.GapError
	if err := b.Deliver(message(44)); !errors.As(err, &gap) || gap.Head != 42 {
		t.Errorf("Deliver(44) after 42: %v; want a GapError", err)
	}
	if err := b.Deliver(message(41, feed.Link{Channel: feed.Signals})); err != nil {
		t.Errorf("Deliver(41) again: %v", err)
	}
	deliver(t, b, feed.Signals, 1)
	inOrder(t, texts(t, p, 3), 41)
	if b.Head() != 43 {
		t.Errorf("head %d, want 43", b.Head())
	}
}

func TestUnsubscribed(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 8)
	p, _, s := listen(t, b, feed.Signals)
	other, _, _ := listen(t, b, feed.Signals)
	s.Close()
	s.Close()
	deliver(t, b, feed.Signals, 1)
	b.Publish(feed.Ephemeral{Channel: feed.Signals})
	texts(t, other, 2)
	if got := p.Texts(); len(got) != 0 || b.Count() != 1 {
		t.Errorf("%d frames, %d subscriptions", len(got), b.Count())
	}
}

// TestLag checks that a reader whose connection is full later receives all events that are still in memory. It must not delay
// other readers.
func TestLag(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 2000)
	slow, r, _ := listen(t, b, feed.Signals)
	quick, _, _ := listen(t, b, feed.Signals)
	slow.Take(150) // one frame and part of the next
	deliver(t, b, feed.Signals, 700)
	texts(t, quick, 700)
	for range 50 {
		slow.Take(777)
		deliver(t, b, feed.Signals, 16)
	}
	r.Push(broker.Text([]byte(`"pong"`)))
	slow.TakeAll()
	deliver(t, b, feed.Signals, 1)
	got := texts(t, slow, 1502)
	at := slices.Index(got, `"pong"`)
	inOrder(t, slices.Delete(got, at, at+1), 1)
	if r.Closed() {
		t.Errorf("the lagging reader ended with %v", r.Code())
	}
}

// TestForget checks that after Forget, replays require a read of the store, while a live subscription that lags still gets
// events from memory.
func TestForget(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 2000)
	slow, r, _ := listen(t, b, feed.Signals)
	slow.Take(150)
	deliver(t, b, feed.Signals, 700)
	b.Forget()
	if _, ok := b.Recent(699, 10); ok {
		t.Error("the memory returns events from before Forget")
	}
	late := b.Subscribe(b.NewReader(brokertest.New()), feed.Signals)
	late.Start(600)
	var step broker.Step
	var from, upTo int64
	testkit.Eventually(t, 10*time.Second, func() bool { // its shard may not have flushed all events yet
		step, from, upTo = late.CatchUp()
		return step != broker.Ahead && upTo == 700
	})
	if step != broker.Read || from != 600 {
		t.Errorf("a replay from 600 to %d got step %v from %d; want Read", upTo, step, from)
	}
	slow.TakeAll()
	deliver(t, b, feed.Signals, 1)
	inOrder(t, texts(t, slow, 701), 1)
	if r.Closed() {
		t.Errorf("the lagging reader ended with %v", r.Code())
	}
}

// TestSlowConsumer checks that a reader is closed as a slow consumer if its next event is no longer in memory. Other readers
// must receive all events.
func TestSlowConsumer(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 300)
	slow, r, _ := listen(t, b, feed.Signals)
	quick, _, _ := listen(t, b, feed.Signals)
	slow.Take(100)
	for n := range 30 {
		deliver(t, b, feed.Signals, 20)
		texts(t, quick, 20*(n+1))
	}
	slow.TakeAll()
	testkit.Eventually(t, 10*time.Second, slow.Over)
	frames, _ := slow.Frames()
	if last := frames[len(frames)-1]; r.Code() != broker.SlowConsumer || last.Kind != 8 || last.Body != "\x0f\xa8slow_consumer" {
		t.Errorf("ended with %v, %q", r.Code(), last)
	}
	inOrder(t, slow.Texts(), 1)
}

// TestBlockedConnection checks that a reader is closed as a slow consumer if its connection fails while a write is blocked.
func TestBlockedConnection(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 300)
	p, r, _ := listen(t, b, feed.Signals)
	p.Take(10)
	deliver(t, b, feed.Signals, 1)
	testkit.Eventually(t, 10*time.Second, func() bool { _, rest := p.Frames(); return rest == 10 })
	p.Abort() // simulates the time limit of a write
	testkit.Eventually(t, 10*time.Second, r.Closed)
	if r.Code() != broker.SlowConsumer {
		t.Errorf("closed with %v, want SlowConsumer", r.Code())
	}
}

// TestPushAfterALargeBatch checks that a large frame that is partly written does not count towards MaxBytes.
func TestPushAfterALargeBatch(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 8)
	for range 100 {
		p := brokertest.New()
		r := b.NewReader(p)
		p.Take(1)
		r.Push(broker.Text([]byte(`"` + strings.Repeat("x", 4*broker.MaxBytes) + `"`)))
		r.Push(broker.Text([]byte(`"beat"`)))
		if r.Closed() {
			t.Fatalf("the reader ended with %v", r.Code())
		}
		p.TakeAll()
		texts(t, p, 2)
	}
}

// TestPushBounds pushes frames while the connection is full. MaxFrames frames are queued, and one more closes the reader as a
// slow consumer. A later Close must not change this code, and the last frame must be the close frame.
func TestPushBounds(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 8)
	p := brokertest.New()
	r := b.NewReader(p)
	p.Take(1)
	r.Push([]byte("\x81\x01x"))
	// Push itself wrote the first byte. The goroutine of the reader writes the second one after it has emptied the queue.
	p.Take(1)
	testkit.Eventually(t, 10*time.Second, func() bool { _, rest := p.Frames(); return rest == 2 })
	for range broker.MaxFrames {
		r.Push([]byte("\x81\x01x"))
	}
	if r.Closed() {
		t.Error("closed too early")
	}
	r.Push([]byte("\x81\x01x"))
	r.Close(broker.GoingAway)
	r.Push([]byte("\x81\x01y"))
	p.TakeAll()
	testkit.Eventually(t, 10*time.Second, p.Over)
	frames, rest := p.Frames()
	if n := len(frames); r.Code() != broker.SlowConsumer || rest != 0 || n != broker.MaxFrames+2 || frames[n-1].Kind != 8 {
		t.Errorf("%v after %d frames", r.Code(), n)
	}
}

// TestControl checks that a control frame is never written inside another frame, and that no frame follows a close frame.
func TestControl(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 8)
	p, r, _ := listen(t, b, feed.Signals)
	p.Take(50)
	deliver(t, b, feed.Signals, 3)
	testkit.Eventually(t, 10*time.Second, func() bool { _, rest := p.Frames(); return rest == 50 })
	r.Push(broker.Pong([]byte("hi")))
	r.Close(broker.Normal)
	r.Push(broker.Pong([]byte("no")))
	deliver(t, b, feed.Signals, 1)
	p.TakeAll()
	testkit.Eventually(t, 10*time.Second, p.Over)
	frames, rest := p.Frames()
	n := len(frames)
	if rest != 0 || n < 3 || frames[n-2] != (brokertest.Frame{Kind: 10, Body: "hi"}) || frames[n-1].Kind != 8 || r.Code() != broker.Normal {
		t.Errorf("%q, %d more, %v", frames, rest, r.Code())
	}
}

func TestNewestReplacesQueued(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 8)
	p, _, _ := listen(t, b, "market:1")
	p.Take(1)
	deliver(t, b, "market:1", 1)
	testkit.Eventually(t, 10*time.Second, func() bool { _, rest := p.Frames(); return rest == 1 })
	for n := range 1000 {
		b.Publish(feed.Ephemeral{Channel: "market:1", Type: feed.PriceTick, Data: fmt.Appendf(nil, `%d`, n)})
		b.Publish(feed.Ephemeral{Channel: "market:1", Type: feed.ViewersUpdated, Data: fmt.Appendf(nil, `%d`, n)})
	}
	p.TakeAll()
	testkit.Eventually(t, 10*time.Second, func() bool {
		last := map[bool]string{} // key true: price events; key false: other events
		for _, text := range p.Texts() {
			last[strings.Contains(text, string(feed.PriceTick))] = text
		}
		return strings.HasSuffix(last[true], `"data":999}`) && strings.HasSuffix(last[false], `"data":999}`)
	})
	if got := p.Texts(); len(got) > 50 {
		t.Errorf("%d frames, want at most 50", len(got))
	}
}

// TestCatchUp checks that CatchUp sends the events that are in memory, and reports which older events must be read from the
// store.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 100)
	first, _, _ := listen(t, b, feed.Signals)
	deliver(t, b, feed.Signals, 250)
	texts(t, first, 250)
	p := brokertest.New()
	r := b.NewReader(p)
	s := b.Subscribe(r, feed.Signals)
	s.Start(30)
	testkit.Eventually(t, 10*time.Second, func() bool { // wait until its shard has flushed all events
		step, from, upTo := s.CatchUp()
		return step == broker.Read && from == 30 && upTo == 250
	})
	s.CaughtUp(160)
	if step, _, _ := s.CatchUp(); step != broker.Live {
		t.Fatal(step)
	}
	inOrder(t, texts(t, p, 90), 161)
	// A subscription that starts after the head of this broker waits for the broker and receives no event twice.
	p = brokertest.New()
	s = b.Subscribe(b.NewReader(p), feed.Signals)
	s.Start(253)
	if step, _, _ := s.CatchUp(); step != broker.Ahead {
		t.Fatal(step)
	}
	deliver(t, b, feed.Signals, 5)
	testkit.Eventually(t, 10*time.Second, func() bool { step, _, _ := s.CatchUp(); return step == broker.Live })
	inOrder(t, texts(t, p, 2), 254)
}

// TestWaitForSpace checks that WaitForSpace waits until a reader accepts more of a replay, or until its context ends.
// synctest.Wait returns when the goroutine of the reader waits for the connection; before that, the goroutine may still write a
// part that the test offers.
func TestWaitForSpace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t, 8)
		p := brokertest.New()
		r := b.NewReader(p)
		piece := make([]byte, 1<<10)
		fill := func() {
			p.Take(0)
			r.Offer(piece)
			synctest.Wait()
			for offered := 0; r.Offer(piece); offered++ {
				if offered > broker.MaxBytes/len(piece) {
					t.Fatal("Offer accepts more than MaxBytes")
				}
			}
		}
		fill()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.WaitForSpace(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("WaitForSpace with a canceled context: %v", err)
		}
		done := make(chan error)
		go func() { done <- r.WaitForSpace(t.Context()) }()
		synctest.Wait()
		p.TakeAll()
		if err := <-done; err != nil || !r.Offer(piece) {
			t.Errorf("no space after TakeAll: %v", err)
		}
		synctest.Wait()
		fill()
		go func() { done <- r.WaitForSpace(t.Context()) }()
		synctest.Wait()
		r.Close(broker.GoingAway)
		if err := <-done; err != nil || !r.Offer(piece) {
			t.Errorf("no space at a closed reader: %v", err)
		}
		p.TakeAll()
		synctest.Wait()
		if !p.Over() {
			t.Error("the connection of a closed reader stays open")
		}
	})
}

// TestNewestOfManySubjects publishes events of 5,000 subjects, each twice, to a fast and a slow reader. The fast reader must
// receive the last event of each subject. The slow reader must receive the rest in parts, with a bounded queue, and must receive
// no event that a later one replaced before it was sent.
func TestNewestOfManySubjects(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 8)
	fast, _, _ := listen(t, b, feed.Prices)
	slow, reader, _ := listen(t, b, feed.Prices)
	slow.Take(100)
	const subjects = 5000
	publish := func(round int) {
		for i := range subjects {
			b.Publish(feed.Ephemeral{
				Channel: feed.Prices, Type: feed.PriceTick, Subject: fmt.Sprint(i), Data: fmt.Appendf(nil, `{"market":%d,"round":%d}`, i, round),
			})
		}
	}
	lastRound := func(p *brokertest.Conn, round int) int {
		n := 0
		for _, text := range p.Texts() {
			if strings.Contains(text, fmt.Sprintf(`"round":%d}`, round)) {
				n++
			}
		}
		return n
	}
	for round := 1; round <= 3; round++ {
		publish(round)
		testkit.Eventually(t, 10*time.Second, func() bool { return lastRound(fast, round) == subjects })
	}
	slow.TakeAll()
	testkit.Eventually(t, 10*time.Second, func() bool { return lastRound(slow, 3) == subjects })
	if n := len(slow.Texts()); n > subjects+1000 {
		t.Errorf("the slow reader received %d events of %d subjects; replaced events must not be sent", n, subjects)
	}
	if reader.Closed() {
		t.Error("the slow reader is closed")
	}
	late, _, _ := listen(t, b, feed.Prices)
	b.Publish(feed.Ephemeral{Channel: feed.Prices, Type: feed.PriceTick, Subject: "late", Data: []byte(`{"round":4}`)})
	if got := texts(t, late, 1); !strings.Contains(got[0], `"round":4}`) {
		t.Errorf("a new reader received %s, want only events after its subscription", got)
	}
}
