package edge

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// eventPipe writes the frames of a socket as server-sent events. It cannot write
// without waiting, so all of it is left to the goroutine of a reader that lags.
type eventPipe struct {
	ending
	w       http.ResponseWriter
	control *http.ResponseController

	mu     sync.Mutex
	over   bool
	names  []string // of the channels, in the order of the address
	places []int64  // number of the last event on each
	head   int64    // of the feed when the stream began
}

func newEventPipe(w http.ResponseWriter, wishes []catchUp, head int64) *eventPipe {
	p := &eventPipe{w: w, control: http.NewResponseController(w), ending: make(ending), head: head}
	for _, wish := range wishes {
		p.names = append(p.names, wish.channel.Shown())
		p.places = append(p.places, wish.since)
	}
	return p
}

// begin says when to come back and from where.
func (p *eventPipe) begin(retry int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := strconv.AppendInt([]byte("retry: "), int64(retry), 10)
	b = append(b, '\n')
	b = append(p.id(b), '\n')
	_, _ = p.w.Write(b) // a connection that is gone shows with the first frame
}

// finish returns when nothing uses the response any more.
func (p *eventPipe) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}

// Try implements live.Pipe.
func (p *eventPipe) Try([]byte) (int, error) { return 0, nil }

// Put implements live.Pipe.
func (p *eventPipe) Put(frames []byte, within time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return http.ErrHandlerTimeout
	}
	stuck := time.AfterFunc(within, func() { _ = p.control.SetWriteDeadline(past) })
	defer stuck.Stop()
	var b []byte
	for len(frames) > 0 {
		kind, body, rest := cutFrame(frames)
		frames = rest
		switch kind {
		case 1:
			b = p.event(b, body)
		case 8:
			b = end(b, body)
		}
	}
	if _, err := p.w.Write(b); err != nil {
		return err
	}
	return p.control.Flush()
}

// Ended implements live.Pipe.
func (p *eventPipe) Ended() { close(p.ending) }

// Cut implements live.Pipe.
func (p *eventPipe) Cut() { close(p.ending) }

func (p *eventPipe) abandon() { _ = p.control.SetWriteDeadline(past) }

// cutFrame takes the first of some whole frames.
func cutFrame(b []byte) (kind byte, body, rest []byte) {
	size, head := int(b[1]), 2
	switch size {
	case 126:
		size, head = int(binary.BigEndian.Uint16(b[2:])), 4
	case 127:
		size, head = int(binary.BigEndian.Uint64(b[2:])), 10
	}
	return b[0] & 0x0f, b[head : head+size], b[head+size:]
}

// event adds one message; those that have a number carry the new places. So does what
// tells that a place is none: who is cut before the next event comes back to where the
// stream goes on.
func (p *eventPipe) event(b, text []byte) []byte {
	channel, seq, ok := numbered(text)
	if !ok {
		channel, seq, ok = p.misplaced(text)
	}
	if ok {
		for i, name := range p.names {
			if name == channel {
				p.places[i] = seq
				b = p.id(b)
			}
		}
	}
	b = append(b, "data: "...)
	b = append(b, text...)
	return append(b, "\n\n"...)
}

func (p *eventPipe) id(b []byte) []byte {
	b = append(b, "id: "...)
	for i, n := range p.places {
		if i > 0 {
			b = append(b, '-')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return append(b, '\n')
}

// numbered reads the head of an event frame (live.EventFrame).
func numbered(text []byte) (channel string, seq int64, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"op":"event","channel":"`))
	if !ok {
		return "", 0, false
	}
	name, rest, _ := bytes.Cut(rest, []byte{'"'})
	rest, ok = bytes.CutPrefix(rest, []byte(`,"seq":`))
	if !ok {
		return "", 0, false
	}
	number, _, _ := bytes.Cut(rest, []byte{','})
	seq, err := strconv.ParseInt(string(number), 10, 64)
	return string(name), seq, err == nil
}

// misplaced reads the channel of a frame that tells of a place too old, or ahead, and the
// place from which the stream goes on.
func (p *eventPipe) misplaced(text []byte) (channel string, seq int64, ok bool) {
	if !bytes.HasPrefix(text, []byte(`{"op":"gap",`)) && !bytes.HasPrefix(text, []byte(`{"op":"error",`)) {
		return "", 0, false
	}
	var f struct {
		Op, Error, Channel string
		Oldest             int64
	}
	switch {
	case json.Unmarshal(text, &f) != nil:
		return "", 0, false
	case f.Op == "gap":
		return f.Channel, f.Oldest - 1, true
	}
	return f.Channel, p.head, f.Error == errFuture.Code
}

// end says why the stream ends.
func end(b, body []byte) []byte {
	b = append(b, "event: end\ndata: "...)
	code, reason := 0, ""
	if len(body) >= 2 {
		code, reason = int(binary.BigEndian.Uint16(body)), string(body[2:])
	}
	b = append(b, encode(endJSON{Code: code, Reason: reason})...)
	return append(b, "\n\n"...)
}
