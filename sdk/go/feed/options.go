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

// Options contains the settings of a Client. URL and Channels are required.
type Options struct {
	// URL is the URL of the websocket, such as wss://api.example/ws. The schemes http and https are also accepted.
	URL string
	// Key is the API key, which the client sends in the Authorization header. Only the channel `me` requires it.
	Key string
	// Channels are the channels to read. The server limits their number. Handles in names are converted to lower case, here and
	// in Since, because the server spells them so.
	Channels []string
	// Since contains the number of the last received event by channel, from Client.Last of an earlier run. Numbers must not be
	// negative. A channel without a number starts with the next event. Numbers of other channels are ignored.
	Since map[string]int64
	// OnState is called after each change of the state, never concurrently. It must not wait for the client.
	OnState func(State)
	// Logger logs lost connections and missing events. nil: no log.
	Logger *slog.Logger
	// HTTPClient sends the handshake. nil: http.DefaultClient.
	HTTPClient *http.Client

	timing timing
}

// Errors of a Client.
var (
	// ErrUnauthenticated reports that the key is unknown or revoked. The client does not reconnect.
	ErrUnauthenticated = errors.New("feed: the key is unknown or revoked; use a valid key")
	// ErrNotRead reports that the channel is not in Options.Channels, or that the server refused it.
	ErrNotRead = errors.New("feed: the channel is not in Options.Channels, or the server rejected it")
	// ErrNoChannel reports that the server refused every channel. The last ServerError before it has the reason.
	ErrNoChannel = errors.New("feed: the server refused every channel")
	// ErrClosed reports that Close was called.
	ErrClosed = errors.New("feed: the client is closed")
)

// timing contains the timeouts and wait times of a client. Tests make them short.
type timing struct {
	minWait, maxWait time.Duration // minimum and maximum wait before a reconnect
	maxRefusedWait   time.Duration // maximum wait while the server refuses connections
	handshake        time.Duration // timeout of the dial and of the hello frame
	ack              time.Duration // timeout of writing a frame
	second           time.Duration // unit of the heartbeat interval
}

var defaultTiming = timing{
	minWait: 500 * time.Millisecond, maxWait: 5 * time.Second, maxRefusedWait: 30 * time.Second,
	handshake: 15 * time.Second, ack: 15 * time.Second, second: time.Second,
}

// wait returns a random wait before a reconnect, so that many clients do not reconnect at the same time. refusals is the number
// of consecutive failed connections. Each failure after the first doubles the maximum wait, up to maxRefusedWait.
func (p timing) wait(refusals int) time.Duration {
	most := p.maxWait
	for ; refusals > 1 && most < p.maxRefusedWait; refusals-- {
		most *= 2
	}
	return p.minWait + rand.N(min(most, p.maxRefusedWait)-p.minWait+1)
}

// maxSeq is the largest event number. A float64 represents all integers up to this number exactly.
const maxSeq = 1<<53 - 1

// normalizeChannel converts the handle in the name of an operator or overlay channel to lower case, as the server does. It does
// not change other names.
func normalizeChannel(name string) string {
	for _, kind := range [...]string{"operator:", "overlay:"} {
		if strings.HasPrefix(name, kind) {
			return strings.Map(lower, name)
		}
	}
	return name
}

// lower converts an upper-case ASCII letter to lower case. It does not change other characters.
func lower(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		r += 'a' - 'A'
	}
	return r
}

// normalize validates the options. It returns a copy with sorted channels, with channel names in the spelling of the server, and
// with default values.
func (o Options) normalize() (Options, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return o, fmt.Errorf("feed: URL: %w", err)
	}
	if !slices.Contains([]string{"ws", "wss", "http", "https"}, u.Scheme) || u.Host == "" {
		return o, fmt.Errorf("feed: URL %q must be a ws, wss, http or https URL with a host", o.URL)
	}
	if len(o.Channels) == 0 {
		return o, errors.New("feed: Options.Channels is empty; name at least one channel")
	}
	channels := make([]string, len(o.Channels))
	for i, name := range o.Channels {
		channels[i] = normalizeChannel(name)
	}
	slices.Sort(channels)
	o.Channels = slices.Compact(channels)
	since := make(map[string]int64, len(o.Since))
	for name, n := range o.Since {
		if n < 0 || n > maxSeq {
			return o, fmt.Errorf("feed: Since of %[2]q is %[1]d; it must be an integer from 0 to 2^53-1", n, name)
		}
		name = normalizeChannel(name)
		if other, twice := since[name]; twice {
			n = min(n, other) // the smaller number loses no events
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
	if o.timing == (timing{}) {
		o.timing = defaultTiming
	}
	return o, nil
}
