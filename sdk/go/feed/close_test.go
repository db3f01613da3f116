package feed

import (
	"errors"
	"net/http"
	"runtime"
	"testing"
)

// TestOlderServer checks that a channel starts with its first event if hello contains no number.
func TestOlderServer(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.set(func() { s.noHead = true })
	s.file("signals", 2, nil)
	r := s.read(signals())
	r.live(1)
	s.file("signals", 1, nil)
	r.want(3)
	s.close(0)
	s.file("signals", 1, nil)
	r.want(4)
}

// TestClose checks that no goroutine remains after Close in different states of the client.
func TestClose(t *testing.T) {
	s := serve(t)
	before := runtime.NumGoroutine()
	for range 5 {
		full := s.read(signals())
		full.live(1)
		s.file("signals", 2*bufferSize, nil) // fills the buffer, so the client waits
		unreachable, err := Open(t.Context(), Options{URL: "ws://127.0.0.1:1/ws", Channels: []string{"signals"}})
		if err != nil {
			t.Fatal(err)
		}
		unreachable.Close()
		full.Close()
		for _, err := range full.Messages(t.Context()) {
			if err != nil && !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		}
	}
	s.CloseClientConnections()
	http.DefaultClient.CloseIdleConnections()
	until(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= before+2 })
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{
		{URL: "ws://h/ws"},
		{URL: "ftp://h", Channels: []string{"x"}},
		{URL: "ws:///ws", Channels: []string{"x"}},
		{URL: "://", Channels: []string{"x"}},
		{URL: "ws://h/ws", Channels: []string{"x"}, Since: map[string]int64{"x": -1}},
		{URL: "ws://h/ws", Channels: []string{"x"}, Since: map[string]int64{"y": 1 << 53}},
	} {
		if _, err := Open(t.Context(), o); err == nil {
			t.Errorf("Open accepts %+v; want an error", o)
		}
	}
}
