package testkit

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests of a package, stops the servers that they started, and ends the process. The exit code is 1 if a
// test failed or goroutines are left.
func Main(m *testing.M) {
	code := m.Run()
	servers.stop()
	if code == 0 {
		if err := leftOver(); err != nil {
			fmt.Fprintf(os.Stderr, "goroutines are left at the end: %v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}

// leftOver returns an error that lists goroutines that do not end within about three seconds. Some goroutines need
// time: go-redis, for example, waits one second between connection attempts to an unavailable server.
func leftOver() (err error) {
	for range 7 { // each call of Find takes about 0.4 s
		if err = goleak.Find(); err == nil {
			return nil
		}
	}
	return err
}

// running contains the functions that stop the servers which the tests of this process share.
type running struct {
	mu    sync.Mutex
	stops []func(context.Context)
}

var servers running

func (r *running) add(stop func(context.Context)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stops = append(r.stops, stop)
}

func (r *running) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, stop := range r.stops {
		stop(context.Background())
	}
	r.stops = nil
}
