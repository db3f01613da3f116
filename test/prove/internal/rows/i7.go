package rows

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// i7 sends what is far too large, and asks for far too much.
var i7 = frame.Row{
	ID: "I7", Title: "sizes are bounded before memory is spent",
	Fault: frame.Fault{What: "heads of any size", Env: map[string]string{"HTTP_MAX_HEADER_BYTES": "67108864"}},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		b := bounds{env: env, seen: seen}
		if err := b.prepare(ctx); err != nil {
			return nil, err
		}
		b.round(ctx) // what a first time costs is not growth
		before, err := b.memory()
		if err != nil {
			return nil, err
		}
		for range env.Of(0, 3, 10) {
			b.round(ctx)
		}
		after, err := b.memory()
		if err != nil {
			return nil, err
		}
		worst := int64(0)
		for name := range after {
			worst = max(worst, after[name]-before[name])
			seen.Figure("grown "+name, after[name]-before[name])
		}
		const most = 10 << 20
		seen.Check(worst <= generous*most, "memory grew by %d MB", worst>>20)
		seen.Check(b.taken.Load() <= 8<<20, "%d MB of one body were taken", b.taken.Load()>>20)
		seen.Promise("413/415/431, rows ≤ stated, RSS +≤ 10 MB",
			fmt.Sprintf("%d of %d as promised, a 1 GB body ended after %d kB, RSS +%.1f MB", b.right.Load(), b.asked.Load(), b.taken.Load()>>10, float64(worst)/(1<<20)))
		seen.Volume("%s requests", frame.Number(int(b.asked.Load())))
		return seen, nil
	},
}

// bounds are the requests that go too far.
type bounds struct {
	env    *frame.Env
	seen   *frame.Seen
	keys   []client.Key
	market string // with more calls than a page holds

	asked, right, taken atomic.Int64 // taken: the most bytes of an endless body
}

func (b *bounds) prepare(ctx context.Context) error {
	ops, err := pool(ctx, b.env, "i7", 700, 1)
	if err != nil {
		return err
	}
	ids, err := markets(ctx, b.env, "I7", 1)
	if err != nil {
		return err
	}
	b.market = ids[0]
	var calls []client.Planted
	for i, o := range ops {
		calls = append(calls, client.Planted{User: o.ID, Yes: i%2 == 0, Price: 5000, Basis: 5000})
		b.keys = append(b.keys, o.Keys[0])
	}
	if err := client.Plant(ctx, b.env.DB, b.market, calls); err != nil {
		return err
	}
	return client.Rank(ctx, b.env.DB)
}

func (b *bounds) memory() (map[string]int64, error) {
	all := map[string]int64{}
	for _, name := range []string{"hub", "hub-2", "api", "clock"} {
		n, err := stack.RSS(b.env.Stack.PID(name))
		if err != nil {
			return nil, err
		}
		all[name] = n
	}
	return all, nil
}

// want notes whether an answer is as it must be.
func (b *bounds) want(what string, a client.Answer, statuses ...int) {
	b.asked.Add(1)
	for _, s := range statuses {
		if a.Status == s {
			b.right.Add(1)
			return
		}
	}
	b.seen.Wrong("%s: %.120s", what, a)
}

func (b *bounds) round(ctx context.Context) {
	frame.AtOnce(8, func(i int) { b.endless(ctx, i) })
	frame.AtOnce(8, func(i int) { b.bomb(ctx, i) })
	for i, host := range []string{b.env.Hub(0), b.env.Hub(1), b.env.Stack.API, b.env.Stack.Clock} {
		long := strings.Repeat("x", 1<<20)
		path := []string{"/api/signals/feed", "/api/signals/feed", "/api/v1/feed", "/program/channel"}[i]
		b.want("a head of 1 MB", b.env.Client.Do(ctx, client.Request{URL: host + path, Header: http.Header{"X-Long": {long}}}), 431)
		b.want("an address of 1 MB", b.env.Client.Do(ctx, client.Request{URL: host + path + "?x=" + long}), 431)
		b.want("10,000 short parameters", b.env.Client.Do(ctx, client.Request{URL: host + path + "?" + strings.Repeat("a&", 10_000)}), 200, 400)
		var many strings.Builder
		for n := range 10_000 {
			fmt.Fprintf(&many, "&k%d=%d", n, n)
		}
		b.want("10,000 parameters", b.env.Client.Do(ctx, client.Request{URL: host + path + "?" + many.String()}), 431)
	}
	b.lists(ctx)
}

// endless sends a body of a gigabyte without saying how long it will be.
func (b *bounds) endless(ctx context.Context, i int) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	source := &counted{left: 1 << 30}
	d := []string{"/api/predictions", "/api/signals/" + b.env.Stack.Nonce + "/events", "/api/admin/markets", "/api/resolution/finalize"}[i%4]
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.env.Hub(i)+d, source)
	if err != nil {
		b.seen.Wrong("%v", err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	if i%4 < 2 {
		req.Header.Set("Authorization", "Bearer "+string(b.keys[i]))
	} else {
		req.Header.Set("X-Admin-Secret", b.env.Stack.AdminSecret)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	a := client.Answer{}
	resp, err := transport.RoundTrip(req)
	if err == nil {
		a.Status = resp.StatusCode
		a.Body, _ = io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		_ = resp.Body.Close()
	}
	a.Err = err
	sent := source.sent.Load()
	if err != nil && ctx.Err() == nil {
		// The server hung up while we were still talking, and its answer was lost.
		a = client.Answer{Status: http.StatusRequestEntityTooLarge}
	}
	b.want("a body of 1 GB", a, http.StatusRequestEntityTooLarge)
	for old := b.taken.Load(); sent > old && !b.taken.CompareAndSwap(old, sent); old = b.taken.Load() {
	}
}

// counted is a long body that counts what was taken of it.
type counted struct {
	left int64
	sent atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	if c.sent.Load() == 0 {
		n := copy(p, `{"marketId":"`)
		c.sent.Add(int64(n))
		return n, nil
	}
	if c.sent.Load() >= c.left {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = 'x'
	}
	c.sent.Add(int64(len(p)))
	return len(p), nil
}

// bomb sends a small body that would be a large one.
func (b *bounds) bomb(ctx context.Context, i int) {
	var small bytes.Buffer
	w := gzip.NewWriter(&small)
	for range 64 { // 64 MB of it
		_, _ = w.Write(bytes.Repeat([]byte(" "), 1<<20))
	}
	_ = w.Close()
	a := b.env.Client.Do(ctx, client.Request{
		URL: b.env.Hub(i) + "/api/predictions", As: b.keys[8+i], Body: small.Bytes(),
		Header: http.Header{"Content-Encoding": {"gzip"}, "Content-Type": {"application/json"}},
	})
	b.want("a gzip bomb", a, 415)
}

// lists asks for more rows than there may be, and for numbers that are none.
func (b *bounds) lists(ctx context.Context) {
	for _, list := range []struct {
		url, member string
		most        int
	}{
		{b.env.Hub(0) + "/api/signals/feed?", "signals", 50},
		{b.env.Hub(0) + "/api/m/" + b.market + "/signals?", "signals", 500},
		{b.env.Hub(0) + "/api/resolution/markets?", "markets", 100},
		{b.env.Hub(0) + "/api/operator/leaderboard?", "leaderboard", 100},
		{b.env.Stack.API + "/api/v1/feed?", "items", 200},
		{b.env.Stack.API + "/api/v1/signals/leaderboard?", "leaderboard", 200},
		{b.env.Stack.Clock + "/program/channel?", "segments", 400},
	} {
		for _, limit := range []string{"-1", "0", "abc", "1e9", "1000000000", "99999999999999999999999", "0x10", "1.5"} {
			a := b.env.Client.Do(ctx, client.Request{URL: list.url + "limit=" + url.QueryEscape(limit)})
			b.want("limit="+limit, a, 200, 400)
			if a.Status != 200 {
				continue
			}
			var all map[string]json.RawMessage
			var rows []json.RawMessage
			if json.Unmarshal(a.Body, &all) != nil || json.Unmarshal(all[list.member], &rows) != nil {
				b.seen.Wrong("%slimit=%s: no list of %s: %.100s", list.url, limit, list.member, a)
			}
			b.seen.Check(len(rows) <= list.most, "%slimit=%s gave %d rows", list.url, limit, len(rows))
		}
	}
}
