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

// Kind is the client and transport with which a Reader reads the feed.
type Kind string

// Kinds of readers.
const (
	Library  Kind = "library"  // the Go library, which reconnects automatically
	Reopened Kind = "reopened" // the Go library, opened again after each lost connection
	Stream   Kind = "stream"   // server-sent events with Last-Event-ID
	Poll     Kind = "poll"     // repeated GET /api/v1/feed after the last number
)

// AllEvents is the only channel of a Reader of kind Poll.
const AllEvents = "feed"

// Options contains the settings of a Reader.
type Options struct {
	Kind     Kind
	URL      string           // base URL of the api, or of a proxy for it
	ClientIP string           // sent in the X-Forwarded-For header
	Channels map[string]int64 // channels, each with the event number after which reading starts
}

// Event is a numbered event that a Reader has received.
type Event struct {
	Seq int64
	Sum uint64 // Checksum of the type and data of the event
}

// Checksum returns a hash of the type and the stored data of an event. It ignores white space and the URL of the
// receipt, which the server adds when it sends the event.
func Checksum(kind string, data []byte) uint64 {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		b.Write(data) // invalid JSON is hashed unchanged and equals no stored event
	}
	stored := b.Bytes()
	const receipt = `,"receiptUrl":"`
	if i := bytes.LastIndex(stored, []byte(receipt)); i >= 0 {
		end := i + len(receipt) + bytes.IndexByte(stored[i+len(receipt):], '"') + 1
		stored = slices.Concat(stored[:i], stored[end:])
	}
	h := fnv.New64a()
	_, _ = h.Write(append([]byte(kind+"\n"), stored...)) // never returns an error
	return h.Sum64()
}

// Counts contains statistics and errors of a Reader.
type Counts struct {
	Sessions int      // connections that were subscribed to all channels
	Missing  int      // events whose predecessor was missing
	Gaps     int      // gaps that the server reported
	Repeats  int      // events that were received more than once
	Errors   []string // errors that the server sent, and positions that differ from the recorded ones
}

// Reader reads events of the feed until Close and records them.
type Reader struct {
	Options
	stop func()
	done chan struct{}

	mu     sync.Mutex
	end    context.CancelFunc // cancels the current session
	events map[string][]Event
	last   map[string]int64
	counts Counts
}

// minSession is the minimum time between the starts of two sessions.
const minSession = 200 * time.Millisecond

// Open starts a Reader. It reads until ctx ends or Close is called.
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

// session runs one session of the reader. It ends when ctx ends, when Kill is called, or, for a kind that does not reconnect,
// when the connection ends. session returns at least minSession after its start, unless ctx ends.
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

// Kill aborts the current session without a closing handshake. Messages that the session has received but not recorded are lost.
// The reader then starts a new session.
func (r *Reader) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.end != nil {
		r.end()
	}
}

// Close stops the Reader and waits until it has ended.
func (r *Reader) Close() {
	r.stop()
	<-r.done
}

// Received returns the events of a channel in the order in which they were received.
func (r *Reader) Received(channel string) []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events[channel])
}

// Position returns the number of the last recorded event of a channel. Before the first event, it returns the number after
// which reading starts.
func (r *Reader) Position(channel string) int64 { return r.positions()[channel] }

// Counts returns the statistics and errors so far.
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
func (r *Reader) countMissing() { r.count(func(c *Counts) { c.Missing++ }) }
func (r *Reader) countGap()     { r.count(func(c *Counts) { c.Gaps++ }) }

func (r *Reader) countError(text string) {
	r.count(func(c *Counts) { c.Errors = append(c.Errors, text) })
}

// forwarded is a transport that sends an IP address in the header X-Forwarded-For, as a proxy does for its client.
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
