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

// eventPipe writes the frames of a socket as server-sent events. It cannot write
// without waiting, so all of it is left to the goroutine of a reader that lags.
type eventPipe struct {
	ending
	w       http.ResponseWriter
	control *http.ResponseController

	mu     sync.Mutex
	over   bool
	names  []string // of the channels, in the order of the address
	places []string // number of the last event on each
	head   int64    // of the feed when the stream began
}

func newEventPipe(w http.ResponseWriter, wishes []catchUp, head int64) *eventPipe {
	p := &eventPipe{w: w, control: http.NewResponseController(w), ending: make(ending), head: head}
	for _, wish := range wishes {
		p.names = append(p.names, wish.channel.Shown())
		p.places = append(p.places, strconv.FormatInt(wish.since, 10))
	}
	return p
}

// begin says when to come back and from where.
func (p *eventPipe) begin(retry int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(p.w, "retry: %d\nid: %s\n\n", retry, p.id()) // a closed connection shows with the first frame
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

// Ended implements live.Pipe.
func (p *eventPipe) Ended() { close(p.ending) }

// Cut implements live.Pipe.
func (p *eventPipe) Cut() { close(p.ending) }

func (p *eventPipe) abandon() { _ = p.control.SetWriteDeadline(past) }

// event adds one message; those that have a number carry the new places. So does what
// tells that a place is none: who is cut before the next event comes back to where the
// stream goes on.
func (p *eventPipe) event(b, text []byte) []byte {
	channel, seq, ok := numbered(text)
	if !ok {
		channel, seq, ok = p.misplaced(text)
	}
	if i := slices.Index(p.names, channel); ok && i >= 0 {
		p.places[i] = seq
		b = fmt.Appendf(b, "id: %s\n", p.id())
	}
	return fmt.Appendf(b, "data: %s\n\n", text)
}

func (p *eventPipe) id() string { return strings.Join(p.places, "-") }

// numbered reads the head of an event frame (live.EventFrame).
func numbered(text []byte) (channel, seq string, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"op":"event","channel":"`))
	if !ok {
		return "", "", false
	}
	name, rest, _ := bytes.Cut(rest, []byte{'"'})
	rest, ok = bytes.CutPrefix(rest, []byte(`,"seq":`))
	number, _, _ := bytes.Cut(rest, []byte{','})
	return string(name), string(number), ok
}

// misplaced reads the channel of a frame that tells of a place too old, or ahead, and the
// place from which the stream goes on.
func (p *eventPipe) misplaced(text []byte) (channel, seq string, ok bool) {
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
