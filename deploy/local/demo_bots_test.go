package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestBotsUseDifferentAddresses(t *testing.T) {
	t.Parallel()
	from := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		from[strings.Split(r.RemoteAddr, ":")[0]] = true
	}))
	t.Cleanup(server.Close)
	for _, n := range []int{0, 5} {
		a, err := fromAddress(n).Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
	}
	for _, want := range []string{"127.64.240.1", "127.64.240.6"} {
		if !from[want] {
			t.Errorf("no request from %s; the requests came from %v", want, from)
		}
	}
}

// TestReadsOfBots checks that ask sends no body if body is empty, and that it repeats the request until the answer is 200.
func TestReadsOfBots(t *testing.T) {
	t.Parallel()
	var refused atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refused.CompareAndSwap(false, true) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if raw, err := io.ReadAll(r.Body); err != nil || len(raw) > 0 {
			t.Errorf("the body is %q: %v; want none", raw, err)
		}
		_, _ = w.Write([]byte(`{"id":"a"}`))
	}))
	t.Cleanup(server.Close)
	var got struct{ ID string }
	if err := (&bot{http: server.Client()}).ask(t.Context(), http.MethodGet, server.URL, "", &got); err != nil || got.ID != "a" {
		t.Errorf("%+v %v; want the id a", got, err)
	}
}
