package broker_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/broker/brokertest"
	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// TestReadersUnderLoad subscribes readers that resume, lag and leave while events are delivered. Each reader must receive every
// event after its start, once and in order, or be closed as a slow consumer.
func TestReadersUnderLoad(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1000)
	const events, readers = 10_000, 9
	channels := []feed.Channel{feed.Signals, "market:1", "market:2"}
	conns := make([]*brokertest.Conn, readers)
	ends := make([]*broker.Reader, readers)
	started := make(chan struct{})
	var wg, subscribed sync.WaitGroup
	subscribed.Add(readers)
	for i := range readers {
		wg.Go(func() {
			<-started
			ends[i] = begin(b, conns, i, channels[i%3])
			subscribed.Done()
			for n := 0; b.Head() < events; n++ {
				if i%2 == 0 { // every second reader accepts few bytes at a time
					conns[i].Take(rand.N(4000))
				}
				runtime.Gosched()
			}
			conns[i].TakeAll()
		})
	}
	var last [3]int64
	for seq := int64(1); seq <= events; seq++ {
		links := []feed.Link{{Channel: channels[0], Prev: last[0]}}
		other := 1 + rand.N(2)
		links = append(links, feed.Link{Channel: channels[other], Prev: last[other]})
		last[0], last[other] = seq, seq
		if err := b.Deliver(message(seq, links...)); err != nil {
			t.Fatal(err)
		}
		if seq == 100 {
			close(started)
		}
		if seq == events/2 {
			subscribed.Wait() // a reader that starts after the last event would receive nothing
		}
		if seq%50 == 0 {
			runtime.Gosched()
		}
	}
	wg.Wait()
	for i, p := range conns {
		final := last[i%3]
		testkit.Eventually(t, 20*time.Second, func() bool {
			got := p.Texts()
			return p.Over() || len(got) > 0 && chained(t, got[len(got)-1:]) == final
		})
		if p.Over() && ends[i].Code() != broker.SlowConsumer {
			t.Errorf("reader %d ended with %v", i, ends[i].Code())
		}
		chained(t, p.Texts())
	}
}

// begin creates the i-th reader and subscribes it to a channel. If its events leave the memory before the subscription is live,
// begin starts again with a new reader.
func begin(b *broker.Broker, conns []*brokertest.Conn, i int, c feed.Channel) *broker.Reader {
	for {
		conns[i] = brokertest.New()
		r := b.NewReader(conns[i])
		s := b.Subscribe(r, c)
		step, _, _ := s.CatchUp()
		for ; step == broker.Wait || step == broker.Ahead; step, _, _ = s.CatchUp() {
			runtime.Gosched()
		}
		if step == broker.Live {
			return r
		}
		s.Close()
	}
}

// chained requires that each event contains the number of the event before it. It returns the number of the last event.
func chained(t *testing.T, frames []string) (last int64) {
	t.Helper()
	for i, text := range frames {
		at := strings.Index(text, `"seq":`)
		var seq, before int64
		if _, err := fmt.Sscanf(strings.Replace(text[at:], "null", "0", 1), `"seq":%d,"prev":%d`, &seq, &before); err != nil {
			t.Fatal(text, err)
		}
		if i > 0 && before != last {
			t.Fatalf("event %d has prev %d; want %d", seq, before, last)
		}
		last = seq
	}
	return last
}
