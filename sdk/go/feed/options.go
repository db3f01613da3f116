package feed

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Options say what to read and from where.
type Options struct {
	// URL of the websocket, such as wss://api.example/ws; http and https are taken too.
	URL string
	// Key is sent as a header and is needed for the channel `me` alone.
	Key string
	// Channels to read; at most what the server allows on one connection. Handles are
	// read in lower case, here and in Since, as the server spells them.
	Channels []string
	// Since is the last number seen of a channel, from Client.Last of an earlier run;
	// never below 0. A channel without one begins with the newest, and numbers of
	// channels that are not read are left out.
	Since map[string]int64
	// OnState is called with every change, one at a time. It must not wait for the client.
	OnState func(State)
	// Logger logs lost connections and holes; nil: none.
	Logger *slog.Logger
	// HTTPClient makes the handshake; nil: the default one.
	HTTPClient *http.Client

	pace pace
}

// Faults of Open and reasons for which a client ends.
var (
	// ErrUnauthenticated: the key is unknown or revoked. The client does not come back.
	ErrUnauthenticated = errors.New("feed: the key is unknown or revoked")
	// ErrNotRead: the channel was not asked for, or the server refused it.
	ErrNotRead = errors.New("feed: the channel is not read")
	// ErrClosed: Close was called.
	ErrClosed = errors.New("feed: closed")
)

// pace holds the times of a client, which its tests make short.
type pace struct {
	least, most, refused time.Duration // of the wait before it comes back
	handshake            time.Duration // for dialing and for hello
	ack                  time.Duration // for an answer to a subscribe frame
	second               time.Duration // what the heartbeat counts in
}

var usual = pace{
	least: 500 * time.Millisecond, most: 5 * time.Second, refused: 30 * time.Second,
	handshake: 15 * time.Second, ack: 15 * time.Second, second: time.Second,
}

// wait is chosen by chance, so that many clients do not come at once. It grows
// while the server refuses.
func (p pace) wait(refusals int) time.Duration {
	most := p.most
	for ; refusals > 1 && most < p.refused; refusals-- {
		most *= 2
	}
	return p.least + rand.N(min(most, p.refused)-p.least+1)
}

// mostSeq is the largest number that every reader of JSON has exactly.
const mostSeq = 1<<53 - 1

// fold spells a channel as the server does: handles are of lower case, everything else
// is exact.
func fold(name string) string {
	for _, kind := range [...]string{"operator:", "overlay:"} {
		if strings.HasPrefix(name, kind) {
			return strings.Map(lower, name)
		}
	}
	return name
}

// lower leaves other letters than ours as they are: they are of no handle.
func lower(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		r += 'a' - 'A'
	}
	return r
}

// settle checks the options and gives a copy of its own.
func (o Options) settle() (Options, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return o, fmt.Errorf("feed: URL: %w", err)
	}
	if !slices.Contains([]string{"ws", "wss", "http", "https"}, u.Scheme) || u.Host == "" {
		return o, fmt.Errorf("feed: %q is no address of a websocket", o.URL)
	}
	if len(o.Channels) == 0 {
		return o, errors.New("feed: no channels")
	}
	channels := make([]string, len(o.Channels))
	for i, name := range o.Channels {
		channels[i] = fold(name)
	}
	slices.Sort(channels)
	o.Channels = slices.Compact(channels)
	since := make(map[string]int64, len(o.Since))
	for name, n := range o.Since {
		if n < 0 || n > mostSeq {
			return o, fmt.Errorf("feed: since %d of %q is no number of an event", n, name)
		}
		name = fold(name)
		if other, twice := since[name]; twice {
			n = min(n, other) // the one that loses nothing
		}
		since[name] = n
	}
	o.Since = since
	if o.OnState == nil {
		o.OnState = func(State) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.pace == (pace{}) {
		o.pace = usual
	}
	return o, nil
}
