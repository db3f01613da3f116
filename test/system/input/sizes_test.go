package input

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestOversizedRequestsUseNoMemory checks that requests that are too large are refused before they use memory, and that answers
// with lists are bounded.
func TestOversizedRequestsUseNoMemory(t *testing.T) {
	s := stack.Exclusive(t, stack.Hubs(2))
	z := &oversized{s: s, crowd: stack.NewCrowd(50), operators: s.SeedOperators(t, 16), market: marketWithCalls(t, s, 700)}
	z.send(t) // the first round also fills caches
	before := memory(t, s)
	for range stack.Size(t, 0, 3, 10) {
		z.send(t)
	}
	for name, after := range memory(t, s) {
		if grown := (after - before[name]) >> 20; grown > 50 {
			t.Errorf("the memory of %s has grown by %d MB; want at most 50 MB", name, grown)
		}
	}
	if n := z.read.Load(); n > 8<<20 {
		t.Errorf("a service read %d MB of one endless body; want at most 8 MB", n>>20)
	}
}

// memory returns the resident memory of each service in bytes.
func memory(t *testing.T, s *stack.Stack) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for _, name := range []string{"hub", "hub-2", "api", "clock"} {
		out[name] = stack.RSS(t, s.PID(t, name))
	}
	return out
}

// marketWithCalls returns a native market with n calls of n operators. The calls are inserted into the database and included in
// the leaderboards.
func marketWithCalls(t *testing.T, s *stack.Stack, n int) string {
	t.Helper()
	market, calls := s.NewNativeMarket(t, 5000, nil), make([]stack.StoredCall, n)
	for i, o := range s.SeedOperators(t, n) {
		calls[i] = stack.StoredCall{Operator: o.ID, Yes: i%2 == 0, Price: 5000, Basis: 5000}
	}
	s.InsertCalls(t, market, calls)
	s.RefreshBoards(t)
	return market
}

type oversized struct {
	s         *stack.Stack
	crowd     *stack.Crowd
	operators []*stack.Operator
	market    string

	read atomic.Int64 // largest number of bytes of one endless body that a server has read
}

// send sends one request of each kind to each server.
func (z *oversized) send(t *testing.T) {
	stack.AtOnce(8, func(i int) { z.endlessBody(t, i) })
	stack.AtOnce(8, func(i int) { z.compressedBody(t, z.operators[8+i]) })
	var many strings.Builder
	for n := range 10_000 {
		fmt.Fprintf(&many, "&k%d=%d", n, n)
	}
	long := strings.Repeat("x", 1<<20)
	const feed = "/api/signals/feed"
	for _, url := range []string{
		z.s.HubAt(0) + feed, z.s.HubAt(1) + feed, z.s.API + "/api/v1/feed", z.s.Clock + "/program/channel",
	} {
		z.crowd.Do(t, http.MethodGet, url, stack.Header("X-Long", long)).Require(http.StatusRequestHeaderFieldsTooLarge)
		z.crowd.Do(t, http.MethodGet, url+"?x="+long).Require(http.StatusRequestHeaderFieldsTooLarge)
		z.crowd.Do(t, http.MethodGet, url+"?"+many.String()).Require(http.StatusRequestHeaderFieldsTooLarge)
		a := z.crowd.Do(t, http.MethodGet, url+"?"+strings.Repeat("a&", 10_000))
		if a.Status != http.StatusOK && a.Status != http.StatusBadRequest {
			t.Errorf("GET %s with 10,000 parameters was answered %d; want 200 or 400", url, a.Status)
		}
	}
	z.lists(t)
}

// endlessBody sends a body of 1 GB without a Content-Length.
func (z *oversized) endlessBody(t *testing.T, i int) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	body := &endless{}
	event := "/api/signals/" + openapi.NoID + "/events"
	path := []string{"/api/predictions", event, "/api/admin/markets", "/api/resolution/finalize"}[i%4]
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, z.s.HubAt(i)+path, body)
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Content-Type", "application/json")
	stack.Bearer(z.operators[i].Key)(r)
	if i%4 >= 2 {
		r.Header.Del("Authorization")
		z.s.Admin()(r)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	// The server may close the connection while the body is sent. The client then receives no answer.
	if resp, err := transport.RoundTrip(r); err == nil {
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("POST %s with a body of 1 GB was answered %d; want 413", path, resp.StatusCode)
		}
	} else if ctx.Err() != nil {
		t.Errorf("POST %s with a body of 1 GB: %v; want 413 or a closed connection", path, err)
	}
	for old := z.read.Load(); body.sent.Load() > old && !z.read.CompareAndSwap(old, body.sent.Load()); old = z.read.Load() {
	}
}

// endless is a reader of a 1 GB JSON text that counts the bytes read.
type endless struct{ sent atomic.Int64 }

func (e *endless) Read(p []byte) (n int, err error) {
	switch sent := e.sent.Load(); {
	case sent == 0:
		n = copy(p, `{"marketId":"`)
	case sent >= 1<<30:
		return 0, io.EOF
	default:
		n = copy(p, bytes.Repeat([]byte("x"), len(p)))
	}
	e.sent.Add(int64(n))
	return n, nil
}

// compressedBody sends a body of 64 MB that is compressed to 64 kB.
func (z *oversized) compressedBody(t *testing.T, o *stack.Operator) {
	var small bytes.Buffer
	w := gzip.NewWriter(&small)
	for range 64 {
		_, _ = w.Write(bytes.Repeat([]byte(" "), 1<<20)) // a write to memory does not fail
	}
	_ = w.Close()
	encoding := stack.Header("Content-Encoding", "gzip")
	o.Do(t, http.MethodPost, z.s.Hub+"/api/predictions", stack.Bearer(o.Key), encoding, stack.Body(small.String())).
		Require(http.StatusUnsupportedMediaType)
}

// lists requests more entries than a page of each list may have, and sends limits that are not numbers.
func (z *oversized) lists(t *testing.T) {
	for _, list := range []struct {
		url, member string
		most        int
	}{
		{z.s.Hub + "/api/signals/feed", "signals", 50},
		{z.s.Hub + "/api/m/" + z.market + "/signals", "signals", 500},
		{z.s.Hub + "/api/resolution/markets", "markets", 100},
		{z.s.Hub + "/api/operator/leaderboard", "leaderboard", 100},
		{z.s.API + "/api/v1/feed", "items", 200},
		{z.s.API + "/api/v1/signals/leaderboard", "leaderboard", 200},
		{z.s.Clock + "/program/channel", "segments", 400},
	} {
		for _, limit := range []string{"-1", "0", "abc", "1e9", "1000000000", "99999999999999999999999", "0x10", "1.5"} {
			a := z.crowd.Do(t, http.MethodGet, list.url+"?limit="+url.QueryEscape(limit))
			switch a.Status {
			case http.StatusBadRequest:
			case http.StatusOK:
				if n := len(a.List(list.member)); n > list.most {
					t.Errorf("GET %s?limit=%s: %d entries; want at most %d", list.url, limit, n, list.most)
				}
			default:
				t.Errorf("GET %s?limit=%s was answered %d; want 200 or 400", list.url, limit, a.Status)
			}
		}
	}
}
