package recovery

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestLosingRedisLosesNothing empties and kills Redis. Afterwards, every read must have the same answer as before.
func TestLosingRedisLosesNothing(t *testing.T) {
	s := exclusive(t)
	reads := writeOfEach(t, s)
	before := stableAnswers(t, s, reads)

	opt, err := redis.ParseURL(s.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opt)
	defer func() { _ = client.Close() }()
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	s.Crash(t, "redis")

	after := stableAnswers(t, s, reads)
	for _, what := range slices.Sorted(maps.Keys(before)) {
		if diff := cmp.Diff(before[what], after[what]); diff != "" {
			t.Errorf("%s: answer before (-) and after (+) the loss of Redis:\n%s", what, diff)
		}
	}
}

// read is a GET request with a credential.
type read struct {
	url string
	as  []stack.Set
}

// writeOfEach creates an open, a disputed and a resolved call and an event, and returns the reads that show them.
func writeOfEach(t *testing.T, s *stack.Stack) map[string]read {
	t.Helper()
	o := s.NewOperator(t)
	session, login := o.Session(t), stack.Bearer(o.Login)
	reads := map[string]read{}
	get := func(base, path string, as ...stack.Set) { reads[path] = read{base + path, as} }
	for i := range 3 {
		m, hub := s.NewNativeMarket(t, 5000, nil), s.HubAt(i)
		side := []string{"YES", "NO", "YES"}[i]
		id := o.File(t, stack.Call(m, side, 4000+i)).Require(http.StatusOK).Text("id")
		switch i {
		case 0:
			o.Do(t, http.MethodPost, s.HubAt(1)+"/api/signals/"+id+"/events", stack.Bearer(o.Key),
				stack.Body(stack.JSON{"type": "take", "payload": stack.JSON{"url": "https://video.example/1", "text": "look"}})).Require(http.StatusCreated)
		case 1:
			stack.Post(t, s.Hub+"/api/resolution/dispute", s.Admin(), stack.Body(stack.JSON{"marketId": m, "disputed": true, "reason": "checked again"})).Require(http.StatusOK)
		case 2:
			s.Finalize(t, m, "YES")
		}
		for _, path := range []string{
			"/api/m/" + m, "/api/m/" + m + "/signals", "/api/resolution/outcome?market=" + m, "/api/signals/" + id, "/api/signals/" + id + "/events",
		} {
			get(hub, path)
		}
		get(hub, "/api/m/"+m+"/crowd", session)
	}
	for i, path := range []string{
		"/api/signals/feed", "/api/signals/feed?type=open", "/api/signals/feed?type=beat_crowd", "/api/resolution/markets?status=all",
		"/api/resolution/markets", "/api/operator/leaderboard", "/api/operator/leaderboard?operators=all&window=28d", "/openapi.json",
	} {
		get(s.HubAt(i), path)
	}
	get(s.Hub, "/api/dev/keys", login)
	get(s.HubAt(1), "/api/dev/whoami", login)
	get(s.API, "/api/v1/signals/leaderboard")
	get(s.API, "/api/v1/feed?after=0")
	return reads
}

const boardsAreCurrent = `
SELECT NOT EXISTS (SELECT FROM api.board_due) AND (SELECT seq FROM api.board_state) >= (SELECT seq FROM api.feed_head)`

// stableAnswers repeats the reads until all answers are complete and equal three times in succession. The interval is longer
// than the time for which answers are cached. It returns the answers.
func stableAnswers(t *testing.T, s *stack.Stack, reads map[string]read) map[string]string {
	t.Helper()
	var last map[string]string
	end := time.Now().Add(90 * time.Second)
	for same := 0; same < 2; {
		if time.Now().After(end) {
			t.Fatal("the answers still change after 90 s")
		}
		if last != nil {
			stack.Wait(t, 3200*time.Millisecond)
		}
		current := stack.Query[bool](t, s, boardsAreCurrent)
		now, degraded := map[string]string{}, false
		for path, r := range reads {
			a := stack.Get(t, r.url, r.as...)
			degraded = degraded || a.Header.Get("X-Degraded") != ""
			now[path] = fmt.Sprintf("%d %s", a.Status, withoutMomentary(t, a))
		}
		if current && !degraded && maps.Equal(now, last) {
			same++
		} else {
			same = 0
		}
		last = now
	}
	return last
}

// momentary lists the members that depend on the time of the read.
var momentary = []string{"updatedAt", "viewers", "lastUsedAt", "head"}

// withoutMomentary returns the indented body of an answer. It omits momentary members and the events of the programme, which
// continue during the test.
func withoutMomentary(t *testing.T, a stack.Answer) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(a.Body, &v); err != nil {
		t.Fatalf("an answer is not JSON: %v\n%.300s", err, a.Body)
	}
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range momentary {
				delete(v, name)
			}
			for name, member := range v {
				strip(member)
				if list, ok := member.([]any); ok {
					v[name] = slices.DeleteFunc(list, func(e any) bool {
						event, _ := e.(map[string]any)
						kind, _ := event["type"].(string)
						return strings.HasPrefix(kind, "segment.")
					})
				}
			}
		case []any:
			for _, element := range v {
				strip(element)
			}
		}
	}
	strip(v)
	out, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return out
}
