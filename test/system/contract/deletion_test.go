package contract

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// keptTables matches the tables that may still contain personal data: the record of calls, the feed, signed messages and the audit logs,
// whose rows never change.
var keptTables = regexp.MustCompile(`^(api\.(signals|signal_events|protocol_events.*|audit_log)|hub\.(messages|audit_log))$`)

// TestDeletionLeavesNothing checks that pages, answers, the feed, tables, Redis and logs have no personal data of a deleted account, and
// that the numbers of its market and its calls remain. keptTables are the exception.
func TestDeletionLeavesNothing(t *testing.T) {
	t.Parallel()
	s := system(t)
	word := "planted" + strings.ToLower(rand.Text()[:8])
	address := "https://" + word + ".example/"
	head := get(t, s.API+"/api/v1/feed?after=0").Require(http.StatusOK).Int("head")
	x, friend := newThings(t, s), s.NewOperator(t)
	browser := friend.Session(t)
	wallet := stack.NewWallet()
	x.LinkWallet(t, wallet)
	x.ClaimIdentity(t, wallet, x.session).Require(http.StatusOK)
	x.Send(t, "/api/streamer/profile", http.StatusOK, x.session, stack.JSON{"avatarUrl": nil})
	x.Send(t, "/api/streamer/profile", http.StatusOK, x.session, stack.JSON{"avatarUrl": address + "a.png"})
	get(t, s.Hub+"/u/"+x.Handle+"/picture").Require(http.StatusNotFound)
	source := stack.Query[string](t, s, `SELECT source FROM hub.pictures WHERE operator_id = $1`, x.ID)
	if source != address+"a.png" {
		t.Errorf("the picture was fetched from %q; want %s", source, address+"a.png") // a failed fetch is stored and logged
	}
	x.UploadPicture(t, x.session)
	x.Send(t, "/api/streamer/profile", http.StatusOK, x.session, stack.JSON{
		"displayName": word, "bio": word, "links": []string{address}, "payoutAddress": wallet,
	})
	hook := newRefusing(t, friend, "market:"+x.Market)
	get(t, s.Hub+"/u/"+x.Handle+"/picture").Require(http.StatusOK) // its address has the handle
	call := x.File(t, stack.Call(x.Market, "YES", 5000).With("textTake", word)).Require(http.StatusOK).Text("id")
	x.Send(t, "/api/signals/"+call+"/events", http.StatusCreated, x.session, stack.JSON{"type": "take", "payload": stack.JSON{"text": word}})
	x.Send(t, "/api/m/"+x.Market+"/streams", http.StatusOK, x.session, stack.JSON{"url": address + "s.m3u8", "label": word})
	x.Send(t, "/api/streamer/signal", http.StatusOK, x.session, stack.JSON{"marketId": x.Market, "name": word})
	x.Send(t, "/api/streamer/heartbeat", http.StatusOK, x.session, stack.JSON{"marketId": x.Market})
	x.Send(t, "/api/dev/apps", http.StatusCreated, stack.Bearer(x.Login), stack.JSON{
		"name": word, "type": "public", "redirectUris": []string{"http://127.0.0.1/cb"}, "scopes": []string{"profile:read"},
	})
	x.Mint(t, stack.JSON{"label": word})
	x.NewWebhook(t, address+"hook")
	x.Do(t, http.MethodPost, s.API+"/api/v1/stations", stack.Bearer(x.Key), stack.Body(stack.JSON{
		"stationId": strings.ToLower(rand.Text()), "name": word, "url": address,
	})).Require(http.StatusCreated)
	x.Send(t, "/api/user/follow", http.StatusOK, x.session, stack.JSON{"handle": friend.Handle})
	friend.Send(t, "/api/user/follow", http.StatusOK, browser, stack.JSON{"handle": x.Handle})
	post(t, s.Hub+"/report", x.session, form("subject", "profile:"+friend.Handle, "reason", word)).Require(http.StatusOK)
	post(t, s.Hub+"/api/live/"+x.Handle+"/view", stack.Body(stack.JSON{}))
	post(t, s.Hub+"/settings/email", x.session, form("address", word+"@example.org")).Require(http.StatusSeeOther)
	stack.Query[int](t, s, `WITH n AS (INSERT INTO api.notices (user_id, kind, key, text, at)
		VALUES ($1, 'webhook_deactivated', 'x', $2, now()) RETURNING 1) SELECT count(*) FROM n`, x.ID, word+".example")
	stack.Eventually(t, 30*time.Second, "the notification of the webhook", func() bool {
		return get(t, s.Hub+"/notifications", x.session).Contains(word)
	})
	stack.Eventually(t, 30*time.Second, "the planted text on pages", func() bool {
		return get(t, s.Hub+"/u/"+x.Handle).Contains(word) && get(t, s.Hub+"/receipts/"+call).Contains(word) &&
			get(t, s.Hub+"/feed.xml").Contains(word) && get(t, s.Hub+"/search?q="+word).Contains(x.Handle) && strings.Contains(hook.last(), word)
	})
	numbers := func() string {
		return stack.Query[string](t, s, `SELECT json_build_array(to_jsonb(o), to_jsonb(c), to_jsonb(m))::text FROM api.operator_totals o
			JOIN api.operator_scores c USING (user_id), api.market_totals m WHERE o.user_id = $1 AND m.market_id = $2`, x.ID, x.Market)
	}
	before := numbers()
	requireNoDifferences(t, s, x.ID, call)

	post(t, s.Hub+"/settings/delete", x.session, form("handle", x.Handle)).Require(http.StatusSeeOther)
	stack.Query[int](t, s, `WITH u AS (UPDATE api.users SET closing_at = closing_at - interval '7 days 2 minutes' WHERE id = $1 RETURNING 1)
		SELECT count(*) FROM u`, x.ID)
	stack.Eventually(t, 4*time.Minute, "the deletion of the account", func() bool {
		return stack.Query[bool](t, s, `SELECT erased_at IS NOT NULL FROM api.users WHERE id = $1`, x.ID)
	})
	personal := regexp.MustCompile(word + `|(?i:` + wallet + `)|\b` + x.Handle + `\b`)
	text := regexp.MustCompile(word + `|(?i:` + wallet + `)`) // a request for the former page has the handle in its answer and in the log
	reads := map[string]stack.Set{}
	deleted := "deleted-" + stack.Query[string](t, s, `SELECT left(public_id, 12) FROM api.users WHERE id = $1`, x.ID)
	for _, o := range openapi.ForTest(t).Operations {
		if o.Method != http.MethodGet || o.Gone() || o.Streams() || o.Takes("adminSecret") || o.Takes("cronSecret") {
			continue
		}
		read := strings.NewReplacer(x.CallID, call).Replace(x.address(t, o))
		reads[read] = func(*http.Request) {}
		reads[strings.ReplaceAll(read, x.Handle, deleted)] = browser
	}
	for _, path := range []string{"/search?q=" + word, "/search/suggest?q=" + word, "/search?q=" + x.Handle, "/u/" + deleted + "/feed.xml"} {
		reads[s.Hub+path] = browser
	}
	for deadline := time.Now().Add(time.Minute); len(reads) > 0; { // answers are cached
		for read, as := range reads {
			find := personal
			if strings.Contains(read, x.Handle) || strings.Contains(read, word) {
				find = regexp.MustCompile(address + `|(?i:` + wallet + `)`)
			}
			switch a := get(t, read, as); {
			case !find.Match(a.Body):
				delete(reads, read)
			case time.Now().After(deadline):
				requireNone(t, read, find, a.Body)
				delete(reads, read)
			}
		}
	}
	for after, last := head, -1; after != last; {
		var page struct{ Items []struct{ Seq int } }
		a := get(t, fmt.Sprintf("%s/api/v1/feed?after=%d", s.API, after)).Require(http.StatusOK)
		a.Decode(&page)
		requireNone(t, "the feed", personal, a.Body)
		last = after
		for _, item := range page.Items {
			after = max(after, item.Seq)
		}
	}
	stream := ""
	stack.Eventually(t, time.Minute, "the deletion in the resumed stream", func() bool {
		stream = resumedStream(t, s, x.Market, head)
		return strings.Contains(stream, deleted)
	})
	for name, resumed := range map[string]string{
		"the resumed stream": stream, "the resumed websocket": resumedSocket(t, s, x.Market, head),
		"the delivery that is sent again": hook.resend(t),
	} {
		if !strings.Contains(resumed, deleted) {
			t.Errorf("%s does not have the calls of the deleted account: %.300s", name, resumed)
		}
		requireNone(t, name, personal, []byte(resumed))
	}
	post(t, s.Hub+"/settings/export", browser, form()).Require(http.StatusSeeOther)
	link := regexp.MustCompile(`/settings/export/[0-9a-f-]{36}`).Find(get(t, s.Hub+"/settings", browser).Body)
	archive := get(t, s.Hub+string(link), browser).Require(http.StatusOK).Body
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files.File {
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		requireNone(t, "the export of another person, "+f.Name, personal, raw)
	}
	for _, table := range stack.Query[[]string](t, s, `SELECT array_agg(schemaname || '.' || tablename) FROM pg_tables WHERE schemaname IN ('api', 'hub', 'clock')`) {
		if !keptTables.MatchString(table) {
			rows := stack.Query[string](t, s, `SELECT coalesce(string_agg(t::text, E'\n'), '') FROM `+table+` t WHERE t::text ~* $1`, word+"|"+wallet+`|\m`+x.Handle+`\M`)
			if rows != "" {
				t.Errorf("%s: %s", table, rows)
			}
		}
	}
	searchRedis(t, s, personal)
	for _, path := range s.Logs(t) {
		if name := filepath.Base(path); strings.HasPrefix(name, "hub") || strings.HasPrefix(name, "api") || strings.HasPrefix(name, "clock") {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			requireNone(t, path, text, raw)
		}
	}
	if n := stack.Query[int](t, s, `SELECT count(*) FROM hub.email_addresses WHERE user_id = $1`, x.ID); n > 0 {
		t.Error("the e-mail address is stored")
	}
	if n := stack.Query[int](t, s, `SELECT count(*) FROM api.notices WHERE user_id = $1`, x.ID); n > 0 {
		t.Error("a notice is stored")
	}
	if after := numbers(); after != before {
		t.Errorf("the numbers were %s and are %s", before, after)
	}
	requireNoDifferences(t, s, x.ID, call)
}

// resumedStream connects to the event stream (SSE) as a client that has read up to the event number after, and returns what the server
// sends in five seconds.
func resumedStream(t *testing.T, s *stack.Stack, market string, after int) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	url := fmt.Sprintf("%s/api/v1/feed/stream?channels=signals,market:%s&since=%d", s.API, market, after)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	events, _ := io.ReadAll(stream.Body) // until the deadline
	return string(events)
}

// resumedSocket does the same on the websocket.
func resumedSocket(t *testing.T, s *stack.Stack, market string, after int) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.API, "http")+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(-1)
	channel := "market:" + market
	subscribe := stack.JSON{"op": "subscribe", "channels": []string{channel}, "since": map[string]int{channel: after}}
	if err := wsjson.Write(ctx, conn, subscribe); err != nil {
		t.Fatal(err)
	}
	var events strings.Builder
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil { // the deadline
			return events.String()
		}
		events.Write(frame)
	}
}

// refusing is a webhook whose receiver refuses every delivery.
type refusing struct {
	owner  *stack.Operator
	api    string
	mu     sync.Mutex
	bodies []string
}

func newRefusing(t *testing.T, owner *stack.Operator, channel string) *refusing {
	t.Helper()
	r := &refusing{owner: owner}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.bodies = append(r.bodies, string(body))
		r.mu.Unlock()
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(receiver.Close)
	s := system(t)
	r.api = s.API + "/api/v1/webhooks/" + post(t, s.API+"/api/v1/webhooks", stack.Bearer(owner.Key), stack.Body(stack.JSON{
		"url": receiver.URL, "channels": []string{channel},
	})).Require(http.StatusCreated).Text("id")
	return r
}

// last returns the body of the last delivery.
func (r *refusing) last() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.bodies[max(0, len(r.bodies)-1):], "")
}

// resend requests the refused delivery again and returns its body.
func (r *refusing) resend(t *testing.T) string {
	t.Helper()
	r.mu.Lock()
	r.bodies = nil
	r.mu.Unlock()
	stack.Eventually(t, time.Minute, "the delivery that is sent again", func() bool {
		id := get(t, r.api+"/deliveries?limit=1", stack.Bearer(r.owner.Key)).Require(http.StatusOK).Text("deliveries.0.id")
		post(t, r.api+"/deliveries/"+id+"/resend", stack.Bearer(r.owner.Key))
		return r.last() != ""
	})
	return r.last()
}

func requireNone(t *testing.T, where string, find *regexp.Regexp, in []byte) {
	t.Helper()
	if at := find.FindIndex(in); at != nil {
		t.Errorf("%s: %s", where, in[max(0, at[0]-200):min(len(in), at[1]+100)])
	}
}

// searchRedis searches all keys and values of Redis. Values are read with the command of their type, because DUMP compresses them.
func searchRedis(t *testing.T, s *stack.Stack, find *regexp.Regexp) {
	t.Helper()
	opt, err := redis.ParseURL(s.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opt)
	defer func() { _ = client.Close() }()
	keys := client.Scan(t.Context(), 0, "", 1000).Iterator()
	for keys.Next(t.Context()) {
		key := keys.Val()
		read, ok := map[string][]any{
			"string": {"GET", key}, "hash": {"HGETALL", key}, "list": {"LRANGE", key, 0, -1}, "set": {"SMEMBERS", key},
			"zset": {"ZRANGE", key, 0, -1}, "stream": {"XRANGE", key, "-", "+"}, "none": {"TYPE", key},
		}[client.Type(t.Context(), key).Val()]
		if !ok {
			t.Errorf("redis key %s has an unknown type", key)
			continue
		}
		value, err := client.Do(t.Context(), read...).Result()
		if err != nil && !errors.Is(err, redis.Nil) { // the key may have expired
			t.Errorf("redis key %s: %v", key, err)
		}
		requireNone(t, "redis key "+key, find, fmt.Append(nil, key, " ", value))
	}
	if err := keys.Err(); err != nil {
		t.Fatal(err)
	}
}

// requireNoDifferences checks that api fsck finds no difference of an operator or a call. Other tests insert calls directly.
func requireNoDifferences(t *testing.T, s *stack.Stack, ids ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(stack.Bin(t), "api"), "fsck")
	for name, value := range s.Environment(t, "api") {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("api fsck: %v", err)
	}
	for _, id := range ids {
		requireNone(t, "api fsck", regexp.MustCompile(id), out)
	}
}
