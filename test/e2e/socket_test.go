package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/getkin/kin-openapi/openapi3"
)

// frame is what a server sends, as far as tests look at it.
type frame struct {
	Op       string          `json:"op"`
	ID       string          `json:"id"`
	Channel  string          `json:"channel"`
	Channels []string        `json:"channels"`
	Seq      int64           `json:"seq"`
	Prev     *int64          `json:"prev"`
	Type     string          `json:"type"`
	At       string          `json:"at"`
	Data     json.RawMessage `json:"data"`
	Error    string          `json:"error"`
	Head     int64           `json:"head"`
	Protocol string          `json:"protocol"`
}

// socket is one connection; last is the newest number seen on each channel.
type socket struct {
	t    testing.TB
	conn *websocket.Conn
	last map[string]int64
}

// connect opens a websocket and takes its hello.
func (s *stack) connect(t testing.TB, header http.Header) *socket {
	t.Helper()
	k, err := s.tryConnect(t, header)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (s *stack) tryConnect(t testing.TB, header http.Header) (*socket, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, res, err := websocket.Dial(ctx, strings.Replace(s.API, "http", "ws", 1)+"/ws", &websocket.DialOptions{
		HTTPHeader: header, Subprotocols: []string{"signal.v1"}, HTTPClient: httpClient,
	})
	if err != nil {
		return nil, err
	}
	if got := res.Header.Get("Sec-WebSocket-Protocol"); got != "signal.v1" {
		t.Errorf("subprotocol %q", got)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	k := &socket{t: t, conn: conn, last: map[string]int64{}}
	hello, err := k.next(10 * time.Second)
	if err == nil && (hello.Op != "hello" || hello.Protocol != "signal.v1") {
		t.Errorf("first frame: %+v", hello)
	}
	return k, err
}

func (k *socket) say(v any) {
	k.t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		k.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(k.t.Context(), 5*time.Second)
	defer cancel()
	if err := k.conn.Write(ctx, websocket.MessageText, raw); err != nil {
		k.t.Fatal(err)
	}
}

// next reads one frame and judges it; beats are passed over.
func (k *socket) next(within time.Duration) (frame, error) {
	ctx, cancel := context.WithTimeout(k.t.Context(), within)
	defer cancel()
	for {
		kind, raw, err := k.conn.Read(ctx)
		if err != nil {
			return frame{}, err
		}
		var f frame
		if err := json.Unmarshal(raw, &f); err != nil || kind != websocket.MessageText {
			k.t.Fatalf("frame %q: %v", raw, err)
		}
		k.judge(f, raw)
		if f.Op != "beat" {
			return f, nil
		}
	}
}

// judge holds a frame against ws.md: the chain of its channel, no raw id, data of
// the shape that events.md names.
func (k *socket) judge(f frame, raw []byte) {
	k.t.Helper()
	if strings.Contains(string(raw), "did:idp:") || keyForm.Match(raw) {
		k.t.Errorf("a frame shows what it must not: %s", raw)
	}
	if f.Op != "event" || f.Seq == 0 {
		return
	}
	if last, any := k.last[f.Channel]; any && (f.Prev == nil || *f.Prev != last) {
		k.t.Errorf("%s: after %d comes %d with prev %v", f.Channel, last, f.Seq, f.Prev)
	}
	k.last[f.Channel] = f.Seq
	k.named(f)
	schema := map[string]string{"signal.created": "FeedSignal", "signal.event": "SignalEvent", "market.resolved": "Outcome", "market.disputed": "Outcome"}[f.Type]
	if schema == "" {
		return
	}
	var data map[string]any
	if err := json.Unmarshal(f.Data, &data); err != nil {
		k.t.Errorf("%s: %v", f.Type, err)
		return
	}
	var value any = data
	switch f.Type {
	case "signal.event":
		value = data["event"]
	case "market.resolved", "market.disputed":
		delete(data, "marketId")
		delete(data, "marketTitle")
	}
	doc, err := described()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := doc.spec.Components.Schemas[schema].Value.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
		k.t.Errorf("%s: %v\n%s", f.Type, err, raw)
	}
}

// named fails if the event does not name what docs/protocol/events.md says of each type: its
// market, and of a call also its receipt and operator.
func (k *socket) named(f frame) {
	k.t.Helper()
	var d struct{ ID, SignalID, ReceiptURL, Handle, MarketID, MarketTitle string }
	call, market := strings.HasPrefix(f.Type, "signal."), strings.HasPrefix(f.Type, "market.")
	if err := json.Unmarshal(f.Data, &d); err != nil {
		k.t.Errorf("%s: %v", f.Type, err)
		return
	}
	if (call || market) && (d.MarketID == "" || d.MarketTitle == "") {
		k.t.Errorf("%s does not name its market: %s", f.Type, f.Data)
	}
	if call && (d.ID == "" || d.SignalID != "" && d.SignalID != d.ID || d.Handle == "" || !strings.HasSuffix(d.ReceiptURL, "/receipts/"+d.ID)) {
		k.t.Errorf("%s does not name its call: %s", f.Type, f.Data)
	}
}

// until reads frames up to one that fits.
func (k *socket) until(what string, fits func(frame) bool) frame {
	k.t.Helper()
	end := time.Now().Add(15 * time.Second)
	for {
		f, err := k.next(time.Until(end))
		if err != nil {
			k.t.Fatalf("waiting for %s: %v", what, err)
		}
		if fits(f) {
			return f
		}
	}
}

// snapshots reads until each of the channels has said how it stands; they come in
// any order.
func (k *socket) snapshots(channels ...string) map[string]string {
	k.t.Helper()
	data := map[string]string{}
	for _, c := range channels {
		for _, has := data[c]; !has; _, has = data[c] {
			f := k.until("the snapshot of "+c, func(f frame) bool { return f.Op == "snapshot" && slices.Contains(channels, f.Channel) })
			data[f.Channel] = string(f.Data)
		}
	}
	return data
}

// event reads up to the event of that type on that channel.
func (k *socket) event(channel, kind string) frame {
	k.t.Helper()
	return k.until(kind+" on "+channel, func(f frame) bool { return f.Op == "event" && f.Channel == channel && f.Type == kind })
}

// ends reads to the end of the connection and demands its close code.
func (k *socket) ends(code websocket.StatusCode) {
	k.t.Helper()
	for {
		_, err := k.next(15 * time.Second)
		if err == nil {
			continue
		}
		if got := websocket.CloseStatus(err); got != code {
			k.t.Errorf("closed with %d, want %d: %v", got, code, err)
		}
		return
	}
}

// TestSocketTellsTheStory: what happens to a market is seen as it happens, in one
// chain, and a reader who comes later gets the same.
func TestSocketTellsTheStory(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market := s.native(t, 5000)
	channel := "market:" + market
	k := s.connect(t, http.Header{"Origin": {"https://evil.example"}})
	k.say(obj{"op": "subscribe", "id": "s1", "channels": []string{"signals", channel, "operator:" + p.user, "resolutions"}})
	ack := k.until("the ack", func(f frame) bool { return f.Op == "ack" && f.ID == "s1" })
	if len(ack.Channels) != 4 {
		t.Errorf("ack of %v", ack.Channels)
	}
	snapshot := k.until("the snapshot", func(f frame) bool { return f.Op == "snapshot" && f.Channel == channel })
	if !strings.Contains(string(snapshot.Data), `"yesBps":5000`) || !strings.Contains(string(snapshot.Data), `"status":"open"`) {
		t.Errorf("snapshot %s", snapshot.Data)
	}
	id := p.call(t, market, "YES", 5200)
	first := k.event(channel, "signal.created")
	if !strings.Contains(string(first.Data), id) || first.At == "" {
		t.Errorf("created: %s", first.Data)
	}
	s.person(t).call(t, market, "NO", 5000)
	post(t, s.Hub+"/api/signals/"+id+"/events", p.auth(t), payload(obj{"type": "note", "payload": obj{"text": "seen live"}})).is(http.StatusCreated)
	s.finalize(t, market, "YES")
	resolved := k.until("two results", func(f frame) bool {
		return f.Op == "event" && f.Channel == channel && f.Type == "signal.resolved" && strings.Contains(string(f.Data), id)
	})
	if !strings.Contains(string(resolved.Data), `"score":48`) {
		t.Errorf("resolved: %s", resolved.Data)
	}
	// Between channels there is no order.
	for _, c := range []string{"signals", "operator:" + p.user, "resolutions"} {
		if k.last[c] == 0 {
			k.until("something on "+c, func(f frame) bool { return f.Op == "event" && f.Channel == c })
		}
	}
	replays(t, s, channel, first.Seq)
}

// replays resumes behind the first event of a market and compares with the feed.
func replays(t *testing.T, s *stack, channel string, since int64) {
	t.Helper()
	later := s.connect(t, nil)
	later.last[channel] = since
	later.say(obj{"op": "subscribe", "id": "r", "channels": []string{channel}, "since": obj{channel: since}})
	var kinds []string
	var seqs []int64
	for len(kinds) < 5 || kinds[len(kinds)-1] != "signal.resolved" {
		f := later.until("the replay", func(f frame) bool { return f.Op == "event" && f.Seq > 0 })
		kinds, seqs = append(kinds, f.Type), append(seqs, f.Seq)
		if len(kinds) > 8 {
			t.Fatalf("replayed: %v", kinds)
		}
	}
	inFeed := map[int64]bool{}
	for _, item := range get(t, s.API+"/api/v1/feed?limit=200&after="+itoa(since)).is(http.StatusOK).list("items") {
		seq, err := item.(map[string]any)["seq"].(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		inFeed[seq] = true
	}
	for _, seq := range seqs {
		if !inFeed[seq] && len(inFeed) < 200 {
			t.Errorf("%d was replayed and is not in the feed", seq)
		}
	}
	if !strings.HasPrefix(strings.Join(kinds, " "), "signal.created signal.event market.") {
		t.Errorf("replayed: %v", kinds)
	}
	later.say(obj{"op": "subscribe", "id": "f", "channels": []string{"signals"}, "since": obj{"signals": int64(1) << 40}})
	later.until("future_cursor", func(f frame) bool { return f.Op == "error" && f.Error == "future_cursor" && f.ID == "f" })
}

// TestSocketRefusals: what a client does wrong, and what becomes of it.
func TestSocketRefusals(t *testing.T) {
	t.Parallel()
	s := up(t)
	k := s.connect(t, nil)
	for want, say := range map[string]any{
		"unknown_channel":  obj{"op": "subscribe", "id": "e", "channels": []string{"market:???"}},
		"missing_channels": obj{"op": "subscribe", "id": "e"},
		"invalid_channels": obj{"op": "subscribe", "id": "e", "channels": "signals"},
		"invalid_since":    obj{"op": "subscribe", "id": "e", "channels": []string{"signals"}, "since": obj{"signals": "x"}},
	} {
		k.say(say)
		f := k.until(want, func(f frame) bool { return f.Op == "error" })
		if f.Error != want || f.ID != "e" {
			t.Errorf("%v: %+v", say, f)
		}
	}
	k.say([]int{1})
	if f := k.until("invalid_frame", func(f frame) bool { return f.Op == "error" }); f.Error != "invalid_frame" {
		t.Errorf("%+v", f)
	}
	k.say(obj{"op": "ping", "id": "p1"})
	k.until("pong", func(f frame) bool { return f.Op == "pong" && f.ID == "p1" })

	binary := s.connect(t, nil)
	if err := binary.conn.Write(t.Context(), websocket.MessageBinary, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	binary.ends(websocket.StatusUnsupportedData)
	large := s.connect(t, nil)
	large.say(obj{"op": "ping", "id": strings.Repeat("x", 9<<10)})
	large.ends(websocket.StatusMessageTooBig)
	fast := s.connect(t, nil)
	for range 40 {
		raw := []byte(`{"op":"ping"}`)
		if err := fast.conn.Write(t.Context(), websocket.MessageText, raw); err != nil {
			break // closed already
		}
	}
	fast.ends(4029)
	stranger := s.connect(t, nil)
	stranger.say(obj{"op": "auth", "id": "a", "token": "dk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})
	stranger.ends(4001)
	member, _ := s.person(t).mint(t, "socket")
	k.say(obj{"op": "auth", "id": "a1", "token": member})
	k.until("the ack of auth", func(f frame) bool { return f.ID == "a1" && f.Op == "ack" })
	if _, err := s.tryConnect(t, http.Header{"Authorization": {"Bearer dk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an unknown key opens a socket: %v", err)
	}
}
