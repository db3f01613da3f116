package feedclient

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/fnv"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Kind is how a Reader reads.
type Kind string

// The kinds.
const (
	Library  Kind = "library"  // the Go library, which reconnects by itself
	Reopened Kind = "reopened" // the Go library, opened again after each lost connection
	Stream   Kind = "stream"   // server-sent events with Last-Event-ID
	Poll     Kind = "poll"     // GET /api/v1/feed after the last number, again and again
)

// AllEvents is the one channel of a Reader that polls.
const AllEvents = "feed"

// Options select what a Reader reads.
type Options struct {
	Kind     Kind
	URL      string           // of the api or of a proxy in front of it
	ClientIP string           // sent as X-Forwarded-For
	Channels map[string]int64 // with the number after which each starts
}

// Event is a numbered event as a Reader received it.
type Event struct {
	Seq int64
	Sum uint64 // Checksum of its type and data
}

// Checksum returns a sum of the type and the stored data of an event. White space does not count, nor does the URL of the
// receipt, which the server adds when it sends the event.
func Checksum(kind string, data []byte) uint64 {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		b.Write(data) // invalid JSON differs from every stored text
	}
	stored := b.Bytes()
	const receipt = `,"receiptUrl":"`
	if i := bytes.LastIndex(stored, []byte(receipt)); i >= 0 {
		end := i + len(receipt) + bytes.IndexByte(stored[i+len(receipt):], '"') + 1
		stored = slices.Concat(stored[:i], stored[end:])
	}
	h := fnv.New64a()
	_, _ = h.Write(append([]byte(kind+"\n"), stored...)) // never fails
	return h.Sum64()
}

// Counts are what a Reader met besides events.
type Counts struct {
	Sessions int      // connections that were subscribed to every channel
	Holes    int      // events whose predecessor was missing
	Gaps     int      // gaps that the server announced
	Repeats  int      // events that came again
	Errors   []string // errors that the server sent, and positions that disagree
}

// Reader reads until Close.
type Reader struct {
	Options
	stop func()
	done chan struct{}

	mu     sync.Mutex
	end    context.CancelFunc // of the current session
	events map[string][]Event
	last   map[string]int64
	counts Counts
}

// minSession is the least time between the starts of two sessions.
const minSession = 200 * time.Millisecond

// Open starts a Reader.
func Open(ctx context.Context, o Options) *Reader {
	ctx, stop := context.WithCancel(ctx)
	r := &Reader{Options: o, stop: stop, done: make(chan struct{}), events: map[string][]Event{}, last: maps.Clone(o.Channels)}
	go func() {
		defer close(r.done)
		for ctx.Err() == nil {
			r.session(ctx)
		}
	}()
	return r
}

// session reads until Kill, or until the connection of a kind that does not reconnect by itself ends.
func (r *Reader) session(ctx context.Context) {
	next := time.Now().Add(minSession)
	session, end := context.WithCancel(ctx)
	defer end()
	r.mu.Lock()
	r.end = end
	r.mu.Unlock()
	t := &http.Transport{DisableCompression: true}
	defer t.CloseIdleConnections()
	client := &http.Client{Transport: forwarded{t, r.ClientIP}}
	switch r.Kind {
	case Stream:
		r.stream(session, client)
	case Poll:
		r.poll(session, client)
	default:
		r.library(session, client)
	}
	pause(ctx, time.Until(next))
}

// Kill ends the current session without a word to the server. What the session had read and not recorded is lost; the next
// session starts at once.
func (r *Reader) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.end != nil {
		r.end()
	}
}

// Close ends the Reader.
func (r *Reader) Close() {
	r.stop()
	<-r.done
}

// Received returns the events of a channel in the order of their arrival.
func (r *Reader) Received(channel string) []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events[channel])
}

// Position returns the last recorded number of a channel, or the number after which it starts.
func (r *Reader) Position(channel string) int64 { return r.positions()[channel] }

// Counts returns the counts so far.
func (r *Reader) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

func (r *Reader) positions() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.last)
}

func (r *Reader) record(channel string, seq int64, kind string, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events[channel] = append(r.events[channel], Event{seq, Checksum(kind, data)})
	r.last[channel] = seq
}

func (r *Reader) count(change func(c *Counts)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.counts)
}

func (r *Reader) countSession() { r.count(func(c *Counts) { c.Sessions++ }) }
func (r *Reader) countHole()    { r.count(func(c *Counts) { c.Holes++ }) }
func (r *Reader) countGap()     { r.count(func(c *Counts) { c.Gaps++ }) }

func (r *Reader) countError(text string) {
	r.count(func(c *Counts) { c.Errors = append(c.Errors, text) })
}

// forwarded sends the address of the client as a proxy does.
type forwarded struct {
	next http.RoundTripper
	ip   string
}

// RoundTrip implements http.RoundTripper.
func (f forwarded) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-For", f.ip)
	return f.next.RoundTrip(r)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
