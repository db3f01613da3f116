package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	answerWithin = 15 * time.Second
	patience     = 2 * time.Minute // of one act, over all its tries; waits for a limit do not count
	maxAnswer    = 8 << 20
)

// client is one client of the services, with its own connections and its own loopback address:
// the limit per address applies to each of them separately.
type client struct {
	http  *http.Client
	pace  *pace // nil: no key, nothing to keep to; with one, not for concurrent use
	meets *meets
}

// meets counts what clients met on their way.
type meets struct{ limited, retried atomic.Int64 }

// newClient dials from 127.a.b.c, made of n; where the machine has no such
// address it dials from the usual one, and the limits are waited for.
func newClient(n int, m *meets) *client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	block := n / 250
	from := &net.TCPAddr{IP: net.IPv4(127, byte(64+block/256), byte(block), byte(1+n%250))}
	if l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: from.IP}); err == nil {
		_ = l.Close()
		dialer.LocalAddr = from
	}
	return &client{meets: m, http: &http.Client{Timeout: answerWithin, Transport: &http.Transport{
		DialContext: dialer.DialContext, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
	}}}
}

// ask is one request.
type ask struct {
	method, url string
	bearer      string
	header      map[string]string
	body        any  // JSON; nil: none
	once        bool // not repeated in doubt: the act is not idempotent
}

// reply is the answer to it.
type reply struct {
	status  int
	body    []byte
	doubted bool // an earlier try may have had its effect
}

// into decodes the body of an answer of the wanted status.
func (r reply) into(status int, v any) error {
	if r.status != status {
		return fmt.Errorf("answered %d: %s", r.status, short(r.body))
	}
	if v == nil {
		return nil
	}
	if err := json.Unmarshal(r.body, v); err != nil {
		return fmt.Errorf("answered what cannot be read: %w: %s", err, short(r.body))
	}
	return nil
}

func short(body []byte) string {
	const most = 300
	if len(body) > most {
		return string(body[:most]) + "…"
	}
	return string(body)
}

// do asks until there is a clear answer: a limit is waited for, doubt (no
// answer, 502, 503, 504, a degraded one) is tried again with growing pauses.
func (c *client) do(ctx context.Context, a ask) (reply, error) {
	var out reply
	began, pause := time.Now(), 100*time.Millisecond
	for {
		if c.pace != nil {
			if err := sleep(ctx, c.pace.wait(time.Now())); err != nil {
				return out, err
			}
		}
		status, header, body, err := c.try(ctx, a)
		now := time.Now()
		if c.pace != nil && header != nil {
			c.pace.learn(now, header)
		}
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		asked, told := retryAfter(header, now)
		switch {
		case err == nil && status == http.StatusTooManyRequests:
			c.meets.limited.Add(1)
			wait := max(asked, 50*time.Millisecond)
			began = began.Add(wait)
			if err := sleep(ctx, wait); err != nil {
				return out, err
			}
			continue
		case err == nil && conclusive(status, header):
			out.status, out.body = status, body
			return out, nil
		}
		out.doubted = true
		if err == nil {
			err = fmt.Errorf("answered %d: %s", status, short(body))
		}
		if a.once || now.Sub(began) > patience {
			return out, fmt.Errorf("%s %s: %w", a.method, a.url, err)
		}
		c.meets.retried.Add(1)
		wait := pause/2 + rand.N(pause)
		if told {
			wait = max(wait, asked)
		}
		if err := sleep(ctx, wait); err != nil {
			return out, err
		}
		pause = min(2*pause, 3*time.Second)
	}
}

// conclusive says whether an answer settles the matter. A list that is empty because
// its source failed says so in a header; it is not the list.
func conclusive(status int, h http.Header) bool {
	switch status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return h.Get("X-Degraded") == ""
}

func (c *client) try(ctx context.Context, a ask) (int, http.Header, []byte, error) {
	var body io.Reader
	if a.body != nil {
		raw, err := json.Marshal(a.body)
		if err != nil {
			return 0, nil, nil, err
		}
		body = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, a.method, a.url, body)
	if err != nil {
		return 0, nil, nil, err
	}
	if a.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if a.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+a.bearer)
	}
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp.StatusCode, resp.Header, raw, err
}

// get reads JSON.
func (c *client) get(ctx context.Context, url string, v any) error {
	r, err := c.do(ctx, ask{method: http.MethodGet, url: url})
	if err != nil {
		return err
	}
	if err := r.into(http.StatusOK, v); err != nil {
		return fmt.Errorf("GET %s: %w", url, err)
	}
	return nil
}

// post sends JSON and reads the answer of the wanted status.
func (c *client) post(ctx context.Context, url, bearer string, body any, status int, v any) error {
	r, err := c.do(ctx, ask{method: http.MethodPost, url: url, bearer: bearer, body: body})
	if err != nil {
		return err
	}
	if err := r.into(status, v); err != nil {
		return fmt.Errorf("POST %s: %w", url, err)
	}
	return nil
}

func (c *client) close() { c.http.CloseIdleConnections() }

// sleep waits, unless ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
