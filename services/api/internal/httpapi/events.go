package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gobwas/ws"
)

// eventConn implements transport for a stream of server-sent events: it converts the websocket frames of a broker.Reader to
// events. An HTTP response cannot be written without blocking, so the goroutine of the broker.Reader writes all frames.
type eventConn struct {
	finished
	w       http.ResponseWriter
	control *http.ResponseController

	mu        sync.Mutex
	closed    bool     // set when the handler returns; later writes fail
	channels  []string // channel names in the order of the request
	positions []string // number of the last event sent on each of the channels, as text
	head      int64    // newest event number at the start of the stream
}

func newEventConn(w http.ResponseWriter, requested []pendingSub, head int64) *eventConn {
	p := &eventConn{w: w, control: http.NewResponseController(w), finished: make(finished), head: head}
	for _, sub := range requested {
		p.channels = append(p.channels, sub.channel.Shown())
		p.positions = append(p.positions, strconv.FormatInt(sub.since, 10))
	}
	return p
}

// writeRetry sends the first event. It contains the reconnection time, which is the parameter retry in milliseconds, and the
// event id with the initial positions.
func (p *eventConn) writeRetry(retry int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(p.w, "retry: %d\nid: %s\n\n", retry, p.id()) // an error also occurs at the first frame
}

// finish waits for a running write and makes later writes fail, so that the response is not used after its handler has
// returned.
func (p *eventConn) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// TryWrite implements broker.Conn. It writes nothing.
func (p *eventConn) TryWrite([]byte) (int, error) { return 0, nil }

// Write implements broker.Conn.
func (p *eventConn) Write(frames []byte, within time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return http.ErrHandlerTimeout
	}
	timeout := time.AfterFunc(within, func() { _ = p.control.SetWriteDeadline(expired) })
	defer timeout.Stop()
	var b []byte
	for in := bytes.NewReader(frames); in.Len() > 0; {
		f, err := ws.ReadFrame(in)
		if err != nil {
			return err
		}
		switch f.Header.OpCode {
		case ws.OpText:
			b = p.event(b, f.Payload)
		case ws.OpClose:
			code, reason := ws.ParseCloseFrameData(f.Payload)
			b = fmt.Appendf(b, "event: end\ndata: %s\n\n", encode(endJSON{Code: int(code), Reason: reason}))
		}
	}
	if _, err := p.w.Write(b); err != nil {
		return err
	}
	return p.control.Flush()
}

// Finish implements broker.Conn.
func (p *eventConn) Finish() { close(p.finished) }

// Abort implements broker.Conn.
func (p *eventConn) Abort() { close(p.finished) }

func (p *eventConn) abandon() { _ = p.control.SetWriteDeadline(expired) }

// event appends the server-sent event of one text frame to b. The frame of a numbered event changes the position of its
// channel. So does a gap frame or a future_cursor error: a client that reconnects then resumes at the corrected position. After
// a change, the event has an id with all positions.
func (p *eventConn) event(b, text []byte) []byte {
	channel, seq, ok := eventPosition(text)
	if !ok {
		channel, seq, ok = p.correctedPosition(text)
	}
	if i := slices.Index(p.channels, channel); ok && i >= 0 {
		p.positions[i] = seq
		b = fmt.Appendf(b, "id: %s\n", p.id())
	}
	return fmt.Appendf(b, "data: %s\n\n", text)
}

func (p *eventConn) id() string { return strings.Join(p.positions, "-") }

// eventPosition returns the channel and the event number of a frame that broker.EventFrame has built. ok is false for any
// other frame.
func eventPosition(text []byte) (channel, seq string, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"op":"event","channel":"`))
	if !ok {
		return "", "", false
	}
	name, rest, _ := bytes.Cut(rest, []byte{'"'})
	rest, ok = bytes.CutPrefix(rest, []byte(`,"seq":`))
	number, _, _ := bytes.Cut(rest, []byte{','})
	return string(name), string(number), ok
}

// correctedPosition returns the channel of a gap frame or a future_cursor error, and the number after which its events
// continue. ok is false for any other frame.
func (p *eventConn) correctedPosition(text []byte) (channel, seq string, ok bool) {
	if !bytes.HasPrefix(text, []byte(`{"op":"gap",`)) && !bytes.HasPrefix(text, []byte(`{"op":"error",`)) {
		return "", "", false
	}
	var f struct {
		Op, Error, Channel string
		Oldest             int64
	}
	switch {
	case json.Unmarshal(text, &f) != nil:
		return "", "", false
	case f.Op == "gap":
		return f.Channel, strconv.FormatInt(f.Oldest-1, 10), true
	}
	return f.Channel, strconv.FormatInt(p.head, 10), f.Error == errFuture.Code
}
