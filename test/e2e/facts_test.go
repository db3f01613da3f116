package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestFactsOfOthers: what the hub has committed reaches the feed, and what is for
// one person alone reaches that person, until the key is revoked.
func TestFactsOfOthers(t *testing.T) {
	t.Parallel()
	s := up(t)
	p, fan := s.person(t), s.person(t)
	market := s.native(t, 5000)
	key, id := p.mint(t, "live")
	k := s.connect(t, http.Header{"Authorization": {"Bearer " + key}})
	k.say(obj{"op": "subscribe", "id": "s1", "channels": []string{"me", "market:" + market}})
	if me := k.snapshots("me", "market:"+market)["me"]; !strings.Contains(me, `"handle":"`+p.user+`"`) {
		t.Errorf("me: %s", me)
	}

	stream := obj{"url": "https://video.example/" + p.user + "/index.m3u8", "label": "gauge"}
	for range 2 { // the same again is no news
		post(t, s.Hub+"/api/m/"+market+"/streams", p.auth(t), payload(stream)).is(http.StatusOK)
	}
	if bound := k.event("market:"+market, "stream.bound"); !strings.Contains(string(bound.Data), `"label":"gauge"`) || bound.Seq == 0 {
		t.Errorf("bound: %s", bound.Data)
	}
	send(t, http.MethodDelete, s.Hub+"/api/m/"+market+"/streams", p.auth(t)).is(http.StatusOK)
	if f := k.event("market:"+market, "stream.unbound"); f.Prev == nil || !strings.Contains(string(f.Data), p.user) {
		t.Errorf("unbound: %s", f.Data)
	}
	cookies, _ := fan.signIn(t)
	post(t, s.Hub+"/api/user/follow", cookies, with("Origin", s.Hub), payload(obj{"handle": p.user})).is(http.StatusOK)
	if f := k.event("me", "follow.created"); string(f.Data) != `{"handle":"`+fan.user+`"}` || f.Seq != 0 {
		t.Errorf("followed: %s", f.Data)
	}
	p.call(t, market, "YES", 5000)
	k.event("me", "signal.created")
	fan.call(t, market, "NO", 5000)
	k.event("market:"+market, "crowd.updated")
	list := get(t, s.API+"/api/v1/feed?types=stream.bound,stream.unbound&handle="+p.user).is(http.StatusOK)
	if n := len(list.list("items")); n != 2 {
		t.Errorf("%d events of the stream in the feed", n)
	}
	send(t, http.MethodDelete, s.Hub+"/api/dev/keys?id="+id, p.login()).is(http.StatusOK)
	k.ends(4001)
}

// TestStreamOfEvents: the feed as server-sent events tells the same, and goes on where
// the last event id says.
func TestStreamOfEvents(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market := s.native(t, 5000)
	channel := "market:" + market
	first := s.stream(t, "?channels="+channel+",operator:"+p.user, "")
	first.until("snapshot", channel)
	call := p.call(t, market, "YES", 5200)
	created := first.until("event", channel)
	for created.Type == "price.tick" { // the market's own, at any time
		created = first.until("event", channel)
	}
	if created.Type != "signal.created" || !strings.Contains(string(created.Data), call) {
		t.Errorf("%s: %s", created.Type, created.Data)
	}
	place := first.last
	first.stop()
	s.finalize(t, market, "YES")
	again := s.stream(t, "?channels="+channel+",operator:"+p.user, place)
	f := again.until("event", channel)
	for ; f.Type != "signal.resolved"; f = again.until("event", channel) {
		if f.Type == "signal.created" {
			t.Errorf("%d comes twice", f.Seq)
		}
	}
}

// events are server-sent events as a browser reads them.
type events struct {
	t    testing.TB
	in   *bufio.Reader
	last string
	stop context.CancelFunc
}

// stream opens the feed as server-sent events.
func (s *stack) stream(t testing.TB, query, last string) *events {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.API+"/api/v1/feed/stream"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res, err := httpClient.Transport.RoundTrip(r) // without the limit of time of the client
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %s", res.StatusCode, res.Header)
	}
	return &events{t: t, in: bufio.NewReader(res.Body), stop: cancel}
}

// until reads up to a frame of this kind on a channel.
func (e *events) until(op, channel string) frame {
	e.t.Helper()
	var f frame
	id := e.last
	for {
		line, err := e.in.ReadString('\n')
		if err != nil {
			e.t.Fatalf("waiting for %s on %s: %v", op, channel, err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			f = frame{}
			if err := json.Unmarshal([]byte(value), &f); err != nil {
				e.t.Fatalf("%s: %v", value, err)
			}
		case "":
			e.last = id
			if f.Op == op && f.Channel == channel {
				return f
			}
		}
	}
}
