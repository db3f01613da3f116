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
	frameLimit    = 1 << 20          // limit of a frame in bytes
	maxFrames     = 2000             // frames that are read from one connection
	answerTimeout = 10 * time.Second // timeout of the handshake; other exchanges have a multiple of it
)

// socket is a websocket connection to the live feed.
type socket struct {
	conn   *websocket.Conn
	frames int
}

// dial opens a connection to the live feed. If that fails, it adds a finding for subject and returns nil.
func (r *run) dial(ctx context.Context, subject *answer) *socket {
	address := strings.Replace(r.API, "http", "ws", 1) + "/ws" // https becomes wss
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	r.sent++
	ctx, connected := ask.TraceConnection(ctx)
	conn, res, err := websocket.Dial(ctx, address, &websocket.DialOptions{
		HTTPClient:   &http.Client{Transport: r.http.Transport, CheckRedirect: r.http.CheckRedirect},
		Subprotocols: []string{"signal.v1"}, HTTPHeader: http.Header{"User-Agent": {"signalcast-conform"}},
	})
	if res != nil && res.Body != nil {
		_ = res.Body.Close()
	}
	if res != nil && res.StatusCode == http.StatusTooManyRequests {
		r.noteMissing(&answer{method: http.MethodGet, path: "/ws", status: res.StatusCode, header: res.Header})
	}
	if !*connected {
		r.noteMissing(&answer{method: http.MethodGet, path: "/ws", err: err, unreached: true})
	}
	if !r.expect(err == nil, subject, "a websocket", fmt.Sprint(err)) {
		return nil
	}
	conn.SetReadLimit(frameLimit)
	r.expect(conn.Subprotocol() == "signal.v1", subject, "the subprotocol signal.v1", describe(conn.Subprotocol()))
	return &socket{conn: conn}
}

func (s *socket) close() { _ = s.conn.CloseNow() }

// send encodes frame as JSON and sends it.
func (s *socket) send(ctx context.Context, frame any) error {
	raw, err := json.Marshal(frame)
	if err != nil {
		return err
	}
	return s.conn.Write(ctx, websocket.MessageText, raw)
}

// until reads frames and ends when the function wanted returns true for a frame. It returns an error if the connection fails,
// or after maxFrames frames of the connection.
func (s *socket) until(ctx context.Context, wanted func(frame any) bool) error {
	for ; s.frames < maxFrames; s.frames++ {
		_, raw, err := s.conn.Read(ctx)
		if err != nil {
			return err
		}
		if wanted(decode(raw)) {
			return nil
		}
	}
	return fmt.Errorf("the expected frame was not among the first %d frames", maxFrames)
}

// signalEvents are the types of the events that have a sequence number on the channel named signals (docs/protocol/ws.md,
// Channels).
var signalEvents = []string{"signal.created", "signal.event", "signal.resolved"}

// socketChain subscribes to the events of the channel named signals after an earlier sequence number. It compares the replay
// with the feed. No event may be missing or repeated, and the member prev of each event must be the sequence number of the
// previous one.
func socketChain(ctx context.Context, r *run) {
	_, seqs, types := r.newest(ctx)
	if len(seqs) == 0 {
		r.skip("the feed is empty")
		return
	}
	var want []int
	for _, seq := range seqs[1:] {
		if slices.Contains(signalEvents, types[seq]) {
			want = append(want, seq)
		}
	}
	subject := &answer{method: "GET", path: "/ws"}
	s := r.dial(ctx, subject)
	if s == nil {
		return
	}
	defer s.close()
	ctx, cancel := context.WithTimeout(ctx, 2*answerTimeout)
	defer cancel()
	var hello any
	err := s.until(ctx, func(f any) bool { hello = f; return true })
	if !r.expect(err == nil, subject, "a frame hello", fmt.Sprint(err)) {
		return
	}
	r.expect(text(hello, "op") == "hello" && text(hello, "protocol") == "signal.v1", subject, "op hello of protocol signal.v1",
		describe(hello))
	since := seqs[0]
	subscribe := map[string]any{
		"op": "subscribe", "id": "s1", "channels": []string{"signals"}, "since": map[string]int{"signals": since},
	}
	if s.send(ctx, subscribe) != nil {
		return
	}
	r.replayed(ctx, s, &answer{method: "GET", path: "/ws signals since " + strconv.Itoa(since)}, since, want)
}

// replayed reads the events of the channel named signals that the server replays. The parameter since is the sequence number
// before the first of them. Their sequence numbers must equal want, the numbers that the feed returned.
func (r *run) replayed(ctx context.Context, s *socket, subject *answer, since int, want []int) {
	last, first, acked := since, true, false
	left := slices.Clone(want)
	err := s.until(ctx, func(f any) bool {
		switch text(f, "op") {
		case "ack":
			acked = true
			r.expect(text(f, "id") == "s1" && text(f, "channels.0") == "signals", subject, "ack of s1 with signals", describe(f))
		case "gap":
			r.expect(false, subject, "the events that the feed has", "gap "+describe(f))
		case "event":
			seq, numbered := integer(f, "seq")
			if !numbered || text(f, "channel") != "signals" {
				return false
			}
			prev, _ := integer(f, "prev") // 0 if prev is null
			r.expect(seq > last, subject, fmt.Sprintf("a seq above %d", last), strconv.Itoa(seq))
			chained := prev == last || first && prev <= since
			r.expect(chained, subject, fmt.Sprintf("prev %d of %d", last, seq), strconv.Itoa(prev))
			if i := slices.Index(left, seq); i >= 0 {
				r.expect(i == 0, subject, fmt.Sprintf("event %d before %d", left[0], seq), "the event is missing without a gap frame")
				left = left[i+1:]
			}
			last, first = seq, false
		}
		return acked && len(left) == 0
	})
	r.expect(err == nil, subject, "ack and every event of the feed",
		fmt.Sprintf("%v; acknowledged: %v, events missing: %d", err, acked, len(left)))
}

// socketFrames sends valid and invalid frames and checks the response frame or the close code for each.
func socketFrames(ctx context.Context, r *run) {
	subject := &answer{method: "GET", path: "/ws"}
	s := r.dial(ctx, subject)
	if s == nil {
		return
	}
	defer s.close()
	ctx, cancel := context.WithTimeout(ctx, 3*answerTimeout)
	defer cancel()
	answered := func(frame any, id, op, code string) {
		if s.send(ctx, frame) != nil {
			r.expect(false, subject, "an open connection", "a closed connection")
			return
		}
		var got any
		err := s.until(ctx, func(f any) bool { // skips the ack, which is sent in addition to the error
			got = f
			return text(f, "id") == id && text(f, "op") != "ack"
		})
		ok := err == nil && text(got, "op") == op && text(got, "error") == code
		r.expect(ok, subject, strings.TrimSpace(op+" "+code)+" with id "+id, fmt.Sprintf("%v %s", err, describe(got)))
	}
	answered(map[string]any{"op": "ping", "id": "p1"}, "p1", "pong", "")
	answered(map[string]any{"op": "subscribe", "id": "u1", "channels": []string{"market:???"}}, "u1", "error", "unknown_channel")
	_, seqs, _ := r.newest(ctx)
	if len(seqs) > 0 {
		ahead := map[string]int{"signals": seqs[len(seqs)-1] + 1_000_000}
		answered(map[string]any{"op": "subscribe", "id": "f1", "channels": []string{"signals"}, "since": ahead}, "f1", "error",
			"future_cursor")
	}
	r.closesWith(ctx, s, subject, websocket.MessageBinary, []byte{1, 2, 3}, websocket.StatusUnsupportedData)
	if s := r.dial(ctx, subject); s != nil {
		defer s.close()
		long := []byte(`{"op":"ping","id":"` + strings.Repeat("x", 9<<10) + `"}`)
		r.closesWith(ctx, s, subject, websocket.MessageText, long, websocket.StatusMessageTooBig)
	}
}

// closesWith sends a frame after which the server must close the connection with the given close code.
func (r *run) closesWith(
	ctx context.Context, s *socket, subject *answer, kind websocket.MessageType, frame []byte, code websocket.StatusCode,
) {
	if err := s.conn.Write(ctx, kind, frame); err != nil {
		r.expect(false, subject, "an open connection", err.Error())
		return
	}
	err := s.until(ctx, func(any) bool { return false })
	got := websocket.CloseStatus(err)
	r.expect(got == code, subject, fmt.Sprintf("close code %d", code), fmt.Sprintf("%d, %v", got, err))
}
