package polymarket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

const provider = string(protocol.Polymarket)

// maxTokens is the largest number of tokens for which one connection subscribes. With more than 500 tokens, the venue sends
// nothing and reports no error.
const maxTokens = 200

// timing contains the intervals and timeouts of a stream.
type timing struct {
	ask    time.Duration // time between two reads of the list of wanted markets
	ping   time.Duration // time between two pings
	quiet  time.Duration // longest time without any frame, including pongs
	silent time.Duration // longest time without prices, even if pongs arrive
	life   time.Duration // lifetime of a connection, plus or minus a tenth
	retry  time.Duration // first delay before a reconnect; it doubles after each failure
	limit  time.Duration // longest delay before a reconnect
	steady time.Duration // a connection that lasted this long resets the delay
}

var defaultTiming = timing{
	ask: 15 * time.Second, ping: 10 * time.Second, quiet: 30 * time.Second, silent: 90 * time.Second,
	life: 20 * time.Minute, retry: time.Second, limit: time.Minute, steady: time.Minute,
}

// Stream implements market.Stream for the live prices of Polymarket.
type Stream struct {
	url    string
	http   *http.Client
	meter  *venue.Meter
	now    func() time.Time
	log    *slog.Logger
	timing timing
}

// NewStream returns a stream from a ws or wss address. It checks the address but does not contact the venue.
func NewStream(address string, meter *venue.Meter, now func() time.Time, log *slog.Logger) (*Stream, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("%s stream URL %q must be a ws or wss URL without a user", provider, address)
	}
	return &Stream{
		url: address, meter: meter, now: now, log: log, timing: defaultTiming,
		// A redirect is not followed, because it could point to an internal address.
		http: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// Run implements market.Stream. It distributes the markets over several connections. A market remains on its connection
// while it is wanted.
func (s *Stream) Run(ctx context.Context, want func(context.Context) ([]market.Streamed, error), publish func(market.Tick)) {
	var wait sync.WaitGroup
	defer wait.Wait()
	var feeds []*feed
	tick := time.NewTicker(s.timing.ask)
	defer tick.Stop()
	for {
		list, err := want(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "listing streamed markets failed", "provider", provider, "error", err)
		}
		if err == nil {
			for len(feeds)*maxTokens < len(list) {
				f := &feed{Stream: s, publish: publish, wanted: map[string]market.Streamed{}, changed: make(chan struct{}, 1)}
				feeds = append(feeds, f)
				wait.Go(func() { f.run(ctx) })
			}
			share(feeds, list)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// share assigns the markets in list to feeds. A feed retains its markets that are still wanted, and new markets go to feeds
// with fewer than maxTokens tokens. Each token is assigned once.
func share(feeds []*feed, list []market.Streamed) {
	fresh := make(map[string]market.Streamed, len(list))
	for _, m := range list {
		if digits(m.Token, maxToken) {
			fresh[m.Token] = m
		}
	}
	next := make([]map[string]market.Streamed, len(feeds))
	for i, f := range feeds {
		next[i] = make(map[string]market.Streamed)
		for t := range f.subscribed() {
			if m, ok := fresh[t]; ok {
				next[i][t] = m
				delete(fresh, t)
			}
		}
	}
	i := 0
	for t, m := range fresh {
		for len(next[i]) >= maxTokens {
			i++
		}
		next[i][t] = m
	}
	for i, f := range feeds {
		f.setWanted(next[i])
	}
}

// feed is one connection of a stream. It reconnects whenever the connection ends.
type feed struct {
	*Stream
	publish func(market.Tick)
	changed chan struct{} // receives a value after wanted was replaced

	mu     sync.Mutex
	wanted map[string]market.Streamed // by token; replaced, never modified
}

func (f *feed) subscribed() map[string]market.Streamed {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wanted
}

func (f *feed) setWanted(wanted map[string]market.Streamed) {
	f.mu.Lock()
	f.wanted = wanted
	f.mu.Unlock()
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// run maintains the connection of a feed until ctx ends, while markets are wanted. Before each reconnect it waits for a
// random delay, so that feeds do not reconnect at the same time. The delay doubles after each failure, until a connection
// has lasted for timing.steady.
func (f *feed) run(ctx context.Context) {
	wait := f.timing.retry
	for ctx.Err() == nil {
		if len(f.subscribed()) == 0 {
			select {
			case <-ctx.Done():
			case <-f.changed:
			}
			continue
		}
		began := f.now()
		err := f.session(ctx)
		if ctx.Err() != nil {
			return
		}
		level := slog.LevelWarn
		if errors.Is(err, errOld) || errors.Is(err, errIdle) {
			level = slog.LevelInfo
		}
		f.log.Log(ctx, level, "stream ended", "provider", provider, "after", f.now().Sub(began), "error", err)
		if f.now().Sub(began) >= f.timing.steady {
			wait = f.timing.retry
		}
		_ = dbtime.Sleep(ctx, wait/2+rand.N(wait/2+1))
		wait = min(2*wait, f.timing.limit)
	}
}
