package testkit

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests of a package, stops the servers they started and fails when
// goroutines are left over.
func Main(m *testing.M) {
	code := m.Run()
	servers.stop()
	if code == 0 {
		if err := leftOver(); err != nil {
			fmt.Fprintf(os.Stderr, "goroutines are left over: %v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}

// leftOver returns an error that lists the goroutines that do not end within about three seconds. go-redis, for example, sleeps
// for a second between its dials of a server that does not answer, and ends only then.
func leftOver() (err error) {
	for range 7 { // each search takes about 0.4 s
		if err = goleak.Find(); err == nil {
			return nil
		}
	}
	return err
}

// running are the servers that this process shares among its tests.
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
