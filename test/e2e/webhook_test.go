package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// told is one delivery as a receiver keeps it.
type told struct {
	signature string
	body      []byte
	Events    []frame
}

// TestWebhookTellsTheStory: what happens on a market reaches an endpoint of an
// operator, refused at first, in order, signed, and with no event missing.
func TestWebhookTellsTheStory(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market := s.native(t, 5000)
	var mu sync.Mutex
	var all []told
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		d := told{signature: r.Header.Get("Signalcast-Signature")}
		var err error
		if d.body, err = io.ReadAll(r.Body); err == nil {
			err = json.Unmarshal(d.body, &d)
		}
		if err != nil {
			t.Errorf("%s: %v", d.body, err)
		}
		if all = append(all, d); len(all) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(receiver.Close)
	hooks := s.API + "/api/v1/webhooks"
	made := post(t, hooks, p.auth(t), payload(obj{"url": receiver.URL, "channels": []string{"market:" + market, "me"}})).is(http.StatusCreated)
	id, secret := fmt.Sprint(made.at("id")), fmt.Sprint(made.at("secret"))
	signal := p.call(t, market, "YES", 5200)
	eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(all) > 0 }, "the first delivery")
	s.finalize(t, market, "YES")
	resolved := false
	eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		for _, d := range all[1:] {
			for _, e := range d.Events {
				resolved = resolved || e.Channel == "me" && e.Type == "signal.resolved" && strings.Contains(string(e.Data), signal)
			}
		}
		return resolved
	}, "the result")
	mu.Lock()
	defer mu.Unlock()
	last := map[string]int64{}
	for i, d := range all {
		stamp, given, _ := strings.Cut(strings.TrimPrefix(d.signature, "t="), ",v1=")
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(stamp + "." + string(d.body)))
		if want := hex.EncodeToString(mac.Sum(nil)); given != want {
			t.Errorf("delivery %d: %s, want %s", i, d.signature, want)
		}
		if i == 0 {
			continue // was refused and came again
		}
		for _, e := range d.Events {
			if was := last[e.Channel]; e.Seq <= was || was > 0 && (e.Prev == nil || *e.Prev != was) {
				t.Errorf("event %d on %s behind %d", e.Seq, e.Channel, was)
			}
			last[e.Channel] = e.Seq
		}
	}
	if len(last) != 2 {
		t.Errorf("events on %v", last)
	}
	eventually(t, func() bool {
		return get(t, hooks+"/"+id, p.auth(t)).is(http.StatusOK).at("nextAttemptAt") == nil
	}, "a webhook without failures")
}
