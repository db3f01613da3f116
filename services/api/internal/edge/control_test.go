package edge_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/edge"
)

// What the library writes of its own, such as pongs, never stands inside a frame of
// the hub's, also while the connection is full.
func TestPongsBetweenEvents(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 4096, sockets: edge.SocketLimits{SendBuffer: 4 << 10, FrameRate: 1000}})
	b.market("1", "SCIENCE")
	c := b.socket()
	c.send(`{"op":"subscribe","channels":["market:1"]}`)
	c.next()
	c.next()
	const events = 2000
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		for range 200 {
			if err := c.conn.Ping(ctx); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	b.fact("market.status", "1", events)
	for n := int64(1); n <= events; n++ {
		f, err := c.read()
		if err != nil {
			t.Fatalf("event %d: %v", n, err)
		}
		if f.seq() != n || number(f["prev"]) != n-1 {
			t.Fatal(fmt.Sprint(f), n)
		}
	}
	go func() { _, _ = c.read() }() // so that the last pongs are read
	if err := <-done; err != nil {
		t.Error(err)
	}
}
