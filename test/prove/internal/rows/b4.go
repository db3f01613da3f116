package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// b4 reads everything that can be read, empties Redis and kills it, and reads it
// all again.
var b4 = frame.Row{
	ID: "B4", Title: "losing Redis loses nothing", Limit: 4 * time.Minute,
	Fault: frame.Fault{What: "a call is gone with the cache"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		w, err := makeWorld(ctx, env)
		if err != nil {
			return nil, err
		}
		before, err := w.steady(ctx)
		if err != nil {
			return nil, err
		}
		if err := emptyRedis(ctx, env); err != nil {
			return nil, err
		}
		if env.Stack.Teeth() == "B4" {
			if _, err := env.DB.Exec(ctx, "DELETE FROM api.open_signals"); err != nil {
				return nil, err
			}
		}
		after, err := w.steady(ctx)
		if err != nil {
			return nil, err
		}
		differ := 0
		for _, what := range slices.Sorted(maps.Keys(before)) {
			if before[what] != after[what] {
				differ++
				seen.Wrong("%s: %s", what, firstDifference(before[what], after[what]))
			}
		}
		seen.Volume("%d answers", len(before))
		seen.Promise("differing bodies 0", fmt.Sprintf("differing bodies %d", differ))
		return seen, nil
	},
}

// emptyRedis forgets everything, and then the process too.
func emptyRedis(ctx context.Context, env *frame.Env) error {
	opt, err := redis.ParseURL(env.Stack.RedisURL)
	if err != nil {
		return err
	}
	store := redis.NewClient(opt)
	defer func() { _ = store.Close() }()
	if err := store.FlushAll(ctx).Err(); err != nil {
		return err
	}
	return env.Stack.Crash(ctx, "redis")
}

// world is a system with a little of everything in it.
type world struct {
	env  *frame.Env
	gets map[string]client.Request
}

func makeWorld(ctx context.Context, env *frame.Env) (*world, error) {
	p, err := signUp(ctx, env, "b4-caller", 2)
	if err != nil {
		return nil, err
	}
	ids, err := markets(ctx, env, "B4", 3)
	if err != nil {
		return nil, err
	}
	var signals []string
	for i, id := range ids {
		a := env.Client.File(ctx, env.Hub(i), p.keys[0].Key, client.Call{Market: id, Yes: i != 1, Price: 4000 + i})
		if err := a.Into(200, nil); err != nil {
			return nil, err
		}
		signals = append(signals, a.Text("id"))
	}
	event := client.Request{URL: env.Hub(1) + "/api/signals/" + signals[0] + "/events", As: p.keys[1].Key, Body: map[string]any{
		"type": "take", "payload": map[string]any{"url": "https://video.example/1", "text": "look"},
	}}
	if err := env.Client.Do(ctx, event).Into(201, nil); err != nil {
		return nil, err
	}
	if err := env.Client.Finalize(ctx, env.Hub(0), env.Admin(), ids[2], "YES").Into(200, nil); err != nil {
		return nil, err
	}
	if err := env.Client.Dispute(ctx, env.Hub(1), env.Admin(), ids[1], true).Into(200, nil); err != nil {
		return nil, err
	}
	return &world{env, worldReads(env, p, ids, signals)}, nil
}

// worldReads are all routes that are read, of what makeWorld made.
func worldReads(env *frame.Env, p person, markets, signals []string) map[string]client.Request {
	all := map[string]client.Request{}
	get := func(base, path string, as client.Credential) { all[path] = client.Request{URL: base + path, As: as} }
	for i, m := range markets {
		for _, path := range []string{"/api/m/" + m, "/api/m/" + m + "/signals", "/api/resolution/outcome?market=" + m} {
			get(env.Hub(i), path, nil)
		}
		get(env.Hub(i), "/api/m/"+m+"/crowd", p.session)
	}
	for i, s := range signals {
		get(env.Hub(i), "/api/signals/"+s, nil)
		get(env.Hub(i), "/api/signals/"+s+"/events", nil)
	}
	for i, path := range []string{
		"/api/signals/feed", "/api/signals/feed?type=open", "/api/signals/feed?type=beat_crowd", "/api/resolution/markets?status=all",
		"/api/resolution/markets", "/api/operator/leaderboard", "/api/operator/leaderboard?operators=all&window=28d", "/openapi.json",
	} {
		get(env.Hub(i), path, nil)
	}
	get(env.Hub(0), "/api/dev/keys", p.login)
	get(env.Hub(1), "/api/dev/whoami", p.login)
	get(env.Stack.API, "/api/v1/signals/leaderboard", nil)
	get(env.Stack.API, "/api/v1/feed?after=0", nil)
	return all
}

// atRest is how often the same answers are read in turn until they count: a board is kept
// for some seconds.
const atRest = 3

// steady reads until the same has come twice in a row: some answers are kept for
// three seconds, the feed follows the record, and a busy system degrades a list.
func (w *world) steady(ctx context.Context) (map[string]string, error) {
	var last map[string]string
	same := 0
	still, err := frame.Until(ctx, 90*time.Second, func() (bool, error) {
		if last != nil {
			if err := wait(ctx, time.Now().Add(3200*time.Millisecond)); err != nil {
				return false, err
			}
		}
		// Boards follow the feed, and edges of rows are worked out a thousand at a time behind them.
		var behind bool
		err := w.env.DB.QueryRow(ctx, `SELECT EXISTS (SELECT FROM api.board_due)
			OR (SELECT seq FROM api.board_state) < (SELECT seq FROM api.feed_head)`).Scan(&behind)
		if err != nil {
			return false, err
		}
		now, degraded, err := w.read(ctx)
		if err == nil && !degraded && !behind && maps.Equal(now, last) {
			same++
		} else {
			same = 0
		}
		last = now
		return same == atRest, err
	})
	if err == nil && !still {
		err = fmt.Errorf("the answers do not come to rest")
	}
	return last, err
}

func (w *world) read(ctx context.Context) (bodies map[string]string, degraded bool, err error) {
	bodies = map[string]string{}
	for what, r := range w.gets {
		a := w.env.Client.Do(ctx, r)
		if a.Err != nil {
			return nil, false, a.Err
		}
		var v any
		if err := json.Unmarshal(a.Body, &v); err != nil {
			return nil, false, fmt.Errorf("%s was answered %s", what, a)
		}
		body, err := json.Marshal(still(v))
		if err != nil {
			return nil, false, err
		}
		degraded = degraded || a.Header.Get("X-Degraded") != ""
		bodies[what] = fmt.Sprintf("%d %s", a.Status, body)
	}
	return bodies, degraded, nil
}

// moving are the members that tell of the moment and not of the record.
var moving = map[string]bool{"updatedAt": true, "viewers": true, "lastUsedAt": true}

func still(v any) any {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(name string, _ any) bool { return moving[name] })
		for name := range v {
			v[name] = still(v[name])
		}
	case []any:
		for i := range v {
			v[i] = still(v[i])
		}
	}
	return v
}

func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-40)
	cut := func(s string) string { return strings.ToValidUTF8(s[min(from, len(s)):min(i+80, len(s))], "") }
	return fmt.Sprintf("…%s… became …%s…", cut(a), cut(b))
}
