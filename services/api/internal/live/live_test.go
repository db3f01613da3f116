package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/signalcast/signalcast/services/api/internal/feed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func message(seq int64, links ...feed.Link) feed.Message {
	return feed.Message{Seq: seq, Type: feed.SignalCreated, At: time.UnixMilli(1760000000123), Data: []byte(`{"n":1}`), Links: links}
}

// deliver gives the hub the next n events of a channel.
func deliver(t testing.TB, h *Hub, c feed.Channel, n int) {
	t.Helper()
	for range n {
		seq := h.Head() + 1
		if err := h.Deliver(message(seq, feed.Link{Channel: c, Prev: seq - 1})); err != nil {
			t.Fatal(err)
		}
	}
}

// drain takes everything that waits.
func drain(q *Queue) (frames []string, code Code) {
	for {
		b, code, open := q.Next()
		if !open || b == nil {
			return frames, code
		}
		frames = append(frames, string(b))
	}
}

// listen subscribes and goes live.
func listen(t testing.TB, h *Hub, c feed.Channel) (*Queue, *Subscription) {
	t.Helper()
	q := NewQueue()
	s := h.Subscribe(q, c)
	if step, _, _ := s.Catch(); step != Live {
		t.Fatalf("step %v", step)
	}
	return q, s
}

func TestFrames(t *testing.T) {
	t.Parallel()
	m := message(88019)
	for prev, want := range map[int64]string{88017: "88017", 0: "null"} {
		got := string(EventFrame(&m, feed.Link{Channel: "market:701122", Prev: prev}))
		want := `{"op":"event","channel":"market:701122","seq":88019,"prev":` + want + `,"type":"signal.created","at":"2025-10-09T08:53:20.123Z","data":{"n":1}}`
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	e := feed.Ephemeral{Channel: "market:1", Type: feed.PriceTick, At: m.At, Data: []byte(`{"yesBps":1}`)}
	if got, want := string(EphemeralFrame(&e)), `{"op":"event","channel":"market:1","type":"price.tick","at":"2025-10-09T08:53:20.123Z","data":{"yesBps":1}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDeliverKeepsTheOrder(t *testing.T) {
	t.Parallel()
	h := NewHub(8)
	h.Start(40)
	q, _ := listen(t, h, feed.Signals)
	deliver(t, h, feed.Signals, 2)
	var hole *HoleError
	if err := h.Deliver(message(44)); !errors.As(err, &hole) || hole.Head != 42 {
		t.Errorf("a hole gave %v", err)
	}
	if err := h.Deliver(message(41, feed.Link{Channel: feed.Signals})); err != nil {
		t.Errorf("a repeat gave %v", err)
	}
	if frames, _ := drain(q); len(frames) != 2 || h.Head() != 42 {
		t.Errorf("%d frames, head %d", len(frames), h.Head())
	}
}

// Frames are built once and shared.
func TestFramesAreShared(t *testing.T) {
	t.Parallel()
	h := NewHub(8)
	a, _ := listen(t, h, feed.Signals)
	b, _ := listen(t, h, feed.Signals)
	deliver(t, h, feed.Signals, 1)
	x, _, _ := a.Next()
	y, _, _ := b.Next()
	if len(x) == 0 || &x[0] != &y[0] {
		t.Error("two readers got two copies")
	}
}

func TestUnsubscribed(t *testing.T) {
	t.Parallel()
	h := NewHub(8)
	q, s := listen(t, h, feed.Signals)
	s.Close()
	deliver(t, h, feed.Signals, 1)
	h.Publish(feed.Ephemeral{Channel: feed.Signals})
	if frames, _ := drain(q); len(frames) != 0 || h.Count() != 0 {
		t.Errorf("%d frames, %d subscriptions", len(frames), h.Count())
	}
}

// A burst that is longer than the queue loses nobody who reads, however long it is.
func TestBurst(t *testing.T) {
	t.Parallel()
	h := NewHub(2000)
	q, _ := listen(t, h, feed.Signals)
	deliver(t, h, feed.Signals, 1500)
	if n := len(q.frames); n != MaxFrames {
		t.Errorf("%d frames wait, want %d", n, MaxFrames)
	}
	frames, code := drain(q)
	if len(frames) != 1500 || code != (Code{}) {
		t.Fatalf("%d frames, %v", len(frames), code)
	}
	for i, f := range frames {
		if !strings.Contains(f, fmt.Sprintf(`"seq":%d,"prev":`, i+1)) {
			t.Fatalf("frame %d is %s", i, f)
		}
	}
}

// A reader that falls behind the hub's memory is a slow consumer, and nobody
// else hears of it.
func TestSlowConsumer(t *testing.T) {
	t.Parallel()
	h := NewHub(300)
	slow, _ := listen(t, h, feed.Signals)
	quick, _ := listen(t, h, feed.Signals)
	got := 0
	for range 30 {
		deliver(t, h, feed.Signals, 20)
		frames, _ := drain(quick)
		got += len(frames)
	}
	if got != 600 {
		t.Errorf("the quick reader has %d of 600", got)
	}
	if _, code := drain(slow); code != SlowConsumer {
		t.Errorf("the slow reader ended with %v", code)
	}
}

// Bytes bound the queue as well, but one frame of any size may pass alone.
func TestQueueBounds(t *testing.T) {
	t.Parallel()
	q := NewQueue()
	q.Push(make([]byte, 2*MaxBytes))
	if q.Offer([]byte("x")) {
		t.Error("a full queue took a frame")
	}
	if q.Closed() {
		t.Error("a large frame alone closed the queue")
	}
	q.Push([]byte("x"))
	if _, code, open := q.Next(); open || code != SlowConsumer {
		t.Errorf("open %v, code %v", open, code)
	}
	q = NewQueue()
	for range MaxFrames {
		q.Push([]byte("x"))
	}
	if q.Closed() {
		t.Error("closed too early")
	}
	q.Push([]byte("x"))
	q.Close(GoingAway)
	if _, code, _ := q.Next(); code != SlowConsumer {
		t.Errorf("the first code does not stand: %v", code)
	}
}

func TestNewestWins(t *testing.T) {
	t.Parallel()
	h := NewHub(8)
	q, _ := listen(t, h, "market:1")
	for n := range 1000 {
		h.Publish(feed.Ephemeral{Channel: "market:1", Type: feed.PriceTick, Data: fmt.Appendf(nil, `%d`, n)})
		h.Publish(feed.Ephemeral{Channel: "market:1", Type: feed.ViewersUpdated, Data: fmt.Appendf(nil, `%d`, n)})
	}
	frames, code := drain(q)
	if len(frames) != 2 || !strings.HasSuffix(frames[0], `"data":999}`) || !strings.HasSuffix(frames[1], `"data":999}`) || code != (Code{}) {
		t.Errorf("%v, %v", frames, code)
	}
}

// Catch brings what memory holds and asks for the rest.
func TestCatch(t *testing.T) {
	t.Parallel()
	h := NewHub(100)
	deliver(t, h, feed.Signals, 250)
	q := NewQueue()
	s := h.Subscribe(q, feed.Signals)
	s.Start(30)
	step, from, upTo := s.Catch()
	if step != Read || from != 30 || upTo != 250 {
		t.Fatalf("%v %d %d", step, from, upTo)
	}
	s.Caught(160)
	if step, _, _ := s.Catch(); step != Live {
		t.Fatal(step)
	}
	frames, _ := drain(q)
	if len(frames) != 90 || !strings.Contains(frames[0], `"seq":161,`) {
		t.Errorf("%d frames from %.60s", len(frames), frames[0])
	}
	// One that is ahead of this hub gets nothing twice.
	s = h.Subscribe(q, feed.Signals)
	s.Start(253)
	if step, _, _ := s.Catch(); step != Live {
		t.Fatal(step)
	}
	deliver(t, h, feed.Signals, 5)
	if frames, _ = drain(q); len(frames) != 5+2 {
		t.Errorf("%d frames, want 5 and 2", len(frames))
	}
}

// Room waits for a reader and ends with its context.
func TestRoom(t *testing.T) {
	t.Parallel()
	q := NewQueue()
	for range MaxFrames / 2 {
		if !q.Offer([]byte("x")) {
			t.Fatal("no room for half")
		}
	}
	if q.Offer([]byte("x")) {
		t.Fatal("a replay filled more than half")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.Room(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("room: %v", err)
	}
	done := make(chan error)
	go func() { done <- q.Room(t.Context()) }()
	drain(q)
	if err := <-done; err != nil || !q.Offer([]byte("x")) {
		t.Errorf("no room: %v", err)
	}
}

// Readers that come, resume, lag and leave while events run: each has every
// event behind its start, once and in order, or was told that it is slow.
func TestReadersUnderLoad(t *testing.T) {
	t.Parallel()
	h := NewHub(1000)
	const events = 20_000
	channels := []feed.Channel{feed.Signals, "market:1", "market:2"}
	var wg sync.WaitGroup
	wg.Go(func() {
		var last [3]int64
		for seq := int64(1); seq <= events; seq++ {
			links := []feed.Link{{Channel: channels[0], Prev: last[0]}}
			other := 1 + rand.N(2)
			links = append(links, feed.Link{Channel: channels[other], Prev: last[other]})
			last[0], last[other] = seq, seq
			if err := h.Deliver(message(seq, links...)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i := range 8 {
		wg.Go(func() {
			q := NewQueue()
			s := h.Subscribe(q, channels[i%3])
			prev, started := int64(0), false
			step, _, _ := s.Catch()
			for step == Wait {
				drainOne(q)
				step, _, _ = s.Catch()
			}
			for n := 0; n < 200_000 && h.Head() < events || n < 100; n++ {
				b, code, open := q.Next()
				if !open {
					if code != SlowConsumer {
						t.Errorf("ended with %v", code)
					}
					return
				}
				if b == nil {
					continue
				}
				var seq, before int64
				text := string(b)
				at := strings.Index(text, `"seq":`)
				if _, err := fmt.Sscanf(strings.Replace(text[at:], "null", "0", 1), `"seq":%d,"prev":%d`, &seq, &before); err != nil {
					t.Error(text, err)
					return
				}
				if started && before != prev {
					t.Errorf("%s: %d says that %d was before it, it was %d", channels[i%3], seq, before, prev)
					return
				}
				prev, started = seq, true
			}
			s.Close()
		})
	}
	wg.Wait()
}

func drainOne(q *Queue) { _, _, _ = q.Next() }
