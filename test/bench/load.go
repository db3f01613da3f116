package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// client sends requests over one connection. It writes and parses HTTP itself, because package net/http would use more CPU time
// of the cores on which the services run.
type client struct {
	net.Conn
	in   *bufio.Reader
	host string
}

// dial opens a TCP connection to a service. base is its URL.
func dial(base string) *client {
	host := strings.TrimPrefix(base, "http://")
	conn := must(net.Dial("tcp", host))
	return &client{conn, bufio.NewReaderSize(conn, 8<<10), host}
}

// post sends a POST request with a JSON body. header is one header line, which contains the credential. post returns the status
// and the body of the response. The deadline for the request and its response is three minutes.
func (c *client) post(path, header, body string) (int, []byte, error) {
	if err := c.SetDeadline(time.Now().Add(3 * time.Minute)); err != nil {
		return 0, nil, err
	}
	_, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%s\r\nContent-Length: %d\r\n\r\n%s",
		path, c.host, header, len(body), body)
	if err != nil {
		return 0, nil, err
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, nil, err
	}
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

// sent contains the results of the method load: the numbers of successful requests and of 503 responses, the total time, and
// the latencies.
type sent struct {
	n     int
	shed  int // number of responses with status 503: the machine was busy with other work
	took  time.Duration
	waits []time.Duration
}

// errShed is the error for a response with status 503. The method load counts the request and continues.
var errShed = errors.New("answered 503")

// errEnough ends the method load without a failure. A request function returns it.
var errEnough = errors.New("enough")

func (s sent) rate() float64 { return float64(s.n) / s.took.Seconds() }

// load sends requests from a number of clients until length has passed or the request function one returns errEnough. Any other
// error except errShed ends the run.
func (b *bench) load(base string, clients int, length time.Duration, one func(c *client) error) (all sent) {
	ctx, cancel := context.WithCancelCause(b.ctx)
	defer cancel(nil)
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	conns := make([]*client, clients)
	for i := range conns {
		conns[i] = dial(base)
		defer func() { _ = conns[i].Close() }()
	}
	began := time.Now()
	for _, c := range conns {
		wg.Go(func() {
			var waits []time.Duration
			shed := 0
			for start := time.Now(); ctx.Err() == nil && start.Sub(began) < length; start = time.Now() {
				err := one(c)
				switch {
				case err == nil:
					waits = append(waits, time.Since(start))
				case errors.Is(err, errShed):
					shed++
					time.Sleep(100 * time.Millisecond)
				default:
					cancel(err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all.n, all.shed, all.waits = all.n+len(waits), all.shed+shed, append(all.waits, waits...)
		})
	}
	wg.Wait()
	all.took = time.Since(began)
	if err := context.Cause(ctx); !errors.Is(err, errEnough) {
		check(err)
	}
	if all.shed > 0 {
		b.report.note("%d requests were answered 503 and not counted", all.shed)
	}
	return all
}
