package wsclient_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/test/system/wsclient"
)

// serve runs a websocket of the library for each connection.
func serve(t *testing.T, each func(ctx context.Context, c *websocket.Conn)) wsclient.Dialer {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-No") != "" {
			http.Error(w, "not today", http.StatusTooManyRequests)
			return
		}
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			return // it has answered
		}
		defer func() { _ = c.CloseNow() }()
		each(r.Context(), c)
	}))
	t.Cleanup(s.Close)
	return wsclient.Dialer{Addr: strings.TrimPrefix(s.URL, "http://")}
}

var home = net.IPv4(127, 0, 0, 1)

func TestConversation(t *testing.T) {
	t.Parallel()
	d := serve(t, func(ctx context.Context, c *websocket.Conn) {
		for {
			kind, text, err := c.Read(ctx)
			if err != nil {
				return
			}
			if string(text) == "bye" {
				_ = c.Close(4008, "slow_consumer")
				return
			}
			go func() { _ = c.Ping(ctx) }() // answered between the texts
			if err := c.Write(ctx, kind, text); err != nil {
				return
			}
		}
	})
	c, err := d.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, n := range []int{0, 1, 125, 126, 1000, 30_000} {
		text := strings.Repeat("x", n)
		if err := c.Say(text); err != nil {
			t.Fatal(err)
		}
		if kind, got, err := c.Next(10 * time.Second); err != nil || kind != wsclient.Text || string(got) != text {
			t.Fatalf("%d bytes: %d %d %v", n, kind, len(got), err)
		}
	}
	pieces := append(wsclient.Frame(wsclient.Text, false, []byte("in ")), wsclient.Frame(wsclient.More, true, []byte("pieces"))...)
	if err := c.Send(pieces); err != nil {
		t.Fatal(err)
	}
	if _, got, err := c.Next(10 * time.Second); err != nil || string(got) != "in pieces" {
		t.Fatalf("%q %v", got, err)
	}
	if err := c.Say("bye"); err != nil {
		t.Fatal(err)
	}
	e, texts, err := c.End(10 * time.Second)
	if err != nil || e.Code != 4008 || e.Reason != "slow_consumer" || texts != 0 {
		t.Fatal(e, texts, err)
	}
	_, err = d.Open(t.Context(), home, "X-No: 1")
	var no *wsclient.Refusal
	if !errors.As(err, &no) || no.Status != 429 || no.Body != "not today\n" {
		t.Fatal(err)
	}
}

// Who is heard gets every text once, in order, however the bytes come.
func TestHear(t *testing.T) {
	t.Parallel()
	const texts = 500
	d := serve(t, func(ctx context.Context, c *websocket.Conn) {
		for i := range texts {
			if i == texts/2 {
				go func() { _, _, _ = c.Read(ctx) }()
				if err := c.Ping(ctx); err != nil {
					t.Error(err)
				}
			}
			if err := c.Write(ctx, websocket.MessageText, fmt.Appendf(nil, "%d %s", i, strings.Repeat("y", i*7%3000))); err != nil {
				t.Error(err)
				return
			}
		}
		_ = c.Close(websocket.StatusGoingAway, "shutdown")
	})
	var heard atomic.Int64
	const listeners = 20
	conns := make([]*wsclient.Conn, listeners)
	for i := range conns {
		c, err := d.Open(t.Context(), home)
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = c
		next := 0
		if err := c.Hear(func(text []byte) {
			if want := fmt.Sprintf("%d %s", next, strings.Repeat("y", next*7%3000)); string(text) != want {
				t.Errorf("text %d: %.40q", next, text)
			}
			next++
			heard.Add(1)
		}); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return heard.Load() == listeners*texts })
	for _, c := range conns {
		<-c.Done()
		if c.Code() != 1001 || c.Why() != "shutdown" {
			t.Error(c.Code(), c.Why())
		}
	}
}

// A connection that breaks shows as cut.
func TestCut(t *testing.T) {
	t.Parallel()
	d := serve(t, func(context.Context, *websocket.Conn) {})
	heard, err := d.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	if err := heard.Hear(func([]byte) {}); err != nil {
		t.Fatal(err)
	}
	<-heard.Done()
	asked, err := d.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := asked.End(10 * time.Second)
	if err != nil || e.Code != wsclient.Cut || heard.Code() != wsclient.Cut {
		t.Fatal(e, err, heard.Code())
	}
}
