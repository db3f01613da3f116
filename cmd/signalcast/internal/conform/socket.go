package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
)

const (
	frameLimit = 1 << 20 // bytes of a frame that are read
	mostFrames = 2000    // of one conversation
	answerIn   = 10 * time.Second
)

// socket is one conversation with the live feed.
type socket struct {
	conn   *websocket.Conn
	frames int
}

// dial opens one; nil, with a finding, is none.
func (r *run) dial(ctx context.Context, talk *answer) *socket {
	address := strings.Replace(r.API, "http", "ws", 1) + "/ws" // https becomes wss
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	r.sent++
	ctx, connected := ask.Connecting(ctx)
	conn, res, err := websocket.Dial(ctx, address, &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: r.http.Transport, CheckRedirect: r.http.CheckRedirect}, Subprotocols: []string{"signal.v1"},
		HTTPHeader: http.Header{"User-Agent": {"signalcast-conform"}},
	})
	if res != nil && res.Body != nil {
		_ = res.Body.Close()
	}
	if res != nil && res.StatusCode == http.StatusTooManyRequests {
		over := &answer{method: http.MethodGet, path: "/ws", status: res.StatusCode, header: res.Header}
		r.miss(over)
	}
	if !*connected {
		r.miss(&answer{method: http.MethodGet, path: "/ws", err: err, unreached: true})
	}
	if !r.due(err == nil, talk, "a websocket", fmt.Sprint(err)) {
		return nil
	}
	conn.SetReadLimit(frameLimit)
	r.due(conn.Subprotocol() == "signal.v1", talk, "the subprotocol signal.v1", say(conn.Subprotocol()))
	return &socket{conn: conn}
}

func (s *socket) close() { _ = s.conn.CloseNow() }

func (s *socket) say(ctx context.Context, frame any) error {
	raw, err := json.Marshal(frame)
	if err != nil {
		return err
	}
	return s.conn.Write(ctx, websocket.MessageText, raw)
}

// until reads frames until one is wanted; the error is that of the connection, or of
// the time.
func (s *socket) until(ctx context.Context, wanted func(frame any) bool) error {
	for ; s.frames < mostFrames; s.frames++ {
		_, raw, err := s.conn.Read(ctx)
		if err != nil {
			return err
		}
		if wanted(decode(raw)) {
			return nil
		}
	}
	return fmt.Errorf("more than %d frames", mostFrames)
}

// ofSignals are the numbered events of the channel signals (contract 4.17.4).
var ofSignals = []string{"signal.created", "signal.event", "signal.resolved"}

// socketChain subscribes to the calls from a number on and holds what is replayed
// against the feed: nothing is missing, nothing comes twice, and prev is a chain.
func socketChain(ctx context.Context, r *run) {
	_, seqs, types := r.newest(ctx)
	if len(seqs) == 0 {
		r.skip("the feed is empty")
		return
	}
	var want []int
	for _, seq := range seqs[1:] {
		if slices.Contains(ofSignals, types[seq]) {
			want = append(want, seq)
		}
	}
	talk := &answer{method: "GET", path: "/ws"}
	s := r.dial(ctx, talk)
	if s == nil {
		return
	}
	defer s.close()
	ctx, cancel := context.WithTimeout(ctx, 2*answerIn)
	defer cancel()
	var hello any
	if err := s.until(ctx, func(f any) bool { hello = f; return true }); !r.due(err == nil, talk, "a frame hello", fmt.Sprint(err)) {
		return
	}
	r.due(text(hello, "op") == "hello" && text(hello, "protocol") == "signal.v1", talk, "op hello of protocol signal.v1", say(hello))
	since := seqs[0]
	if s.say(ctx, map[string]any{"op": "subscribe", "id": "s1", "channels": []string{"signals"}, "since": map[string]int{"signals": since}}) != nil {
		return
	}
	r.replayed(ctx, s, &answer{method: "GET", path: "/ws signals since " + strconv.Itoa(since)}, since, want)
}

// replayed reads the replay of one channel.
func (r *run) replayed(ctx context.Context, s *socket, talk *answer, since int, want []int) {
	last, first, acked := since, true, false
	left := slices.Clone(want)
	err := s.until(ctx, func(f any) bool {
		switch text(f, "op") {
		case "ack":
			acked = true
			r.due(text(f, "id") == "s1" && text(f, "channels.0") == "signals", talk, "ack of s1 with signals", say(f))
		case "gap":
			r.due(false, talk, "the events that the feed has", "gap "+say(f))
		case "event":
			seq, numbered := whole(f, "seq")
			if !numbered || text(f, "channel") != "signals" {
				return false
			}
			prev, _ := whole(f, "prev") // null is 0: there is none
			r.due(seq > last, talk, fmt.Sprintf("a seq above %d", last), strconv.Itoa(seq))
			chained := prev == last || first && prev <= since
			r.due(chained, talk, fmt.Sprintf("prev %d of %d", last, seq), strconv.Itoa(prev))
			if i := slices.Index(left, seq); i >= 0 {
				r.due(i == 0, talk, fmt.Sprintf("event %d before %d", left[0], seq), "it is missing, without a gap")
				left = left[i+1:]
			}
			last, first = seq, false
		}
		return acked && len(left) == 0
	})
	r.due(err == nil, talk, "ack and every event of the feed", fmt.Sprintf("%v; acknowledged: %v, events missing: %d", err, acked, len(left)))
}

// socketFrames sends what a server must not choke on.
func socketFrames(ctx context.Context, r *run) {
	talk := &answer{method: "GET", path: "/ws"}
	s := r.dial(ctx, talk)
	if s == nil {
		return
	}
	defer s.close()
	ctx, cancel := context.WithTimeout(ctx, 3*answerIn)
	defer cancel()
	answered := func(frame any, id, op, code string) {
		if s.say(ctx, frame) != nil {
			r.due(false, talk, "an open socket", "it is closed")
			return
		}
		var got any
		err := s.until(ctx, func(f any) bool { got = f; return text(f, "id") == id && text(f, "op") != "ack" }) // that comes as well
		ok := err == nil && text(got, "op") == op && text(got, "error") == code
		r.due(ok, talk, strings.TrimSpace(op+" "+code)+" with id "+id, fmt.Sprintf("%v %s", err, say(got)))
	}
	answered(map[string]any{"op": "ping", "id": "p1"}, "p1", "pong", "")
	answered(map[string]any{"op": "subscribe", "id": "u1", "channels": []string{"market:???"}}, "u1", "error", "unknown_channel")
	_, seqs, _ := r.newest(ctx)
	if len(seqs) > 0 {
		ahead := map[string]int{"signals": seqs[len(seqs)-1] + 1_000_000}
		answered(map[string]any{"op": "subscribe", "id": "f1", "channels": []string{"signals"}, "since": ahead}, "f1", "error", "future_cursor")
	}
	r.endsWith(ctx, s, talk, websocket.MessageBinary, []byte{1, 2, 3}, websocket.StatusUnsupportedData)
	if s := r.dial(ctx, talk); s != nil {
		defer s.close()
		r.endsWith(ctx, s, talk, websocket.MessageText, []byte(`{"op":"ping","id":"`+strings.Repeat("x", 9<<10)+`"}`), websocket.StatusMessageTooBig)
	}
}

// endsWith sends a frame that ends the connection.
func (r *run) endsWith(ctx context.Context, s *socket, talk *answer, kind websocket.MessageType, frame []byte, code websocket.StatusCode) {
	if err := s.conn.Write(ctx, kind, frame); err != nil {
		r.due(false, talk, "an open socket", err.Error())
		return
	}
	err := s.until(ctx, func(any) bool { return false })
	got := websocket.CloseStatus(err)
	r.due(got == code, talk, fmt.Sprintf("close code %d", code), fmt.Sprintf("%d, %v", got, err))
}
