package feedclient

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Kind is how a reader listens.
type Kind int

// The kinds.
const (
	Loyal   Kind = iota // the library, left alone with every cut
	Hopping             // the library, closed at a cut and opened again from where it was
	Stream              // server-sent events, with Last-Event-ID
	Process             // the library in a process of its own
	Poll                // asks for what is behind its number, again and again
)

// Everything is the one channel of a reader that polls.
const Everything = "feed"

// Options of a reader.
type Options struct {
	Kind     Kind
	URL      string           // of the server, or what stands before it
	From     string           // its address: its own, or what a trusted proxy says of it
	Direct   bool             // From is its own
	Channels map[string]int64 // with the number from which each is heard
}

// Reader listens until Close, whatever happens to it.
type Reader struct {
	Options
	*Notes
	cancel context.CancelFunc
	done   chan struct{}

	mu   sync.Mutex
	life context.CancelFunc // ends this life of the reader; another follows
}

// Open starts a reader.
func Open(ctx context.Context, o Options) *Reader {
	ctx, cancel := context.WithCancel(ctx)
	r := &Reader{Options: o, Notes: newNotes(o.Channels), cancel: cancel, done: make(chan struct{})}
	go r.run(ctx)
	return r
}

// Close ends the reader.
func (r *Reader) Close() {
	r.cancel()
	<-r.done
}

// Kill takes everything from the reader but its notes: a process is killed, a library is
// thrown away with what it has read and not handed on. The next life begins at once.
func (r *Reader) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life != nil {
		r.life()
	}
}

func (r *Reader) run(ctx context.Context) {
	defer close(r.done)
	for ctx.Err() == nil {
		life, cancel := context.WithCancel(ctx)
		r.mu.Lock()
		r.life = cancel
		r.mu.Unlock()
		began := time.Now()
		switch r.Kind {
		case Stream:
			r.stream(life)
		case Process:
			r.process(life)
		case Poll:
			r.poll(life)
		default:
			r.library(life)
		}
		cancel()
		if time.Since(began) < hasty {
			pause(ctx, hasty) // nobody is there
		}
	}
}

// hasty is the least time between two lives of which the first did not live long.
const hasty = 200 * time.Millisecond

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// client makes requests from the reader's address.
func (o *Options) client() (c *http.Client, over func()) {
	t := &http.Transport{DisableCompression: true}
	if o.Direct {
		t.DialContext = (&net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(o.From)}}).DialContext
	}
	return &http.Client{Transport: &saying{t, o}}, t.CloseIdleConnections
}

// saying adds what a proxy says of where a request comes from.
type saying struct {
	*http.Transport
	o *Options
}

// RoundTrip implements http.RoundTripper.
func (s *saying) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.o.Direct {
		r = r.Clone(r.Context())
		r.Header.Set("X-Forwarded-For", s.o.From)
	}
	return s.Transport.RoundTrip(r)
}

// String is the kind for people.
func (k Kind) String() string {
	return [...]string{"library", "library opened again", "stream", "process", "poll"}[k]
}
