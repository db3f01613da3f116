package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A client of net/http spends more on a request than the service does, on the
// same two cores. This one writes bytes and reads the little that it needs.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
	host string
}

// answer of one request.
type answer struct {
	status int
	body   []byte // valid until the next request
}

func dial(ctx context.Context, base string) (*client, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, in: bufio.NewReaderSize(conn, 8<<10), host: u.Host}, nil
}

func (c *client) close() { _ = c.conn.Close() }

// post sends JSON with one header of authority and reads the answer.
func (c *client) post(path, header string, body []byte) (answer, error) {
	b := append(c.out[:0], "POST "...)
	b = append(b, path...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, c.host...)
	b = append(b, "\r\nContent-Type: application/json\r\n"...)
	b = append(b, header...)
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	c.out = append(b, body...)
	if err := c.conn.SetDeadline(time.Now().Add(3 * time.Minute)); err != nil {
		return answer{}, err
	}
	if _, err := c.conn.Write(c.out); err != nil {
		return answer{}, err
	}
	return c.read()
}

// read takes an answer with a Content-Length, as all answers to a post have.
func (c *client) read() (answer, error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return answer{}, err
	}
	if len(line) < 12 {
		return answer{}, fmt.Errorf("status line %q", line)
	}
	a := answer{}
	if a.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return a, err
	}
	length := -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return a, err
		}
		if len(line) <= 2 {
			break
		}
		if name, value, ok := strings.Cut(string(line), ":"); ok && length < 0 && strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return a, err
			}
		}
	}
	if length < 0 {
		return a, errors.New("an answer without a length")
	}
	a.body = make([]byte, length)
	_, err = io.ReadFull(c.in, a.body)
	return a, err
}

// sent is what a stretch of load did.
type sent struct {
	n     int
	away  int // answered 503: the machine was too busy with other work
	took  time.Duration
	waits []time.Duration
}

// errAway is an answer that says "later"; it is counted and does not end a stretch.
var errAway = errors.New("answered 503")

func (s sent) rate() float64 { return float64(s.n) / s.took.Seconds() }

// load keeps clients busy for a while. Each asks next for its request and tells
// by an error that its answer is wrong, which ends the stretch.
func load(ctx context.Context, base string, clients int, length time.Duration, one func(c *client) error) (sent, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wg  sync.WaitGroup
		mu  sync.Mutex
		all sent
	)
	conns := make([]*client, clients)
	for i := range conns {
		c, err := dial(ctx, base)
		if err != nil {
			return all, err
		}
		defer c.close()
		conns[i] = c
	}
	began := time.Now()
	for _, c := range conns {
		wg.Go(func() {
			var waits []time.Duration
			away := 0
			for ctx.Err() == nil {
				start := time.Now()
				if start.Sub(began) >= length {
					break
				}
				err := one(c)
				if errors.Is(err, errAway) {
					away++
					pause(ctx, 100*time.Millisecond)
					continue
				}
				if err != nil {
					cancel(err)
					break
				}
				waits = append(waits, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			all.n += len(waits)
			all.away += away
			all.waits = append(all.waits, waits...)
		})
	}
	wg.Wait()
	all.took = time.Since(began)
	return all, context.Cause(ctx)
}
