package server

import (
	"io"
	"net/http"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/control"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/kalshi"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/limitless"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/manifold"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/polymarket"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/recorded"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// Number of open invented markets of each venue except Polymarket. Manifold has more markets than one page of search results.
const (
	kalshiSize    = 1200
	limitlessSize = 300
	manifoldSize  = 1400
)

// Handler returns the handler of all venues and of the control routes. It returns an error if the recorded responses cannot be
// read.
func Handler(c Config) (http.Handler, error) {
	answers, err := recorded.Load(c.Data)
	if err != nil {
		return nil, err
	}
	clock := control.NewClock(c.Now)
	mux := http.NewServeMux()
	mux.Handle("POST /sim/clock", clock)
	for _, path := range []string{"/healthz", "/readyz"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"ok":true}`)
		})
	}
	venues := map[string]*control.Venue{}
	add := func(name string, salt uint64, size int, markets []world.Market, build func(*world.World) venue.Venue, paths ...string) {
		w := world.New(c.Seed^salt<<56, size, markets, clock.Now)
		b := build(w)
		v := &control.Venue{World: w, Venue: b, Rules: b.Rules()}
		v.Reads = control.NewSwitch(clock.Now, v.Rules.RateLimited)
		for _, path := range paths {
			mux.Handle(path, v.Reads.Wrap(b.Handler()))
		}
		if s, ok := b.(venue.Streamer); ok {
			v.Stream = control.NewSwitch(clock.Now, v.Rules.RateLimited)
			sockets := &sockets{stream: v.Stream, open: s.Open, connections: map[*connection]bool{}}
			v.Sockets = sockets.count
			mux.Handle("GET /ws/market", v.Stream.WrapUpgrade(sockets))
		}
		venues[name] = v
	}
	add("polymarket", 0, c.Size, answers.Polymarket,
		func(w *world.World) venue.Venue { return polymarket.New(w) }, "/gamma/", "/clob/")
	add("kalshi", 'K', kalshiSize, answers.Kalshi, func(w *world.World) venue.Venue { return kalshi.New(w) }, "/kalshi/")
	add("limitless", 'L', limitlessSize, nil, func(w *world.World) venue.Venue { return limitless.New(w) }, "/limitless/")
	add("manifold", 'M', manifoldSize, nil, func(w *world.World) venue.Venue { return manifold.New(w) }, "/manifold/")
	mux.Handle("/sim/", control.Handler(venues))
	return clock.Wrap(mux), nil
}
