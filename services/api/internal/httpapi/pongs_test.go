package httpapi_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/httpapi"
)

// TestPongsBetweenEvents checks that a pong is never written inside another frame, even if the connection is full.
func TestPongsBetweenEvents(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 4096, sockets: httpapi.SocketLimits{SendBuffer: 4 << 10, FrameRate: 1000}})
	b.market("1", "SCIENCE")
	b.smallBuffer = true
	c := b.socket()
	c.send(`{"op":"subscribe","channels":["market:1"]}`)
	c.next()
	c.next()
	const events, pings = 1000, 20
	b.fact("market.status", "1", events)
	b.head(events) // without a reading client, the connection fills up in the middle of a frame
	done := make(chan error, pings)
	for range pings {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			done <- c.conn.Ping(ctx)
		}()
	}
	for n := int64(1); n <= events; n++ {
		f, err := c.read()
		for err == nil && f["op"] == "beat" {
			f, err = c.read()
		}
		if err != nil {
			t.Fatalf("event %d: %v", n, err)
		}
		if f.seq() != n || number(f["prev"]) != n-1 {
			t.Fatal(fmt.Sprint(f), n)
		}
	}
	go func() { _, _ = c.read() }() // receives the remaining pongs
	for range pings {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
