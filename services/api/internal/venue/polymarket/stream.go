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

// mostTokens is how many tokens one connection follows: above 500 the venue sends
// nothing and does not say so.
const mostTokens = 200

// pace is how a stream behaves in time.
type pace struct {
	ask    time.Duration // between two questions what to follow
	ping   time.Duration // between two words that keep the connection
	quiet  time.Duration // without any frame, pings' answers too
	silent time.Duration // without prices, whatever the pings say
	life   time.Duration // of a connection, give or take a tenth
	retry  time.Duration // the first wait after a connection; it doubles
	most   time.Duration // the longest wait
	steady time.Duration // a connection that lived so long was a good one
}

var usual = pace{
	ask: 15 * time.Second, ping: 10 * time.Second, quiet: 30 * time.Second, silent: 90 * time.Second,
	life: 20 * time.Minute, retry: time.Second, most: time.Minute, steady: time.Minute,
}

// Stream is a market.Stream: the venue's live prices.
type Stream struct {
	url   string
	http  *http.Client
	meter *venue.Meter
	now   func() time.Time
	log   *slog.Logger
	pace  pace
}

// NewStream checks the address; it does not contact the venue.
func NewStream(address string, meter *venue.Meter, now func() time.Time, log *slog.Logger) (*Stream, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("%s stream URL %q is not a ws or wss address", provider, address)
	}
	return &Stream{
		url: address, meter: meter, now: now, log: log, pace: usual,
		// As for reads: following a venue elsewhere could lead inside.
		http: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// Run implements market.Stream. The markets are shared out among connections; one
// that is followed stays on its connection.
func (s *Stream) Run(ctx context.Context, want func(context.Context) ([]market.Streamed, error), tell func(market.Tick)) {
	var wait sync.WaitGroup
	defer wait.Wait()
	var feeds []*feed
	tick := time.NewTicker(s.pace.ask)
	defer tick.Stop()
	for {
		list, err := want(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "stream: what to follow", "provider", provider, "error", err)
		}
		if err == nil {
			for len(feeds)*mostTokens < len(list) {
				f := &feed{Stream: s, tell: tell, wanted: map[string]market.Streamed{}, changed: make(chan struct{}, 1)}
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

// share gives each feed its markets: those that it has, and new ones where there
// is room. A token is one market's only.
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
		for t := range f.follows() {
			if m, ok := fresh[t]; ok {
				next[i][t] = m
				delete(fresh, t)
			}
		}
	}
	i := 0
	for t, m := range fresh {
		for len(next[i]) >= mostTokens {
			i++
		}
		next[i][t] = m
	}
	for i, f := range feeds {
		f.follow(next[i])
	}
}

// feed is one connection, which is opened again whenever it ends.
type feed struct {
	*Stream
	tell    func(market.Tick)
	changed chan struct{} // wanted is another one

	mu     sync.Mutex
	wanted map[string]market.Streamed // by token; replaced, never changed
}

func (f *feed) follows() map[string]market.Streamed {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wanted
}

func (f *feed) follow(wanted map[string]market.Streamed) {
	f.mu.Lock()
	f.wanted = wanted
	f.mu.Unlock()
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// run keeps a connection while there is something to follow. After each it waits,
// longer each time until one was steady, and never as long as the others.
func (f *feed) run(ctx context.Context) {
	wait := f.pace.retry
	for ctx.Err() == nil {
		if len(f.follows()) == 0 {
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
		if f.now().Sub(began) >= f.pace.steady {
			wait = f.pace.retry
		}
		_ = dbtime.Sleep(ctx, wait/2+rand.N(wait/2+1))
		wait = min(2*wait, f.pace.most)
	}
}
