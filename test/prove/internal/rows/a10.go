package rows

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// a10 loses the answers of writes and asks again at the other hub: with the same key,
// and, where a write names itself, with the same words.
var a10 = frame.Row{
	ID: "A10", Title: "a lost answer is not a double effect",
	Fault: frame.Fault{What: "the key of a repeated request is not looked at"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		n, others := env.Of(12, 500, 1000), env.Of(5, 100, 100)
		l := lostAnswers{env: env, seen: seen}
		if err := l.prepare(ctx, (n+perAuthor-1)/perAuthor); err != nil {
			return nil, err
		}
		defer l.close()
		frame.Each(n, 8, func(i int) { l.lose(ctx, i, others) })
		doubles, err := l.doubles(ctx, n)
		if err != nil {
			return nil, err
		}
		seen.Check(int(l.lost.Load()) == n, "%d of %d answers were lost", l.lost.Load(), n)
		seen.Check(l.refused.Load() == l.changed.Load() && int(l.changed.Load()) == others, "%d of %d changed bodies were refused", l.refused.Load(), others)
		seen.Check(doubles == 0, "%d effects are there twice or not at all", doubles)
		seen.Promise(fmt.Sprintf("duplicates 0 of %s; mismatches refused %d of %d", frame.Number(n), others, others),
			fmt.Sprintf("%d of %d; %d of %d", doubles, l.lost.Load(), l.refused.Load(), l.changed.Load()))
		seen.Volume("%s lost answers at %d doors", frame.Number(n), len(l.doors()))
		return seen, nil
	},
}

// An author has sixty calls a minute: of each case at most three.
const perAuthor = 12

// lostAnswers are writes whose answers do not arrive.
type lostAnswers struct {
	env     *frame.Env
	seen    *frame.Seen
	proxies []*stack.Proxy
	authors []author
	markets []string // one for each case of an author

	lost, changed, refused atomic.Int64
}

// author writes. Signal is what his events are about, pen what signs his messages.
type author struct {
	client.Operator
	signal string
	pen    pen
	desk   string // its station
}

// again is one way to write that may be asked for twice.
type again struct {
	name   string
	path   func(a author, market string) string
	body   func(a author, i int, market string) map[string]any
	change map[string]any // another body under the same key; nil: it has no key
	next   int            // status of the next answer
}

func (l *lostAnswers) doors() []again {
	at := func(path string) func(author, string) string { return func(author, string) string { return path } }
	creation := func(_ author, _ int, market string) map[string]any {
		return map[string]any{"marketId": market, "position": "YES", "priceBps": 5000}
	}
	return []again{
		{name: "a call", path: at("/api/predictions"), change: map[string]any{"confidence": 51}, next: 200, body: func(_ author, _ int, market string) map[string]any {
			return map[string]any{"marketId": market, "direction": "YES", "priceAtPrediction": 5000}
		}},
		{
			name: "an event", path: func(a author, _ string) string { return "/api/signals/" + a.signal + "/events" }, next: 201,
			change: map[string]any{"payload": map[string]any{"text": "other words"}}, body: func(_ author, i int, _ string) map[string]any {
				return map[string]any{"type": "note", "payload": map[string]any{"text": fmt.Sprint("words ", i)}}
			},
		},
		{name: "a prediction", path: at("/api/protocol/v1/predictions"), change: map[string]any{"confidence": 51}, next: 200, body: creation},
		{name: "a signal", path: at("/api/protocol/v1/signals"), change: map[string]any{"take": "other words"}, next: 200, body: creation},
		{name: "a message", path: at("/api/protocol/v1/messages"), next: 200, body: func(a author, i int, _ string) map[string]any {
			return a.pen.seal(a.pen.draft(aNotice, nonceOf("a10 %d", i), time.Now(), notice(a.desk, "again")))
		}},
		{name: "a stream", path: func(_ author, market string) string { return "/api/m/" + market + "/streams" }, next: 200, body: func(_ author, i int, _ string) map[string]any {
			return map[string]any{"url": fmt.Sprintf("https://video.example/live/%d/index.m3u8", i), "label": "again"}
		}},
	}
}

func (l *lostAnswers) prepare(ctx context.Context, authors int) error {
	for i := range l.env.Hubs {
		p, err := stack.NewProxy(strings.TrimPrefix(l.env.Hub(i), "http://"))
		if err != nil {
			return err
		}
		l.proxies = append(l.proxies, p)
		if err := p.Break(stack.Reset); err != nil {
			return err
		}
	}
	ops, err := pool(ctx, l.env, "a10", authors, 1)
	if err != nil {
		return err
	}
	if l.markets, err = markets(ctx, l.env, "A10", perAuthor+1); err != nil {
		return err
	}
	l.authors = make([]author, authors)
	errs := make([]error, authors)
	frame.Each(authors, 8, func(i int) {
		a := author{Operator: ops[i], pen: newPen(l.env, ops[i].ID, "a10"), desk: fmt.Sprintf("a10-desk-%d", i)}
		filed := l.env.Client.File(ctx, l.env.Hub(i), a.Keys[0], client.Call{Market: l.markets[perAuthor], Yes: true, Price: 5000})
		a.signal = filed.Text("id")
		if errs[i] = filed.Into(http.StatusOK, nil); errs[i] == nil {
			errs[i] = a.pen.register(ctx, l.env, a.Keys[0], "station:update")
		}
		if errs[i] == nil {
			errs[i] = enlist(ctx, l.env, a.Keys[0], a.desk)
		}
		l.authors[i] = a
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *lostAnswers) close() {
	for _, p := range l.proxies {
		p.Close()
	}
}

// of is the case's author, market and door.
func (l *lostAnswers) of(i int) (author, string, again) {
	doors := l.doors()
	return l.authors[i/perAuthor], l.markets[i%perAuthor], doors[i%len(doors)]
}

// lose is one case: the answer of the first try is cut on its way, after the request
// has passed; the second try goes straight to the other hub.
func (l *lostAnswers) lose(ctx context.Context, i, others int) {
	a, market, d := l.of(i)
	r := client.Request{URL: "http://" + l.proxies[i%len(l.proxies)].Addr + d.path(a, market), As: a.Keys[0], Body: d.body(a, i, market)}
	if d.change != nil {
		r.Header = http.Header{"Idempotency-Key": {fmt.Sprintf("a10-%d", i)}}
	}
	if d.name == "a message" {
		r.As = nil
	}
	if first := l.env.Client.Do(ctx, r); first.Err != nil {
		l.lost.Add(1)
	}
	r.URL = l.env.Hub(i+1) + d.path(a, market)
	second := l.again(ctx, r)
	l.seen.Check(second.Status == d.next, "%s, asked for again, was answered %s", d.name, second)
	if d.change == nil || l.changed.Add(1) > int64(others) {
		if d.change != nil {
			l.changed.Add(-1)
		}
		return
	}
	other := maps.Clone(r.Body.(map[string]any))
	maps.Copy(other, d.change)
	r.Body = other
	third := l.again(ctx, r)
	if third.Status == http.StatusConflict && third.Code() == "idempotency_key_reused" {
		l.refused.Add(1)
		return
	}
	l.seen.Wrong("%s, with another body under its key, was answered %s", d.name, third)
}

// again asks until somebody has time to answer.
func (l *lostAnswers) again(ctx context.Context, r client.Request) (a client.Answer) {
	_, _ = frame.Until(ctx, 10*time.Second, func() (bool, error) {
		a = l.env.Client.Do(ctx, r)
		return a.Err == nil && a.Status != http.StatusServiceUnavailable, nil
	})
	return a
}

// doubles compares the record with what was asked for: how many effects are there
// besides, or are missing.
func (l *lostAnswers) doubles(ctx context.Context, n int) (off int, err error) {
	ids := make([]string, len(l.authors))
	for i, a := range l.authors {
		ids[i] = a.ID
	}
	want := map[string]int{"a call": len(ids)} // each has filed one before
	for i := range n {
		_, _, d := l.of(i)
		want[d.name]++
	}
	for what, sql := range map[string]string{
		"calls":                       "SELECT count(*) FROM api.signals WHERE user_id = ANY ($1::uuid[])",
		"events":                      "SELECT count(*) FROM api.signal_events e JOIN api.signals s ON s.id = e.signal_id WHERE s.user_id = ANY ($1::uuid[])",
		"attested messages":           "SELECT count(*) FROM hub.messages WHERE denpa_id = ANY ($1::uuid[]) AND attested",
		"messages":                    "SELECT count(*) FROM hub.messages WHERE denpa_id = ANY ($1::uuid[]) AND NOT attested",
		"events of calls in the feed": `SELECT count(*) FROM api.protocol_events p WHERE p.type = 'signal.event' AND p.user_id = ANY ($1::uuid[])`,
	} {
		due := map[string]int{
			"calls": want["a call"] + want["a prediction"] + want["a signal"], "events": want["an event"],
			"attested messages": want["a prediction"] + want["a signal"], "messages": want["a message"],
			"events of calls in the feed": want["an event"],
		}[what]
		made := 0
		if _, err := frame.Until(ctx, 5*time.Second, func() (bool, error) { // the feed and attestations come behind
			made, err = l.env.Count(ctx, sql, ids)
			return made >= due, err
		}); err != nil {
			return 0, err
		}
		l.seen.Check(made == due, "%d %s are on record, not %d", made, what, due)
		off += max(made-due, due-made)
	}
	return off, nil
}
